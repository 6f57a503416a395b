"""Tests of rates from judges and few labels, of comparisons and of transport."""

import numpy as np
import pytest
from scipy import special

from calibrant.errors import InputError
from calibrant.questions import (
    audit_transport,
    compare_rates,
    estimate_rate,
    labels_for_width,
)
from calibrant.questions.domain import influences, judge_weight
from calibrant.questions.rates import CLUSTERS
from calibrant.questions.scored_rows import Sample


def world(rate, seed, n=100, N=4000, noise=0.7):
    """A judge's scores, labels of n rows, and the true rate."""
    rng = np.random.default_rng(seed)
    centre = 1.5 * special.logit(rate)
    z, nodes = rng.normal(0, 1.5, N), np.random.default_rng(99).normal(0, 1.5, 200_000)
    y = (rng.random(N) < special.expit(centre + z)).astype(float)
    judge = special.expit(centre + z + rng.normal(0, noise, N)) ** 0.7
    labels = np.full(N, np.nan)
    drawn = rng.permutation(N)[:n]
    labels[drawn] = y[drawn]
    return judge, labels, float(special.expit(centre + nodes).mean())


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.9, 0.98])
def test_intervals_cover_at_100_labels(rate):
    runs, covered = 200, 0
    for seed in range(runs):
        judge, labels, truth = world(rate, seed)
        found = estimate_rate(judge=judge, labels=labels)
        covered += found.low <= truth <= found.high
    assert covered / runs >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / runs)


def test_a_useful_judge_shortens_and_a_useless_one_does_not_widen():
    useful, useless = [], []
    for seed in range(20):
        judge, labels, _ = world(0.5, seed, n=200, noise=0.1)
        for scores, widths in (
            (judge, useful),
            (np.random.default_rng(seed).random(4000), useless),
        ):
            found = estimate_rate(judge=scores, labels=labels)
            widths.append((found.high - found.low) / (found.classical[2] - found.classical[1]))
    assert np.mean(useful) < 0.9
    assert max(useless) < 1.03


def test_the_formula_by_hand():
    score = np.array([0.0, 1.0, 0.5, 1.0])
    label = np.array([0.0, 1.0, np.nan, np.nan])
    sample = Sample(score, label, np.full(4, 0.5), None)
    assert judge_weight(sample) == 1.0
    value, moves = influences(sample, 0.5)
    assert value == pytest.approx(0.5 * 0.625 + 0.25)
    r = np.array([0.0, 0.5])
    expected = 0.5 * score + 0.25 + np.array([2.0 * (r[0] - 0.25), 2.0 * (r[1] - 0.25), 0, 0])
    assert moves == pytest.approx(expected - value)
    assert moves.sum() == pytest.approx(0.0)


def test_unequal_chances_are_weighted_and_clusters_widen():
    values, plain, wide = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(400), 5)
        p = np.repeat(special.expit(rng.normal(0, 2.0, 400)), 5)
        y = (rng.random(2000) < p).astype(float)
        chance = np.where(p > 0.5, 0.2, 0.05)
        labels = np.where(rng.random(2000) < chance, y, np.nan)
        found = estimate_rate(judge=np.full(2000, 0.5), labels=labels, chance=chance)
        values.append(found.value)
        plain.append(found.high - found.low)
        clustered = estimate_rate(
            judge=np.full(2000, 0.5), labels=labels, chance=chance, cluster=item
        )
        wide.append(clustered.high - clustered.low)
    assert np.mean(values) == pytest.approx(0.5, abs=0.02)
    assert np.mean(wide) > np.mean(plain)


def test_this_log_only_is_narrower():
    judge, labels, _ = world(0.5, 0, n=1000, N=1500)
    new = estimate_rate(judge=judge, labels=labels)
    log = estimate_rate(judge=judge, labels=labels, population="log")
    assert log.value == new.value
    assert log.high - log.low < 0.7 * (new.high - new.low)


def test_swapped_pairs_show_the_position_bias():
    rng = np.random.default_rng(0)
    true = rng.random(3000)
    first, second = np.clip(true + 0.15, 0, 1), np.clip(true - 0.15, 0, 1)
    labels = np.where(np.arange(3000) < 150, (rng.random(3000) < true) * 1.0, np.nan)
    found = estimate_rate(judge=first, labels=labels, swapped=second)
    assert found.bias == pytest.approx(0.27, abs=0.03)
    assert found.low < 0.5 < found.high


def test_a_judge_who_prefers_long_answers_is_measured_and_corrected():
    kept = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        long, y = np.exp(rng.normal(5.0, 0.5, 600)), (rng.random(600) < 0.6) * 1.0
        bent = (long - long.mean()) / long.std()
        # The spread of the scores grows with the length, and right answers are scored higher.
        judge = 0.2 * y + 0.1 * bent + 0.1 * np.exp(0.3 * bent) * rng.normal(size=600)
        labels = np.where(np.arange(600) < 200, y, np.nan)
        found = estimate_rate(judge=judge, labels=labels, length=long)
        assert found.value == estimate_rate(judge=judge, labels=labels).value
        _, low, high = found.length_bias
        kept += low <= 0.1 <= high
    assert kept / 400 >= 0.95 - 3.0 * np.sqrt(0.05 * 0.95 / 400)
    assert "per standard deviation of length" in str(found)
    items = estimate_rate(
        judge=judge, labels=labels, length=long, cluster=np.arange(600) // 2
    ).length_bias
    assert items[0] == pytest.approx(found.length_bias[0])
    with pytest.raises(InputError, match="length must be 600 numbers that differ"):
        estimate_rate(judge=judge, labels=labels, length=np.ones(600))


def test_several_judges_and_a_bent_scale():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 3000)
    y = (rng.random(3000) < special.expit(2.0 * z)) * 1.0
    labels = np.where(np.arange(3000) < 300, y, np.nan)
    judges = z[:, None] + rng.normal(0, 1.0, (3000, 3))
    one = estimate_rate(judge=judges[:, 0], labels=labels)
    three = estimate_rate(judge=judges, labels=labels)
    assert three.gain > one.gain
    bent = estimate_rate(judge=special.expit(judges[:, 0]) ** 20, labels=labels)
    straight = estimate_rate(judge=special.expit(judges[:, 0]) ** 20, labels=labels, calibrate=True)
    assert straight.gain > bent.gain
    assert straight.low < y.mean() < straight.high


def test_labels_for_a_width_agree_with_the_width_they_give():
    widths = []
    for seed in range(20):
        judge, labels, _ = world(0.5, seed, n=60)
        n = labels_for_width(0.1, judge=judge, labels=labels)
        judge, labels, _ = world(0.5, 100 + seed, n=n)
        found = estimate_rate(judge=judge, labels=labels)
        widths.append(found.high - found.low)
    assert np.mean(widths) == pytest.approx(0.1, rel=0.05)


def two_models(shift, seed, n=300, N=1500):
    rng = np.random.default_rng(seed)
    item, model = np.tile(np.arange(N), 2), np.repeat(["a", "b"], N)
    z = np.tile(rng.normal(0, 1, N), 2) + rng.normal(0, 0.5, 2 * N)
    y = (rng.random(2 * N) < special.expit(z + np.where(model == "a", shift, 0.0))) * 1.0
    labels = np.where(item < n, y, np.nan)
    return {"judge": special.expit(z), "labels": labels, "model": model, "item": item}


def test_models_are_compared_with_a_margin():
    better = compare_rates(**two_models(1.5, 0))
    assert (better.first, better.state) == ("a", "better")
    same = compare_rates(**two_models(0.0, 1, n=1500), margin=0.05)
    assert same.state == "equivalent"
    assert compare_rates(**two_models(0.0, 2, n=100)).state == "cannot tell"
    covered = 0
    for seed in range(100):
        found = compare_rates(**two_models(0.0, seed, n=150))
        covered += found.low <= 0.0 <= found.high
    assert covered >= 89


def test_transport_has_states():
    states = [one.state for one in audit_transport(**two_models(2.0, 0), margin=0.05)]
    assert states == ["fails", "fails"]
    holds = audit_transport(**two_models(0.0, 1, n=1500), margin=0.1)
    assert [one.state for one in holds] == ["holds", "holds"]
    few = audit_transport(**two_models(0.0, 1, n=CLUSTERS - 1))
    assert [one.state for one in few] == ["too few", "too few"]
    unclear = audit_transport(**two_models(0.0, 3, n=60), margin=0.01)
    assert {one.state for one in unclear} <= {"cannot tell", "shifted"}


def test_errors():
    judge, labels, _ = world(0.5, 0)
    with pytest.raises(InputError, match="labels must hold 10 labels or more; got 9"):
        estimate_rate(judge=np.ones(50), labels=[1.0] * 9 + [np.nan] * 41)
    with pytest.raises(InputError, match="judge must score every row; 1 scores are missing"):
        estimate_rate(judge=np.append(judge[1:], np.nan), labels=labels)
    with pytest.raises(InputError, match="numbers from 0 to 1"):
        estimate_rate(judge=judge, labels=labels * 5.0)
    with pytest.raises(InputError, match="chance must be"):
        estimate_rate(judge=judge, labels=labels, chance=np.zeros(4000))
    with pytest.raises(InputError, match="model must name two models; got 1"):
        compare_rates(judge=judge, labels=labels, model=["a"] * 4000, item=np.arange(4000))


@pytest.mark.parametrize("calibrate", ["x", None, [True], np.array([True, False])])
def test_calibrate_is_yes_or_no(calibrate):
    judge = np.linspace(0.0, 1.0, 40)
    with pytest.raises(InputError, match=r"^calibrate must be True or False; got "):
        estimate_rate(judge=judge, labels=np.round(judge), calibrate=calibrate)


def test_few_clusters_have_a_note_that_does_not_blame_the_judge():
    judge, labels = np.linspace(0.0, 1.0, 60), np.arange(60) // 2 % 2
    note = estimate_rate(judge=judge, labels=labels, cluster=np.arange(60) % 10).note
    assert note.startswith("10 clusters with labels are few")
    assert "88 % in simulations, with any judge" in note
    assert estimate_rate(judge=judge, labels=labels, cluster=np.arange(60) % 20).note == ""
