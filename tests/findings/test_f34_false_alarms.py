"""F34: no alarm where nothing is wrong: scores of few values repeat by themselves."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.reporting.quality import cautions, quality
from calibrant.reporting.states import Seen


def truth(P, rng):
    return (rng.random(len(P))[:, None] > P.cumsum(axis=1)).sum(axis=1)


def said(record, source=None):
    record, source = (None if one is None else Seen.of([one], 15, 0.95) for one in (record, source))
    return [
        words
        for words in cautions(record, quality(record, source))
        if "repeat" in words or "a leak" in words
    ]


def verbalised(n, rng, lift=0.0):
    """Answers right with a confidence given in words: 0.6, 0.7, ..., 1.0; off by ``lift``."""
    p = rng.choice([0.6, 0.7, 0.8, 0.9, 0.95, 1.0], n)
    return p, (rng.random(n) < np.clip(p + lift, 0.02, 0.98)).astype(int)


@pytest.mark.parametrize("lift", [-0.3, 0.0, 0.05])
@pytest.mark.parametrize("seed", range(5))
def test_f34_confidences_in_words_repeat_by_themselves(lift, seed):
    rng = np.random.default_rng(seed)
    record, source = read(*verbalised(1500, rng, lift)), read(*verbalised(1000, rng, lift))
    assert said(record, source) == []


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_f34_scores_of_a_tree_and_of_a_forest_repeat_by_themselves(n_classes):
    rng = np.random.default_rng(n_classes)
    leaves = rng.dirichlet(np.full(n_classes, 0.4), 30)
    leaf = rng.integers(0, 30, 4000)
    y = truth(leaves[leaf], rng)
    assert said(read(leaves[leaf[:2000]], y[:2000]), read(leaves[leaf[2000:]], y[2000:])) == []
    votes = np.array([rng.multinomial(50, row) for row in leaves[leaf]]) / 50
    assert said(read(votes, y)) == []


def test_f34_certain_and_right_rows_repeat_by_themselves():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 500)
    assert said(read(np.eye(4)[y], y)) == []


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_f34_copies_are_still_found(share):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 600)
    y = truth(P, rng)
    rows = np.r_[np.arange(600), np.arange(int(600 * share))]
    (words,) = said(read(P[rows], y[rows]))
    assert words.startswith(
        f"{100 * share / (1.0 + share):.1f} % of the rows repeat an earlier prediction and label"
    )
    fresh = read(rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300))
    assert said(fresh, read(P, y)) == []
    assert len(said(read(P[:300], y[:300]), read(P, y))) == 1


def test_f34_a_report_on_words_says_nothing_of_copies():
    p, y = verbalised(800, np.random.default_rng(1))
    assert not any("repeat" in words for words in cb.report(y, p).to_dict()["cautions"])


def watched(gap, n_batches=12, rows=300, reference=None):
    """A monitor of a stream whose confidence is too high by ``gap(t)`` in batch t."""
    rng, monitor = np.random.default_rng(0), cb.monitoring.CalibrationMonitor()
    if reference is not None:
        p = rng.uniform(0.5, 1.0, 3000)
        monitor.fit(p, (rng.random(3000) < p - reference).astype(int))
    for t in range(n_batches):
        p = rng.uniform(0.5, 1.0, rows)
        monitor.update(p, (rng.random(rows) < p - gap(t)).astype(int), time=f"day {t}")
    assert monitor.alarm_
    return monitor.advice()


def test_f34_what_was_never_calibrated_has_not_changed():
    advice = watched(lambda t: 0.2)
    assert advice.since == "day 0"
    assert "changed" not in advice.reason
    assert advice.reason.startswith(
        "the predictions were never calibrated, from the first batch on (day 0)"
    )
    assert advice.decision == "re-fit"


def test_f34_what_is_not_as_in_the_reference_is_said_so():
    advice = watched(lambda t: 0.2, reference=0.0)
    assert advice.reason.startswith(
        "the calibration is not that of the reference, from the first batch on (day 0)"
    )


def test_f34_a_change_is_still_a_change():
    advice = watched(lambda t: 0.2 if t >= 6 else 0.0)
    assert advice.reason.startswith("the calibration has changed, most likely since day 6")


def test_f34_a_few_rows_before_show_nothing():
    monitor = cb.monitoring.CalibrationMonitor()
    rng = np.random.default_rng(3)
    monitor.update([0.6, 0.6], [1, 1], time="day 0")
    for t in range(1, 8):
        p = rng.uniform(0.5, 1.0, 300)
        monitor.update(p, (rng.random(300) < p - 0.2).astype(int), time=f"day {t}")
    reason = monitor.advice().reason
    assert "has changed" not in reason
    assert "never calibrated" in reason or "do not show that they were ever calibrated" in reason


def logs(missing):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    when = pandas.Series(
        pandas.Timestamp("2026-03-01") + pandas.to_timedelta(np.arange(60) // 6, unit="D")
    )
    when[missing] = pandas.NaT
    return pandas.DataFrame({"p": rng.random(60), "label": rng.integers(0, 2, 60), "when": when})


def test_f34_rows_without_a_time_are_refused_by_number():
    with pytest.raises(
        cb.errors.InputError,
        match=r"column 'when' must have a time in every row; row 7, row 31 have none",
    ):
        cb.monitor(cb.evaluate(logs([7, 31]), probabilities="p", time="when"))
    with pytest.raises(cb.errors.InputError, match=r"row 2, row 3, row 4 and 1 more have none"):
        cb.evaluate(logs([2, 3, 4, 50]), probabilities="p", time="when")


def test_f34_rows_without_a_time_are_refused_by_monitor_too():
    frame = logs([7, 31])
    frame["day"] = frame["when"].dt.day
    with pytest.raises(
        cb.errors.InputError,
        match=r"day must be known for every row, to order them; 2 rows have none",
    ):
        cb.monitor(cb.evaluate(frame, probabilities="p", by="day"))


def test_f34_reports_name_the_row_without_a_time():
    frame = logs([7, 31])
    with pytest.raises(cb.errors.InputError, match=r"row 7 has none \(2 in all\)"):
        cb.report(frame["label"], frame["p"], times=frame["when"])
