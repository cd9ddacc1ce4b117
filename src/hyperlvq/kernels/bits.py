"""Products of rows of small integers, by counting the bits that two rows have in common.

Activations h of comparisons lie between -1 and 2, so that h + 1 has two binary digits. With 64
digits in a word, the product of two rows is a sum of counts of common ones, which processors that
count bits in vectors do many times as fast as they multiply numbers of single precision.
"""

from typing import Any

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.scores import row_slices

N_DIGITS = 2
WORD_BITS = 64
# Rows that meet two others in one loop, so that a word is loaded once for several counts.
ROWS_AT_ONCE = 4
# Rows whose products one thread adds at a time.
BAND_ROWS = 128
_ONE, _TWO, _FOUR, _TOP = map(np.uint64, (1, 2, 4, 56))
_ODD, _PAIRS, _NIBBLES, _BYTES = map(
    np.uint64, (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


def packed_digits(activations: np.ndarray) -> np.ndarray:
    """Return the digits of h + 1 (digits × rows × words), with rows of zeros to a multiple of 4."""
    n_rows, n_columns = activations.shape
    n_bytes = -(-n_columns // WORD_BITS) * (WORD_BITS // 8)
    packed = np.zeros((N_DIGITS, n_rows + -n_rows % ROWS_AT_ONCE, n_bytes), np.uint8)
    shifted = activations + np.int8(1)
    for digit, plane in enumerate(packed):
        found = np.packbits(shifted >> digit & 1, axis=1)
        plane[:n_rows, : found.shape[1]] = found
    return packed.view(np.uint64)


def add_products(packed: np.ndarray, products: np.ndarray, map_blocks: Any = map) -> None:
    """Add the products of every two rows of h + 1 to the lower triangle of `products`.

    `packed` is what `packed_digits` returns.
    """
    used = [digit for digit in range(N_DIGITS) if packed[digit].any()]

    def add(rows):
        for one in used:
            for other in used:
                factor = float(2 ** (one + other))
                _count_common(packed[one], packed[other], rows.start, factor, products[rows])

    with np.errstate(over="ignore"):  # of `n_ones`, where it is not compiled
        list(map_blocks(add, row_slices(len(products), BAND_ROWS)))


@compiled
def n_ones(word: Any) -> Any:
    """Return how many bits of a word are set; compilers replace this by one instruction."""
    word = word - ((word >> _ONE) & _ODD)
    word = (word & _PAIRS) + ((word >> _TWO) & _PAIRS)
    word = (word + (word >> _FOUR)) & _NIBBLES
    return (word * _BYTES) >> _TOP


@compiled
def _count_common(bits, others, first, factor, products):
    """Add how many bits two rows have in common, times a factor, to a band of products.

    The band begins with the row `first` of `bits`; nothing to the right of the diagonal is needed.
    """
    for i in range(0, products.shape[0], ROWS_AT_ONCE):
        m = first + i
        a, b, c, d = bits[m], bits[m + 1], bits[m + 2], bits[m + 3]
        for j in range(0, min(m + ROWS_AT_ONCE, products.shape[1]), 2):
            x, z = others[j], others[j + 1]
            ax = bx = cx = dx = az = bz = cz = dz = np.uint64(0)
            for n in range(x.shape[0]):
                ax += n_ones(a[n] & x[n])
                bx += n_ones(b[n] & x[n])
                cx += n_ones(c[n] & x[n])
                dx += n_ones(d[n] & x[n])
                az += n_ones(a[n] & z[n])
                bz += n_ones(b[n] & z[n])
                cz += n_ones(c[n] & z[n])
                dz += n_ones(d[n] & z[n])
            for row, (one, other) in enumerate(((ax, az), (bx, bz), (cx, cz), (dx, dz))):
                if i + row < products.shape[0]:
                    products[i + row, j] += factor * one
                    if j + 1 < products.shape[1]:
                        products[i + row, j + 1] += factor * other
