"""H22: versions that predict the same do not keep a promise that is broken."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.monitoring import Lock


def world(wrong: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(1500) < 0.5, 0.97, 0.03) + rng.uniform(-0.02, 0.02, 1500)
    answer = (p > 0.5).astype(int)
    return p, np.where(rng.random(1500) < wrong, 1 - answer, answer)


@pytest.mark.parametrize("wrong", [0.01, 0.097, 0.4])
def test_a_comparison_of_equal_versions_agrees_with_the_lock(wrong):
    rule = cb.SelectiveClassifier(risk=0.1).fit(*world(0.02, 1))
    p, y = world(wrong)
    lock = Lock.of(rule, model="v1")
    (state,) = {one.state for one in lock.check(p, y)}
    expected = {"holds": "keep", "broken": "re-certify", "cannot tell": "cannot tell"}
    assert cb.compare_versions(p, p, y, rule=lock).advice == expected[state]


def test_errors_of_four_times_the_promise_are_not_kept():
    rule = cb.SelectiveClassifier(risk=0.1).fit(*world(0.02, 1))
    p, y = world(0.4)
    found = cb.compare_versions(p, p, y, rule=rule)
    assert found.advice == "re-certify"
    assert "broken" in found.reason


def test_equal_versions_without_a_promise_or_labels_are_kept():
    p, y = world(0.02)
    assert cb.compare_versions(p, p).advice == "keep"
    rule = cb.SelectiveClassifier(risk=0.1).fit(*world(0.02, 1))
    assert cb.compare_versions(p, p, rule=rule).advice == "keep"
    assert cb.compare_versions(p, p, y, rule=rule).advice == "keep"
