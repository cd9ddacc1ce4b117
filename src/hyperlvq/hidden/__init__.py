"""Random hidden layers: transformers from scaled features to activations."""

from hyperlvq.hidden.comparisons import ComparisonLayer
from hyperlvq.hidden.intrvfl import IntRVFLLayer
from hyperlvq.hidden.rvfl import RVFLLayer

__all__ = ["ComparisonLayer", "IntRVFLLayer", "RVFLLayer"]
