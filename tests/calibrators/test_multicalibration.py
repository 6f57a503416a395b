"""Boosted offsets: they find what features and groups say together, leave what is right alone,
and read columns of any kind.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.groups import Multicalibration
from calibrant.errors import InputError


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def problem(n, seed=0, strength=1.0):
    """Features that act together: (said, outcomes, features, truth)."""
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(n, 4)), rng.normal(size=n)
    truth = sigmoid(z + strength * (np.sign(X[:, 0] * X[:, 1]) + 0.7 * X[:, 2]))
    return sigmoid(z), (rng.uniform(size=n) < truth).astype(int), X, truth


def loss(q, y):
    return -np.log(np.where(y == 1, q, 1.0 - q))


def test_it_gains_most_of_what_there_is_to_gain():
    p, y, X, truth = problem(12_000)
    fit, rest = slice(0, 6000), slice(6000, None)
    cal = Multicalibration().fit(p[fit], y[fit], X=X[fit])
    q = cal.predict_proba(p[rest], X=X[rest])[:, 1]
    gained, there = (loss(p[rest], y[rest]) - loss(other, y[rest]) for other in (q, truth[rest]))
    assert gained.mean() > 0.85 * there.mean()
    # What it says of itself, out of fold, is what it gains on others; the mean of the members is a
    # little better than they are.
    error = np.hypot(cal.trees_.gain_error_, gained.std() / 6000**0.5)
    assert -3.0 * error < gained.mean() - cal.trees_.gain_ < 4.0 * error
    named = list(cal.trees_.importance)[:3]
    assert set(named) == {"column 1", "column 2", "column 3"}
    assert "column 1" in cal.explain()


def test_true_probabilities_are_left_alone():
    left, harm = 0, []
    for seed in range(15):
        p, y, X, _ = problem(500, seed, strength=0.0)
        cal = Multicalibration(max_rounds=25).fit(p, y, X=X)
        if not cal.trees_.used:
            left += 1
            base = cb.calibrators.LikelihoodPool().fit(p, y)
            np.testing.assert_array_equal(cal.predict_proba(p, X=X), base.predict_proba(p))
            assert cal.status_ == "base: no evidence of miscalibration"
            assert cal.explain().startswith("Nothing is added")
        harm.append(_divergence(cal, problem(2000, 100 + seed, strength=0.0)))
    assert left >= 11
    assert np.mean(harm) < 0.004


def _divergence(cal, new):
    """Mean divergence of the calibrated from the true probabilities."""
    p, _, X, truth = new
    q = cal.predict_proba(p, X=X)[:, 1]
    return float(
        (truth * np.log(truth / q) + (1.0 - truth) * np.log((1.0 - truth) / (1.0 - q))).mean()
    )


@pytest.mark.slow
def test_true_probabilities_are_left_alone_nine_times_in_ten():
    used = 0
    for seed in range(300):
        p, y, X, _ = problem(1000, seed, strength=0.0)
        used += Multicalibration().fit(p, y, X=X, groups=(X[:, :2] > 0).astype(int)).trees_.used
    assert used <= 0.1 * 300 + 3.0 * (0.09 * 300) ** 0.5


def mixed(n, seed=0):
    """(said, outcomes, columns of groups: names with missing ones, whole numbers that are names;
    a feature with missing ones).
    """
    rng = np.random.default_rng(seed)
    z, name, number, x = (
        rng.normal(size=n),
        rng.integers(0, 4, n),
        rng.integers(0, 30, n),
        rng.normal(size=n),
    )
    shift = (
        np.array([-1.5, 0.0, 1.0, 1.5])[name]
        + rng.normal(0.0, 0.5, 30)[number]
        + np.where(x > 1.0, 1.0, 0.0)
    )
    y = (rng.uniform(size=n) < sigmoid(z + shift)).astype(int)
    groups = np.column_stack(
        [np.array(["a", None, "b", "c"], dtype=object)[name], number.astype(object)]
    )
    return sigmoid(z), y, groups, np.where(x > 1.0, np.nan, x)


def test_names_missing_values_and_levels_not_seen():
    p, y, groups, x = mixed(6000)
    cal = Multicalibration().fit(p, y, groups=groups, X=x)
    rows = np.array([["a", 3], ["c", 3], [None, 3], ["new", 99]], dtype=object)
    low, high, missing, new = cal.predict_proba([0.5] * 4, groups=rows, X=[0.0] * 4)[:, 1]
    assert low < 0.35 < 0.65 < high
    assert low < missing < high
    assert low < new < high
    without, far = cal.predict_proba([0.5] * 2, groups=rows[[2, 2]], X=[0.0, np.nan])[:, 1]
    assert far > without + 0.1
    again = np.array([float("nan"), 0.0])
    np.testing.assert_array_equal(
        cal.predict_proba([0.5] * 2, groups=rows[[2, 2]], X=again)[::-1, 1], [without, far]
    )


def test_more_levels_than_a_byte_holds():
    rng = np.random.default_rng(2)
    n, level = 20_000, np.minimum(rng.geometric(0.01, 20_000), 600)
    z = rng.normal(size=n)
    y = (rng.uniform(size=n) < sigmoid(z + np.where(level < 20, 1.5, -0.5))).astype(int)
    cal = Multicalibration(max_rounds=40).fit(sigmoid(z), y, groups=level)
    q = cal.predict_proba([0.5, 0.5, 0.5], groups=[5, 50, 10_000])[:, 1]
    assert q[0] > 0.7 > 0.5 > q[1]
    assert q[2] < 0.6


def test_several_classes():
    rng = np.random.default_rng(6)
    z, X = rng.normal(size=(6000, 3)), rng.normal(size=(6000, 2))

    def softmax(z):
        return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)

    P, truth = softmax(z), softmax(z + np.sign(X[:, :1] * X[:, 1:]) * [1.0, 0.0, -1.0])
    y = (truth.cumsum(axis=1) < rng.uniform(size=(6000, 1))).sum(axis=1)
    fit, test = slice(0, 4000), np.arange(4000, 6000)
    cal = Multicalibration(cb.calibrators.Beta(), max_rounds=30, learning_rate=0.3).fit(
        P[fit], y[fit], X=X[fit]
    )
    assert type(cal.calibrator_).__name__ == "OneVsRest"
    base = cal.calibrator_.predict_proba(P[test])
    losses = [
        -np.log(Q[np.arange(len(Q)), y[test]])
        for Q in (cal.predict_proba(P[test], X=X[test]), base, truth[test])
    ]
    assert (losses[1] - losses[0]).mean() > 0.75 * (losses[1] - losses[2]).mean()


def test_the_order_within_a_group_is_kept_where_asked():
    rng = np.random.default_rng(8)
    group, z = rng.integers(0, 6, 6000), rng.normal(size=6000)
    # Wavy in the score, so that trees that may ask of it break its order.
    y = (rng.uniform(size=6000) < sigmoid(z + 2.5 * np.sin(3.0 * z) + 0.5 * group - 1.5)).astype(
        int
    )
    score = np.linspace(0.05, 0.95, 200)
    for keep in (False, True):
        cal = Multicalibration(keep_order=keep).fit(sigmoid(z), y, groups=group)
        assert cal.trees_.used
        falls = [
            np.diff(cal.predict_proba(score, groups=np.full(200, g))[:, 1]).min() < 0.0
            for g in range(6)
        ]
        assert any(falls) != keep


def test_weights_are_repetition_and_the_order_of_rows_is_nothing():
    p, y, groups, x = mixed(700, 3)
    weight = np.random.default_rng(0).integers(0, 4, 700)
    options = {"max_rounds": 10, "learning_rate": 0.4}
    cal = Multicalibration(**options).fit(p, y, groups=groups, X=x, sample_weight=weight)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(700), weight))
    again = Multicalibration(**options).fit(p[order], y[order], groups=groups[order], X=x[order])
    assert cal.trees_.used
    np.testing.assert_allclose(
        cal.predict_proba(p, groups=groups, X=x),
        again.predict_proba(p, groups=groups, X=x),
        atol=1e-6,
    )


def test_rows_of_few_scores_and_groups_are_learned_from():
    """All hits of a cell in one fold would mislead the others: equal rows are dealt out."""
    rng = np.random.default_rng(9)
    score, group = rng.integers(1, 6, 4000) / 6.0, rng.integers(0, 3, 4000)
    truth = sigmoid(np.log(score / (1.0 - score)) + group - 1.0)
    y = (rng.uniform(size=4000) < truth).astype(int)
    q = Multicalibration().fit(score, y, groups=group).predict_proba(score, groups=group)[:, 1]
    assert np.abs(q - truth).mean() < 0.4 * np.abs(score - truth).mean()


def test_saved_with_columns_of_every_kind(tmp_path):
    p, y, groups, x = mixed(1500, 4)
    cal = Multicalibration(cb.GroupCalibrator(), max_rounds=10).fit(p, y, groups=groups, X=x)
    again = cb.load(cal.save(tmp_path / "boosted.calibrant"))
    np.testing.assert_array_equal(
        again.predict_proba(p, groups=groups, X=x), cal.predict_proba(p, groups=groups, X=x)
    )


def test_no_fold_cuts_a_cluster():
    """Copies of few rows: by chance folds see each thing on both sides and believe noise;
    clusters do not.
    """
    used = {True: 0, False: 0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        thing = np.repeat(np.arange(80), 10)
        p, X = (
            rng.uniform(0.2, 0.8, 80)[thing],
            rng.normal(size=(80, 3))[thing] + rng.normal(0.0, 1e-3, (800, 3)),
        )
        y = (rng.uniform(size=80)[thing] < p).astype(int)
        for known in used:
            cal = Multicalibration(max_rounds=15).fit(p, y, X=X, cluster=thing if known else None)
            used[known] += cal.trees_.used
    assert used[False] == 3
    assert used[True] <= 1


def test_it_joins_the_automatic_choice_where_columns_are_given():
    p, y, X, _ = problem(1000)
    names = ["temperature scaling", "boosted trees"]
    cal = cb.AutoCalibrator(methods=names).fit(p, y, X=X)
    assert {row["name"]: row["weight"] for row in cal.table_}["boosted trees"] > 0.9
    with pytest.raises(InputError, match="AutoCalibrator needs X="):
        cal.predict_proba(p)
    assert "boosted trees" not in {
        row["name"] for row in cb.AutoCalibrator(methods=names).fit(p, y).table_
    }


def test_it_can_be_said_of_positions_of_levels():
    p, y, groups, _ = mixed(3000, 5)
    for options in ({}, {"keep_order": True}):
        cal = Multicalibration(cb.GroupCalibrator(), max_rounds=4, **options).fit(
            p, y, groups=groups
        )
        cal = (
            Multicalibration(max_rounds=4, **options).fit(p, y, groups=groups)
            if not cal.trees_.used
            else cal
        )
        assert cal.trees_.used
        P, new = np.column_stack([1.0 - p, p])[:300], groups[:300].copy()
        new[:3] = [["new", 3], ["a", 99], [None, 3]]
        rows = np.hstack([P, cal.group_levels().codes(new)])
        np.testing.assert_allclose(
            cal.compile()(rows), cal.predict_proba(P, groups=new), atol=1e-12
        )
    with pytest.raises(InputError, match="trees on features"):
        Multicalibration(max_rounds=4).fit(
            p, y, X=groups[:, 1].astype(float), groups=groups
        ).expression()


def test_options_and_columns_are_checked():
    p, y, X, _ = problem(200)
    cal = Multicalibration().fit(p, y, X=X)
    with pytest.raises(InputError, match="Multicalibration needs X="):
        cal.predict_proba(p)
    with pytest.raises(
        InputError, match="groups must be given where it was in the fit, and only there"
    ):
        cal.predict_proba(p, X=X, groups=X)
    cal.fit(p, y, groups=X[:, 0] > 0).fit(p, y, X=X)
    with pytest.raises(InputError, match="X must have 4 columns, as in the fit; got 3"):
        cal.predict_proba(p, X=X[:, :3])
    with pytest.raises(InputError, match="depth must be a whole number from 1 to 8; got 0"):
        Multicalibration(depth=0).fit(p, y, X=X)
    with pytest.raises(InputError, match="learning_rate must be above 0"):
        Multicalibration(learning_rate=0.0).fit(p, y, X=X)
    with pytest.raises(InputError, match="X must be a table of rows and columns"):
        Multicalibration().fit(p, y, X=np.zeros((200, 2, 2)))
