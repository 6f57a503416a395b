"""Newton under bounds: the minimum of quadratics, against its definition."""

import numpy as np
import pytest

from calibrant._kernels.newton import _solve, projected_newton


def quadratic(seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(5, 5))
    A, centre = root @ root.T + np.eye(5), rng.normal(size=5)
    return (lambda x: (0.5 * (x - centre) @ A @ (x - centre), A @ (x - centre), A)), centre


@pytest.mark.parametrize("loose", [False, True])
def test_free_minimum(loose):
    objective, centre = quadratic()
    x, status = projected_newton(
        objective, [np.zeros(5), np.ones(5)], np.zeros(5, dtype=bool), loose=loose
    )
    assert status == "converged"
    np.testing.assert_allclose(x, centre, atol=1e-9)


@pytest.mark.parametrize("loose", [False, True])
def test_what_is_held_at_its_bound_would_fall_below_it(loose):
    objective, _ = quadratic(1)
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
