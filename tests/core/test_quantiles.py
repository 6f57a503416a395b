"""Quantiles at levels as a distribution: what their tails are."""

import numpy as np
import pytest
from scipy import stats

from calibrant import QuantileForecast, metrics
from calibrant.core.quantile_forecast import LEAST_TAIL
from calibrant.errors import InputError
from calibrant.regression import SampleForecast


def test_tails_of_a_normal_are_its_own():
    levels = np.array([0.05, 0.3, 0.95])
    z = np.array([-1.6448536269514729, -0.5244005127080409, 1.6448536269514722])
    forecast = QuantileForecast(levels, [2.0 + 3.0 * z])
    assert forecast.quantile(0.999)[0] == pytest.approx(2.0 + 3.0 * 3.090232306167813)
    assert forecast.mean[0] == pytest.approx(2.0)
    assert forecast.std[0] == pytest.approx(3.0)


def test_quantiles_that_nearly_touch_leave_a_tail():
    """A lower tail of slope 0.001 gave an outcome one unit below the first quantile a log
    density of -300,000.
    """
    forecast = QuantileForecast([0.1, 0.5, 0.9], [[-0.001, 0.0, 2.0]])
    whole = 2.001 / (2 * 1.2815515655446004)
    beyond = (forecast.quantile(0.1) - forecast.quantile(0.01))[0]
    assert beyond == pytest.approx(LEAST_TAIL * whole * (2.3263478740408408 - 1.2815515655446004))
    assert -8.0 < forecast.log_density(np.array([-1.0]))[0] < 0.0


@pytest.mark.filterwarnings("ignore:in .* of the rows the quantiles cross")
def test_noisy_quantiles_score_not_far_from_exact_ones():
    rng = np.random.default_rng(0)
    y, exact = (
        rng.normal(size=4000),
        np.tile(np.array([-1.6448536, -0.6744898, 0.0, 0.6744898, 1.6448536]), (4000, 1)),
    )
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    said = [
        metrics.negative_log_likelihood(
            y, QuantileForecast(levels, exact + s * rng.normal(size=exact.shape))
        )
        for s in (0.0, 0.3)
    ]
    assert said[0] < said[1] < said[0] + 0.4


def test_levels_and_values_must_fit():
    with pytest.raises(InputError, match="levels has"):
        QuantileForecast([0.1, 0.9], [[0.0, 1.0, 2.0]])


TIES = {
    "at the top": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 5.0],
    "at the bottom": [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    "within": [-3.0, -2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0],
    "nearly": [-3.0, -2.0, 0.0, 1e-12, 2e-12, 3e-12, 1.0, 2.0, 3.0],
}


@pytest.mark.parametrize("ties", list(TIES))
def test_an_atom_does_not_decide_the_log_density_and_leaves_the_crps(ties):
    levels, values = np.linspace(0.1, 0.9, 9), np.array([TIES[ties]])
    forecast, atom = QuantileForecast(levels, values), 5.0 if ties == "at the top" else 0.0
    # Where there is an atom, the density of the line across it: near that of its neighbours, not
    # e^19.
    beside = [float(forecast.log_density([y])[0]) for y in (atom - 0.5, atom + 0.5)]
    assert abs(float(forecast.log_density([atom])[0]) - max(beside)) < 2.0
    apart = QuantileForecast(levels, values + 1e-2 * np.arange(9))
    assert metrics.continuous_ranked_probability_score([atom], forecast) == pytest.approx(
        metrics.continuous_ranked_probability_score([atom], apart), abs=0.05
    )


def test_tied_quantiles_by_hand():
    forecast = QuantileForecast([0.1, 0.25, 0.5, 0.75, 0.9], [[0.0, 1.0, 2.0, 2.0, 4.0]])
    z = stats.norm.ppf([0.25, 0.5, 0.75, 0.9])
    slope, score = (4.0 - 1.0) / (z[3] - z[0]), 0.5 * (z[1] + z[2])
    assert forecast.log_density([2.0])[0] == pytest.approx(
        stats.norm.logpdf(score) - np.log(slope), rel=1e-12
    )


def test_draws_of_counts_have_a_log_loss_like_theirs():
    rng = np.random.default_rng(0)
    draws, y = rng.poisson(3.0, (500, 100)).astype(float), rng.poisson(3.0, 500).astype(float)
    truth = -stats.poisson.logpmf(y, 3.0).mean()
    assert truth < metrics.negative_log_likelihood(y, SampleForecast(draws)) < truth + 0.7
