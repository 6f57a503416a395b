"""Forecasts that are watched: how often the alarm is false on laws that do not flatter it, and
how soon it is right.
"""

import numpy as np
import pytest
from benchmarks.monitoring import LEVELS, RIGHT, counts, many_zeros, samples
from scipy import stats

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring.claims import PitClaim


def normal(rng, n):
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return cb.NormalForecast(mean, std), mean + std * rng.normal(size=n)


LAWS = (normal, *RIGHT.values())


def share_of_alarms(law, n_streams, n_batches, rows, alpha):
    alarms = 0
    for seed in range(n_streams):
        rng, monitor = (
            np.random.default_rng(seed),
            cb.monitoring.CalibrationMonitor(target="forecast", alpha=alpha, tolerance=0.0),
        )
        for _ in range(n_batches):
            forecast, y = law(rng, rows)
            if monitor.update(forecast, y).alarm_:
                alarms += 1
                break
    return alarms / n_streams


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_false_alarms_over_a_whole_stream(law):
    """Looked at after each of 10 batches, at a level at which a monitor that is too eager would
    show.
    """
    share = share_of_alarms(law, 16, 10, 50, 0.5)
    assert share <= 0.5 + 3.0 * np.sqrt(0.25 / 16)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_false_alarms_over_a_long_stream(law):
    share = share_of_alarms(law, 200, 60, 50, 0.2)
    assert share <= 0.2 + 3.0 * np.sqrt(0.2 * 0.8 / 200)


def error_of(shift, factor):
    def law(rng, n):
        mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
        return cb.NormalForecast(mean, std), mean + std * (shift + factor * rng.normal(size=n))

    return law


@pytest.mark.parametrize(
    ("shift", "factor", "most"),
    [(0.5, 1.0, 6), (-0.3, 1.0, 12), (0.0, 1.5, 6), (0.0, 0.6, 6), (0.2, 1.25, 12)],
    ids=["bias", "bias down", "too narrow", "too wide", "both"],
)
def test_a_change_is_found_and_placed(shift, factor, most):
    """100 rows a batch, right for 10 batches: found within so many after it, and placed within
    one.
    """
    for seed in range(3):
        rng, monitor = (
            np.random.default_rng(seed),
            cb.monitoring.CalibrationMonitor(target="forecast"),
        )
        for t in range(10 + most):
            forecast, y = (error_of(0.0, 1.0) if t < 10 else error_of(shift, factor))(rng, 100)
            monitor.update(forecast, y, time=t)
        assert monitor.alarm_
        assert monitor.alarm_time_ >= 10
        assert 9 <= monitor.since() <= 12


@pytest.mark.parametrize("law", [counts, many_zeros, samples])
def test_ties_do_not_hide_a_bias(law):
    rng, monitor = np.random.default_rng(0), cb.monitoring.CalibrationMonitor(target="forecast")
    for _ in range(15):
        forecast, y = law(rng, 200)
        monitor.update(forecast, y + 3.0 * (rng.random(200) < 0.5))
    assert monitor.alarm_


def test_the_advice_says_what_the_error_bars_do():
    rng, monitor = np.random.default_rng(0), cb.monitoring.CalibrationMonitor(target="forecast")
    for t in range(12):
        forecast, y = (error_of(0.0, 1.0) if t < 6 else error_of(0.0, 2.0))(rng, 300)
        monitor.update(forecast, y, time=f"day {t}")
    advice = monitor.advice()
    assert (advice.decision, advice.since, advice.rows) == ("re-fit", "day 6", 1800.0)
    counted = np.sum(monitor.batches_[6:], axis=0)
    held = counted.diagonal()[1:-1].sum() / 1800.0
    assert f"95 % intervals hold {100.0 * held:.1f} % of the outcomes, and " in advice.reason
    assert "are below the median" in advice.reason
    assert held == pytest.approx(2.0 * stats.norm.cdf(stats.norm.ppf(0.975) / 2.0) - 1.0, abs=0.03)


def test_a_reference_is_the_claim():
    def watched(reference):
        rng, monitor = np.random.default_rng(1), cb.monitoring.CalibrationMonitor(target="forecast")
        if reference:
            monitor.fit(*error_of(0.3, 1.4)(rng, 4000))
        for _ in range(15):
            monitor.update(*error_of(0.3, 1.4)(rng, 200))
        return monitor

    assert watched(False).alarm_
    kept = watched(True)
    assert not kept.alarm_
    assert kept.threshold_ == 40.0
    rng = np.random.default_rng(2)
    for _ in range(15):
        kept.update(*error_of(0.0, 1.0)(rng, 200))
    assert kept.alarm_
    assert (
        "not that of the reference" in kept.advice().reason or "has changed" in kept.advice().reason
    )


def test_saved_in_the_middle_it_goes_on(tmp_path):
    rng = np.random.default_rng(0)
    batches = [many_zeros(rng, 80) for _ in range(6)]
    whole, half = (
        cb.monitoring.CalibrationMonitor(target="forecast"),
        cb.monitoring.CalibrationMonitor(target="forecast"),
    )
    for t, (forecast, y) in enumerate(batches):
        whole.update(forecast, y)
        if t < 3:
            half.update(forecast, y)
    again = cb.load(half.save(tmp_path / "m.calibrant"))
    for forecast, y in batches[3:]:
        again.update(forecast, y)
    assert again.path_ == whole.path_
    assert again.levels_.tolist() == LEVELS.tolist()


def test_the_curve_counts_coverage_and_gaps_between_levels():
    rng = np.random.default_rng(0)
    forecast, y = error_of(0.0, 1.5)(rng, 2000)
    curve = cb.monitoring.CalibrationMonitor(target="forecast").update(forecast, y).curve(level=0.9)
    low, high = forecast.interval(0.95)
    levels = np.array([0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975])
    below = (y[:, None] <= forecast.quantile(levels)).mean(axis=0)
    assert curve.confidence[0] == pytest.approx(0.95)
    assert curve.accuracy[0] == pytest.approx(np.mean((low <= y) & (y <= high)))
    assert curve.ece[0] == pytest.approx(np.abs(below - levels).mean())
    true = np.abs(stats.norm.cdf(stats.norm.ppf(levels) / 1.5) - levels).mean()
    assert curve.low[0] <= true <= curve.high[0]


def test_what_cannot_be_watched_is_said():
    with pytest.raises(InputError, match='target="forecast"'):
        cb.monitoring.CalibrationMonitor().update([0.5], [0.5], std=[1.0])
    with pytest.raises(InputError, match="predictions of classes"):
        cb.monitoring.CalibrationMonitor(target="forecast").update([0.5], [1])
    with pytest.raises(InputError, match="levels must be ascending"):
        cb.monitoring.CalibrationMonitor(target="forecast", levels=[0.9, 0.1]).update(
            [0.5], [0.5], std=[1.0]
        )
    with pytest.raises(InputError, match=r"sums must be \(8, 8\)"):
        cb.monitoring.CalibrationMonitor(target="forecast").update_sums(np.zeros((8, 3)))
    assert PitClaim(np.array([0.5])).rows(np.ones((2, 2))) == 4.0


CLAIM = PitClaim(np.array([0.1, 0.5, 0.9]))
COUNTS = np.diag([5.0, 20.0, 10.0, 15.0])


def test_what_is_stated_of_counts_by_hand():
    both = np.stack([COUNTS, 2.0 * COUNTS])
    np.testing.assert_allclose(CLAIM.stated(both), [[50.0, 40.0, 30.0], [100.0, 80.0, 60.0]])
    np.testing.assert_allclose(
        CLAIM.errors(both)[0], [[50.0, 5.0, 5.0], [50.0, 25.0, 25.0], [50.0, 45.0, 35.0]]
    )
    assert CLAIM.rows(COUNTS) == 50.0
    assert (
        CLAIM.words(COUNTS)
        == "80 % intervals hold 60.0 % of the outcomes, and 50.0 % are below the median"
    )
    uneven = PitClaim(np.array([0.2, 0.4, 0.8]))
    assert (
        uneven.words(COUNTS)
        == "60 % intervals hold 60.0 % of the outcomes, and 50.0 % are below the 0.4 quantile"
    )
    drawn = CLAIM.redrawn(100.0 * COUNTS, 40)
    assert drawn.shape == (40, 3, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), 100.0 * CLAIM.errors(COUNTS[None])[0], rtol=0.03)
    assert drawn[:, :, 2].std(axis=0).min() > 5.0


def test_a_claim_learned_of_counts_deals_out_ties():
    """Of rows that may be in either of two cells the stakes of a learned claim are the mean;
    else they pay what pays least.
    """
    ties = np.zeros((4, 4))
    ties[1, 2] = 8.0
    low, high = np.full(3, -0.01), np.full(3, 0.01)
    each = np.stack([CLAIM.log_factors(np.diag(row), low, high, True) for row in np.eye(4)], axis=1)
    np.testing.assert_allclose(
        CLAIM.log_factors(ties, low, high, True), 4.0 * (each[:, 1] + each[:, 2]), atol=1e-9
    )
    assert (
        CLAIM.log_factors(ties, low, high, False) <= 8.0 * np.maximum(each[:, 1], each[:, 2]) + 1e-9
    ).all()
    np.testing.assert_allclose(
        CLAIM.log_factors(COUNTS, low, high, False), each @ COUNTS.diagonal(), atol=1e-9
    )


@pytest.mark.parametrize(
    "sums",
    [
        -np.eye(4),
        np.full((4, 4), 1.0),
        np.full((4, 4), np.nan),
        np.diag([np.inf] * 4),
        np.eye(3),
        np.eye(5),
        np.zeros((4, 3)),
        np.eye(4, k=-1),
    ],
)
def test_counts_that_cannot_be(sums):
    with pytest.raises(
        InputError,
        match=(
            r"sums must be \(4, 4\), rows whose PIT is in cells a to b with a <= b between the 3"
            r" levels"
        ),
    ):
        CLAIM.checked(sums)


def test_counts_that_can_be():
    for sums in (np.zeros((4, 4)), COUNTS, np.triu(np.ones((4, 4)))):
        assert CLAIM.checked(sums) is sums
