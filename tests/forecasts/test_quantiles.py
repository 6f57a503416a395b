"""Quantiles at levels as a distribution: what their tails are."""

import numpy as np
import pytest

from calibrant import QuantileForecast, metrics
from calibrant.errors import InputError
from calibrant.forecasts.quantiles import LEAST_TAIL


def test_tails_of_a_normal_are_its_own():
    levels = np.array([0.05, 0.3, 0.95])
    z = np.array([-1.6448536269514729, -0.5244005127080409, 1.6448536269514722])
    forecast = QuantileForecast(levels, [2.0 + 3.0 * z])
    assert forecast.quantile(0.999)[0] == pytest.approx(2.0 + 3.0 * 3.090232306167813)
    assert forecast.mean[0] == pytest.approx(2.0)
    assert forecast.std[0] == pytest.approx(3.0)


def test_quantiles_that_nearly_touch_leave_a_tail():
    """A lower tail of slope 0.001 gave an outcome one unit below the first quantile a log density of -300,000."""
    forecast = QuantileForecast([0.1, 0.5, 0.9], [[-0.001, 0.0, 2.0]])
    whole = 2.001 / (2 * 1.2815515655446004)
    beyond = (forecast.quantile(0.1) - forecast.quantile(0.01))[0]
    assert beyond == pytest.approx(LEAST_TAIL * whole * (2.3263478740408408 - 1.2815515655446004))
    assert -8.0 < forecast.log_density(np.array([-1.0]))[0] < 0.0


def test_noisy_quantiles_score_not_far_from_exact_ones():
    rng = np.random.default_rng(0)
    y, exact = rng.normal(size=4000), np.tile(np.array([-1.6448536, -0.6744898, 0.0, 0.6744898, 1.6448536]), (4000, 1))
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    said = [metrics.negative_log_likelihood(y, QuantileForecast(levels, exact + s * rng.normal(size=exact.shape))) for s in (0.0, 0.3)]
    assert said[0] < said[1] < said[0] + 0.4


def test_levels_and_values_must_fit():
    with pytest.raises(InputError, match="levels has"):
        QuantileForecast([0.1, 0.9], [[0.0, 1.0, 2.0]])
