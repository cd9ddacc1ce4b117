"""How a loop is compiled: cached on disk, and without the GIL."""

from functools import partial
from typing import Any

import numba

# Lets a sum run in vector lanes; NaN and infinity keep their meaning.
REASSOCIATED = {"reassoc", "contract", "nsz"}


def _compiled(function, fastmath: Any):
    """Compile a function on its first call, and keep the result on disk where that is possible."""
    try:
        return numba.njit(cache=True, nogil=True, fastmath=fastmath)(function)
    except RuntimeError:  # neither the package nor a home directory can be written to
        return numba.njit(nogil=True, fastmath=fastmath)(function)


#: For loops whose sums may be taken in any order.
compiled = partial(_compiled, fastmath=REASSOCIATED)
#: For arithmetic that must round as numpy does.
compiled_as_written = partial(_compiled, fastmath=False)
