"""The alarm: how often it is false, how soon it is right, and what it refuses."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

#: Middles of ten bins, and the shares of rows in them.
SCORES = np.linspace(0.05, 0.95, 10)
SHARES = SCORES**2 / (SCORES**2).sum()


def batch(rng, rates, rows=100):
    """(10, 3) sums of one batch of rows at the scores of the bins, right at these rates."""
    n = rng.multinomial(rows, SHARES)
    return np.stack([n, n * SCORES, rng.binomial(n, rates)], axis=1).astype(float)


def alarm_at(rates, n_batches, seed, *, rows=100, reference=None, **options):
    """Number of the batch at which the alarm goes off, or None; ``rates(t)`` of batch t."""
    rng = np.random.default_rng(seed)
    monitor = cb.monitoring.CalibrationMonitor(**options)
    if reference is not None:
        monitor.fit_sums(batch(rng, reference, 5000))
    for t in range(n_batches):
        if monitor.update_sums(batch(rng, rates(t), rows)).alarm_:
            return t
    return None


def share_of_alarms(rates, n_streams, n_batches, **options):
    return np.mean(
        [alarm_at(rates, n_batches, seed, **options) is not None for seed in range(n_streams)]
    )


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_false_alarms_of_a_calibrated_stream(tolerance):
    """Looked at after each of 25 batches; at the edge of the tolerance too."""
    rates = np.clip(SCORES + tolerance, 0.0, 1.0)
    share = share_of_alarms(lambda t: rates, 150, 25, alpha=0.2, tolerance=tolerance)
    # Three standard errors of a share of 0.2 in 150 streams.
    assert share <= 0.2 + 3.0 * np.sqrt(0.2 * 0.8 / 150)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "options"),
    [(SCORES, {"tolerance": 0.0}), (np.clip(SCORES - 0.02, 0.0, 1.0), {"tolerance": 0.02})],
)
def test_false_alarms_over_a_long_time(rates, options):
    """500 streams of 100 batches, all levels from the same ones; at the edge of the tolerance
    too.
    """
    peaks = []
    for seed in range(500):
        rng, monitor = (
            np.random.default_rng(seed),
            cb.monitoring.CalibrationMonitor(alpha=1e-300, **options),
        )
        for _ in range(100):
            monitor.update_sums(batch(rng, rates))
        peaks.append(max(monitor.path_))
    for alpha in (0.01, 0.05, 0.2, 0.5):
        share = np.mean(np.array(peaks) >= -np.log(alpha))
        assert share <= alpha + 3.0 * np.sqrt(alpha * (1.0 - alpha) / 500)
    # Not so careful that it could never be false.
    assert options["tolerance"] > 0.0 or np.mean(np.array(peaks) >= np.log(2.0)) > 0.05


@pytest.mark.slow
def test_false_alarms_against_a_reference():
    share = share_of_alarms(
        lambda t: SCORES**1.3, 300, 100, alpha=0.2, tolerance=0.0, reference=SCORES**1.3
    )
    assert share <= 0.2 + 3.0 * np.sqrt(0.2 * 0.8 / 300)


@pytest.mark.slow
def test_power_against_drift():
    """Share found, and batches waited, for changes of size and shape after 50 good batches of
    100 rows.
    """
    later = {
        "5 points lower": np.clip(SCORES - 0.05, 0.0, 1.0),
        "10 points lower": np.clip(SCORES - 0.1, 0.0, 1.0),
        "too sharp by a half": 1.0 / (1.0 + ((1.0 - SCORES) / SCORES) ** (1.0 / 1.5)),
    }
    most = {"5 points lower": 40, "10 points lower": 12, "too sharp by a half": 25}
    for name, rates in later.items():
        found = [
            alarm_at(lambda t, r=rates: SCORES if t < 50 else r, 150, seed, tolerance=0.0)
            for seed in range(100)
        ]
        in_time = [t for t in found if t is not None and t >= 50]
        assert len(in_time) >= 90, name
        assert np.median(in_time) - 49 <= most[name], name


def test_a_change_is_found_soon_however_long_all_was_well():
    waited = [
        alarm_at(
            lambda t, start=start: SCORES if t < start else np.clip(SCORES - 0.15, 0.0, 1.0),
            start + 20,
            seed=start,
        )
        - start
        for start in (0, 20, 200)
    ]
    assert all(0 <= w <= 10 for w in waited), waited


def test_both_directions_and_shapes_are_seen():
    for rates in (
        np.minimum(SCORES + 0.05, 1.0),
        SCORES - 0.05,
        SCORES**2,
        0.5 + 0.5 * (SCORES - 0.5),
    ):
        assert alarm_at(lambda t, r=rates: r, 20, seed=1, rows=400) is not None


def test_a_reference_makes_its_own_gaps_the_claim():
    off = SCORES**2
    assert alarm_at(lambda t: off, 25, seed=0, rows=400) is not None
    assert alarm_at(lambda t: off, 25, seed=0, rows=400, reference=off) is None
    assert (
        alarm_at(lambda t: off if t < 10 else SCORES, 25, seed=0, rows=400, reference=off)
        is not None
    )
    # Bins without rows in the reference claim nothing.
    monitor = cb.monitoring.CalibrationMonitor().fit_sums(
        np.array([[100.0, 90.0, 90.0], [0.0, 0.0, 0.0]])
    )
    assert not monitor.update_sums(np.array([[0.0, 0.0, 0.0], [500.0, 450.0, 5.0]])).alarm_
    assert monitor.threshold_ == 2.0 / 0.05


def test_arrays_and_sums_of_their_bins_are_one():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300)
    whole = cb.monitoring.CalibrationMonitor().update(P, y, time="Monday")
    halves = [
        cb.monitoring.CalibrationMonitor().update(P[rows], y[rows]).batches_[0]
        for rows in (slice(0, 100), slice(100, None))
    ]
    joined = cb.monitoring.CalibrationMonitor().update_sums(halves[0] + halves[1])
    assert joined.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-12)
    assert whole.times_ == ["Monday"]
    assert (whole.n_, joined.times_) == (300.0, [0])


def test_the_confidence_of_one_class_and_logits():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=400)
    y = (rng.uniform(size=400) < p).astype(int)
    positive = cb.monitoring.CalibrationMonitor(target="event").update(p, y)
    assert (
        cb.monitoring.CalibrationMonitor(target=1).update(p, y).log_evidence_
        == positive.log_evidence_
    )
    logits = np.column_stack([np.zeros(400), np.log(p / (1.0 - p))])
    assert cb.monitoring.CalibrationMonitor(target="event", inputs="logit").update(
        logits, y
    ).log_evidence_ == pytest.approx(positive.log_evidence_, rel=1e-6)


def test_saved_in_the_middle_it_goes_on_as_if_nothing_had_been(tmp_path):
    rng = np.random.default_rng(0)
    parts = [batch(rng, SCORES**1.5) for _ in range(6)]
    whole, first = cb.monitoring.CalibrationMonitor(), cb.monitoring.CalibrationMonitor()
    for t, sums in enumerate(parts):
        whole.update_sums(sums, time=f"day {t}")
        if t < 3:
            first.update_sums(sums, time=f"day {t}")
    second = cb.load(first.save(tmp_path / "m.calibrant"))
    for t, sums in enumerate(parts[3:], start=3):
        second.update_sums(sums, time=f"day {t}")
    assert second.path_ == whole.path_
    assert (second.alarm_time_, second.times_) == (whole.alarm_time_, whole.times_)


def test_the_alarm_stays_on_and_the_numbers_agree():
    rng = np.random.default_rng(0)
    monitor = cb.monitoring.CalibrationMonitor(alpha=0.01)
    for t in range(30):
        monitor.update_sums(batch(rng, np.clip(SCORES - 0.3, 0.0, 1.0) if t < 3 else SCORES))
    assert monitor.alarm_
    assert monitor.alarm_time_ <= 2
    assert monitor.p_value_ == pytest.approx(np.exp(-max(monitor.path_)))
    assert monitor.evidence_ == pytest.approx(np.exp(monitor.log_evidence_))
    curve = monitor.curve()
    assert curve.alarm.tolist() == [t >= monitor.alarm_time_ for t in range(30)]


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"alpha": 1.5},
        {"alpha": -0.1},
        {"alpha": 1},
        {"tolerance": 1.0},
        {"tolerance": 1.5},
        {"tolerance": -1e-9},
        {"tolerance": "0"},
    ],
)
def test_options_beyond_the_edge_are_refused(options):
    (name,) = options
    with pytest.raises(InputError, match=f"{name} must be"):
        cb.monitoring.CalibrationMonitor(**options).update_sums([[10.0, 5.0, 4.0]])


def test_options_at_the_edge_are_taken():
    for options in (
        {"alpha": 1e-12},
        {"alpha": 1.0 - 1e-12},
        {"tolerance": 0},
        {"tolerance": 0.999},
    ):
        monitor = cb.monitoring.CalibrationMonitor(**options).update_sums([[10.0, 5.0, 4.0]])
        assert (monitor.n_, len(monitor.path_), monitor.alarm_time_) == (10.0, 1, None)
        assert monitor.threshold_ == pytest.approx(1.0 / options.get("alpha", 0.05))
        assert not monitor.reference_


def test_what_cannot_be_used_is_refused():
    with pytest.raises(InputError, match="alpha must be"):
        cb.monitoring.CalibrationMonitor(alpha=5.0).update([0.5], [1])
    with pytest.raises(InputError, match="tolerance must be"):
        cb.monitoring.CalibrationMonitor(tolerance=-0.1).update([0.5], [1])
    with pytest.raises(InputError, match="n_bins must be"):
        cb.monitoring.CalibrationMonitor(n_bins=0).update([0.5], [1])
    with pytest.raises(InputError, match="sums must be"):
        cb.monitoring.CalibrationMonitor().update_sums([[10.0, 5.0, 11.0]])
    with pytest.raises(InputError, match="same bins"):
        cb.monitoring.CalibrationMonitor().update_sums([[10.0, 5.0, 4.0]]).update_sums(
            np.zeros((2, 3))
        )


def test_evidence_p_values_and_times_by_hand():
    monitor = cb.monitoring.CalibrationMonitor(alpha=0.05, tolerance=0.0)
    for time in ("2026-03-01 00:00:00", 7, "b", None):
        monitor.update_sums([[50.0, 45.0, 20.0]], time=time)
    assert monitor.times_ == ["2026-03-01", 7, "b", 3]
    assert monitor.n_ == 200.0
    assert monitor.path_[-1] == monitor.log_evidence_ == max(monitor.path_)
    assert monitor.evidence_ == pytest.approx(np.exp(monitor.path_[-1]))
    # With a reference half of the error rate is for the claim: the threshold, and with it the
    # p-value, is doubled.
    assert monitor.p_value_ == pytest.approx(np.exp(-max(monitor.path_)))
    learned = cb.monitoring.CalibrationMonitor(alpha=0.05, tolerance=0.0).fit_sums(
        [[5000.0, 4500.0, 4500.0]]
    )
    assert learned.p_value_ == 1.0
    assert (learned.threshold_, learned.reference_, learned.alarm_) == (40.0, True, False)
    for _ in range(3):
        learned.update_sums([[50.0, 45.0, 20.0]])
    assert learned.p_value_ == pytest.approx(2.0 * np.exp(-max(learned.path_)))
    assert learned.alarm_time_ == next(
        t for t, value in enumerate(learned.path_) if value >= np.log(40.0)
    )
    for _ in range(40):
        learned.update_sums([[50.0, 45.0, 5.0]])
    assert learned.log_evidence_ > 709.0
    assert learned.evidence_ == np.inf


def test_the_alarm_is_at_the_first_batch_whose_evidence_reaches_the_threshold():
    path = [
        cb.monitoring.CalibrationMonitor().update_sums([[30.0, 27.0, hits]]).path_[0]
        for hits in range(5, 28)
    ]
    for alpha in (0.5, 0.05, 0.01):
        rung = [
            cb.monitoring.CalibrationMonitor(alpha=alpha).update_sums([[30.0, 27.0, hits]]).alarm_
            for hits in range(5, 28)
        ]
        assert rung == [value >= np.log(1.0 / alpha) for value in path]
    exactly = cb.monitoring.CalibrationMonitor(alpha=float(np.exp(-path[0])))
    assert exactly.update_sums([[30.0, 27.0, 5.0]]).path_[0] == pytest.approx(
        np.log(exactly.threshold_)
    )
