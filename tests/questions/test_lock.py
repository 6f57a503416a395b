"""Locks of rules of questions, whose rows name the version of the model."""

import json

import numpy as np
import pytest

from calibrant.errors import InputError, SavedFileError
from calibrant.monitoring import Lock, SwapCheck, read_lock
from calibrant.questions import QuestionRules


def locked(tmp_path, n=2000):
    rng = np.random.default_rng(0)
    p = rng.beta(9.0, 1.0, n)
    hits = (rng.random(n) < p).tolist()
    log = [
        {"id": i, "question": "q", "confidence": a, "correct": hit, "model": "v1"}
        for i, (a, hit) in enumerate(zip(p.tolist(), hits, strict=True))
    ]
    lock = Lock.of(QuestionRules(risk=0.1, confidence=0.9).fit(log))
    return log, lock, lock.write(tmp_path / "rules.lock.json")


def test_a_lock_is_bound_to_a_version_of_the_model(tmp_path):
    log, lock, path = locked(tmp_path)
    again = read_lock(path)
    assert again.decide(log).tolist() == lock.decide(log).tolist()
    new = [{**row, "model": "v2"} for row in log]
    with pytest.raises(InputError, match=r"model \['v1'\] of the lock; got \['v2'\]"):
        again.decide(new)
    assert again.decide(new, any_model=True).tolist() == lock.decide(log).tolist()
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["models"] == ["v1"]
    assert content["text"]["thresholds"] == lock.fitted.thresholds_
    content["text"]["thresholds"]["q"] = 0.1
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(SavedFileError, match="was changed after it was written"):
        read_lock(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(SavedFileError, match="is not a lock file"):
        read_lock(path)


def test_a_swap_is_checked_at_the_level_of_its_version(tmp_path):
    log, lock, _ = locked(tmp_path)
    (same,) = lock.check(log)
    assert isinstance(same, SwapCheck)
    assert same.alpha == pytest.approx(6.0 * 0.1 / np.pi**2)
    assert lock.check(log, version=3)[0].alpha == pytest.approx(same.alpha / 9.0)
    assert same.answered == same.answered_before
    (better,) = lock.check([{**row, "correct": row["confidence"] > 0.6} for row in log])
    assert better.state == "holds"
    rng = np.random.default_rng(5)
    worse = [{**row, "correct": bool(rng.random() < 0.6)} for row in log]
    (broken,) = lock.check(worse)
    assert (broken.state, broken.labels_needed) == ("broken", np.inf)
    assert broken.gap > 0.2
    (few,) = lock.check(log[:15])
    assert few.state == "cannot tell"
    assert few.labels_needed > 15
