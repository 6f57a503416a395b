"""Offsets by group: found where groups differ, shrunk where rows are few, nothing where they do
not.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.groups import GroupCalibrator
from calibrant.errors import InputError


def problem(n, dims, spread, seed=0, crossed=0.0):
    """Columns of groups whose levels, and all of whose crossings, shift the log-odds."""
    rng = np.random.default_rng(seed)
    groups = np.column_stack([rng.integers(0, d, n) for d in dims])
    shift = sum(rng.normal(0.0, spread, d)[groups[:, j]] for j, d in enumerate(dims))
    shift = shift + rng.normal(0.0, crossed, dims)[tuple(groups.T)]
    z = rng.normal(size=n)
    truth = 1.0 / (1.0 + np.exp(-z - shift))
    return 1.0 / (1.0 + np.exp(-z)), (rng.uniform(size=n) < truth).astype(int), groups, truth


def loss(q, y):
    return -np.log(np.where(y == 1, q, 1.0 - q))


@pytest.mark.parametrize("crossed", [0.0, 0.5])
def test_it_gains_most_of_what_there_is_to_gain(crossed):
    p, y, groups, truth = problem(12_000, (5, 8), 0.5, crossed=crossed)
    half = slice(0, 6000)
    cal = GroupCalibrator().fit(p[half], y[half], groups=groups[half])
    rest = slice(6000, None)
    q = cal.predict_proba(p[rest], groups=groups[rest])[:, 1]
    base = cb.calibrators.LikelihoodPool().fit(p[half], y[half]).predict_proba(p[rest])[:, 1]
    gained, there = (loss(base, y[rest]) - loss(other, y[rest]) for other in (q, truth[rest]))
    assert gained.mean() > 0.85 * there.mean()
    # What it says of itself, row by row left out, is what it gains on others.
    error = np.hypot(cal.offsets_.gain_error_, gained.std() / 6000**0.5)
    assert abs(cal.offsets_.gain_ - gained.mean()) < 3.0 * error


def test_groups_that_do_not_differ_leave_the_base_exactly():
    left = 0
    for seed in range(30):
        p, y, groups, _ = problem(400, (6, 3), 0.0, seed)
        cal = GroupCalibrator().fit(p, y, groups=groups)
        base = cb.calibrators.LikelihoodPool().fit(p, y)
        if not cal.offsets_.used:
            left += 1
            np.testing.assert_array_equal(
                cal.predict_proba(p, groups=groups), base.predict_proba(p)
            )
            assert cal.status_ == "base: no evidence that groups differ"
            assert cal.explain().startswith("No evidence that groups differ")
    assert left >= 26


def test_unseen_levels_and_crossings_fall_back_to_their_parents():
    p, y, groups, _ = problem(6000, (4, 3), 0.8, 1)
    keep = ~((groups[:, 0] == 0) & (groups[:, 1] == 0))
    cal = GroupCalibrator(slopes=False).fit(p[keep], y[keep], groups=groups[keep])
    base = cal.calibrator_.predict_proba([0.4])
    np.testing.assert_array_equal(cal.predict_proba([0.4], groups=[[7, 9]]), base)

    def moved(*group):
        Q = cal.predict_proba([0.4], groups=[group])[0]
        return np.log(Q[1] / Q[0]) - np.log(base[0, 1] / base[0, 0])

    np.testing.assert_allclose(moved(0, 0), moved(0, 9) + moved(7, 0), atol=1e-9)
    assert abs(moved(0, 9)) > 0.05


def test_missing_is_a_level_where_it_was_seen():
    p, y, groups, _ = problem(4000, (3,), 1.0, 3)
    labels = np.array(["a", "b", None], dtype=object)[groups[:, 0]]
    cal = GroupCalibrator().fit(p, y, groups=labels)
    q = cal.predict_proba([0.5, 0.5], groups=[None, "other"])
    assert abs(q[0, 1] - q[1, 1]) > 0.05
    assert "(missing)" in cal.explain()


def test_slopes_are_found():
    rng = np.random.default_rng(5)
    group, z = rng.integers(0, 6, 9000), rng.normal(size=9000)
    y = (
        rng.uniform(size=9000) < 1.0 / (1.0 + np.exp(-z * np.linspace(0.4, 1.6, 6)[group]))
    ).astype(int)
    p = 1.0 / (1.0 + np.exp(-z))
    gains = [GroupCalibrator(slopes=s).fit(p, y, groups=group).offsets_ for s in (True, False)]
    assert gains[0].used
    assert not gains[1].used
    np.testing.assert_allclose(
        gains[0].families_[0]["slope"][:, 0], np.linspace(-0.6, 0.6, 6), atol=0.25
    )


def test_several_classes_and_a_map_for_a_base():
    rng = np.random.default_rng(6)
    group, z = rng.integers(0, 5, 6000), rng.normal(size=(6000, 3))
    shift = rng.normal(0.0, 0.7, (5, 3))

    def softmax(z):
        return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)

    truth = softmax(z + shift[group])
    y = (truth.cumsum(axis=1) < rng.uniform(size=(6000, 1))).sum(axis=1)
    P, fit, test = softmax(z), slice(0, 4000), np.arange(4000, 6000)
    cal = GroupCalibrator(cb.calibrators.Beta()).fit(P[fit], y[fit], groups=group[fit])
    assert type(cal.calibrator_).__name__ == "OneVsRest"
    base = cb.OneVsRest(cb.calibrators.Beta()).fit(P[fit], y[fit])
    losses = [
        -np.log(Q[y[test]]) if Q.ndim == 1 else -np.log(Q[np.arange(2000), y[test]])
        for Q in (
            cal.predict_proba(P[test], groups=group[test]),
            base.predict_proba(P[test]),
            truth[test],
        )
    ]
    assert (losses[1] - losses[0]).mean() > 0.8 * (losses[1] - losses[2]).mean()
    assert " of 0" in cal.explain() or " of 1" in cal.explain() or " of 2" in cal.explain()


def test_it_joins_the_automatic_choice_where_groups_are_given():
    p, y, groups, _ = problem(3000, (10,), 0.8, 7)
    cal = cb.AutoCalibrator(methods=["temperature scaling", "offsets by group"]).fit(
        p, y, groups=groups
    )
    assert {row["name"]: row["weight"] for row in cal.table_}["offsets by group"] > 0.9
    with pytest.raises(InputError, match="AutoCalibrator needs groups="):
        cal.predict_proba(p)


def test_groups_are_needed_and_options_checked():
    p, y, groups, _ = problem(100, (2,), 0.5)
    with pytest.raises(InputError, match="GroupCalibrator needs groups="):
        GroupCalibrator().fit(p, y)
    cal = GroupCalibrator().fit(p, y, groups=groups)
    with pytest.raises(InputError, match="GroupCalibrator needs groups="):
        cal.predict_proba(p)
    with pytest.raises(InputError, match="groups must have 100 rows"):
        cal.predict_proba(p, groups=groups[:3])
    with pytest.raises(InputError, match="depth must be a whole number of at least 1; got 0"):
        GroupCalibrator(depth=0).fit(p, y, groups=groups)
    with pytest.raises(InputError, match="TemperatureScaling does not use groups"):
        cb.TemperatureScaling().fit(p, y, groups=groups)


def test_columns_of_a_mapping_are_known_by_their_names():
    p, y, groups, _ = problem(2000, (4, 3), 0.8, 1)
    named = {"a": groups[:, 0], "b": groups[:, 1]}
    cal = GroupCalibrator().fit(p, y, groups=named)
    assert cal.group_names_ == ["a", "b"]
    expected = GroupCalibrator().fit(p, y, groups=groups).predict_proba(p, groups=groups)
    np.testing.assert_array_equal(
        cal.predict_proba(p, groups={"b": groups[:, 1], "a": groups[:, 0]}), expected
    )
    with pytest.raises(InputError, match=r"\['b'\] are not there"):
        cal.predict_proba(p, groups={"a": groups[:, 0]})


def test_it_can_be_said_of_positions_of_levels_alone_and_in_the_automatic_choice():
    rng = np.random.default_rng(0)
    groups = np.column_stack([rng.integers(0, 8, 3000), rng.integers(0, 3, 3000)])
    p = rng.uniform(0.05, 0.95, 3000)
    y = rng.uniform(size=3000) < 1.0 / (
        1.0 + (1.0 - p) / p * np.exp(rng.normal(size=8)[groups[:, 0]])
    )
    P = np.column_stack([1.0 - p, p])
    new = np.array([[0, 0], [7, 2], [8, 1], [3, -4]])
    for cal in (cb.GroupCalibrator(), cb.AutoCalibrator()):
        cal.fit(P, y, groups=groups)
        rows = np.hstack([P[:4], cal.group_levels().codes(new)])
        np.testing.assert_allclose(
            cal.compile()(rows), cal.predict_proba(P[:4], groups=new), atol=1e-12
        )
        # A position that no level has is unknown too, in whatever column.
        rows[0, 2:], rows[1, 2:] = (8, 0), (-1, -1)
        assert (
            np.ptp(cal.compile()(np.vstack([rows[0], [*rows[0, :2], -1, 0]])), axis=0).max() == 0.0
        )


def test_crossings_that_no_float32_can_number_are_not_said():
    rng = np.random.default_rng(0)
    groups, p = rng.integers(0, 5000, (12_000, 2)), rng.uniform(size=12_000)
    groups[:2000] = 0
    y = rng.uniform(size=12_000) < np.where((groups == 0).all(axis=1), p**3, p)
    cal = cb.GroupCalibrator(slopes=False).fit(p, y, groups=groups.astype(str))
    assert cal.offsets_.used
    with pytest.raises(InputError, match="too many cells for an expression"):
        cal.expression()


def test_rows_of_unseen_and_missing_levels_are_counted_by_column():
    p, y, groups, _ = problem(2000, (3, 2), 0.5, 7)
    cal = GroupCalibrator().fit(p, y, groups=groups.astype(str).astype(object))
    new = np.array([["0", "1"], ["9", "1"], [None, "7"]], dtype=object)
    assert cal.unseen_rows(new) == {"column 1": 2, "column 2": 1}
    assert cb.AutoCalibrator(methods=["offsets by group"]).fit(p, y, groups=groups).unseen_rows(
        [[5, 0]]
    ) == {"column 1": 1, "column 2": 0}
    assert cb.calibrators.Multicalibration(max_rounds=2).fit(p, y, groups=groups).unseen_rows(
        [[5, 0]]
    ) == {
        "column 1": 1,
        "column 2": 0,
    }
    assert cb.TemperatureScaling().fit(p, y).unseen_rows([[5, 0]]) == {}


@pytest.mark.parametrize(
    "wrapper", [GroupCalibrator, cb.calibrators.Multicalibration], ids=lambda one: one.__name__
)
def test_an_automatic_choice_inside_does_not_try_a_wrapper_again(wrapper):
    p, y, groups, _ = problem(600, (3,), 0.8, 8)
    cal = wrapper(cb.AutoCalibrator(cv=2)).fit(p, y, groups=groups[:, 0])
    tried = {row["name"] for row in cal.calibrator_.table_}
    assert "temperature scaling" in tried
    assert not tried & {"offsets by group", "boosted trees"}
    assert cal.predict_proba(p[:5], groups=groups[:5, 0]).shape == (5, 2)


def test_weights_of_a_design_are_worth_fewer_rows():
    """As many rows as their effective size: where groups do not differ, heavy rows do not tell
    them apart.
    """
    apart = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        p, group = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 1.3, 600))), rng.integers(4, size=600)
        y, weight = (rng.random(600) < p).astype(int), np.exp(rng.normal(0.0, 1.2, 600))
        fitted = cb.GroupCalibrator(cb.calibrators.Identity()).fit(
            p, y, groups=group, sample_weight=weight
        )
        effective = weight * (weight.sum() / (weight @ weight))
        same = cb.GroupCalibrator(cb.calibrators.Identity()).fit(
            p, y, groups=group, sample_weight=effective
        )
        np.testing.assert_allclose(
            fitted.predict_proba(p, groups=group), same.predict_proba(p, groups=group), rtol=1e-9
        )
        apart.append(fitted.offsets_.used)
    assert sum(apart) <= 2
