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


def lms(Z, T, alpha, **limits):
    return rls.solve_lms(lambda: [(Z, T)], alpha, **limits)


def fista(Z, T, alpha, **limits):
    return rls.solve_fista([Z.T, Z], Z.T @ T, alpha, **limits)


ITERATIVE = pytest.mark.parametrize("solve", [fista, lms])


@ITERATIVE
@pytest.mark.parametrize(
    "shape",
    [(80, 6), (1000, 3), (30, 100), pytest.param((400, 60), marks=pytest.mark.compiled)],
    ids=str,
)
@pytest.mark.parametrize("is_sorted", [False, True])
def test_iterative_solvers_reach_the_exact_solution(rng, shape, is_sorted, solve):
    Z, T = make_problem(rng, shape)
    Z *= 10.0 ** rng.uniform(-1, 1, size=shape[1])
    order = np.argsort(T[:, 0]) if is_sorted else slice(None)

    solution, _, remaining = solve(Z[order], T[order], 5.0, max_iter=1000, tol=1e-6)

    assert remaining <= 1e-6
    expected = exact_solution(Z, T, 5.0)
    assert np.linalg.norm(solution - expected) < 1e-3 * np.linalg.norm(expected)


@ITERATIVE
def test_remaining_gradient_is_that_of_the_solution(rng, solve):
    Z, T = make_problem(rng, (80, 40))
    precondition = rls.preconditioner(lambda V: Z.T @ (Z @ V), 40, 40, 0.5)

    solution, n_iter, remaining = solve(Z, T, 0.5, max_iter=7, tol=1e-6)

    gradient = precondition(Z.T @ (Z @ solution - T) + 0.5 * solution)
    assert n_iter == 7
    assert remaining == pytest.approx(np.abs(gradient).max() / np.abs(precondition(Z.T @ T)).max())


@ITERATIVE
def test_larger_tolerance_stops_earlier(rng, solve):
    Z, T = make_problem(rng, (80, 6))

    _, rough, _ = solve(Z, T, 5.0, max_iter=1000, tol=0.01)
    _, fine, _ = solve(Z, T, 5.0, max_iter=1000, tol=1e-8)

    assert rough < fine < 1000


@ITERATIVE
def test_nothing_to_learn_is_solved_at_once(solve):
    solution, n_iter, remaining = solve(np.zeros((5, 8)), np.eye(5), 0.0, max_iter=10, tol=0)

    assert not solution.any()
    assert (n_iter, remaining) == (1, 0)


@pytest.mark.compiled
@ITERATIVE
def test_iterative_solvers_hold_no_matrix_of_columns_by_columns(rng, peak_memory, solve):
    Z, T = make_problem(rng, (40, 3000))

    assert peak_memory(lambda: solve(Z, T, 5.0, max_iter=5, tol=0)) < 8 * 3000**2 / 10


def test_preconditioner_makes_the_largest_eigenvalues_equal(rng):
    vectors, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    values = np.concatenate([10.0 ** np.arange(6, 0, -1), np.linspace(1, 0.1, 34)])
    gram = (vectors * values) @ vectors.T
    precondition = rls.preconditioner(lambda V: gram @ V, 40, 24, alpha=2.0)  # six directions

    evened = vectors.T @ precondition(gram + 2 * np.eye(40)) @ vectors
    np.testing.assert_allclose(np.diag(evened), [*[12.0] * 6, *values[6:] + 2], rtol=1e-3)


@pytest.mark.parametrize("rank", [0, 3, 8])
def test_preconditioner_leaves_what_is_rounding(rank, rng):
    column = rng.normal(size=(8, 1))
    gram = 1e6 * column @ column.T

    precondition = rls.preconditioner(lambda V: gram @ V, 8, rank, alpha=0.0)
    np.testing.assert_allclose(precondition(np.eye(8)), np.eye(8), atol=1e-12)


def test_lms_of_blocks_is_that_of_all_rows(rng):
    Z, T = make_problem(rng, (80, 6))
    blocks = [(Z[:50], T[:50]), (Z[50:], T[50:])]

    found, *_ = rls.solve_lms(lambda: blocks, 5.0, 10, tol=0)
    np.testing.assert_allclose(found, lms(Z, T, 5.0, max_iter=10, tol=0)[0], rtol=1e-9)


def test_lms_pass_agrees_with_its_plain_twin(rng):
    Z, directions, drive = (rng.normal(size=shape) for shape in ((20, 5), (20, 5), (3, 5)))
    compiled = rng.normal(size=(3, 5))
    plainly = compiled.copy()

    rls.lms_pass(Z, directions, compiled, drive, 0.05, 0.1)
    plain.lms_pass(Z, directions, plainly, drive, 0.05, 0.1)
    np.testing.assert_allclose(compiled, plainly)
