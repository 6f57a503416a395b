"""Boosted mean and spread of forecasts: found where they are off, left alone where they are
right.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.regression.groups import ForecastMulticalibration


def problem(n, seed=0, strength=1.0):
    """(mean, std, outcomes, features, groups): bias where features act together, spread by a
    group of names.
    """
    rng = np.random.default_rng(seed)
    X, group = rng.normal(size=(n, 3)), rng.choice(np.array(["a", "b", None], dtype=object), n)
    mean, std = rng.normal(size=n), np.exp(0.3 * rng.normal(size=n))
    bias = strength * 0.8 * np.sign(X[:, 0] * X[:, 1])
    spread = np.exp(strength * 0.6 * (group == "b"))
    return mean, std, mean + std * (bias + spread * rng.normal(size=n)), X, group, bias, spread


def score(mean, std, y):
    return np.log(std) + 0.5 * ((y - mean) / std) ** 2


def test_it_finds_bias_and_spread():
    mean, std, y, X, group, bias, spread = problem(10_000)
    fit, rest = slice(0, 5000), slice(5000, None)
    cal = ForecastMulticalibration().fit(
        mean[fit], y[fit], std=std[fit], X=X[fit], groups=group[fit]
    )
    out = cal.predict(mean[rest], std[rest], X=X[rest], groups=group[rest])
    base = (
        cb.regression.DistributionRecalibration(shape=None)
        .fit(mean[fit], y[fit], std=std[fit])
        .predict(mean[rest], std[rest])
    )
    true = mean[rest] + std[rest] * bias[rest], std[rest] * spread[rest]
    losses = [
        score(*one, y[rest]).mean() for one in ((base.mean, base.std), (out.mean, out.std), true)
    ]
    assert losses[0] - losses[1] > 0.9 * (losses[0] - losses[2])
    for level in (None, "b"):
        rows = group[rest] == level if level else group[rest] != "b"
        low, high = out.interval(0.8)
        assert np.mean((low <= y[rest]) & (y[rest] <= high), where=rows) == pytest.approx(
            0.8, abs=0.03
        )
    assert next(iter(cal.trees_.importance)) in ("column 1", "column 2")
    assert "log score" in cal.explain()


def test_forecasts_that_are_right_are_left_alone():
    left = 0
    for seed in range(8):
        mean, std, y, X, group, *_ = problem(500, seed, strength=0.0)
        cal = ForecastMulticalibration(max_rounds=15).fit(mean, y, std=std, X=X, groups=group)
        if not cal.trees_.used:
            left += 1
            base = (
                cb.regression.DistributionRecalibration(shape=None)
                .fit(mean, y, std=std)
                .predict(mean, std)
            )
            np.testing.assert_array_equal(cal.predict(mean, std, X=X, groups=group).std, base.std)
            assert cal.status_ == "base: no evidence of miscalibration"
    assert left >= 6


def test_several_outputs_quantiles_and_a_saved_copy(tmp_path):
    mean, std, y, X, group, *_ = problem(1500, 2)
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    normal = cb.NormalForecast(mean, std)
    quantiles = cb.QuantileForecast(levels, normal.quantile(levels))
    cal = ForecastMulticalibration(max_rounds=15).fit(quantiles, y, X=X, groups=group)
    assert cal.trees_.used
    out = cal.predict(quantiles, X=X, groups=group)
    assert abs(np.corrcoef(out.mean - mean, y - mean)[0, 1]) > 0.4
    again = cb.load(cal.save(tmp_path / "forecast.calibrant")).predict(quantiles, X=X, groups=group)
    np.testing.assert_array_equal(again.quantile(levels), out.quantile(levels))
    two = ForecastMulticalibration(max_rounds=5).fit(
        np.column_stack([mean] * 2), np.column_stack([y, -y]), std=np.ones((1500, 2)), X=X
    )
    assert two.predict(np.zeros((4, 2)), np.ones((4, 2)), X=X[:4]).shape == (4, 2)
    assert cb.load(two.save(tmp_path / "two.calibrant")).n_outputs_ == 2
    assert len(two.explain().splitlines()) == 2


def test_weights_are_repetition_with_columns():
    mean, std, y, X, group, *_ = problem(600, 3)
    weight = np.random.default_rng(0).integers(0, 3, 600)
    options = {"max_rounds": 8, "learning_rate": 0.4}
    cal = ForecastMulticalibration(**options).fit(
        mean, y, std=std, X=X, groups=group, sample_weight=weight
    )
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(600), weight))
    again = ForecastMulticalibration(**options).fit(
        mean[rows], y[rows], std=std[rows], X=X[rows], groups=group[rows]
    )
    a, b = (c.predict(mean, std, X=X, groups=group) for c in (cal, again))
    assert cal.trees_.used
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-6)
    np.testing.assert_allclose(a.std, b.std, atol=1e-6)


def test_what_the_fit_was_given_is_asked_for():
    mean, std, y, X, _, *_ = problem(200)
    cal = ForecastMulticalibration().fit(mean, y, std=std, X=X)
    with pytest.raises(InputError, match="X must be given where it was in the fit"):
        cal.predict(mean, std)
    with pytest.raises(InputError, match="X must have 200 rows"):
        cal.predict(mean, std, X=X[:3])
    with pytest.raises(InputError, match="max_rounds must be a whole number"):
        ForecastMulticalibration(max_rounds=0).fit(mean, y, std=std)
    with pytest.raises(InputError, match="learning_rate must be above 0"):
        ForecastMulticalibration(learning_rate="fast").fit(mean, y, std=std)
    assert (cal.tags.uses_features, cal.tags.uses_groups) == (True, False)
    two = np.column_stack([mean, mean])
    cal.fit(two, np.column_stack([y, y]), std=np.ones_like(two), groups=X[:, 0] > 0.0)
    assert (cal.tags.uses_features, cal.tags.uses_groups) == (False, True)
    assert not cal.fit(mean, y, std=std).tags.uses_groups
