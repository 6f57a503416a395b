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


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def stream(after, seed=0, n=200, moved=0.0):
    """The advice on 30 batches whose log-odds are ``after(x)`` from batch 10 on."""
    rng = np.random.default_rng(seed)
    monitor = cb.monitoring.CalibrationMonitor(target="event")
    for t in range(30):
        x = rng.normal(moved if t >= 10 else 0.0, 2.0, n)
        odds = after(x) if t >= 10 else x
        monitor.update(sigmoid(x), (rng.random(n) < sigmoid(odds)).astype(int), time=t)
    return monitor.advice()


def test_an_offset_repairs_a_change_of_rates_and_says_what_it_gains():
    advice = stream(lambda x: x + 1.0)
    assert (advice.decision, advice.changed) == ("re-offset", ["rates"])
    assert "; an offset on the " in advice.reason
    # The gain of the true offset: the mean divergence of the rates.
    x = np.random.default_rng(1).normal(0.0, 2.0, 200_000)
    p, q = sigmoid(x), sigmoid(x + 1.0)
    true = np.mean(q * np.log(q / p) + (1.0 - q) * np.log((1.0 - q) / (1.0 - p)))
    assert advice.gain == np.float64(advice.gains["re-offset"])
    assert abs(advice.gain - true) < 4.0 * advice.standard_error
    assert abs(advice.gains["re-weight"]) < 0.02


def test_another_relation_takes_a_re_fit_and_other_inputs_are_named():
    advice = stream(lambda x: 0.4 * x)
    assert (advice.decision, advice.changed) == ("re-fit", ["relation"])
    assert advice.gains["re-fit"] > advice.gains["re-offset"] + 0.05
    advice = stream(lambda x: 0.4 * x, moved=1.0)
    assert (advice.decision, advice.changed) == ("re-fit", ["relation", "inputs"])


def test_a_bias_of_forecasts_takes_an_offset_and_their_width_a_re_fit():
    for bias, spread, decision in ((0.7, 1.0, "re-offset"), (0.0, 2.0, "re-fit")):
        rng = np.random.default_rng(2)
        monitor = cb.monitoring.CalibrationMonitor(target="forecast")
        for t in range(20):
            mean = rng.normal(size=200)
            off = (bias, spread) if t >= 8 else (0.0, 1.0)
            y = mean + off[0] + off[1] * rng.normal(size=200)
            monitor.update(mean, y, std=np.ones(200), time=t)
        assert monitor.advice().decision == decision
