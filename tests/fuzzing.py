"""How many cases the fuzzers draw: few in every run of the tests, many by `make fuzz`."""

import os

import pytest
from hypothesis import HealthCheck, settings


def fuzz(n_cases):
    """Return the decorator of a fuzzer that draws so many cases, times HYPERLVQ_FUZZ."""
    n_drawn = n_cases * int(os.environ.get("HYPERLVQ_FUZZ", "1"))
    drawing = settings(
        max_examples=n_drawn, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    return lambda test: pytest.mark.fuzz(drawing(test))
