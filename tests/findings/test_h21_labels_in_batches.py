"""H21: labels that come in batches cost what the bound says, and the bound says which labels it
needs.
"""

import inspect

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring import OnlineCalibrator

ROWS, DAYS, MEMBERS = 100, 30, (np.inf, 400.0, 80.0)


def alternating(k, p, rng):
    return (rng.random(len(p)) < (p if k % 2 == 0 else 1.0 - p)).astype(int)


def against(learner, p):
    """The label that the mixture thinks less likely."""
    return (learner.predict_proba(p)[:, 1] < 0.5).astype(int)


def loss_of_days(learner, choose, seed):
    """(log loss of days that are predicted before their labels, that of the raw probabilities)."""
    rng, total, raw = np.random.default_rng(seed), 0.0, 0.0
    for k in range(DAYS):
        p = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 1.5, ROWS)))
        y = against(learner, p) if choose is None else choose(k, p, rng)
        q = learner.predict_proba(p)[:, 1]
        total -= np.log(np.where(y == 1, q, 1.0 - q)).sum()
        raw -= np.log(np.where(y == 1, p, 1.0 - p)).sum()
        learner.partial_fit(p, y)
    return total, raw


def learner_for_days():
    # A version without the keyword has no way to say that labels are late.
    known = "delay" in inspect.signature(OnlineCalibrator).parameters
    return OnlineCalibrator(half_lives=MEMBERS, **({"delay": ROWS - 1} if known else {})).fit(
        [0.5, 0.5], [0, 1]
    )


@pytest.mark.parametrize("choose", [alternating, None])
def test_the_bound_holds_for_labels_in_batches(choose):
    for seed in range(8):
        learner = learner_for_days()
        total, raw = loss_of_days(learner, choose, seed)
        bound = learner.guarantee()
        assert total - raw <= bound.most * bound.n


def test_the_promise_says_which_labels_it_needs():
    learner = OnlineCalibrator().fit([0.2, 0.8], [0, 1])
    assert "after all earlier labels" in learner.guarantee().assumes
    learner = learner_for_days()
    assert "batches of at most 100" in learner.guarantee().assumes


def test_a_stable_relation_costs_little_more():
    extra = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        p = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 1.5, 4_000)))
        y = (rng.random(4_000) < 1.0 / (1.0 + ((1.0 - p) / p) ** 0.6)).astype(int)
        q = learner_for_days().run(p, y)[:, 1]
        now = -np.log(np.where(y == 1, q, 1.0 - q)).sum()
        q = OnlineCalibrator(half_lives=MEMBERS).run(p, y)[:, 1]
        extra.append(now + np.log(np.where(y == 1, q, 1.0 - q)).sum())
    assert np.mean(extra) < 10.0


def test_batches_are_those_of_the_calls_and_no_longer_than_the_delay():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 600)
    y = (rng.random(600) < p**2).astype(int)
    whole = OnlineCalibrator(delay=99).fit(p, y)
    parts = OnlineCalibrator(delay=99)
    for start in range(0, 600, 100):
        parts.partial_fit(p[start : start + 100], y[start : start + 100])
    assert (whole.weight_ == parts.weight_).all()
    assert whole.predict_one(0.3) == parts.predict_one(0.3)
    # All rows of a batch are predicted by what was learnt before it.
    before = OnlineCalibrator(delay=99).fit(p[:100], y[:100])
    expected = before.predict_proba(p[100:200])
    assert before.run(p[100:200], y[100:200]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("delay", [-1, 0.5, None, 10**7])
def test_wrong_delays_are_refused(delay):
    with pytest.raises(InputError, match="delay must be a whole number"):
        OnlineCalibrator(delay=delay).fit([0.2, 0.8], [0, 1])
    with pytest.raises(InputError, match="calibeating takes labels without delay"):
        OnlineCalibrator(delay=9, calibeating="brier").fit([0.2, 0.8], [0, 1])
    assert cb.OnlineCalibrator(delay=9).fit([0.2, 0.8], [0, 1]).n_ == 2
