"""The parts of an audit, each by sums over rows written out or by hand."""

import numpy as np
import pytest
from scipy import optimize, special, stats

import calibrant as cb
from calibrant._numerics.clusters import membership
from calibrant.audits import nulls as kernel
from calibrant.audits.audit import _rules, found_groups, number_features
from calibrant.audits.nulls import (
    Strong,
    Totals,
    Weak,
    _statistics,
    gap_limits,
    parted,
    shrunk_gaps,
)
from calibrant.audits.sample import (
    ClassSample,
    ScoreSample,
    cells,
    columns_of,
    everyone,
    family,
    of_outcomes,
)

RNG = np.random.default_rng(0)
N = 60
P = RNG.choice([0.2, 0.35, 0.5, 0.8], N)
HIT = (RNG.random(N) < P).astype(float)
WEIGHT = RNG.integers(1, 4, N).astype(float)
CLUSTER = RNG.integers(0, 9, N)
GROUP = RNG.integers(0, 3, N)


def sampled(clustered=False):
    """A sample of units, and a family of three groups of them and one of all."""
    cluster = CLUSTER if clustered else None
    sample = of_outcomes(P, HIT, WEIGHT, GROUP, cluster)
    of = GROUP[sample.rows]
    units = np.arange(len(sample))
    matrix = membership(
        np.concatenate([of, np.full(len(of), 3)]), np.concatenate([units, units]), (4, len(of))
    )
    return sample, type(everyone(1))([{"g": str(k)} for k in range(4)], matrix)


MEMBERS = [GROUP == 0, GROUP == 1, GROUP == 2, np.ones(N, dtype=bool)]


def test_rows_that_say_the_same_are_one_unit():
    hit, weight = np.array([1.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    sample = of_outcomes(np.array([0.5, 0.2, 0.5, 0.5]), hit, weight, np.array([0, 0, 0, 1]))
    assert sorted(
        zip(sample.said[:, 0], sample.weight, sample.came[:, 0], sample.variance[:, 0], strict=True)
    ) == [
        (0.2, 2.0, 0.0, pytest.approx(0.16)),
        (0.5, 4.0, 0.25, 0.25),
        (0.5, 4.0, 1.0, 0.25),
    ]
    np.testing.assert_allclose(np.sort(sample.off[:, 0]), [-1.0, -0.4, 2.0])
    unit, mass, off = sample.parts()
    assert mass.sum() == 10.0
    np.testing.assert_allclose(np.bincount(unit, mass * off[:, 0]), sample.off[:, 0])
    apart = of_outcomes(
        np.full(2, 0.5),
        np.array([1.0, 0.0]),
        np.ones(2),
        np.zeros(2, dtype=int),
        tie=np.array([0.3, 0.1]),
    )
    assert len(apart) == 2
    some = sampled(True)[0].take(np.array([3, 1]))
    assert len(some) == 2
    assert set(some.cluster.tolist()) <= {0, 1}


def test_draws_have_the_mean_and_the_variance_of_what_was_said():
    for weight in (np.ones(N), WEIGHT, WEIGHT + 0.4):
        sample = of_outcomes(P, HIT, weight, GROUP)
        drawn = sample.drawn(4000, np.random.default_rng(1))[:, 0]
        variance = sample.weight * sample.variance[:, 0]
        np.testing.assert_allclose(drawn.mean(axis=1), 0.0, atol=5 * np.sqrt(variance.max() / 4000))
        np.testing.assert_allclose(drawn.var(axis=1), variance, rtol=0.15)
    said = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    classes = ClassSample(
        ("a", "b", "c"), np.array([1.0, 4.0]), said, said, said * (1 - said), None, np.arange(2)
    )
    drawn = classes.drawn(20_000, np.random.default_rng(2))
    np.testing.assert_allclose(drawn.mean(axis=2), 0.0, atol=0.04)
    np.testing.assert_allclose(
        drawn.var(axis=2), np.array([[1.0], [4.0]]) * said * (1 - said), rtol=0.05
    )
    np.testing.assert_allclose(drawn.sum(axis=1), 0.0, atol=1e-9)
    none, weight = np.zeros((2, 2)), np.array([1.0, 9.0])
    scores = ScoreSample(("mean", "spread"), weight, none, none, none, None, np.arange(2))
    drawn = scores.drawn(20_000, np.random.default_rng(3))
    np.testing.assert_allclose(drawn.mean(axis=2), 0.0, atol=0.1)
    np.testing.assert_allclose(
        drawn.var(axis=2), np.array([[1.0], [9.0]]) * [1.0, 1 / 12], rtol=0.05
    )


def test_totals_are_sums_over_the_rows():
    sample, groups = sampled()
    place = np.searchsorted([0.3, 0.6], sample.said)
    of = Totals.of(sample, groups, place, 3)
    for g, member in enumerate(MEMBERS):
        w, p, y = WEIGHT[member], P[member], HIT[member]
        expected = [w.sum(), w @ p, w @ y, w @ (p * (1 - p)), w @ ((y - p) ** 2 - p * (1 - p)), 0.0]
        found = [
            one[g, 0] for one in (of.n, of.said, of.came, of.variance, of.score, of.impossible)
        ]
        np.testing.assert_allclose(found, expected, atol=1e-9)
        for part in range(3):
            own = np.searchsorted([0.3, 0.6], p) == part
            expected = [
                w[own].sum(),
                w[own] @ p[own],
                w[own] @ (y - p)[own],
                w[own] @ (p * (1 - p))[own],
            ]
            found = [
                one[g, 0, part]
                for one in (of.parts_n, of.parts_said, of.parts_off, of.parts_variance)
            ]
            np.testing.assert_allclose(found, expected, atol=1e-9)
    odd = of_outcomes(
        np.array([0.0, 1.0, 0.5]),
        np.array([1.0, 0.0, 1.0]),
        np.array([2.0, 3.0, 5.0]),
        np.zeros(3, dtype=int),
    )
    assert Totals.of(odd, everyone(3), np.zeros((3, 1), dtype=int), 1).impossible.tolist() == [
        [5.0]
    ]
    # Of what was said for certain the outcomes that came all the same: 2 of 7 at 0, and 3 of 10 at
    # 1.
    sure, hit = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0])
    odd = of_outcomes(sure, hit, np.array([2.0, 5.0, 3.0, 7.0]), np.zeros(4, dtype=int))
    assert Totals.of(
        odd, everyone(len(odd)), np.zeros((len(odd), 1), dtype=int), 1
    ).impossible.tolist() == [[5.0]]
    assert parted(everyone(3), np.array([1, 0, 1]), 2).toarray().tolist() == [
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 1.0],
    ]


def test_variances_of_both_nulls_are_sums_over_the_rows_or_clusters():
    for clustered in (False, True):
        sample, groups = sampled(clustered)
        both = [
            null(sample, groups, np.zeros((len(sample), 1), dtype=int), 1)
            for null in (Strong, Weak)
        ]
        for g, member in enumerate(MEMBERS):
            w, p, y, c = WEIGHT[member], P[member], HIT[member], CLUSTER[member]
            gap, names = w @ (y - p) / w.sum(), np.unique(c)
            np.testing.assert_allclose(both[0].variance[g, 0], w @ (p * (1 - p)))
            if clustered:
                sums = np.array([w[c == k] @ (y - p)[c == k] for k in names])
                own = np.array([w[c == k] @ (y - p - gap)[c == k] for k in names])
                weak, centred, freedom = (
                    sums @ sums,
                    own @ own * len(names) / (len(names) - 1),
                    len(names) - 1,
                )
            else:
                weak, n = w @ (y - p) ** 2, w.sum()
                centred, freedom = (w @ (y - p - gap) ** 2) * n / (n - 1), n - 1
            np.testing.assert_allclose(both[1].variance[g, 0], weak)
            for null in both:
                np.testing.assert_allclose(null.centred_variance[g, 0], centred)
                np.testing.assert_allclose(null.freedom[g, 0], freedom)


def test_draws_of_both_nulls_have_their_variance():
    for clustered in (False, True):
        sample, groups = sampled(clustered)
        tested = np.array([[True], [False], [True], [True]])
        for null in (Strong, Weak) if not clustered else (Weak,):
            of = null(sample, groups, np.zeros((len(sample), 1), dtype=int), 1)
            drawn = of.drawn(tested, np.random.default_rng(1), 8000)[0]
            assert drawn.shape == (3, 8000)
            np.testing.assert_allclose(drawn.var(axis=1), of.variance[[0, 2, 3], 0], rtol=0.08)
            assert of.size in (len(sample), 2 * len(sample))


def test_risks_that_are_too_sure_are_measured_by_the_errors_seen():
    """Said .02 and .98 where .3 and .7 are so: the mean is right, the errors vary ten times as
    much as said.
    """
    said = np.repeat([0.02, 0.98], 200)
    came = np.concatenate([np.arange(200) < 60, np.arange(200) < 140]).astype(float)
    bold = of_outcomes(said, came, np.ones(400), np.arange(400))
    place = np.repeat([0, 1], 200)[bold.rows][:, None]
    of = Strong(bold, everyone(400), place, 2)
    np.testing.assert_allclose(of.deviation**2, of.centred_variance, rtol=1e-6)
    assert of.deviation[0, 0] ** 2 > 10.0 * of.variance[0, 0]
    # An error of all risks is none of their sureness: of one risk it is measured as the null has
    # it.
    off = of_outcomes(
        np.full(400, 0.2), (np.arange(400) < 160).astype(float), np.ones(400), np.arange(400)
    )
    of = Strong(off, everyone(400), np.zeros((400, 1), dtype=int), 1)
    np.testing.assert_allclose(of.deviation**2, of.variance)


def test_statistics_by_hand():
    """Two groups of two parts: sums of 3 and -1 in two deviations; running 3, 2 from 0: a range
    of 3.
    """
    sums = np.array([[3.0], [-1.0], [-4.0], [6.0]])
    sizes, reach = _statistics(sums, np.array([2.0, 4.0]), 2)
    assert sizes.tolist() == [[1.0], [0.5]]
    assert reach.tolist() == [1.5]
    assert _statistics(np.array([[-4.0], [6.0]]), np.array([4.0]), 2)[1].tolist() == [1.5]
    assert _statistics(sums, np.array([0.0, 4.0]), 2)[0].tolist() == [[0.0], [0.5]]
    nothing = _statistics(np.zeros((0, 5)), np.zeros(0), 2)
    assert (nothing[0].shape, nothing[1].tolist()) == ((0, 5), [0.0] * 5)


def test_all_groups_are_tested_with_one_set_of_draws():
    sample, groups = sampled()
    for null in ("strong", "weak"):
        found = kernel.tested_groups(sample, groups, null, 300, 0, "any")
        of = {"strong": Strong, "weak": Weak}[null](
            sample, groups, np.zeros((len(sample), 1), dtype=int), 1
        )
        np.testing.assert_allclose(
            found.statistic, np.abs(of.totals.came - of.totals.said) / of.deviation
        )
        np.testing.assert_allclose(
            found.spread, of.deviation if null == "strong" else np.sqrt(of.centred_variance)
        )
        assert len(found.maxima) == 300
        np.testing.assert_array_equal(np.isnan(found.p_value), ~found.tested)
        largest = np.nanargmax(np.where(found.tested, found.statistic, np.nan))
        expected = (
            1 + np.sum(found.maxima >= found.statistic.ravel()[largest] * (1 - 1e-10))
        ) / 301
        np.testing.assert_allclose(found.p_value.ravel()[largest], expected)
        assert found.range_[0] > 0.0
        assert len(found.range_[1]) == 300
    few = of_outcomes(
        np.full(3, 0.5), np.array([0.0, 1.0, 1.0]), np.ones(3), np.zeros(3, dtype=int)
    )
    none = kernel.tested_groups(few, everyone(len(few)), "strong", 50, 0, "any")
    assert not none.tested.any()
    assert np.isnan(none.p_value).all()


def test_ends_of_gaps_are_the_shifts_that_the_test_would_not_refuse():
    sample, groups = sampled()
    totals = Totals.of(sample, groups, np.searchsorted([0.2, 0.35, 0.5], sample.said), 4)
    spread, critical = 1.3 * np.sqrt(totals.variance), np.full((4, 1), 2.0)
    low, high = gap_limits(sample, totals, spread, critical)
    for g, member in enumerate(MEMBERS):
        w, odds, came = WEIGHT[member], special.logit(P[member]), totals.came[g, 0]

        def off(shift, sign, w=w, odds=odds, came=came):
            p = special.expit(odds + shift)
            return w @ p + sign * 2.0 * 1.3 * np.sqrt(w @ (p * (1 - p))) - came

        ends = [
            w @ special.expit(odds + optimize.brentq(off, -8, 8, args=(sign,))) / w.sum()
            for sign in (-1.0, 1.0)
        ]
        said = w @ P[member] / w.sum()
        np.testing.assert_allclose(
            [low[g, 0], high[g, 0]], [said - ends[0], said - ends[1]], atol=1e-6
        )
    nobody = type(groups)(groups.where, groups.matrix * 0.0)
    empty = Totals.of(sample, nobody, np.zeros((len(sample), 1), dtype=int), 1)
    assert np.isnan(gap_limits(sample, empty, spread, critical)).all()
    scores = ScoreSample(
        ("mean",),
        np.array([2.0, 3.0]),
        np.zeros((2, 1)),
        np.array([[0.5], [-0.2]]),
        np.ones((2, 1)),
        None,
        np.arange(2),
    )
    totals = Totals.of(scores, everyone(2), np.zeros((2, 1), dtype=int), 1)
    low, high = gap_limits(scores, totals, np.array([[1.5]]), np.array([[2.0]]))
    np.testing.assert_allclose([low[0, 0], high[0, 0]], [-0.08 - 0.6, -0.08 + 0.6])


def test_gaps_are_shrunk_by_the_variance_of_most_likelihood():
    gap, error = np.array([[0.3], [-0.1], [0.25], [9.0]]), np.array([[0.1], [0.05], [0.2], [1.0]])
    used = np.array([[True], [True], [True], [False]])
    grid = np.append(0.0, np.geomspace(1e-4, 10.0, 200) * np.mean(gap[:3] ** 2))
    likely = [
        stats.norm.logpdf(gap[:3, 0], 0.0, np.sqrt(t + error[:3, 0] ** 2)).sum() for t in grid
    ]
    t = grid[np.argmax(likely)]
    np.testing.assert_allclose(shrunk_gaps(gap, error, used), gap * t / (t + error**2))
    assert shrunk_gaps(gap, 10.0 * error, used)[:3].tolist() == [[0.0]] * 3
    assert shrunk_gaps(gap, error, np.zeros_like(used)).tolist() == [[0.0]] * 4


def test_the_share_of_false_finds_asks_no_more_of_any_group():
    sample, groups = sampled()
    each, share = (
        kernel.tested_groups(sample, groups, "strong", 50, 0, control).p_value
        for control in ("any", "share")
    )
    np.testing.assert_array_equal(np.isnan(share), np.isnan(each))
    assert (share <= each)[~np.isnan(each)].all()


def test_levels_and_their_crossings():
    sex, age = np.array(["f", "m", "f", "m"]), np.array([20.0, 30.0, np.nan, 40.0])
    columns = columns_of([("sex", sex), ("age", age), (None, np.array(["x"] * 4))], 3, np.ones(4))
    assert [column.name for column in columns] == ["sex", "age", "group"]
    assert columns[1].levels == ["20", "30", "40", "(missing)"]
    assert columns[1].index.tolist() == [0, 1, 3, 2]
    assert len(np.unique(cells(columns, 4))) == 4
    assert cells([], 3).tolist() == [0, 0, 0]
    one = family(columns, 1)
    assert [next(iter(where.values())) for where in one.where] == [
        "f",
        "m",
        "20",
        "30",
        "40",
        "(missing)",
    ]
    assert one.matrix.toarray().tolist() == [
        [1, 0, 1, 0],
        [0, 1, 0, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
    ]
    # A crossing of the same rows as a level is that level.
    assert len(family(columns, 2)) == 6
    crossed = family(
        columns_of(
            [("a", np.array(["u", "u", "v", "v"])), ("b", np.array(["s", "t", "s", "t"]))],
            3,
            np.ones(4),
        ),
        2,
    )
    assert crossed.where[4:] == [
        {"a": "u", "b": "s"},
        {"a": "u", "b": "t"},
        {"a": "v", "b": "s"},
        {"a": "v", "b": "t"},
    ]
    assert crossed.matrix.toarray()[4:].tolist() == np.eye(4).tolist()
    assert len(family(columns[2:], 2)) == 0
    assert everyone(3).matrix.toarray().tolist() == [[1.0, 1.0, 1.0]]


def test_features_of_names_and_rules_of_trees():
    names, table = number_features(
        [("age", np.array([3, 1, 2, 2])), (None, np.array(["u", "v", "v", "v"]))]
    )
    assert names == ["age", "feature 2 is v", "feature 2 is u"]
    assert table.tolist() == [[3.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0], [2.0, 1.0, 0.0]]

    class Tree:
        node_count, feature, threshold = 5, [0, 0, 1, 0, 0], [2.5, 0.0, 0.5, 0.0, 0.0]
        children_left, children_right = [1, -1, 3, -1, -1], [2, -1, 4, -1, -1]

    rules = _rules(Tree, ["age", "sex is m"])
    assert rules == [
        "",
        "age <= 2.5",
        "age > 2.5",
        "age > 2.5 and not sex is m",
        "age > 2.5 and sex is m",
    ]


def test_what_is_found_in_one_half_is_of_the_units_of_the_other():
    rng = np.random.default_rng(4)
    x, n = rng.random((400, 1)), 400
    p = np.full(n, 0.5)
    sample = of_outcomes(
        p, (rng.random(n) < 0.2 + 0.6 * (x[:, 0] > 0.5)).astype(float), np.ones(n), np.arange(n)
    )
    features = x[sample.rows]
    halves = found_groups("tree", ["x"], features, sample, 0)
    assert [len(at) for at, _ in halves] == [200, 200]
    assert set(np.concatenate([at for at, _ in halves]).tolist()) == set(range(n))
    for at, groups in halves:
        first = np.asarray(groups.matrix.toarray())[0]
        assert groups.where[0]["group"].startswith("x <= ")
        cut = float(groups.where[0]["group"].split("<= ")[1])
        assert abs(cut - 0.5) < 0.1
        np.testing.assert_array_equal(first, features[at, 0] <= cut + 5e-5)
    assert len(found_groups("tree", ["x"], features[:199], sample.take(np.arange(199)), 0)) == 0


@pytest.mark.parametrize(
    ("events", "said", "enough"),
    [
        (30, 0.5, True),
        (29, 0.5, False),
        (70, 0.5, True),
        (71, 0.5, False),
        (1, 0.0, True),
        (0, 0.0, False),
    ],
)
def test_what_the_weak_null_can_be_tested_on(events, said, enough):
    """Thirty events and thirty without one, of 100 rows; or one event that was said to be
    impossible.
    """
    sample = of_outcomes(
        np.full(100, said), (np.arange(100) < events) * 1.0, np.ones(100), np.zeros(100, dtype=int)
    )
    weak = Weak(sample, everyone(len(sample)), np.zeros((len(sample), 1), dtype=int), 1)
    assert weak.enough.tolist() == [[enough]]


@pytest.mark.parametrize(("clusters", "enough"), [(29, False), (30, True)])
def test_the_weak_null_needs_thirty_clusters(clusters, enough):
    rows = 300
    sample = of_outcomes(
        np.full(rows, 0.5),
        np.arange(rows) % 2 * 1.0,
        np.ones(rows),
        np.zeros(rows, dtype=int),
        np.arange(rows) % clusters,
    )
    weak = Weak(sample, everyone(len(sample)), np.zeros((len(sample), 1), dtype=int), 1)
    assert weak.enough.tolist() == [[enough]]


def test_the_weak_null_of_scores_needs_thirty_rows_that_vary():
    for n, off, enough in ((30, 1.0, True), (29, 1.0, False), (40, 0.0, False)):
        none = np.zeros((n, 1))
        sample = ScoreSample(("mean",), np.ones(n), none, none + off, none, None, np.arange(n))
        assert Weak(sample, everyone(n), np.zeros((n, 1), dtype=int), 1).enough.tolist() == [
            [enough]
        ]


@pytest.mark.parametrize(("n", "enough"), [(20, True), (19, False)])
def test_the_strong_null_needs_a_variance_of_five(n, enough):
    sample = of_outcomes(
        np.full(n, 0.5), np.arange(n) % 2 * 1.0, np.ones(n), np.zeros(n, dtype=int)
    )
    assert Strong(
        sample, everyone(len(sample)), np.zeros((len(sample), 1), dtype=int), 1
    ).enough.tolist() == [[enough]]


def test_the_first_range_and_sizes_of_running_sums():
    """Two groups of three parts: the sums run to 2, -1, 1 and to -4, -4, 0."""
    sums = np.array([2.0, -3.0, 2.0, -4.0, 0.0, 4.0])[:, None]
    size, largest = _statistics(sums, np.array([2.0, 8.0]), 3)
    assert size.tolist() == [[0.5], [0.0]]
    assert largest.tolist() == [1.5]
    # A group that does not vary is never far.
    assert _statistics(sums, np.array([0.0, 8.0]), 3)[1].tolist() == [0.5]


def test_names_are_looked_at_up_to_the_twentieth_commonest():
    labels = np.concatenate([np.repeat([f"n{k:02d}" for k in range(20)], 2), ["rare"]])
    names, table = number_features([("n", labels)])
    assert names == [f"n is n{k:02d}" for k in range(20)]
    assert table.sum(axis=0).tolist() == [2.0] * 20
    names, table = number_features([("ok", np.array([True, False, True]))])
    assert (names, table[:, 0].tolist()) == (["ok is True", "ok is False"], [1.0, 0.0, 1.0])


@pytest.mark.parametrize("kind", ["tree", "boosting"])
def test_groups_are_found_in_two_hundred_rows_and_not_in_fewer(kind):
    rng = np.random.default_rng(6)
    x = rng.random(200)
    sample = of_outcomes(np.full(200, 0.5), (x > 0.5) * 1.0, np.ones(200), np.arange(200))
    features = x[sample.rows][:, None]
    assert len(found_groups(kind, ["x"], features, sample, 0)) == 2
    assert found_groups(kind, ["x"], features[:199], sample.take(np.arange(199)), 0) == []
    if kind == "boosting":
        for at, found in found_groups(kind, ["x"], features, sample, 0):
            expected = [
                f"part {k + 1} of {len(found)} by the error that boosting expects"
                for k in range(len(found))
            ]
            assert [one["group"] for one in found.where] == expected
            assert len(found) >= 2
            # Every row of the half is in one part, and the parts go up with the error.
            member = found.matrix.toarray()
            assert member.sum(axis=0).tolist() == [1.0] * len(at)
            assert (np.diff([features[at[row > 0], 0].mean() for row in member]) > 0.0).all()


def test_a_column_of_numbers_is_cut_and_what_is_missing_is_a_level():
    numbers = np.array([0.5, np.nan, 2.5, 1.5, 3.5, np.nan])
    (column,) = columns_of([("x", numbers)], 2, np.array([1.0, 9.0, 1.0, 1.0, 1.0, 9.0]))
    assert column.levels == ["0.5 to 1.5", "2.5 to 3.5", "(missing)"]
    assert column.index.tolist() == [0, 2, 1, 0, 1, 2]
    (column,) = columns_of([("x", numbers[[0, 2, 3]])], 3, np.ones(3))
    assert (column.levels, column.index.tolist()) == (
        ["0.5 to 0.5", "1.5 to 1.5", "2.5 to 2.5"],
        [0, 2, 1],
    )
    # Weights cut: the first number holds half of the weight.
    assert columns_of([("x", numbers[[0, 2, 3, 4]])], 2, np.array([3.0, 1.0, 1.0, 1.0]))[
        0
    ].index.tolist() == [0, 1, 1, 1]


def test_groups_are_found_by_their_errors_and_not_by_what_was_said():
    """The first feature says how much too little was said, the second what was said."""
    x = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (100, 1))
    said = 0.2 + 0.6 * x[:, 1]
    n = np.arange(400)
    came = np.where(x[:, 0] > 0.5, 1.0, np.where(x[:, 1] > 0.5, n // 4 % 5 < 4, n // 4 % 5 < 1))
    sample = of_outcomes(said, came.astype(float), np.ones(400), n)
    for kind in ("tree", "boosting"):
        for at, found in found_groups(kind, ["a", "b"], x[sample.rows], sample, 0):
            member = found.matrix.toarray() > 0
            assert found.where[0]["group"].startswith("a <= " if kind == "tree" else "part 1 of")
            assert (x[sample.rows][at][member[0], 0] == 0.0).all()


def test_the_largest_range_is_that_of_all_questions():
    """Three classes, of which the middle one is said too often for the first half of the rows,
    and too seldom for the others.
    """
    said = np.tile([[0.3, 0.4, 0.3]], (60, 1))
    came = np.eye(3)[np.concatenate([np.tile([0, 2], 15), np.full(30, 1)])]
    said[:30, 1], said[:30, 0] = 0.39, 0.31
    sample = ClassSample(
        ("a", "b", "c"), np.ones(60), said, came, said * (1.0 - said), None, np.arange(60)
    )
    found = kernel.tested_groups(sample, everyone(60), "strong", 20, 0, "any")
    ranges, deviations = [], np.empty(3)
    for q in range(3):
        running = np.cumsum((came - said)[np.argsort(said[:, q], kind="stable"), q])
        ends = np.flatnonzero(np.append(np.diff(np.sort(said[:, q])) != 0.0, True))
        sums = running[ends]
        deviations[q] = np.sqrt((said[:, q] * (1.0 - said[:, q])).sum())
        ranges.append((max(sums.max(), 0.0) - min(sums.min(), 0.0)) / deviations[q])
    assert found.range_[0] == pytest.approx(max(ranges))
    assert max(ranges) > 1.5 * min(ranges)
    assert found.range_[1].shape == found.maxima.shape == (20,)
    statistic = np.abs((came - said).sum(axis=0)) / deviations
    np.testing.assert_allclose(found.statistic[0], statistic)


def test_where_no_spread_is_seen_limits_are_those_of_independent_rows():
    """Also of what was said for certain, which may be off too."""
    sample = of_outcomes(
        np.array([0.2, 0.5, 0.9]),
        np.array([0.0, 1.0, 1.0]),
        np.array([20.0, 30.0, 10.0]),
        np.zeros(3, dtype=int),
    )
    totals = Totals.of(sample, everyone(3), np.arange(3)[:, None], 3)
    own, critical = np.sqrt(totals.parts_variance.sum(axis=-1)), np.full((1, 1), 2.0)
    plain = gap_limits(sample, totals, own, critical)
    np.testing.assert_array_equal(gap_limits(sample, totals, 0.0 * own, critical), plain)
    assert plain[1] - plain[0] > 0.1
    sure = of_outcomes(
        np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([40.0, 40.0]), np.zeros(2, dtype=int)
    )
    totals = Totals.of(sure, everyone(2), np.arange(2)[:, None], 2)
    low, high = gap_limits(sure, totals, np.zeros((1, 1)), critical)
    assert -0.5 < low[0, 0] < 0.0 < high[0, 0] < 0.5
    np.testing.assert_allclose(low, -high, atol=1e-6)


def test_sums_are_of_the_event_or_of_the_answer():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"p": [0.2, 0.9, 0.6, 0.7] * 20, "label": [0, 1, 1, 0] * 20, "g": ["a", "b"] * 40}
    )
    for target in ("event", "answer"):
        assert (
            cb.audit(cb.evaluate(frame, probabilities="p", by="g", target=target)).target == target
        )


def test_where_nothing_can_be_tested_nothing_is_said():
    sample = of_outcomes(
        np.full(4, 0.5), np.array([0.0, 1.0, 1.0, 0.0]), np.ones(4), np.zeros(4, dtype=int)
    )
    found = kernel.tested_groups(sample, everyone(len(sample)), "strong", 20, 0, "any")
    assert (found.tested.tolist(), np.isnan(found.p_value).all(), len(found.maxima)) == (
        [[False]],
        True,
        0,
    )
    assert (found.range_[0], len(found.range_[1])) == (0.0, 0)
    np.testing.assert_allclose(found.spread, np.sqrt(4.0 * 0.25))
