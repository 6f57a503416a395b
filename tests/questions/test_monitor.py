"""Confidences of answers are monitored as those of classes are."""

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.monitoring import CalibrationMonitor
from calibrant.questions import read_questions


def week(rng, n, drop=0.0):
    confidence = rng.beta(6.0, 2.0, n)
    right = rng.random(n) < confidence - drop
    return confidence, right


def rows(confidence, right):
    return [
        {"id": i, "confidence": c, "correct": bool(hit)}
        for i, (c, hit) in enumerate(zip(confidence.tolist(), right.tolist(), strict=True))
    ]


def test_a_log_has_the_evidence_of_its_confidences_and_hits_by_hand():
    rng = np.random.default_rng(0)
    of_log, by_hand = CalibrationMonitor(), CalibrationMonitor(target="event")
    for drop in (0.0, 0.0, 0.3, 0.3):
        confidence, right = week(rng, 300, drop)
        of_log.update(rows(confidence, right))
        by_hand.update(confidence, right.astype(int))
        assert of_log.evidence_ == pytest.approx(by_hand.evidence_, rel=1e-9)
    assert (of_log.watched_, of_log.alarm_, of_log.since()) == ("answer", True, 2)
    assert of_log.advice().decision != "leave"


def test_only_independent_rows_and_the_target_answer_are_monitored():
    log = rows(*week(np.random.default_rng(1), 50))
    with pytest.raises(InputError, match="got 100 rows of 50 items"):
        CalibrationMonitor().update([*log, *log])
    with pytest.raises(InputError, match="got weights"):
        CalibrationMonitor().update(read_questions(log, sample_weight=np.arange(1.0, 51.0)))
    for target in ("event", "forecast"):
        with pytest.raises(InputError, match='answers to questions; pass target="answer"'):
            CalibrationMonitor(target=target).update(log)
