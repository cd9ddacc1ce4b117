"""Oracle: numpy's product of matrices of integers."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest

from hyperlvq.kernels.bits import add_products, n_ones, packed_digits


@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (4, 64), (9, 130)])
@pytest.mark.parametrize("values", [[-1, 0, 1, 2], [0, 1, 2], [-1, 1], [-1]], ids=str)
def test_lower_triangle_has_the_products_of_all_rows(rng, shape, values):
    activations = rng.choice(np.array(values, np.int8), shape)
    products = np.full((shape[0], shape[0]), 0.5)
    add_products(packed_digits(activations), products)

    expected = (activations + 1).astype(int) @ (activations + 1).T + 0.5
    np.testing.assert_array_equal(np.tril(products), np.tril(expected))


def test_products_do_not_depend_on_who_adds_which_band_first(rng, monkeypatch):
    monkeypatch.setattr("hyperlvq.kernels.bits.BAND_ROWS", 4)
    packed = packed_digits(rng.integers(-1, 3, (11, 80)).astype(np.int8))
    one_band, found = np.zeros((11, 11)), set()
    add_products(packed, one_band, lambda add, bands: [add(slice(0, 12))])

    for order in permutations(range(3)):
        products = np.zeros((11, 11))
        add_products(packed, products, partial(reordered, order))
        found.add(np.tril(products).tobytes())
    assert found == {np.tril(one_band).tobytes()}


def reordered(order, function, items):
    items = list(items)
    return [function(items[place]) for place in order]


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF])
def test_ones_of_a_word(word):
    with np.errstate(over="ignore"):
        assert n_ones(np.uint64(word)) == word.bit_count()
