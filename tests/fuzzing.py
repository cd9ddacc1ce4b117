"""How many cases the fuzzers draw: few in every run of the tests, many by `make fuzz`."""

import os

import pytest
from hypothesis import HealthCheck, settings

FACTOR = int(os.environ.get("HYPERLVQ_FUZZ", "1"))


def fuzz(n_cases):
    """Return the decorator of a fuzzer that draws so many cases, times HYPERLVQ_FUZZ."""
    drawing = settings(
        max_examples=n_cases * FACTOR, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    return lambda test: pytest.mark.fuzz(drawing(test))
