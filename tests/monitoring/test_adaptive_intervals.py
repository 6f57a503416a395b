"""Intervals of a stream: forms of forecasts, rows one by one, labels that come late, saving."""

from datetime import date, datetime

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant.errors import InputError
from calibrant.metrics import weighted_interval_score
from calibrant.monitoring import AdaptiveIntervals, IntervalRun
from calibrant.testing.check import saved_copies

METHODS = ["pid", "aci", "aggregated", "tracking"]


def stream(n=1_400, seed=0):
    """(mean, std, y) with errors of twice the std from row 700 on, and a skew."""
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    error = rng.gamma(4.0, 0.5, n) - 2.0
    return mean, std, mean + np.where(np.arange(n) < 700, 1.0, 2.0) * std * error


def ends(found):
    return np.column_stack([found.lower, found.upper])


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_coverage_keeps_its_level_when_the_spread_doubles(method, symmetric):
    mean, std, y = stream()
    adaptive = AdaptiveIntervals(method=method, symmetric=symmetric)
    found = adaptive.fit((mean[:200], std[:200]), y[:200]).run((mean[200:], std[200:]), y[200:])
    assert isinstance(found, IntervalRun)
    assert abs(found.coverage - 0.9) < 0.025
    assert found.coverage == np.mean((found.lower <= y[200:]) & (y[200:] <= found.upper))
    promise = adaptive.guarantee()
    if method == "aggregated":
        assert promise is None
    else:
        assert promise.guarantee == "long run"
        assert promise.n == 1_200
        assert promise.least <= found.coverage
        assert (promise.most is None) == (not symmetric)
        assert adaptive.guarantee(10_000).least > promise.least


def test_independent_rows_lose_little_width():
    width = {True: [], False: []}
    for seed in range(3):
        y = np.random.default_rng(seed).normal(size=1_800)
        adaptive = AdaptiveIntervals().fit(np.zeros(300), y[:300])
        found = adaptive.run(np.zeros(1_500), y[300:])
        width[True].append(found.interval_score)
        best = 2.0 * stats.norm.ppf(0.95)
        beyond = np.maximum(np.abs(y[300:]) - 0.5 * best, 0.0)
        width[False].append(float(np.mean(best + 20.0 * beyond)))
        assert abs(found.coverage - 0.9) < 0.02
    # The oracle knows the quantiles.
    assert np.mean(width[True]) < 1.03 * np.mean(width[False])


def test_the_interval_score_is_the_library_s():
    mean, std, y = stream(600)
    found = (
        AdaptiveIntervals()
        .fit((mean[:200], std[:200]), y[:200])
        .run((mean[200:], std[200:]), y[200:])
    )
    low, high, truth = found.lower, found.upper, y[200:]
    middle = 0.5 * (low + high)
    forecast = cb.QuantileForecast([0.05, 0.5, 0.95], np.column_stack([low, middle, high]))
    whole = weighted_interval_score(truth, forecast, levels=(0.9,)) * 1.5
    own = 0.05 * found.interval_score + 0.5 * np.mean(np.abs(truth - middle))
    assert own == pytest.approx(whole)
    assert found.mean_width == pytest.approx(np.mean(high - low))


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("method", METHODS)
def test_rows_one_by_one_equal_a_run(method, delay):
    mean, std, y = stream(300)
    fitted = AdaptiveIntervals(method=method, delay=delay)
    fitted.fit((mean[:100], std[:100]), y[:100])
    (_, other), _ = saved_copies(fitted)
    run = fitted.run((mean[100:], std[100:]), y[100:])
    found = []
    for t in range(100, 300 + delay):
        if t < 300:
            found.append(other.predict_one((mean[t], std[t])))
        if t >= 100 + delay:
            past = t - delay
            other.learn_one((mean[past], std[past]), y[past])
    assert np.array_equal(found, ends(run))
    assert other.n_ == fitted.n_ == 200
    assert other.guarantee() == fitted.guarantee()
    assert fitted.limits_.delay == delay


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_stream_goes_on_with_the_same_bits(method):
    mean, _, y = stream(400)
    fitted = AdaptiveIntervals(method=method).fit(mean[:100], y[:100])
    fitted.run(mean[100:200], y[100:200])
    for t in (200, 201):
        fitted.predict_one(mean[t], key=t)
    copies = [copy for _, copy in saved_copies(fitted)]
    for each in (fitted, *copies):
        for t in (201, 200):
            each.learn_one(mean[t], y[t], key=t)
    first = ends(fitted.run(mean[202:], y[202:]))
    for copy in copies:
        assert np.array_equal(ends(copy.run(mean[202:], y[202:])), first)
        assert copy.explain() == fitted.explain()


def test_late_labels_meet_the_interval_that_was_predicted():
    adaptive = AdaptiveIntervals(method="aci", symmetric=True, rate=0.5)
    adaptive.fit(np.zeros(20), np.arange(1.0, 21.0))
    assert adaptive.predict_one(0.0, key="monday") == (-19.0, 19.0)
    adaptive.learn_one(0.0, 100.0)  # another row, missed: the next interval is without end
    assert adaptive.predict_one(0.0, key="tuesday") == (-np.inf, np.inf)
    adaptive.learn_one(0.0, 50.0, key="tuesday")
    before = adaptive.limits_.control[0]
    adaptive.learn_one(0.0, 50.0, key="monday")
    assert adaptive.limits_.control[0] == pytest.approx(before + 0.5 * (0.1 - 1.0))
    assert adaptive.limits_.pending == {}


def test_forecasts_of_every_kind():
    mean, std, y = stream(500)
    normal = cb.NormalForecast(mean, std)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    quantiles = cb.QuantileForecast(levels, normal.quantile(levels))
    kinds = {
        "absolute": mean,
        "scaled": (mean, std),
        "distributional": quantiles,
    }
    for score, forecast in kinds.items():
        part = [
            type(forecast)(a[rows] for a in forecast)
            if isinstance(forecast, tuple)
            else forecast.take(rows)
            if hasattr(forecast, "take") and not isinstance(forecast, np.ndarray)
            else forecast[rows]
            for rows in (slice(0, 200), slice(200, 500))
        ]
        adaptive = AdaptiveIntervals().fit(part[0], y[:200])
        assert adaptive.score_ == score
        found = adaptive.run(part[1], y[200:])
        assert abs(found.coverage - 0.9) < 0.04
    low, high = adaptive.predict_one(quantiles.take(slice(3, 4)))
    assert low < mean[3] < high
    named = AdaptiveIntervals().fit(mean[:200], y[:200], std=std[:200])
    assert named.score_ == "scaled"


def test_infinite_and_empty_intervals_are_counted():
    y = np.concatenate([np.tile([-1.0, 1.0], 20), np.full(60, 1e3), np.zeros(300)])
    adaptive = AdaptiveIntervals(method="aci", symmetric=True, rate=0.3)
    found = adaptive.fit(np.zeros(40), y[:40]).run(np.zeros(360), y[40:])
    limits = np.isinf(found.upper)
    assert found.infinite == limits.mean() > 0.0
    assert found.interval_score == np.inf
    assert np.isfinite(found.mean_width)
    # An empty interval is one point, which even an outcome at that point misses.
    empty = (found.lower == found.upper) & ~found.covered
    assert found.empty == empty.mean() > 0.0
    assert "infinite" in str(found)
    bounded = AdaptiveIntervals(method="aci", symmetric=True, rate=0.3, bounds=(-2e3, 2e3)).fit(
        np.zeros(40), y[:40]
    )
    again = bounded.run(np.zeros(360), y[40:])
    assert again.infinite == found.infinite
    assert np.isfinite(again.interval_score)
    assert again.upper.max() == 2e3


def test_results_are_plain_values():
    mean, _, y = stream(300)
    found = AdaptiveIntervals().fit(mean[:100], y[:100]).run(mean[100:], y[100:])
    said = found.to_dict()
    assert said["coverage"] == found.coverage
    assert len(said["lower"]) == 200
    assert found.worst_window == found.coverage  # 200 rows are one window
    assert f"coverage {100 * found.coverage:.1f} %" in str(found)


def test_explanations():
    mean, _, y = stream(300)
    adaptive = AdaptiveIntervals().fit(mean[:100], y[:100])
    assert "before the first row" in adaptive.explain()
    adaptive.run(mean[100:], y[100:])
    assert "labels are learned after at most 0 later ones" in adaptive.explain()
    aggregated = AdaptiveIntervals(method="aggregated").fit(mean[:100], y[:100])
    assert "no coverage is promised" in aggregated.explain()
    assert aggregated.regret_ > 0.0


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda a: AdaptiveIntervals(score="scaled").fit(np.zeros(20), np.ones(20)), "means alone"),
        (lambda a: AdaptiveIntervals().fit(np.zeros((20, 2)), np.ones((20, 2))), "one output"),
        (lambda a: AdaptiveIntervals(bounds=(0, 1)).fit(np.zeros(20), 2 * np.ones(20)), "bounds"),
        (lambda a: a.predict_one(0.0), "standard deviations"),
        (lambda a: a.predict_one(([0.0, 1.0], [1.0, 1.0])), "one"),
        (lambda a: a.run(([0.0], [1.0]), [np.nan]), "y"),
        (lambda a: AdaptiveIntervals(delay=-1).fit(np.zeros(20), np.ones(20)), "delay"),
    ],
)
def test_input_is_checked(use, words):
    mean, std, y = stream(50)
    with pytest.raises(InputError, match=words):
        use(AdaptiveIntervals().fit((mean, std), y))
    with pytest.raises(NotFittedError):
        AdaptiveIntervals().predict_one(0.0)


def test_times_are_keys_that_can_be_saved(tmp_path):
    mean, _, y = stream(60)
    adaptive = AdaptiveIntervals().fit(mean[:50], y[:50])
    times = [
        datetime(2026, 1, 1),
        np.datetime64("2026-01-02"),
        ("shop", date(2026, 1, 3)),
        np.int64(4),
    ]
    for t, key in enumerate(times, 50):
        adaptive.predict_one(mean[t], key=key)
    again = cb.load(adaptive.save(tmp_path / "intervals.calibrant"))
    for t, key in reversed(list(enumerate(times, 50))):
        again.learn_one(mean[t], y[t], key=key)
    assert not again.limits_.pending
    assert again.limits_.delay == 3
    for wrong in (["a"], {"a"}, ("a", [1])):
        with pytest.raises(InputError, match="key must be"):
            adaptive.predict_one(0.0, key=wrong)


def test_missing_outcomes_are_refused():
    mean, _, y = stream(60)
    with pytest.raises(InputError, match="y must be the outcomes"):
        AdaptiveIntervals().fit(mean, None)
    with pytest.raises(InputError, match="y must be the outcomes"):
        AdaptiveIntervals().fit(mean, y).learn_one(0.0, None)
