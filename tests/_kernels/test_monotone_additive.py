"""The monotone logistic model with group levels, against a general optimiser and its optimality
conditions.
"""

import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.stacking import fit_monotone_additive


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    design = rng.normal(size=(250, 4))
    design[:, 3] = -design[:, 0]
    group = rng.integers(0, 5, 250)
    group[group == 3] = 4
    target = (
        rng.random(250) < sigmoid(design[:, 0] - 1.5 * design[:, 1] + 0.6 * group - 1.0)
    ).astype(float)
    return design, group, 5, target, rng.random(250) + 0.1


def _objective(theta, design, group, n_groups, target, weight, ridge, group_ridge):
    z = design @ theta[:4] + theta[4] + theta[5:][group]
    return (
        weight @ (np.logaddexp(0.0, z) - target * z)
        + 0.5 * ridge @ theta[:4] ** 2
        + 0.5 * group_ridge * theta[5:] @ theta[5:]
    )


def test_it_is_the_bounded_minimum(problem):
    ridge = np.array([0.5, 0.1, 0.1, 0.2])
    slopes, level, levels, status = fit_monotone_additive(*problem, ridge, 2.0)
    assert status == "converged"
    found = _objective(np.concatenate([slopes, [level], levels]), *problem, ridge, 2.0)
    bounds = [(0.0, None)] * 4 + [(None, None)] * 6
    general = minimize(
        _objective,
        np.zeros(10),
        (*problem, ridge, 2.0),
        method="L-BFGS-B",
        bounds=bounds,
        tol=1e-12,
    )
    assert found <= general.fun + 1e-9
    np.testing.assert_allclose(np.concatenate([slopes, [level], levels]), general.x, atol=2e-3)
    assert slopes[1] == slopes[3] == 0.0
    assert levels[3] == 0.0


def test_order_of_rows_and_repetition_do_not_matter(problem):
    design, group, n_groups, target, _ = problem
    weight = np.arange(250) % 3 + 1.0
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(250), weight.astype(int)))
    ridge = np.full(4, 0.3)
    weighted = fit_monotone_additive(design, group, n_groups, target, weight, ridge, 1.0)
    repeated = fit_monotone_additive(
        design[rows], group[rows], n_groups, target[rows], np.ones(len(rows)), ridge, 1.0
    )
    for a, b in zip(weighted[:3], repeated[:3], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)


def test_certain_rows_and_columns_of_nothing_end_finite():
    design = np.column_stack([np.zeros(20), np.linspace(-1e3, 1e3, 20), np.linspace(-1e3, 1e3, 20)])
    target = (design[:, 1] > 0).astype(float)
    slopes, level, levels, status = fit_monotone_additive(
        design, np.zeros(20, int), 2, target, np.ones(20), np.full(3, 0.01), 1.0
    )
    assert status == "converged"
    assert np.isfinite([*slopes, level, *levels]).all()
    assert slopes[0] == 0.0
