"""How a loop is compiled: cached on disk, without the GIL, sums free to use SIMD lanes."""

from typing import Any

import numba

# Reassociation lets a sum run in vector lanes; NaN and infinity keep their meaning.
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz"}}


def compiled(function):
    """Compile a function on its first call, and keep the result on disk where that is possible."""
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # neither the package nor a home directory can be written to
        return numba.njit(**OPTIONS)(function)
