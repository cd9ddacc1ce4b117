"""Models of data that one machine cannot hold, trained and used on a Dask cluster.

`fit` takes a pipeline of `make_classifier` with Dask arrays or dataframes and returns the pipeline
that an in-memory fit would have given, within rounding; `predict` maps a fitted pipeline over
partitions. Rows stay on the workers; only prototypes and sums travel.

Partitions are Dask collections throughout, which the scheduler knows how to make again: no state
lives on one worker alone, so a worker that dies costs the time to repeat its share, nothing else.
"""

from hyperlvq.checks import InputError


class DaskMissingError(InputError, ModuleNotFoundError):
    """The extra `dask` is not installed."""


try:
    from hyperlvq.distributed.fitting import fit, predict
except ImportError as error:  # Dask's own sentence where one of its parts is missing
    raise DaskMissingError("Dask is missing; this needs: pip install 'hyperlvq[dask]'") from error

__all__ = ["fit", "predict"]
