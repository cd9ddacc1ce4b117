"""What fuzzers share, and how many cases they draw: few in every run, many by `make fuzz`."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from hyperlvq.checks import InputError

FACTOR = int(os.environ.get("HYPERLVQ_FUZZ", "1"))


def fuzz(n_cases):
    """Return the decorator of a fuzzer that draws so many cases, times HYPERLVQ_FUZZ."""
    drawing = settings(
        max_examples=n_cases * FACTOR, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    return lambda test: pytest.mark.fuzz(drawing(test))


def mutated(content, pieces):
    """Return a strategy of `content` with a slice replaced by any bytes or one of the pieces."""
    return st.builds(
        lambda start, length, piece: content[:start] + piece + content[start + length :],
        st.integers(0, len(content)),
        st.integers(0, 12),
        st.one_of(st.binary(max_size=8), pieces),
    )


def read_or_refused(read, *arguments, **options):
    """Return what was read and no sentence, or nothing and the sentence that refuses it."""
    try:
        return read(*arguments, **options), None
    except InputError as error:
        return None, str(error)
