import numpy as np
import pytest

from hyperlvq.kernels.lbfgs import direction_weights


@pytest.mark.parametrize("n_learnt", [1, 3, 4, 9])
def test_weights_are_those_of_the_closed_form(n_learnt):
    memory, rng = 4, np.random.default_rng(n_learnt)
    steps, changes = rng.normal(size=(2, memory, 6))
    changes += 3 * steps
    gradient = rng.normal(size=6)
    oldest, n_pairs = max(0, n_learnt - memory) % memory, min(n_learnt, memory)
    places = (oldest + np.arange(n_pairs)) % memory
    S, Y = steps[places].T, changes[places].T
    scale = 0.7

    R = np.triu(S.T @ Y)
    a = np.linalg.solve(R, S.T @ gradient)
    u = np.linalg.solve(R.T, R.diagonal() * a + scale * (Y.T @ Y @ a) - scale * (Y.T @ gradient))
    expected = np.zeros(2 * memory)
    expected[places], expected[memory + places] = -u, scale * a
    products = np.concatenate([steps @ gradient, changes @ gradient])
    found = direction_weights(
        steps @ changes.T, changes @ changes.T, products, scale, oldest, n_pairs
    )

    np.testing.assert_allclose(found, expected)
