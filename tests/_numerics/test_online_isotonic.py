"""Sliding isotonic regression in cells: against isotonic regression of the rows themselves."""

import numpy as np
import pytest
from scipy.special import expit

from calibrant._numerics.online import CENTRES, Cells, begin_isotonic
from calibrant.calibrators import Isotonic

RATES = np.array([np.inf, 0.0, 0.01])


def test_forecast_is_linear_between_centres_and_constant_outside():
    value = CENTRES[None, :, None] / 20.0 + 0.5
    x = np.array([[0.0, 0.13, 3.3, -50.0, 50.0]])
    found = Cells(x, x).forecast(value)[0, 0]
    np.testing.assert_allclose(found, np.clip(x[0], CENTRES[0], CENTRES[-1]) / 20.0 + 0.5)


def test_fit_is_that_of_isotonic_regression_on_the_centres():
    rng, n = np.random.default_rng(0), 4_000
    x = CENTRES[rng.integers(12, 52, n)]
    y = (rng.random(n) < expit(x) ** 2).astype(float)
    state = begin_isotonic(expit(CENTRES), RATES)
    new, path, likelihood = Cells(x[None], y[None]).learnt(state)
    assert path.shape == (3, len(CENTRES), 1)
    np.testing.assert_allclose(
        likelihood, np.log(np.where(y > 0, expit(x), expit(-x)))[None] * np.ones((3, 1))
    )
    np.testing.assert_allclose(new["theta"][0], expit(CENTRES))
    direct = Isotonic(smooth_ends=False).fit(expit(x), y).predict(expit(CENTRES[12:52]))
    # Cells hold about 100 rows, beside a quarter of one.
    assert np.abs(new["theta"][1, 12:52] - direct).max() < 0.02
    assert (np.diff(new["theta"], axis=1) >= -1e-12).all()


def test_forgotten_rows_count_by_half_lives():
    state = begin_isotonic(expit(CENTRES), RATES)
    for _ in range(2):
        state = Cells(np.zeros((1, 100)), np.ones((1, 100))).learnt(state)[0]
    middle = len(CENTRES) // 2
    assert state["rows"][:, middle] == pytest.approx([0.0, 200.0, 75.0])
    assert state["hits"][:, middle] == pytest.approx([0.0, 200.0, 75.0])
    # Empty cells above count a quarter of a row each; the least mean is that of the pooled ones.
    above = np.cumsum(0.25 * expit(CENTRES[middle:]))
    means = (200.0 + above) / (200.0 + 0.25 * np.arange(1, len(above) + 1))
    assert state["theta"][1, middle] == pytest.approx(means.min())
