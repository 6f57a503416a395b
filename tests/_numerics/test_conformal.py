"""Ranks, limits and parameters of conformal prediction: what the next row is promised.

- The order statistic of split conformal prediction, from scores that may stand for many rows.
- Order statistics of each row's own scores, and what the folds of a cross-conformal method cost its
  promise.
- Conformal risk control: the least parameter at which a summed loss that only falls is small
  enough.
- The limit of a new row's score by a quantile regression that counts the row itself, one small
  linear program a row.

How much probability a row gives to the classes that it finds more likely than one of them; classes
of equal probability go together.

Probabilities are first rounded to whole multiples of 2^-50, so that every sum of them is exact: it
comes out the same in whatever order it is taken, for one class or for all, and in any order of the
columns.
"""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from scipy.optimize import linprog

from calibrant._numerics import conformal
from calibrant._numerics.conformal import (
    conditional_limits,
    conformal_rank,
    cumulated,
    least_parameter,
    mass_of_all,
    mass_of_labels,
    on_grid,
    order_statistic,
    plus_promise,
    row_statistics,
    rows_needed,
    shares,
    within_mass,
)

# -- conditional limit --------------------------------------------------------------------------


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    points = np.column_stack([np.ones(n), rng.random((n, 2)) < 0.4, rng.normal(size=n)]).astype(
        float
    )
    return points, rng.random(n) * (1.0 + points[:, 1])


def dual(points, scores, weight, phi, score, level):
    """The new row's variable, of the program of all rows."""
    w = np.append(weight, 1.0)
    bounds = np.column_stack([(level - 1.0) * w, level * w])
    return linprog(
        -np.append(scores, score),
        A_eq=np.vstack([points, phi]).T,
        b_eq=np.zeros(len(phi)),
        bounds=bounds,
    ).x[-1]


@pytest.mark.parametrize("n", [8, 9, 57, 99, 100, 4001])
def test_with_nothing_but_ones_it_is_the_order_statistic(n):
    scores = np.random.default_rng(n).random(n)
    found = conditional_limits(np.ones((n, 1)), scores, np.ones(n), np.ones((3, 1)), 0.9)
    expected = order_statistic(np.sort(scores), np.arange(1.0, n + 1.0), 0.9)
    np.testing.assert_allclose(found, np.full(3, expected), atol=2e-9, rtol=0)
    assert (found >= expected).all()


@pytest.mark.parametrize("u", [None, 0.05, 0.5, 0.95])
def test_it_is_where_the_dual_variable_passes_its_mark(u):
    points, scores = drawn(80)
    weight = np.random.default_rng(1).integers(1, 4, 80).astype(float)
    new = drawn(6, seed=2)[0]
    mark = 0.8 - 1e-6 if u is None else u - 0.2
    limits = conditional_limits(
        points, scores, weight, new, 0.8, None if u is None else np.full(6, u)
    )
    assert np.isfinite(limits).sum() >= 5
    for phi, limit in zip(new, limits, strict=True):
        if np.isfinite(limit):
            assert dual(points, scores, weight, phi, limit - 1e-6, 0.8) <= mark
            assert dual(points, scores, weight, phi, limit + 1e-6, 0.8) >= mark


def test_rows_far_from_the_fit_are_left_out_without_an_effect(monkeypatch):
    points, scores = drawn(3000)
    new = drawn(5, seed=1)[0]
    found = conditional_limits(points, scores, np.ones(3000), new, 0.9)
    monkeypatch.setattr(conformal, "BESIDES", 10_000)
    monkeypatch.setattr(conformal, "FIRST", 10_000)
    np.testing.assert_allclose(
        found, conditional_limits(points, scores, np.ones(3000), new, 0.9), rtol=1e-10
    )


def test_far_from_all_rows_nothing_bounds_a_limit():
    points, scores = drawn(200)
    far = np.array([[1.0, 0.0, 0.0, 1e4], [1.0, 0.0, 0.0, 0.0]])
    assert np.isinf(conditional_limits(points, scores, np.ones(200), far, 0.9)).tolist() == [
        True,
        False,
    ]
    assert (
        conditional_limits(points, scores, np.ones(200), far, 0.9, np.array([0.05, 0.5]))[0]
        == -np.inf
    )


def test_columns_that_depend_on_each_other_change_nothing():
    points, scores = drawn(300)
    twice = np.column_stack([points, points[:, 1], 1.0 - points[:, 1]])
    one = conditional_limits(points, scores, np.ones(300), points[:20], 0.9)
    np.testing.assert_allclose(
        conditional_limits(twice, scores, np.ones(300), twice[:20], 0.9), one, atol=1e-7
    )


# -- cross conformal ----------------------------------------------------------------------------
# Order statistics by rows, by hand; and the promise of CV+.


def test_each_row_has_its_own_order_statistic():
    values = np.array([[3.0, 1.0, 2.0, 4.0], [40.0, 30.0, 20.0, 10.0]])
    ones = np.ones(4)
    assert row_statistics(values, ones, 0.6).tolist() == [3.0, 30.0]  # ceil(5 * .6) = 3
    assert row_statistics(values, ones, 0.81).tolist() == [np.inf, np.inf]
    # Weights 1, 3, 1, 1: (6 + 1) * .6 = 4.2 of 3, 4, 5, 6 in the first row and of 1, 2, 5, 6 in the
    # second.
    assert row_statistics(values, np.array([1.0, 3.0, 1.0, 1.0]), 0.6).tolist() == [3.0, 30.0]
    thirds = np.full(4, 0.75)
    assert row_statistics(values, thirds, 0.75).tolist() == [4.0, 40.0]


def test_the_promise_of_cv_plus():
    assert plus_promise(0.9, np.ones(50)) == pytest.approx(0.8)
    assert plus_promise(0.9, np.full(10, 10)) == pytest.approx(0.8 - min(2 * 0.9 / 11, 0.9 / 11))
    assert plus_promise(0.9, np.array([10, 11])) == pytest.approx(0.8 - 2 * 0.5 / (10.5 + 1))
    assert plus_promise(0.4, np.full(10, 10)) == 0.0


# -- order statistic ----------------------------------------------------------------------------
# The rank of split conformal prediction is exact where floats are not.


def test_ranks_are_those_of_exact_arithmetic():
    n = np.arange(9, 1000)
    for percent in range(50, 100):
        exact = [ceil((k + 1) * Fraction(percent, 100)) for k in n.tolist()]
        np.testing.assert_array_equal(conformal_rank(n, percent / 100), exact)


def test_mass_repeats_scores_and_too_few_rows_reach_nothing():
    scores, mass = np.array([1.0, 2.0, 5.0]), np.array([10.0, 18.0, 19.0])
    np.testing.assert_array_equal(
        order_statistic(scores, mass, [0.5, 0.55, 0.9, 0.95, 0.96]), [1.0, 2.0, 2.0, 5.0, np.inf]
    )
    assert order_statistic(np.array([]), np.array([]), 0.5) == np.inf


def test_rows_needed_is_the_first_number_that_holds_its_rank():
    for level in (0.01, 0.1, 0.5, 0.75, 0.8, 0.9, 0.95, 0.96, 0.99, 0.999):
        n = np.arange(1, 2000)
        assert rows_needed(level) == n[conformal_rank(n, level) <= n][0]


def test_shares_of_clusters_take_the_least_score_that_holds_the_level():
    weight, cluster = np.ones(6), np.array([0, 0, 0, 1, 1, 2])
    scores, mass = cumulated(np.arange(6.0), shares(weight, cluster))
    np.testing.assert_allclose(mass, [1 / 3, 2 / 3, 1.0, 1.5, 2.0, 3.0])
    # (3 + 1) * level of the mass: 1 is reached by the third score, 1.2 by the fourth.
    assert [
        float(order_statistic(scores, mass, level, shares=True))
        for level in (0.25, 0.3, 0.75, 0.76)
    ] == [2.0, 3.0, 5.0, np.inf]


# -- ranked mass --------------------------------------------------------------------------------
# Mass of the classes that are more likely, counted one by one.


RNG = np.random.default_rng(0)
P = on_grid(
    np.vstack(
        [
            RNG.dirichlet(np.ones(5), 20),
            [[0.25, 0.25, 0.25, 0.25, 0.0], [0.5, 0.125, 0.125, 0.125, 0.125], [0.2] * 5],
        ]
    )
)


def by_hand(row, label):
    more = [p for p in row if p > row[label]]
    equal = [p for p in row if p == row[label]]
    return sum(more), sum(equal), len(more) + len(equal)


def test_of_one_class_and_of_all():
    every = mass_of_all(P)
    for label in range(5):
        expected = np.array([by_hand(row, label) for row in P.tolist()]).T
        for one, all_, hand in zip(
            mass_of_labels(P, np.full(len(P), label)), every, expected, strict=True
        ):
            np.testing.assert_array_equal(one, hand)
            np.testing.assert_array_equal(all_[:, label], hand)


def test_the_classes_within_a_limit_are_those_whose_score_is_at_most_it():
    above, tied, rank = mass_of_all(P)
    for u, penalty, free in ((1.0, 0.0, 0), (0.5, 0.0, 0), (0.3, 0.05, 2), (0.0, 0.1, 0)):
        share = np.full(len(P), u)
        score = above + u * tied + penalty * np.maximum(rank - free, 0)
        for limit in (0.0, 0.2, 0.25, 0.5, 0.6, 0.75, 1.0, 1.2, -0.1):
            found = within_mass(P, share, np.full(len(P), limit), penalty, free)
            clear = np.abs(score - limit) > 1e-12
            np.testing.assert_array_equal(found[clear], (score <= limit)[clear])


def test_a_score_on_the_limit_is_within():
    row = np.array([[0.5, 0.25, 0.125, 0.125]])
    one = np.ones(1)
    assert within_mass(row, one, np.array([0.75])).tolist() == [[True, True, False, False]]
    assert within_mass(row, one, np.array([0.5])).tolist() == [[True, False, False, False]]
    assert within_mass(row, one, np.array([0.875])).tolist() == [[True, True, False, False]]
    assert within_mass(row, one, np.array([1.0])).tolist() == [[True, True, True, True]]
    assert within_mass(row, one, np.array([0.49])).tolist() == [[False] * 4]
    assert within_mass(row, one, np.array([0.75 + 2.0 * 0.125]), 0.125, 0).tolist() == [
        [True, True, False, False]
    ]
    assert within_mass(row, one, np.array([0.75 + 0.125]), 0.125, 1).tolist() == [
        [True, True, False, False]
    ]


def test_sums_are_exact_in_any_order_of_the_columns():
    order = [3, 0, 4, 1, 2]
    for one, other in zip(mass_of_all(P), mass_of_all(P[:, order]), strict=True):
        np.testing.assert_array_equal(one[:, order], other)
    assert on_grid(np.array([1.0 + 2.0**-52, 0.25])).tolist() == [1.0, 0.25]


# -- risk control -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_least_of_a_search_over_all(seed):
    rng = np.random.default_rng(seed)
    parameter, drop = rng.random(200).round(1), np.ones(200)
    found, left = least_parameter(parameter, drop, 200.0, 300.0, 0.2)
    tried = [p for p in np.unique(parameter) if (np.sum(parameter > p) + 1.0) / 301.0 <= 0.2]
    assert found == tried[0]
    assert left == np.sum(parameter > found)


def test_where_all_pass_and_where_none_does():
    """Of a search that takes the first index that fails, less one, both ends go wrong."""
    assert least_parameter(np.array([0.5]), np.array([1.0]), 1.0, 99.0, 0.1) == (-np.inf, 1.0)
    assert np.isnan(least_parameter(np.array([0.5]), np.array([1.0]), 50.0, 99.0, 0.1)[0])
    assert least_parameter(np.zeros(0), np.zeros(0), 0.0, 99.0, 0.1)[0] == -np.inf
