"""Leave, wait or re-fit: each decision with its reason."""

import numpy as np

import calibrant as cb


def watched(rate_after, rows, n_batches=20, change=10, **options):
    rng = np.random.default_rng(0)
    monitor = cb.monitoring.CalibrationMonitor(**options)
    for t in range(n_batches):
        p = rng.uniform(0.5, 1.0, rows)
        monitor.update(
            p,
            (rng.uniform(size=rows) < (p if t < change else rate_after(p))).astype(int),
            time=f"week {t}",
        )
    return monitor


def test_leave_what_is_calibrated():
    advice = watched(lambda p: p, 200).advice()
    assert (advice.decision, advice.since, advice.rows) == ("leave", None, 4000.0)
    assert advice.reason.startswith("no drift shown in 4,000 rows (evidence ")
    assert advice.to_dict()["gain"] is None


def test_re_fit_what_has_changed_and_say_since_when():
    monitor = watched(lambda p: p - 0.15, 300)
    advice = monitor.advice()
    assert advice.decision == "re-fit"
    assert advice.since in ("week 9", "week 10", "week 11")
    assert advice.gain > 3.0 * advice.standard_error
    assert "most likely since week 1" in advice.reason
    assert (
        f"takes {advice.gain:.4f} ± {advice.standard_error:.4f} off the log loss" in advice.reason
    )


def test_wait_where_there_are_too_few_rows_or_nothing_to_gain():
    few = (
        cb.monitoring.CalibrationMonitor().update_sums([[10.0, 9.99, 2.0]], time="Monday").advice()
    )
    assert (few.decision, few.rows) == ("wait", 10.0)
    assert "too few to fit on" in few.reason


def test_wait_where_there_is_nothing_to_gain():
    """Off in the reference and right since: the calibration has changed, and a fit finds nothing
    to repair.
    """
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 3000)
    monitor = cb.monitoring.CalibrationMonitor().fit(
        p, (rng.uniform(size=3000) < p - 0.2).astype(int)
    )
    for _ in range(10):
        p = rng.uniform(0.5, 1.0, 300)
        monitor.update(p, (rng.uniform(size=300) < p).astype(int))
    advice = monitor.advice()
    assert monitor.alarm_
    assert advice.decision == "wait"
    assert "do not show yet that a re-fit helps" in advice.reason
