"""Both criteria of error bars: the rank correlation, and the sentence on std that tell nothing."""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.regression import ForecastIdentity, IntervalCalibration, IsotonicVariance


def rows(seed=0, n=1500):
    """The paper's synthetic problem: y ~ N(x, x^2), and std drawn at random."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 1.0, n)
    return x, rng.normal(x, x), rng.uniform(1.0, 10.0, n)


def criteria(y, mean, std, calibrator=None, **options):
    found = cb.report(
        y, mean, std, calibrator=calibrator or ForecastIdentity(), n_resamples=100, **options
    )
    return found, found.to_dict()["outputs"][0]["criteria"]


def test_the_rank_correlation_is_scipys_with_ties_and_weights_as_repetition():
    x, y, std = rows(n=300)
    std = std.round()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    own = criteria(y, x, std)[1]["before"]["correlation"]
    assert own["value"] == pytest.approx(stats.spearmanr(std, abs(y - x)).statistic)
    weighted = criteria(y, x, std, sample_weight=weight)[1]["before"]["correlation"]
    repeated = [np.repeat(values, weight) for values in (y, x, std)]
    other = criteria(*repeated)[1]["before"]["correlation"]
    assert weighted["value"] == pytest.approx(other["value"])
    assert weighted["low"] == pytest.approx(other["low"])


def test_its_interval_covers_and_its_expected_value_is_that_of_new_outcomes():
    held, expected = 0, stats.spearmanr(*_true_world(10**5, 99)).statistic
    for seed in range(60):
        rng = np.random.default_rng(seed)
        std = np.exp(0.5 * rng.standard_normal(300))
        found = criteria(std * rng.standard_normal(300), np.zeros(300), std, n_bins=5)[1]["before"]
        held += found["correlation"]["low"] <= expected <= found["correlation"]["high"]
        assert found["expected"] == pytest.approx(expected, abs=0.06)
    assert held >= 52  # of 60 intervals of 95 %: fewer once in 2,000 times


def _true_world(n, seed):
    rng = np.random.default_rng(seed)
    std = np.exp(0.5 * rng.standard_normal(n))
    return std, abs(std * rng.standard_normal(n))


def test_clusters_widen_the_interval():
    x, y, std = rows(n=200)
    four = [np.repeat(values, 4) for values in (y, x, std)]
    alone = criteria(y, x, std)[1]["before"]["correlation"]
    found = criteria(*four, cluster=np.repeat(np.arange(200), 4))[1]["before"]["correlation"]
    assert found["high"] - found["low"] == pytest.approx(alone["high"] - alone["low"], rel=0.1)


def test_random_std_behind_intervals_that_pass_are_named():
    x, y, std = rows()
    found, judged = criteria(y, x, std, IntervalCalibration())
    assert judged["before"]["passes"] == {"interval": False, "std": False}
    assert judged["after"]["passes"] == {"interval": True, "std": False}
    assert not judged["before"]["flawed"]
    assert judged["after"]["flawed"]
    caution = next(c for c in found.to_dict()["cautions"] if c.startswith("After calibration"))
    assert judged["after"]["sentence"] in caution
    lean = criteria(y, x, std, IntervalCalibration(), page=False)[0]
    assert caution in lean.to_dict()["cautions"]
    page = found.to_html()
    assert (
        "Interval calibration mends the interval criterion and does not mend the std criterion"
        in page
    )
    smallest, largest = (judged["after"][end] for end in ("smallest", "largest"))
    assert smallest["coverage"] < 0.7 < 0.95 < largest["coverage"]
    assert f"{100 * smallest['coverage']:.1f} % of the outcomes in the 150 rows" in page


def test_isotonic_variance_mends_the_std_criterion():
    x, y, std = rows()
    found, judged = criteria(y, x, std, IsotonicVariance())
    assert judged["after"]["passes"]["std"]
    assert not judged["after"]["flawed"]
    assert "mends the std criterion" in found.to_html()


def test_the_same_std_for_all_rows_has_no_correlation():
    x, y, _ = rows()
    found, judged = criteria(y, x, np.ones(len(y)))
    assert "correlation" not in judged["before"]
    assert "they cannot tell large errors from small" in found.to_html()


def test_a_forecast_without_std_of_its_own_and_several_outputs():
    x, y, std = rows(n=400)
    quantiles = cb.QuantileForecast(
        np.linspace(0.1, 0.9, 9),
        x[:, None] + 0.1 * std[:, None] * stats.norm.ppf(np.linspace(0.1, 0.9, 9)),
    )
    assert criteria(y, quantiles, None)[1]["before"]["expected"] > 0.3
    pair = [np.column_stack([values, values]) for values in (y, x, std)]
    found = cb.report(*pair, calibrator=IntervalCalibration(), n_resamples=100).to_dict()
    assert len(found["outputs"]) == 2
    assert sum("After calibration" in caution for caution in found["cautions"]) == 2
