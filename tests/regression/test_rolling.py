"""Each step is the calibrator fitted on the past alone, judged on the next rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def _numbers(n=600, seed=0):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return mean, std, mean + 2.0 * std * rng.normal(size=n)


def test_a_step_is_fit_and_judge_by_hand():
    mean, std, y = _numbers()
    found = cb.monitoring.rolling_evaluation(cb.StdScaling(), mean, y, std=std, n_splits=2)
    fitted = cb.StdScaling().fit(mean[:200], y[:200], std=std[:200])
    crps, rows = metrics.continuous_ranked_probability_score, slice(200, 400)
    assert found.after[0] == crps(y[rows], fitted.predict(mean[rows], std[rows]))
    assert found.before[0] == crps(y[rows], mean[rows], std[rows])
    assert (found.n_fit.tolist(), found.n.tolist()) == ([200.0, 400.0], [200.0, 200.0])
    assert ((found.low <= found.after) & (found.after <= found.high)).all()


def test_quantiles_are_judged_too_and_shown_step_by_step():
    mean, std, y = _numbers(300)
    levels = [0.1, 0.5, 0.9]
    quantiles = cb.QuantileForecast(levels, cb.NormalForecast(mean, std).quantile(levels))
    found = cb.monitoring.rolling_evaluation(
        cb.regression.QuantileRecalibration(), quantiles, y, n_splits=2
    )
    crps = metrics.continuous_ranked_probability_score
    assert found.before[0] == pytest.approx(crps(y[100:200], quantiles.take(slice(100, 200))))
    head, first, _ = repr(found).splitlines()
    assert head.split("  ")[0] == "rows fitted"
    assert first.split()[:4] == ["100", "100", f"{found.before[0]:.4g}", f"{found.after[0]:.4g}"]


def test_classes_and_row_order():
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.normal(size=(600, 3))
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=p**0.4 / (p**0.4).sum()) for p in P])
    times, order = np.arange(600), rng.permutation(600)
    found = cb.monitoring.rolling_evaluation(cb.TemperatureScaling(), P, y, times=times, n_splits=3)
    assert (found.after < found.before).all()
    again = cb.monitoring.rolling_evaluation(
        cb.TemperatureScaling(), P[order], y[order], times=times[order], n_splits=3
    )
    np.testing.assert_allclose(again.after, found.after, rtol=1e-6)


def test_a_drift_shows_that_a_random_split_hides():
    mean, std, y = _numbers(1200)
    y = mean + (y - mean) * np.linspace(0.2, 4.0, 1200)
    found = cb.monitoring.rolling_evaluation(
        cb.StdScaling(), mean, y, std=std, metric=metrics.interval_coverage
    )
    assert (found.high[1:] < 0.9).all()
    order = np.random.default_rng(0).permutation(1200)
    shuffled = cb.monitoring.rolling_evaluation(
        cb.StdScaling(), mean[order], y[order], std=std[order], metric=metrics.interval_coverage
    )
    assert shuffled.after.min() > found.after.max()


def test_weights_of_zero_are_no_rows():
    mean, std, y = _numbers(90)
    weight = np.ones(90)
    weight[::3] = 0.0
    kept = weight > 0.0
    weighed = cb.monitoring.rolling_evaluation(
        cb.StdScaling(), mean, y, std=std, times=np.arange(90), sample_weight=weight, n_splits=2
    )
    plain = cb.monitoring.rolling_evaluation(
        cb.StdScaling(), mean[kept], y[kept], std=std[kept], n_splits=2
    )
    np.testing.assert_allclose(weighed.after, plain.after)


def test_what_cannot_be_is_refused():
    mean, std, y = _numbers(20)
    with pytest.raises(InputError, match="use fewer splits"):
        cb.monitoring.rolling_evaluation(
            cb.StdScaling(), mean, y, std=std, times=np.repeat([0, 1], 10)
        )
    with pytest.raises(InputError, match="of the calibrator's task"):
        cb.monitoring.rolling_evaluation(cb.StdScaling(), mean, y, std=std, metric=metrics.log_loss)
    with pytest.raises(InputError, match="n_splits"):
        cb.monitoring.rolling_evaluation(cb.StdScaling(), mean, y, std=std, n_splits=0)
    with pytest.raises(InputError, match="one entry for each of the 20 rows"):
        cb.monitoring.rolling_evaluation(cb.StdScaling(), mean, y, std=std, times=[1, 2])
