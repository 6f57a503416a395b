"""An alarm: what changed, what to do about it, what it gains, and which of many streams it is."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def days(kind, n_days, seed, change=10, rows=300):
    """(p, y) of each day: the model's risks and the outcomes. From a day on, the class rates fall
    ("rates"), or the risks say too much ("relation").
    """
    rng = np.random.default_rng(seed)
    for day in range(n_days):
        rate = 0.15 if kind == "rates" and day >= change else 0.5
        y = (rng.random(rows) < rate).astype(int)
        x = rng.normal(np.where(y == 1, 1.2, -1.2), 1.0)
        odds = 2.4 * x
        if kind == "relation" and day >= change:
            y = (rng.random(rows) < sigmoid(0.4 * odds)).astype(int)
        yield sigmoid(odds), y


def watched(kind, seed=0):
    monitor = cb.monitoring.CalibrationMonitor(target="event")
    seen = list(days(kind, 25, seed))
    for day, (p, y) in enumerate(seen):
        monitor.update(p, y, time=day)
    return monitor, seen


def future_gain(kind, repair):
    p, y = (np.concatenate(part) for part in zip(*days(kind, 200, 99, change=0), strict=True))
    return metrics.log_loss(y, p) - metrics.log_loss(y, repair(p))


def test_after_a_change_of_rates_an_offset_suffices_and_gains_what_was_said():
    monitor, seen = watched("rates")
    advice = monitor.advice()
    assert monitor.alarm_
    assert abs(advice.since - 10) <= 1
    assert (advice.decision, advice.changed) == ("re-offset", ["rates", "inputs"])
    p, y = (np.concatenate(part) for part in zip(*seen[advice.since :], strict=True))
    # The offset without a label: the new rates from the predictions alone.
    old_p, old_y = (np.concatenate(part) for part in zip(*seen[:10], strict=True))
    shift = cb.calibrators.LabelShift(intervals=True, n_resamples=100).fit(old_p, old_y, p)
    assert shift.low_[1] <= 0.15 <= shift.high_[1]
    assert shift.p_value_ > 0.05
    gained = future_gain("rates", lambda q: shift.predict_proba(q)[:, 1])
    assert abs(gained - advice.gain) < 3.0 * advice.standard_error
    refit = cb.Platt().fit(p, y)
    assert future_gain("rates", refit.predict) < gained + 0.003


def test_after_a_change_of_the_relation_a_re_fit_is_needed_and_gains_at_least_what_was_said():
    monitor, seen = watched("relation")
    advice = monitor.advice()
    assert (advice.decision, advice.changed) == ("re-fit", ["relation"])
    p, y = (np.concatenate(part) for part in zip(*seen[advice.since :], strict=True))
    refit = cb.Platt().fit(p, y)
    gained = future_gain("relation", refit.predict)
    # At least: a monitor knows the mean risk of a bin only, and risks near 0 and 1 lose most.
    assert gained > advice.gain - 3.0 * advice.standard_error
    assert advice.gain > 0.6 * gained
    assert advice.gains["re-offset"] < 0.2 * gained
    # Rates estimated without labels would not repair it, and the test of their assumption says so.
    old_p, old_y = (np.concatenate(part) for part in zip(*seen[:10], strict=True))
    shift = cb.calibrators.LabelShift().fit(old_p, old_y, p)
    assert future_gain("relation", lambda q: shift.predict_proba(q)[:, 1]) < 0.2 * gained


def test_of_several_streams_the_one_that_changed_is_named():
    pandas = pytest.importorskip("pandas")
    parts = []
    for k, kind in enumerate(["same", "same", "rates", "same", "same", "same"]):
        for day, (p, y) in enumerate(days(kind, 25, 50 + k, rows=150)):
            parts.append(pandas.DataFrame({"p": p, "label": y, "site": f"s{k}", "day": day}))
    found = cb.monitor(cb.evaluate(pandas.concat(parts), probabilities="p", by=["site", "day"]))
    assert found.alarms == found.discoveries == [("s2",)]
    advice = found.slices["s2",].advice()
    assert abs(advice.since - 10) <= 1
    lines = {one["slice"].get("site"): one for one in found.lines()}
    assert lines["s2"]["decision"] == advice.decision == "re-offset"
    assert {one["decision"] for name, one in lines.items() if name not in (None, "s2")} == {"leave"}
