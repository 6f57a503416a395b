"""Tests of the comparison of two versions of a model, in worlds with a known change."""

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.decisions import NeymanPearsonClassifier
from calibrant.errors import InputError
from calibrant.monitoring import Lock


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def world(n, seed):
    """(log-odds, outcomes, site of each row)."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.0, 2.0, n)
    return odds, (rng.random(n) < sigmoid(odds)).astype(int), rng.choice(list("abcd"), n)


def moved(found):
    return {one.name: one for one in found.moved}


def test_what_moved_is_the_mean_of_the_rows_by_hand():
    old, new = np.array([0.2, 0.6, 0.9, 0.4]), np.array([0.3, 0.4, 0.9, 0.5])
    found = moved(cb.compare_versions(old, new))
    assert found["risk"].value == pytest.approx(0.0)
    assert found["changed answers"].value == pytest.approx(0.25)
    assert found["distance"].value == pytest.approx(0.1)
    three = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    other = np.array([[0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    found = moved(cb.compare_versions(three, other))
    assert found["confidence"].value == pytest.approx(0.05)
    assert found["distance"].value == pytest.approx(0.15)


def test_equal_versions_are_kept_and_no_row_that_changed_is_an_interval_not_a_zero():
    odds, y, _ = world(300, 0)
    found = cb.compare_versions(sigmoid(odds), sigmoid(odds), y)
    assert (found.advice, found.labels_needed) == ("keep", 0.0)
    assert found.comparison.rows[0].meaning == "not compared"
    # Of 300 rows none changed: at most about 3 / 300 do.
    assert 0.005 < moved(found)["changed answers"].high < 0.03


def test_the_intervals_of_what_moved_hold_the_truth():
    rng, hits, runs = np.random.default_rng(1), 0, 400
    for _ in range(runs):
        old = rng.random(150)
        changed = rng.random(150) < 0.04
        found = moved(cb.compare_versions(old, np.where(changed, 1.0 - old, old)))
        one = found["changed answers"]
        hits += one.low <= 0.04 <= one.high
    assert hits / runs > 0.95 - 3.0 * np.sqrt(0.05 * 0.95 / runs)


def test_clusters_widen_the_intervals():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(40), 25)
    old = rng.random(1000)
    new = np.clip(old + 0.1 * rng.normal(size=40)[group], 0.0, 1.0)
    alone, together = (
        moved(cb.compare_versions(old, new, cluster=cluster))["risk"] for cluster in (None, group)
    )
    assert together.high - together.low > 2.0 * (alone.high - alone.low)


def test_groups_that_moved_are_named_with_their_number_taken_into_account():
    odds, y, site = world(4000, 3)
    rng = np.random.default_rng(4)
    shift = np.where(site == "b", 1.0, 0.0) + 0.5 * rng.normal(size=4000)
    old, new = sigmoid(odds), sigmoid(odds + shift)
    found = cb.compare_versions(old, new, y, groups={"site": site})
    (group,) = found.groups
    assert group.group == "site b"
    inside = site == "b"
    assert group.change == pytest.approx((new - old)[inside].mean())
    assert group.low < group.change < group.high
    assert [one.group for one in found.worse] == ["site a", "site b", "site c", "site d"] or (
        "site b" in {one.group for one in found.worse}
    )
    assert "site b" in repr(found)


def test_groups_where_nothing_moved_are_rarely_named():
    named, runs = 0, 60
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        odds, _, site = world(600, seed)
        noise = 0.3 * rng.normal(size=600)
        # Each row moves up or down with equal probability, by a like amount.
        old, new = sigmoid(odds - noise), sigmoid(odds + noise)
        named += bool(cb.compare_versions(old, new, groups={"site": site}).groups)
    assert named / runs <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / runs)


def test_a_version_that_is_worse_in_one_group_is_said_to_be():
    odds, y, site = world(6000, 5)
    new = sigmoid(np.where(site == "c", -0.5 * odds, odds))
    found = cb.compare_versions(sigmoid(odds), new, y, groups={"site": site})
    assert [one.group for one in found.worse] == ["site c"]
    assert found.comparison.rows[0].meaning == "worse"
    back = cb.compare_versions(new, sigmoid(odds), y, groups={"site": site})
    assert [one.group for one in back.better] == ["site c"]


def advice(new, y, **given):
    return cb.compare_versions(np.full(len(new), 0.5), new, y, **given).advice


def test_the_advice_follows_the_calibrator_and_the_rule():
    odds, y, _ = world(4000, 6)
    calibrator = cb.TemperatureScaling().fit(sigmoid(2.0 * odds), y)
    rule = cb.SelectiveClassifier(0.15).fit(calibrator.predict_proba(sigmoid(2.0 * odds)), y)
    odds, y, _ = world(6000, 7)
    like, sharper, other = sigmoid(2.0 * odds), sigmoid(6.0 * odds), sigmoid(-2.0 * odds)
    assert advice(like, y, calibrator=calibrator) == "keep"
    assert advice(sharper, y, calibrator=calibrator) == "re-fit"
    assert advice(sharper, y, calibrator=calibrator, rule=rule) == "re-fit"
    assert advice(other, y, rule=cb.SelectiveClassifier(0.15).fit(like, y)) == "re-certify"
    lock = Lock.of(calibrator, model="v1")
    assert advice(like, y, calibrator=lock) == "keep"
    # Without both, the predictions are tested as they are.
    assert advice(sigmoid(odds), y) == "keep"
    assert advice(sharper, y) == "re-fit"


def test_few_labels_cannot_tell_and_say_how_many_would():
    odds, y, _ = world(3000, 8)
    rule = cb.SelectiveClassifier(0.15).fit(sigmoid(odds), y)
    odds, y, _ = world(3000, 9)
    rng = np.random.default_rng(9)
    new = sigmoid(odds + 0.2 * rng.normal(size=3000))
    none = cb.compare_versions(sigmoid(odds), new, rule=rule)
    assert (none.advice, none.labelled) == ("cannot tell", 0)
    assert "no row has a label" in none.reason
    assert 20 < none.labels_needed < 100_000
    accepted = moved(none)["accepted rows"]
    assert accepted.low < accepted.value < accepted.high
    partly = [one if i < 60 else None for i, one in enumerate(y.tolist())]
    few = cb.compare_versions(sigmoid(odds), new, partly, rule=rule)
    assert (few.advice, few.labelled) == ("cannot tell", 60)
    assert few.labels_needed > 60
    assert f"about {few.labels_needed:,} labels" in few.reason
    alone = cb.compare_versions(sigmoid(odds), new)
    assert alone.labels_needed == 200


def test_what_other_rules_would_do_is_shown_without_labels():
    odds, y, _ = world(3000, 10)
    old, new = sigmoid(odds), sigmoid(odds + 1.0)
    rates = NeymanPearsonClassifier(0.1).fit(old, y)
    found = moved(cb.compare_versions(old, new, rule=rates))
    assert found["predicted events"].value == pytest.approx(
        (rates.decide(new) == 1).mean() - (rates.decide(old) == 1).mean()
    )
    sets = cb.ConformalSets(level=0.9).fit(old, y)
    found = moved(cb.compare_versions(old, new, rule=sets))
    assert found["classes in a set"].value == pytest.approx(
        sets.predict_set(new).sum(axis=1).mean() - sets.predict_set(old).sum(axis=1).mean()
    )


def test_forecasts():
    rng = np.random.default_rng(11)
    mean, std = rng.normal(size=3000), np.full(3000, 1.0)
    y = mean + std * rng.normal(size=3000)
    site = rng.choice(["x", "y"], 3000)
    shifted = (mean + np.where(site == "x", 0.5, 0.0), 1.2 * std)
    found = cb.compare_versions((mean, std), shifted, y, groups={"site": site})
    one = moved(found)
    assert one["mean"].value == pytest.approx(0.5 * (site == "x").mean())
    assert one["std"].value == pytest.approx(0.2)
    assert [group.group for group in found.groups] == ["site x"]
    assert found.comparison.rows[0].metric == "crps"
    assert found.advice == "re-fit"
    bars = cb.StdScaling().fit(mean, y, std=0.5 * std)
    kept = cb.compare_versions((mean, std), (mean, 0.5 * std), y, calibrator=bars)
    assert kept.advice == "keep"
    # A normal distribution half a unit away is half a unit away at every level.
    apart = cb.compare_versions((mean, std), (mean + 0.5, std))
    assert moved(apart)["distance"].value == pytest.approx(0.5)
    assert apart.advice == "cannot tell"


def test_what_cannot_be_compared():
    with pytest.raises(InputError, match="must have the same classes; got 2 and 3"):
        cb.compare_versions(np.array([[0.5, 0.5]]), np.array([[0.5, 0.3, 0.2]]))
    with pytest.raises(InputError, match="level must be"):
        cb.compare_versions([0.5], [0.5], level=2.0)


def test_columns_of_a_frame_are_compared_by_their_names():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    old = pd.DataFrame(P, columns=list("abc"))
    y = np.array(list("abc"))[P.argmax(axis=1)]
    for labels in (None, y):
        found = cb.compare_versions(old, old[["c", "a", "b"]], labels)
        assert moved(found)["distance"].value == pytest.approx(0.0, abs=1e-12)
        with pytest.raises(InputError, match="must be named by the classes"):
            cb.compare_versions(old, old.rename(columns={"c": "d"}), labels)


def test_one_or_two_rows_have_the_widest_interval_and_a_map_is_refused():
    for n in (1, 2):
        found = moved(cb.compare_versions(np.full(n, 0.6), np.full(n, 0.7)))
        assert (found["risk"].low, found["risk"].high) == (-1.0, 1.0)
        assert (found["changed answers"].low, found["changed answers"].high) == (0.0, 1.0)
    odds, y, _ = world(100, 0)
    fitted = cb.Platt().fit(sigmoid(odds), y)
    with pytest.raises(InputError, match="calibrator must be a fitted calibrator"):
        cb.compare_versions(sigmoid(odds), sigmoid(2.0 * odds), y, calibrator=fitted)
