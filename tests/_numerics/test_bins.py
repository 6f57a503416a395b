"""Bins: which one a score falls in, and the sums over them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant._numerics import bins
from calibrant._numerics.bins import (
    LOGIT_CELLS,
    REACH,
    Distinct,
    cell_count,
    cell_index,
    chi_square_draws,
    distinct_scores,
    enough_bins,
    equal_width_index,
    flat_knots,
    in_cells,
    just_above,
    just_below,
    level_counts,
    level_gaps,
    near_ties,
    normalised_gap,
    redrawn_counts,
    settled,
    spread_bins,
    upper_edges,
)
from calibrant._numerics.logistic import log_odds


def test_equal_width_edges_and_index():
    assert bins.equal_width_edges(4).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert bins.equal_width_index([0.0, 0.2499, 0.25, 0.999, 1.0], 4).tolist() == [0, 0, 1, 3, 3]


def test_resolution_counts_a_score_just_below_an_edge_as_on_it():
    p = np.float32(0.7)  # 0.699999988 in float64
    assert bins.equal_width_index([float(p)], 10).tolist() == [6]
    assert bins.equal_width_index([float(p)], 10, np.finfo(np.float32).eps).tolist() == [7]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=40),
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
)
def test_equal_mass_groups(ties, n_bins, seed):
    score = np.array(ties) / 8.0
    weight = np.random.default_rng(seed).integers(1, 4, len(score)).astype(float)
    group = bins.equal_mass_groups(score, n_bins, weight)
    used = np.unique(group)
    assert used.tolist() == list(range(len(used))), "numbers are not consecutive"
    assert len(used) <= n_bins
    order = np.argsort(score)
    assert (np.diff(group[order]) >= 0).all(), "groups do not rise with the score"
    for value in np.unique(score):
        assert len(np.unique(group[score == value])) == 1, "a tie was split"
    rows = np.repeat(np.arange(len(score)), weight.astype(int))
    np.testing.assert_array_equal(bins.equal_mass_groups(score[rows], n_bins), group[rows])


def test_equal_mass_groups_without_ties_are_of_equal_size():
    group = bins.equal_mass_groups(np.random.default_rng(0).random(103), 10)
    assert set(np.bincount(group)) == {10, 11}


def test_grouped_sums():
    sums = bins.grouped_sums(
        np.array([2, 0, 2]), 4, [np.array([1.0, 2.0, 3.0])], np.array([1.0, 10.0, 2.0])
    )
    assert sums.tolist() == [[10.0, 20.0], [0.0, 0.0], [3.0, 7.0], [0.0, 0.0]]
    plain = bins.grouped_sums(np.array([2, 0, 2]), 3, [np.array([1.0, 2.0, 3.0])])
    assert plain.tolist() == [[1.0, 2.0], [0.0, 0.0], [2.0, 4.0]]


def test_the_least_score_of_a_bin_is_exact():
    for n_bins in (*range(2, 40), 1000):
        for resolution in (2.0**-52, float(np.finfo(np.float32).eps), 0.0):
            starts = bins.equal_width_starts(n_bins, resolution)
            number = np.arange(1, n_bins)
            assert bins.equal_width_index(starts, n_bins, resolution).tolist() == number.tolist()
            assert (
                bins.equal_width_index(np.nextafter(starts, -1.0), n_bins, resolution).tolist()
                == (number - 1).tolist()
            )


def test_a_run_of_ties_goes_where_its_middle_is():
    # Middles 1, 4.5 and 8.5 of 10: of two parts the second begins at 5, of ten each has its own.
    assert bins.equal_mass_parts(np.array([2.0, 5.0, 3.0]), 2).tolist() == [0, 0, 1]
    assert bins.equal_mass_parts(np.array([2.0, 5.0, 3.0]), 10).tolist() == [0, 1, 2]
    assert bins.equal_mass_parts(np.array([2.0, 6.0, 2.0]), 2).tolist() == [0, 1, 1]
    assert bins.equal_mass_parts(np.array([0.0, 1.0]), 1).tolist() == [0, 0]


def test_the_ends_of_groups():
    low, high = bins.group_ends(np.array([0.3, 0.1, 0.7]), np.array([0, 0, 2]), 3)
    assert (low.tolist(), high.tolist()) == ([0.1, np.inf, 0.7], [0.3, -np.inf, 0.7])


# -- distinct -----------------------------------------------------------------------------------


def test_parts_add_up_and_are_cut():
    one = Distinct.of(
        np.array([2.0, 1.0, 2.0]), [np.array([5.0, 7.0, 11.0])], np.array([1.0, 2.0, 3.0])
    )
    assert (one.values.tolist(), one.sums.tolist()) == ([1.0, 2.0], [[2.0, 14.0], [4.0, 38.0]])
    both = one + Distinct.of(np.array([3.0, 1.0]), [np.array([1.0, 2.0])], np.array([4.0, 2.0]))
    assert (both.values.tolist(), both.sums.tolist()) == (
        [1.0, 2.0, 3.0],
        [[4.0, 18.0], [4.0, 38.0], [4.0, 4.0]],
    )
    cut = both.cut(3)
    assert (len(cut), cut.part.tolist(), cut.lower.tolist(), cut.upper.tolist()) == (
        3,
        [0, 1, 2],
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 3.0],
    )
    assert cut.index(np.array([3.0, 1.0])).tolist() == [2, 0]
    halves = Distinct.of(np.arange(4.0)).cut(2)
    assert (halves.lower.tolist(), halves.upper.tolist(), halves.part.tolist()) == (
        [0.0, 2.0],
        [1.0, 3.0],
        [0, 0, 1, 1],
    )


# -- fine scores --------------------------------------------------------------------------------


def test_bins_are_even_in_the_mean_of_the_score_and_its_log_odds():
    edges = upper_edges(11)
    assert (edges[0], edges[-1]) == (0.0, 1.0)
    inner = edges[1:-1]
    place = 0.5 * inner + 0.25 * (np.log(inner / (1.0 - inner)) / 30.0 + 1.0)
    np.testing.assert_allclose(place, np.arange(1, 10) / 10.0, rtol=1e-7)
    assert not edges.flags.writeable


def test_no_bin_is_wider_than_it_says():
    edges = upper_edges(5000)
    assert (np.diff(edges) <= 2.0 / 5000 * 1.001).all()
    inner = edges[1:-1]
    inner = inner[inner < 1.0 - 1e-9]
    assert (np.diff(np.log(inner / (1.0 - inner))) <= 120.0 / 5000 * 1.01).all()


# -- level counts -------------------------------------------------------------------------------
# Counts between levels, by hand.


NEAR, LEVELS = np.array([1.0, 2.0]), np.array([0.5, 0.9])


def test_a_row_on_a_reach_is_below_it():
    score, index = np.array([0.5, 1.0, 1.5, 2.0, 2.5]), np.array([0, 0, 1, 1, 1])
    assert level_counts(score, NEAR, index, 3).tolist() == [
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 1.0],
        [0.0, 0.0, 0.0],
    ]
    assert level_counts(score, NEAR, index, 2, np.arange(1.0, 6.0)).tolist() == [
        [3.0, 0.0, 0.0],
        [0.0, 7.0, 5.0],
    ]


def test_gaps_are_rows_at_most_at_each_level_less_those_claimed():
    weight, gaps = level_gaps(np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 2.0]]), LEVELS)
    assert weight.tolist() == [2.0, 4.0]
    np.testing.assert_allclose(gaps, [[2.0 - 1.0, 0.0 - 2.0], [2.0 - 1.8, 2.0 - 3.6]])


def test_redrawn_groups_have_two_rows_as_claimed():
    counts = np.array([[6.0, 0.0, 0.0], [0.0, 1.0, 3.0]])
    drawn = redrawn_counts(counts, LEVELS, 20_000, 0)
    assert (drawn.sum(axis=(1, 2)) == 10.0).all()
    share = (
        np.array([[7.0, 0.8, 0.2], [1.0, 1.8, 3.2]])
        / np.array([[8.0], [6.0]])
        * np.array([[6.0], [4.0]])
    )
    np.testing.assert_allclose(drawn.mean(axis=0), share, atol=0.05)


def test_rows_of_hardly_any_weight_are_drawn_as_one():
    drawn = redrawn_counts(np.array([[0.1, 0.2, 0.1]]), np.array([0.2, 0.6]), 500, 0)
    assert drawn.sum(axis=-1).tolist() == [[1.0]] * 500
    np.testing.assert_allclose(
        drawn.mean(axis=0)[0],
        (np.array([0.1, 0.2, 0.1]) + 2.0 * np.array([0.2, 0.4, 0.4])) / 2.4,
        atol=0.07,
    )


# -- nested cells -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [7, 15])
def test_rows_of_a_cell_share_every_bin_and_are_close(dtype, n_bins):
    rng = np.random.default_rng(0)
    edges = np.arange(1, 600) / 600
    score = np.concatenate(
        [
            rng.random(20_000),
            edges,
            np.nextafter(edges, 0),
            1.0 / (1.0 + np.exp(-20.0 * rng.normal(size=20_000))),
            [0, 1],
        ]
    )
    score = np.clip(score.astype(dtype), 0.0, 1.0).astype(np.float64)
    resolution = float(np.finfo(dtype).eps)
    cell = cell_index(score, n_bins, resolution)
    assert cell.min() >= 0
    assert cell.max() < cell_count(n_bins)
    order = np.argsort(score, kind="stable")
    assert (np.diff(cell[order]) >= 0).all(), "a cell's name rises with the score"
    same = np.diff(cell[order]) == 0
    for count in (5, 8, 10, 15, 20, 30, 50, n_bins):
        assert not np.diff(equal_width_index(score[order], count, resolution))[same].any()
    inner = (score[order] > 1.6e-8) & (score[order] < 1.0 - 1.6e-8)
    apart = np.diff(log_odds(score[order]))[same & inner[1:] & inner[:-1]]
    assert apart.max() <= 2.0 * REACH / LOGIT_CELLS + 1e-9


def test_exact_0_and_1_are_cells_of_their_own():
    cell = cell_index(np.array([0.0, 1e-300, 1.0 - 2.0**-53, 1.0]), 15, 2.0**-52)
    assert len(set(cell.tolist())) == 4


# -- score cells --------------------------------------------------------------------------------
# Cells: mass and mean kept, exact ends apart, and a fit to them is the fit to the rows.


def scores(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 3.0
    correct = (rng.uniform(size=n) < 1 / (1 + np.exp(-0.7 * x - 0.2 * np.sin(x)))).astype(float)
    return 1 / (1 + np.exp(-x)), correct, rng.integers(1, 4, n).astype(float)


def test_mass_and_mean_of_each_outcome_are_kept_in_fewer_rows():
    score, correct, weight = scores()
    mean, outcome, mass = in_cells(score, correct, weight)
    assert len(mean) < len(score) / 10
    for value in (0.0, 1.0):
        rows, cells = correct == value, outcome == value
        assert mass[cells].sum() == pytest.approx(weight[rows].sum())
        assert mass[cells] @ mean[cells] == pytest.approx(weight[rows] @ score[rows])


def test_exact_ends_and_their_neighbours_stay_apart():
    score, correct, weight = scores()
    score[:50], score[50:90] = 0.0, 1.0
    inner = score[90:]
    mean, _, _ = in_cells(score, correct, weight)
    assert {0.0, 1.0} <= set(np.unique(mean).round(15))
    kept = np.sort(mean[(mean > 1e-12) & (mean < 1 - 1e-12)])
    assert kept[0] == pytest.approx(inner.min(), rel=1e-14)
    assert kept[-1] == pytest.approx(inner.max(), rel=1e-14)


def test_few_rows_stay_as_they_are():
    score, correct, weight = (a[:900] for a in scores())
    assert in_cells(score, correct, weight)[0] is score


@pytest.mark.parametrize(
    "map",
    [
        cb.Platt(),
        cb.Platt(scale="probability"),
        cb.calibrators.Beta(),
        cb.calibrators.QuadraticScaling(),
        cb.calibrators.Spline(),
    ],
    ids=str,
)
def test_maps_cannot_tell_the_difference(map):
    score, correct, weight = scores()
    whole = map.fit(score, correct, sample_weight=weight).predict(score)
    near = map.fit_checked(*in_cells(score, correct, weight)).predict(score)
    np.testing.assert_allclose(near, whole, atol=2e-4)
    loss = [
        -np.average(np.log(np.where(correct == 1, q, 1 - q)), weights=weight) for q in (whole, near)
    ]
    assert loss[1] == pytest.approx(loss[0], abs=1e-6)


# -- spread bins --------------------------------------------------------------------------------
# Bins of equal weight by standard deviation, by hand; and the moments of what is drawn.


def test_bins_by_hand():
    std, error, weight = (
        np.array([2.0, 1.0, 1.0, 4.0]),
        np.array([5.0, 1.0, 3.0, 20.0]),
        np.array([1.0, 1.0, 3.0, 3.0]),
    )
    group, mass, variance, mean = spread_bins(std, error, weight, 2)
    assert group.tolist() == [1, 0, 0, 1]
    np.testing.assert_allclose(mass, [4.0, 4.0])
    np.testing.assert_allclose(variance, [1.0, (4.0 + 3 * 16.0) / 4])
    np.testing.assert_allclose(mean, [(1.0 + 9.0) / 4, (5.0 + 60.0) / 4])


def test_the_gap_by_hand():
    found = normalised_gap(np.array([[4.0, 1.0], [1.0, 1.0]]), np.array([[9.0, 0.25], [1.0, 1.0]]))
    np.testing.assert_allclose(found, [0.5, 0.0])


def test_thirty_rows_a_bin():
    assert [enough_bins(10, n) for n in (29, 30, 59, 60, 299, 300, 9000)] == [1, 1, 1, 2, 9, 10, 10]


def test_moments_of_the_draws():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [3, 2001])
    part = np.concatenate([[0.5, 0.3, 0.2], np.full(2001, 1 / 2001)])
    for weight in (np.ones(2004), np.tile([1.0, 3.0], 1002)):
        drawn = chi_square_draws(group, part, weight, 2, 20_000, rng)
        mean = np.bincount(group, part * weight)
        variance = np.bincount(group, 2.0 * part**2 * weight)
        np.testing.assert_allclose(drawn.mean(axis=0), mean, rtol=0.02)
        np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.06)


# -- ties ---------------------------------------------------------------------------------------


EPS = np.finfo(np.float64).eps


def test_scores_that_differ_by_rounding_are_one_and_others_are_not():
    score = np.array([0.7, 0.3, 0.1 + 0.2, 0.7 - EPS, 0.3 + 1e-12, 1.0])
    unique, place = distinct_scores(score)
    assert place.tolist() == [2, 0, 0, 2, 1, 3]
    np.testing.assert_allclose(unique, [0.3, 0.3 + 1e-12, 0.7, 1.0], rtol=0.0, atol=2.0 * EPS)


def test_without_near_ties_the_scores_stay_as_they_are():
    score = np.array([3.0, -1e-30, 0.0, 1e-30, 3.0])
    unique, place = distinct_scores(score)
    assert unique.tolist() == [-1e-30, 0.0, 1e-30, 3.0]
    assert place.tolist() == [3, 0, 1, 2, 3]


def test_runs_lie_further_apart_than_their_edges():
    knots = np.array([1e-300, 1e-20, 1e-12, 0.3, 1.0 - 1e-9, 1.0, 30.0, 1e15])
    assert (just_below(knots)[1:] > just_above(knots)[:-1]).all()
    for each in (
        np.nextafter(knots, np.inf),
        np.nextafter(knots, -np.inf),
        knots * (1.0 + 4.0 * EPS),
        knots * (1.0 - 4.0 * EPS),
    ):
        assert (each >= just_below(knots)).all()
        assert (each <= just_above(knots)).all()
    unique = np.unique(np.concatenate([knots, just_below(knots), just_above(knots)]))
    assert len(near_ties(unique)) == len(knots)


def test_extremes_are_finite():
    ends = np.array([-np.finfo(np.float64).max, -5e-324, 0.0, 5e-324, np.finfo(np.float64).max])
    unique, _ = distinct_scores(ends)
    np.testing.assert_array_equal(unique, ends)
    assert np.isfinite(flat_knots(ends[1:-1], ends[1:-1])).all()


def test_differences_of_nothing_but_rounding_are_nothing():
    assert settled(np.array([EPS, -EPS, 0.0, 1e-13, -2.0])).tolist() == [0.0, 0.0, 0.0, 1e-13, -2.0]


def test_scores_sorted_before_make_the_same_groups():
    rng = np.random.default_rng(6)
    score = np.round(rng.random(500), 2) + rng.choice([0.0, 1e-17, 1e-16], 500)
    ranks, weight = np.unique(score, return_inverse=True), rng.random(500)
    for own, known in zip(*map(partial(bins.distinct_scores, score), (None, ranks)), strict=True):
        assert np.array_equal(own, known)
    groups = (bins.equal_mass_groups(score, 7, weight, known) for known in (None, ranks))
    assert np.array_equal(*groups)
    sums = (bins.Distinct.of(score, [weight], None, known).sums for known in (None, ranks))
    assert np.array_equal(*sums)
