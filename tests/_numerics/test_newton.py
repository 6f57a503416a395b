"""Newton's method: quadratics in one step, solutions by NumPy, and how it ends."""

import numpy as np
import pytest

from calibrant._numerics.newton import (
    LazySolver,
    Search,
    _solve,
    bisected,
    cholesky_solver,
    conjugate_gradient,
    minimise,
    minimise_near,
    preconditioned_solver,
    projected_newton,
)

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
B = np.array([1.0, -2.0, 0.5])


def quadratic(b=B, calls=None):
    def evaluate(x):
        if calls is not None:
            calls.append(x)
        return 0.5 * x @ A @ x - b @ x, A @ x - b, cholesky_solver(A)

    return evaluate


def test_a_quadratic_takes_one_step():
    calls = []
    x, status, size = minimise(quadratic(calls=calls), np.zeros(3))
    np.testing.assert_allclose(x, np.linalg.solve(A, B))
    assert status == "converged"
    assert size <= 1e-8
    assert len(calls) == 2


def test_how_it_ends():
    def softly(x):
        return float(np.log(np.cosh(x)).sum()), np.tanh(x), lambda r, relative: r * np.cosh(x) ** 2

    x, status, _ = minimise(softly, np.array([3.0, -0.7]))
    assert status == "converged"
    np.testing.assert_allclose(x, 0.0, atol=1e-8)
    assert minimise(softly, np.array([3.0, -0.7]), max_steps=1)[1] == "max steps"
    at_start = minimise(softly, np.zeros(2), max_steps=0)
    assert (at_start[1], at_start[2]) == ("converged", 0.0)
    # A direction that rises is replaced by the steepest descent; a value that never falls is given
    # up.
    up = minimise(lambda x: (float(x @ x), 2 * x, lambda r, relative: -r), np.array([1.0]))
    np.testing.assert_allclose(up[0], 0.0, atol=1e-8)
    stuck = minimise(
        lambda x: (0.0 if x[0] == 1.0 else 1.0, np.ones(1), lambda r, relative: r), np.array([1.0])
    )
    assert (stuck[0].tolist(), stuck[1], stuck[2]) == ([1.0], "stalled", 1.0)


def test_a_step_is_halved_until_it_descends_enough():
    """|x| smoothed: the full step from 3 goes far past 0."""
    steps = []

    def evaluate(x):
        steps.append(float(x[0]))
        return (
            float(np.sqrt(1 + x[0] ** 2)),
            x / np.sqrt(1 + x[0] ** 2),
            lambda r, relative: r * (1 + x[0] ** 2) ** 1.5,
        )

    x, status, _ = minimise(evaluate, np.array([3.0]))
    assert status == "converged"
    np.testing.assert_allclose(x, 0.0, atol=1e-8)
    np.testing.assert_allclose(steps[1:4], [3.0 - 30.0, 3.0 - 15.0, 3.0 - 7.5])


def test_solvers_solve():
    r = np.array([0.3, 1.0, -2.0])
    np.testing.assert_allclose(cholesky_solver(A)(r, 0.0), np.linalg.solve(A, r))
    singular = np.outer([1.0, 2.0], [1.0, 2.0])
    np.testing.assert_allclose(
        singular @ cholesky_solver(singular)(np.array([1.0, 2.0]), 0.0), [1.0, 2.0], rtol=1e-4
    )
    np.testing.assert_allclose(
        cholesky_solver(np.zeros((2, 2)))(np.array([1.0, 0.0]), 0.0), [1e13, 0.0]
    )
    shaped = cholesky_solver(np.kron(np.eye(2), A))(np.stack([r, 2 * r]), 0.0)
    np.testing.assert_allclose(
        shaped, np.stack([1.0 * np.linalg.solve(A, r), 2 * np.linalg.solve(A, r)])
    )


def test_conjugate_gradients_need_as_many_products_as_columns():
    calls = []

    def product(p):
        calls.append(p)
        return A @ p

    r = np.array([0.3, 1.0, -2.0])
    np.testing.assert_allclose(
        conjugate_gradient(product, lambda v: v / A.diagonal(), r, 1e-10), np.linalg.solve(A, r)
    )
    assert len(calls) == 3
    calls.clear()
    loose = conjugate_gradient(product, lambda v: v, r, 0.5)
    assert len(calls) == 1
    assert np.linalg.norm(A @ loose - r) <= 0.5 * np.linalg.norm(r)
    # One step of steepest descent by hand.
    np.testing.assert_allclose(
        conjugate_gradient(product, lambda v: v, r, 1e-10, max_steps=1), r * (r @ r) / (r @ A @ r)
    )
    assert conjugate_gradient(lambda p: 0.0 * p, lambda v: v, r, 1e-10).tolist() == [0.0, 0.0, 0.0]
    solve = preconditioned_solver(product, lambda v: v / A.diagonal())
    np.testing.assert_allclose(solve(r, 1e-10), np.linalg.solve(A, r))
    np.testing.assert_allclose(solve.near(r, 0.1), r / A.diagonal())


def test_a_lazy_solver_is_made_once():
    made = []
    solve = LazySolver(lambda: made.append(1) or cholesky_solver(A))
    assert made == []
    np.testing.assert_allclose(solve(B, 0.1), np.linalg.solve(A, B))
    solve(B, 0.1)
    assert made == [1]
    assert solve.near is solve.solver


def test_searches_near_another_begin_at_its_end_and_need_no_curvature_of_their_own():
    search, solved = Search(), []

    def evaluate(b):
        def at(x):
            def solve(r, relative):
                solved.append(1)
                return np.linalg.solve(A, r)

            return 0.5 * x @ A @ x - b @ x, A @ x - b, solve

        return at

    x, status, _ = minimise_near(evaluate(B), np.zeros(3), search)
    np.testing.assert_allclose(x, np.linalg.solve(A, B), atol=1e-8)
    assert status == "converged"
    assert search.end is x
    other = search.lend()
    assert other.lent
    assert other.pairs is not search.pairs
    near, status, size = minimise_near(evaluate(B + 0.01), np.zeros(3), search)
    assert status == "converged"
    assert size <= 3e-6
    np.testing.assert_allclose(near, np.linalg.solve(A, B + 0.01), atol=1e-5)
    assert search.end is x
    moved = minimise_near(evaluate(B - 0.01), np.zeros(3), other)[0]
    assert other.end is moved


def test_curvature_is_corrected_by_the_changes_of_the_gradient():
    """With a solver that is wrong by a factor, pairs along every axis make it exact on them."""
    from calibrant._numerics.newton import _corrected

    D = np.diag([4.0, 3.0, 2.0])
    pairs = [(np.eye(3)[i], D[i]) for i in range(3)]
    np.testing.assert_allclose(_corrected(B, pairs, lambda r, relative: 5.0 * r), B / D.diagonal())
    step, change = np.array([1.0, 0.5, 0.0]), A @ np.array([1.0, 0.5, 0.0])
    np.testing.assert_allclose(
        _corrected(change, [(step, change)], lambda r, relative: 0.3 * r), step
    )
    # Of two pairs: the update of Broyden, Fletcher, Goldfarb and Shanno as it is written for
    # matrices, once for each, the older first.
    H, steps = 0.3 * np.eye(3), np.array([[1.0, 0.5, 0.0], [-0.2, 0.4, 1.0]])
    pairs = [(step, A @ step) for step in steps]
    for step, change in pairs:
        rho, turn = 1.0 / (step @ change), np.eye(3) - np.outer(step, change) / (step @ change)
        H = turn @ H @ turn.T + rho * np.outer(step, step)
    np.testing.assert_allclose(_corrected(B, pairs, lambda r, relative: 0.3 * r), H @ B)


def test_how_well_a_step_is_solved_for():
    """Near the end well enough that no step follows; before, to the root of the gradient,
    between a thousandth and a tenth.
    """
    asked = []

    def evaluate(size):
        return lambda x: (
            0.0,
            np.array([size, -0.5 * size]),
            lambda r, relative: asked.append(relative) or r,
        )

    for size, tolerance in (
        (4.0, 1e-8),
        (0.0025, 1e-8),
        (1e-7, 1e-13),
        (0.5, 0.1),
        (0.3, 1.1e-4),
        (0.3, 0.9e-4),
    ):
        minimise(evaluate(size), np.zeros(2), tolerance, max_steps=1)
    np.testing.assert_allclose(asked, [0.1, 0.05, 1e-3, 0.06, 1.1e-4, 0.1])


# -- projected newton ---------------------------------------------------------------------------
# Newton under bounds: the minimum of quadratics, against its definition.


def seeded_quadratic(seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(5, 5))
    A, centre = root @ root.T + np.eye(5), rng.normal(size=5)
    return (lambda x: (0.5 * (x - centre) @ A @ (x - centre), A @ (x - centre), A)), centre


@pytest.mark.parametrize("loose", [False, True])
def test_free_minimum(loose):
    objective, centre = seeded_quadratic()
    x, status = projected_newton(
        objective, [np.zeros(5), np.ones(5)], np.zeros(5, dtype=bool), loose=loose
    )
    assert status == "converged"
    np.testing.assert_allclose(x, centre, atol=1e-9)


@pytest.mark.parametrize("loose", [False, True])
def test_what_is_held_at_its_bound_would_fall_below_it(loose):
    objective, _ = seeded_quadratic(1)
    bounded = np.array([True, True, True, False, False])
    x, status = projected_newton(objective, [np.ones(5)], bounded, loose=loose)
    gradient = objective(x)[1]
    assert status == "converged"
    assert (x[:3] >= 0.0).all()
    held = bounded & (x <= 0.0)
    assert (gradient[held] >= 0.0).all()
    np.testing.assert_allclose(gradient[~held], 0.0, atol=1e-8)


def test_directions_without_curvature_get_no_step():
    """Of a singular matrix the least solution, whatever the scales of its rows; what is not in
    its range is left out.
    """
    for scale in (np.ones(2), np.array([1e-3, 1e4])):
        flat = np.outer(scale, scale)
        np.testing.assert_allclose(_solve(flat, scale * [1.0, 1.0]) * scale, [0.5, 0.5])
        np.testing.assert_allclose(_solve(flat, scale * [1.0, 0.0]) * scale, [0.25, 0.25])
        np.testing.assert_allclose(_solve(flat, scale * [1.0, -1.0]) * scale, 0.0, atol=1e-12)
    np.testing.assert_allclose(_solve(np.diag([4.0, 0.0]), np.array([2.0, 3.0])), [0.5, 0.0])
    assert _solve(np.zeros((2, 2)), np.array([2.0, 3.0])).tolist() == [0.0, 0.0]
    clear = np.array([[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(
        _solve(clear, np.array([1.0, 2.0])), np.linalg.solve(clear, [1.0, 2.0])
    )
    # Of curvatures a million million times apart both are kept.
    np.testing.assert_allclose(
        _solve(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-11]]), np.array([1.0, 1.0])),
        [1.0, 0.0],
        atol=1e-3,
    )
    assert _solve(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


def test_halving_ends_on_both_sides_of_what_is_sought():
    sought = np.array([0.1, 0.75, 2.0])
    low, high = bisected(lambda x: x < sought, np.zeros(3), np.ones(3), 40)
    assert (np.abs(low[:2] - sought[:2]) < 1e-11).all()
    assert (low[:2] < sought[:2]).all()
    assert (high[:2] >= sought[:2]).all()
    assert high[2] == 1.0
