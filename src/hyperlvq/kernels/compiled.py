"""How a loop is compiled: cached on disk, and without the GIL."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])
# Lets a sum run in vector lanes; NaN and infinity keep their meaning.
REASSOCIATED = {"reassoc", "contract", "nsz"}


def _compiled(function, fastmath: Any):
    """Compile a function on its first call, and keep the result on disk where that is possible."""
    try:
        return numba.njit(cache=True, nogil=True, fastmath=fastmath)(function)
    except RuntimeError:  # neither the package nor a home directory can be written to
        return numba.njit(nogil=True, fastmath=fastmath)(function)


#: For loops whose sums may be taken in any order.
compiled: Callable[[F], F] = partial(_compiled, fastmath=REASSOCIATED)
#: For arithmetic that must round as numpy does.
compiled_as_written: Callable[[F], F] = partial(_compiled, fastmath=False)
