"""Random hidden layers: transformers from scaled features to activations."""

from hyperlvq.hidden.intrvfl import IntRVFLLayer
from hyperlvq.hidden.rvfl import RVFLLayer

__all__ = ["IntRVFLLayer", "RVFLLayer"]
