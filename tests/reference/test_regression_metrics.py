"""Regression metrics equal those of uncertainty-toolbox and scoringrules where the definitions
coincide, and formulas where not.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from calibrant import QuantileForecast, metrics
from calibrant.regression import SampleForecast

HERE = Path(__file__).parent
STORED = json.loads((HERE / "regression.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(20)
    mean, std = 3.0 * rng.normal(size=400), np.exp(0.5 * rng.normal(size=400))
    y = mean + 1.4 * std * rng.normal(size=400)
    return y, mean, std, mean[:, None] + std[:, None] * rng.normal(size=(400, 30))


def test_uncertainty_toolbox(problem):
    y, mean, std, _ = problem
    ours = {
        "nll": metrics.negative_log_likelihood(y, mean, std),
        "crps": metrics.continuous_ranked_probability_score(y, mean, std),
        "sharpness": metrics.sharpness(y, mean, std),
        "mace_interval": metrics.interval_calibration_error(y, mean, std),
        "mace_quantile": metrics.interval_calibration_error(y, mean, std, kind="quantile"),
        "check_score": metrics.pinball_loss(y, mean, std),
        "rmse": metrics.root_mean_squared_error(y, mean),
        "mae": metrics.mean_absolute_error(y, mean),
    }
    assert ours == pytest.approx(STORED["uncertainty-toolbox"], abs=1e-8)


def test_scoringrules(problem):
    y, mean, std, samples = problem
    ours = {
        "crps_normal": metrics.continuous_ranked_probability_score(y, mean, std),
        "crps_ensemble": metrics.continuous_ranked_probability_score(y, SampleForecast(samples)),
        "logs_normal": metrics.negative_log_likelihood(y, mean, std),
        "quantile_score": metrics.pinball_loss(y, mean, std, levels=(0.9,)),
    }
    assert ours == pytest.approx(STORED["scoringrules"], abs=1e-8)


def test_crps_by_levels_is_the_integral():
    levels = [0.05, 0.2, 0.5, 0.7, 0.95]
    forecast = QuantileForecast(levels, [[-1.0, 0.0, 0.5, 2.0, 4.0]])
    for y in (-2.0, 0.3, 9.0):
        parts = [
            integrate.quad(lambda u, y=y: (forecast.cdf([u])[0] - (u >= y)) ** 2, a, b, limit=200)[
                0
            ]
            for a, b in ((-20, y), (y, 30))
        ]
        assert metrics.continuous_ranked_probability_score([y], forecast) == pytest.approx(
            sum(parts), abs=1e-3 * forecast.std[0]
        )


def test_coverage_width_and_groups(problem):
    y, mean, std, _ = problem
    inside = np.abs(y - mean) <= stats.norm.ppf(0.9) * std
    assert metrics.interval_coverage(y, mean, std, level=0.8) == pytest.approx(inside.mean())
    assert metrics.interval_width(y, mean, std, level=0.8) == pytest.approx(
        2 * stats.norm.ppf(0.9) * std.mean()
    )
    groups = np.where(std > 1.0, "wide", "narrow")
    out = metrics.group_coverage(
        y, mean, std, groups=groups, level=0.8, sample_weight=np.arange(400.0) % 2
    )
    odd = np.arange(400) % 2 == 1
    assert out.coverage.tolist() == pytest.approx(
        [inside[odd & (groups == g)].mean() for g in ("narrow", "wide")]
    )
    assert ((out.low < out.coverage) & (out.coverage < out.high)).all()


def test_uce_and_qce_by_hand(problem):
    y, mean, std, _ = problem
    parts = np.array_split(np.argsort(std), 10)
    uce = np.mean([abs(np.mean((y - mean)[p] ** 2) - np.mean(std[p] ** 2)) for p in parts])
    assert metrics.uncertainty_calibration_error(y, mean, std) == pytest.approx(uce)
    z = (y - mean) / std
    qce = np.mean(
        [
            [abs(np.mean(z[p] <= stats.norm.ppf(q)) - q) for p in parts]
            for q in np.arange(1, 10) / 10
        ]
    )
    assert metrics.quantile_calibration_error(y, mean, std) == pytest.approx(qce)


def test_coefficient_of_variation(problem):
    y, mean, std, _ = problem
    assert metrics.coefficient_of_variation(y, mean, std) == pytest.approx(
        std.std(ddof=1) / std.mean(), rel=1e-12
    )


@pytest.mark.parametrize("method", ["ks", "cramer-von-mises", "chi-square"])
def test_pit_tests_hold_their_level(method):
    rng = np.random.default_rng(0)
    p = [
        metrics.pit_test(rng.normal(size=300), np.zeros(300), np.ones(300), method=method).p_value
        for _ in range(300)
    ]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.035)
    assert (
        metrics.pit_test(
            rng.normal(size=300), np.zeros(300), np.full(300, 2.0), method=method
        ).p_value
        < 1e-4
    )


def test_pit_histogram(problem):
    y, mean, std, _ = problem
    out = metrics.pit_histogram(y, mean, std, n_bins=10)
    np.testing.assert_array_equal(
        out.n, np.histogram(stats.norm.cdf((y - mean) / std), bins=10, range=(0, 1))[0]
    )
    assert out.density.mean() == pytest.approx(1.0)
    assert out.density[0] > out.high[0]
