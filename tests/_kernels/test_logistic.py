import numpy as np
import pytest
from scipy.optimize import approx_fprime

from calibrant._kernels.logistic import (
    fit_logistic,
    logistic_derivatives,
    sigmoid,
    smoothed_targets,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    design = np.column_stack([rng.normal(size=(300, 2)), np.ones(300)])
    return design, rng.random(300), rng.random(300) + 0.1


def test_derivatives_match_finite_differences(problem):
    theta = np.array([0.3, -0.7, 0.2])
    _, gradient, hessian = logistic_derivatives(theta, *problem)
    numeric = approx_fprime(theta, lambda t: logistic_derivatives(t, *problem)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)
    numeric = approx_fprime(theta, lambda t: logistic_derivatives(t, *problem)[1], 1e-7)
    np.testing.assert_allclose(hessian, numeric, rtol=1e-4, atol=1e-4)


def test_gradient_vanishes_at_the_fit(problem):
    ridge = np.array([1.0, 0.0, 0.0])
    theta, status = fit_logistic(*problem, [np.zeros(3)], ridge=ridge)
    assert status == "converged"
    np.testing.assert_allclose(
        logistic_derivatives(theta, *problem)[1] + ridge * theta, 0, atol=1e-8
    )


def test_bounds_hold_with_the_right_multipliers(problem):
    design, target, weight = problem
    target = sigmoid(-2 * design[:, 0] + design[:, 1])
    theta, status = fit_logistic(
        design, target, weight, [np.ones(3)], nonnegative=np.array([True, True, False])
    )
    gradient = logistic_derivatives(theta, design, target, weight)[1]
    assert status == "converged"
    assert theta[0] == 0.0
    assert gradient[0] > 0
    np.testing.assert_allclose(gradient[1:], 0, atol=1e-7)


def test_blocks_do_not_change_the_sums(monkeypatch, problem):
    whole = logistic_derivatives(np.ones(3), *problem)
    monkeypatch.setattr("calibrant._kernels.logistic.BLOCK_ROWS", 7)
    for a, b in zip(whole, logistic_derivatives(np.ones(3), *problem), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_sigmoid_is_finite_and_inside():
    z = np.array([-1e308, -800, 0, 800, 1e308])
    p = sigmoid(z)
    assert ((p > 0) & (p < 1)).all()
    assert p[2] == 0.5


def test_platts_targets_are_drawn_in_by_the_weight_of_their_side():
    found = smoothed_targets(np.array([1.0, 0.0, 0.0, 1.0]), np.array([2.0, 3.0, 4.0, 0.5]))
    assert found.tolist() == [3.5 / 4.5, 1.0 / 9.0, 1.0 / 9.0, 3.5 / 4.5]
