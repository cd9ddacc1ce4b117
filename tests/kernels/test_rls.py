import numpy as np
import plain
import pytest

from hyperlvq.kernels import rls


def make_problem(rng, shape):
    """Return Z and T."""
    return rng.normal(size=shape) + rng.normal(size=shape[1]), rng.normal(size=(shape[0], 3))


def exact_solution(Z, T, alpha):
    return np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T @ T)


@pytest.mark.parametrize("size", [1e-290, 1.0, 1e290])
def test_pinv_neither_overflows_nor_fails_where_nothing_counts(size):
    moment, no_penalties = np.ones((3, 1)), np.zeros(3)

    def solve(*diagonal):
        return rls.solve_pinv(size * np.diag(diagonal), size * moment, no_penalties).ravel()

    np.testing.assert_allclose(solve(4.0, 2.0, 1.0), [0.25, 0.5, 1], rtol=1e-12)
    np.testing.assert_allclose(solve(1.0, 1e-9, 0.0), [1, 0, 0], rtol=1e-12)
    assert solve(0.0, 0.0, 0.0).tolist() == [0, 0, 0]


def test_fista_goes_ahead_by_nesterovs_momentum():
    curvatures = np.array([[4.0], [1.0]])
    step = 1 / rls.largest_eigenvalue(lambda V: curvatures * V, 2)

    solution, *_ = rls.solve_fista([np.diag([4.0, 1.0])], curvatures, 0.0, 3, 0.0)

    golden = (1 + np.sqrt(5)) / 2
    following = (1 + np.sqrt(1 + 4 * golden**2)) / 2
    first = step * curvatures
    second = first + step * curvatures * (1 - first)
    ahead = second + (golden - 1) / following * (second - first)
    np.testing.assert_allclose(solution, ahead + step * curvatures * (1 - ahead))


def test_lms_ends_within_five_percent_of_the_exact_solution(rng):
    Z, T = make_problem(rng, (80, 6))

    solution, _, _ = rls.solve_lms(lambda: [(Z, T)], 5.0, max_iter=1000, tol=0)
    expected = exact_solution(Z, T, 5.0)
    assert np.linalg.norm(solution - expected) < 0.05 * np.linalg.norm(expected)


def test_lms_stops_at_its_tolerance(rng):
    problem = make_problem(rng, (80, 6))

    _, n_iter, has_converged = rls.solve_lms(lambda: [problem], 5.0, 1000, tol=0.01)

    assert has_converged
    assert n_iter < 1000


def test_lms_of_blocks_is_that_of_all_rows(rng):
    Z, T = make_problem(rng, (80, 6))
    blocks = [(Z[:50], T[:50]), (Z[50:], T[50:])]

    found = rls.solve_lms(lambda: blocks, 5.0, 10, tol=0)
    np.testing.assert_array_equal(found[0], rls.solve_lms(lambda: [(Z, T)], 5.0, 10, tol=0)[0])


def test_lms_pass_agrees_with_its_plain_twin(rng):
    Z, targets = rng.normal(size=(20, 5)), rng.normal(size=(20, 3))
    compiled = rng.normal(size=(3, 5))
    plainly = compiled.copy()

    rls.lms_pass(Z, targets, compiled, 0.05, 0.1)
    plain.lms_pass(Z, targets, plainly, 0.05, 0.1)
    np.testing.assert_allclose(compiled, plainly)
