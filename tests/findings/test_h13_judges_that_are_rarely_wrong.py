"""H13: a judge that is rarely wrong has few errors among the labels, or none, and intervals must
include those that were not seen.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import audit_transport, compare_rates, labels_for_width


def drawn(seed, labels, n=2_000, passes=0.03, rate=0.5):
    """(scores, labels, all labels) of a judge that passes 3 % of the wrong answers."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(float)
    judge = np.where(rng.random(n) < passes, 1.0, y)
    return judge, np.where(rng.permutation(n) < labels, y, np.nan), y


@pytest.mark.parametrize(("population", "labels"), [("new", 50), ("log", 50), ("log", 200)])
def test_the_interval_covers_where_the_judge_is_good(population, labels):
    runs, covered, narrower = 120, 0, []
    for seed in range(runs):
        judge, y, everything = drawn(seed, labels)
        found = cb.estimate_rate(judge=judge, labels=y, population=population)
        truth = 0.5 if population == "new" else everything.mean()
        covered += found.low <= truth <= found.high
        narrower.append((found.high - found.low) / (found.classical[2] - found.classical[1]))
    assert covered / runs >= 0.93
    assert np.median(narrower) < 0.7


@pytest.mark.parametrize("kind", ["clusters", "chances"])
def test_clusters_and_unequal_chances_cover_too(kind):
    runs, covered = 120, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(400), 5)
        y = (rng.random(2_000) < np.repeat(rng.beta(0.4, 0.4, 400), 5)).astype(float)
        judge = np.where(rng.random(2_000) < 0.02, 1.0, y)
        if kind == "clusters":
            given, seen = {"cluster": item}, np.isin(item, rng.permutation(400)[:20])
        else:
            chance = np.where(judge > 0.5, 0.02, 0.08)
            given, seen = {"chance": chance}, rng.random(2_000) < chance
        found = cb.estimate_rate(
            judge=judge, labels=np.where(seen, y, np.nan), population="log", **given
        )
        covered += found.low <= y.mean() <= found.high
    assert covered / runs >= 0.93


def test_equal_models_are_not_told_apart():
    runs, apart = 120, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        item, first = np.tile(np.arange(600), 2), np.arange(1_200) < 600
        y = (rng.random(1_200) < 0.5).astype(float)
        judge = np.where(rng.random(1_200) < np.where(first, 0.08, 0.0), 1.0, y)
        found = compare_rates(
            judge=judge,
            labels=np.where(item < 40, y, np.nan),
            model=np.where(first, "a", "b"),
            item=item,
        )
        apart += found.state in ("better", "worse")
    assert apart / runs <= 0.05


def test_a_bias_beyond_the_margin_does_not_hold():
    runs, holds = 150, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        first = np.arange(200) < 100
        y = (rng.random(200) < 0.9).astype(float)
        # It passes more than half of the first model's wrong answers: bias -.055.
        judge = np.where(first & (rng.random(200) < 0.55), 1.0, y)
        found = audit_transport(
            judge=judge, labels=y, model=np.where(first, "a", "b"), item=np.arange(200), margin=0.05
        )
        holds += found[0].state == "holds"
    assert holds / runs <= 0.03


def test_a_perfect_pilot_does_not_plan_ten_labels():
    judge, y, _ = drawn(0, 60, passes=0.0)
    n = labels_for_width(0.05, judge=judge, labels=y)
    judge, y, _ = drawn(1, n, passes=0.0)
    found = cb.estimate_rate(judge=judge, labels=y)
    assert found.high - found.low == pytest.approx(0.05, rel=0.15)


def test_the_audit_of_an_unbiased_judge_counts_the_error_of_its_curve():
    covered, item, runs = 0, np.tile(np.arange(400), 2), 120
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        judge = 0.1 + 0.8 * rng.random(800)
        y = (rng.random(800) < judge).astype(float)
        y[~np.isin(item, rng.choice(400, 200, False))] = np.nan
        model = np.repeat(["a", "b"], 400)
        audited = audit_transport(judge=judge, labels=y, model=model, item=item)
        covered += sum(one.low <= 0.0 <= one.high for one in audited)
    # Without the error of the curve .84 are covered.
    assert covered / (2 * runs) >= 0.91


def test_a_rate_is_inside_its_interval_and_of_0_to_1():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = (rng.random(2000) < 0.97) * 1.0
        judge = np.clip(0.95 * y + 0.1 * rng.normal(size=2000), 0.0, 1.0)
        labels = np.where(np.arange(2000) < 15, y, np.nan)
        rate = cb.estimate_rate(judge=judge, labels=labels)
        for value, low, high in ((rate.value, rate.low, rate.high), rate.classical):
            assert 0.0 <= low <= value <= high <= 1.0


def test_scores_of_both_orders_are_probabilities():
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(300) < 50, rng.random(300) < 0.5, np.nan)
    with pytest.raises(InputError, match="probabilities from 0 to 1"):
        cb.estimate_rate(judge=rng.random(300), labels=labels, swapped=3.0 * rng.random(300))
