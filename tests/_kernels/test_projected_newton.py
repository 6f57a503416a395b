"""Newton under bounds: the minimum of quadratics, against its definition."""

import numpy as np
import pytest

from calibrant._kernels.projected_newton import projected_newton


def quadratic(seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(5, 5))
    A, centre = root @ root.T + np.eye(5), rng.normal(size=5)
    return (lambda x: (0.5 * (x - centre) @ A @ (x - centre), A @ (x - centre), A)), centre


@pytest.mark.parametrize("loose", [False, True])
def test_free_minimum(loose):
    objective, centre = quadratic()
    x, status = projected_newton(objective, [np.zeros(5), np.ones(5)], np.zeros(5, dtype=bool), loose=loose)
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
