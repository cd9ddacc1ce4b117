"""How a loop is compiled: cached on disk, without the GIL, sums free to use SIMD lanes."""

import numba

#: Reassociation lets a sum run in vector lanes; NaN and infinity keep their meaning.
compiled = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
