"""A person with a judge's scores and 200 labels asks how good two models are."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.questions import compare_rates, labels_for_width


def world(seed, gain=0.0, n=3_000):
    """Scores of a judge that is too kind, all labels, and the rows that people labelled."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(1.0 + gain, 4.0, n)
    right = (rng.random(n) < 1.0 / (1.0 + np.exp(-quality))).astype(float)
    judge = (1.0 / (1.0 + np.exp(-(quality + rng.normal(0.0, 0.8, n)) / 2.0))) ** 0.5
    seen = np.zeros(n, bool)
    seen[rng.choice(n, 200, replace=False)] = True
    return judge, right, seen


def truth(gain=0.0):
    quality = np.random.default_rng(99).normal(1.0 + gain, 4.0, 1_000_000)
    return (1.0 / (1.0 + np.exp(-quality))).mean()


def test_the_interval_holds_the_rate_and_is_narrower_than_that_of_labels_alone():
    true, held, narrower = truth(), 0, []
    for seed in range(100):
        judge, right, seen = world(seed)
        assert judge.mean() > true + 0.08  # the judge alone would be believed wrongly
        rate = cb.estimate_rate(judge=judge, labels=np.where(seen, right, np.nan))
        held += rate.low <= true <= rate.high
        narrower.append((rate.high - rate.low) / (rate.classical[2] - rate.classical[1]))
    assert held >= 89  # 95 of 100 but for once in a hundred times
    assert np.mean(narrower) < 0.85


def test_the_planned_number_of_labels_gives_the_width():
    judge, right, seen = world(0)
    labels = np.where(seen, right, np.nan)
    n = labels_for_width(0.08, judge=judge, labels=labels)
    more = np.where(np.random.default_rng(1).permutation(len(judge)) < n, right, np.nan)
    rate = cb.estimate_rate(judge=judge, labels=more)
    assert rate.high - rate.low == pytest.approx(0.08, rel=0.15)


@pytest.mark.parametrize(("gain", "state"), [(2.0, "worse"), (0.0, "cannot tell")])
def test_a_better_model_is_called_better_and_an_equal_one_is_not(gain, state):
    found = []
    for seed in range(10):
        old, new = world(seed), world(seed + 500, gain)
        both = [np.append(a, b) for a, b in zip(old, new, strict=True)]
        one = compare_rates(
            judge=both[0],
            labels=np.where(both[2], both[1], np.nan),
            model=np.repeat(["a, old", "b, new"], len(old[0])),
            item=np.arange(2 * len(old[0])),
        )
        found.append(one.state)
    assert found.count(state) >= 8
