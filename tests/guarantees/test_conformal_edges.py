"""Conformal guarantees where their rank, their risk or their share is met exactly, by numbers
worked by hand.

Plain functions: ``tools/mutants/hand.py`` runs them on sources that are wrong on purpose.
"""

import math
import warnings
from fractions import Fraction

import numpy as np

import calibrant as cb
from calibrant._numerics.conformal import (
    conditional_limits,
    conformal_rank,
    cumulated,
    least_parameter,
    order_statistic,
    plus_promise,
    row_statistics,
    rows_needed,
    shares,
)
from calibrant.decisions.cells import CellScores
from calibrant.decisions.set_scores import Raps
from calibrant.errors import InputError

ONE = np.ones(1)


def refuses(call, *said):
    """Whether the call is refused with an error that says all of these."""
    try:
        call()
    except InputError as error:
        return all(one in str(error) for one in said)
    return False


def test_risk_control_at_the_row_that_decides():
    """(n + 1) risk is 1.9 for 18 rows and 2.0 for 19: a summed loss of 1, and one for the new
    row, is one too many or just allowed.
    """
    at, drop = np.array([0.2, 0.5, 0.8]), np.ones(3)
    assert least_parameter(at, drop, 3.0, 18.0, 0.1) == (0.8, 0.0)
    assert least_parameter(at, drop, 3.0, 19.0, 0.1) == (0.5, 1.0)
    # 28 rows: 2.9 is below 3. 29: 3.0 is enough for a loss of 2.
    assert least_parameter(at, drop, 3.0, 28.0, 0.1) == (0.5, 1.0)
    assert least_parameter(at, drop, 3.0, 29.0, 0.1) == (0.2, 2.0)


def test_risk_control_where_nothing_has_to_be_given_up():
    assert least_parameter(np.array([0.5]), ONE, 1.0, 19.0, 0.1) == (-np.inf, 1.0)
    assert least_parameter(np.array([0.5]), ONE, 1.0, 18.0, 0.1) == (0.5, 0.0)


def test_risk_control_where_nothing_is_enough():
    found, left = least_parameter(np.array([0.5]), ONE, 3.0, 19.0, 0.1)
    assert math.isnan(found)
    assert left == 0.0


def test_risk_control_never_counts_a_loss_below_zero():
    """.3 - (.1 + .2) is -5.6e-17 in floats."""
    assert least_parameter(np.array([0.2, 0.5, 0.8]), np.array([0.1, 0.1, 0.1]), 0.3, 9.0, 0.1) == (
        0.8,
        0.0,
    )


def test_risk_control_takes_rows_of_one_parameter_together():
    at, drop = np.array([0.8, 0.2, 0.5, 0.5]), np.array([1.0, 1.0, 0.5, 0.5])
    assert least_parameter(at, drop, 3.0, 19.0, 0.1) == (0.5, 1.0)
    assert least_parameter(at, drop, 3.0, 23.0, 0.1) == (0.5, 1.0)


def test_the_public_risk_control_needs_as_many_rows_as_its_risk_asks():
    """1 / risk - 1 rows: nine at 10 %, without a loss at the largest parameter."""
    losses = np.column_stack([np.ones(9), np.zeros(9)])
    rule = cb.decisions.ConformalRiskControl(0.1).fit_losses([0.3, 0.7], losses)
    assert (rule.parameter_, rule.mean_loss_, rule.n_) == (0.7, 0.0, 9.0)
    assert refuses(
        lambda: cb.decisions.ConformalRiskControl(0.1).fit_losses([0.3, 0.7], losses[:8]),
        "needs at least 9 rows",
        "got 8",
    )


def test_the_public_risk_control_counts_its_new_row():
    """Two of 29 rows may lose at 10 %, of 28 one."""
    lost = np.zeros((29, 2))
    lost[:2, 0] = 1.0
    assert cb.decisions.ConformalRiskControl(0.1).fit_losses([1.0, 2.0], lost).parameter_ == 1.0
    assert (
        cb.decisions.ConformalRiskControl(0.1).fit_losses([1.0, 2.0], lost[:28]).parameter_ == 2.0
    )


def test_ranks_at_whole_numbers_and_next_to_them():
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        share = Fraction(str(level))
        for n in range(1, 120):
            assert conformal_rank(n, level) == math.ceil((n + 1) * share), (n, level)
        needed = math.ceil(share / (1 - share))
        assert rows_needed(level) == needed
        scores = np.arange(1.0, needed + 1.0)
        assert order_statistic(scores, scores, level) == needed
        assert order_statistic(scores[:-1], scores[:-1], level) == np.inf


def test_an_order_statistic_of_tied_scores_is_the_first_whose_mass_reaches_the_rank():
    scores, mass = cumulated(np.array([2.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 3.0]))
    np.testing.assert_array_equal(scores, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(mass, [2.0, 6.0, 9.0])
    # Ten times the level: 2, 3, 6, 7, 9, 10.
    levels = [0.2, 0.3, 0.6, 0.7, 0.9, 1.0]
    np.testing.assert_array_equal(
        order_statistic(scores, mass, levels), [1.0, 2.0, 2.0, 3.0, 3.0, np.inf]
    )


def test_clusters_count_once_and_are_not_rounded():
    """Two rows of one cluster weigh a half each; (3 + 1) level of 1.5 is between the masses 1
    and 2, of 2.0 on the second.
    """
    weight = shares(np.ones(4), np.array([0, 0, 1, 2]))
    np.testing.assert_array_equal(weight, [0.5, 0.5, 1.0, 1.0])
    scores, mass = np.arange(4.0), np.cumsum(weight)
    found = [
        float(order_statistic(scores, mass, level, shares=True))
        for level in (0.125, 0.25, 0.375, 0.5, 0.75, 0.8)
    ]
    assert found == [0.0, 1.0, 2.0, 2.0, 3.0, np.inf]
    np.testing.assert_array_equal(shares(np.array([1.0, 3.0]), np.array([0, 0])), [0.25, 0.75])
    np.testing.assert_array_equal(shares(np.array([1.0, 3.0]), None), [1.0, 3.0])


def test_ranks_of_each_row():
    values = np.array([[9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]])
    assert row_statistics(values, np.ones(9), 0.9).tolist() == [9.0]
    assert row_statistics(values[:, :8], np.ones(8), 0.9).tolist() == [np.inf]
    assert row_statistics(values, np.ones(9), 0.8).tolist() == [8.0]
    # Weights 1, 2, 1 of the values 3, 1, 2: masses 2, 3, 4 of 1, 2, 3, and 5 times the level.
    several, weight = np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 2.0, 1.0])
    found = [
        float(row_statistics(several, weight, level)[0]) for level in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    ]
    assert found == [1.0, 2.0, 2.0, 3.0, 3.0, np.inf]


def test_what_folds_cost_the_promise():
    """Folds of one: 1 - 2 alpha. Equal folds: the smaller of both terms. Unequal ones: 2 (m - 1)
    / (n + m).
    """
    assert math.isclose(plus_promise(0.9, np.ones(10)), 0.8)
    assert math.isclose(plus_promise(0.9, np.full(5, 20)), 0.8 - 8.0 / 105.0)
    assert math.isclose(plus_promise(0.9, np.full(2, 3)), 0.8 - (2.0 / 3.0) / 3.0)
    assert math.isclose(plus_promise(0.9, np.array([2, 4])), 0.8 - 2.0 / 8.0)
    assert plus_promise(0.5, np.full(2, 3)) == 0.0


def test_conditional_limits_of_groups_are_the_order_statistics_of_each():
    """Nine rows hold 90 %, eight do not; the other group's rows do not help."""
    points = np.repeat(np.eye(2), [9, 8], axis=0)
    scores = np.concatenate([np.arange(1.0, 10.0), np.arange(101.0, 109.0)])
    found = conditional_limits(points, scores, np.ones(17), np.eye(2), 0.9)
    assert math.isclose(found[0], 9.0, rel_tol=1e-6)
    assert found[1] == np.inf
    lower = conditional_limits(points, scores, np.ones(17), np.eye(2), 0.75)
    # ceil(10 * .75) = 8 and ceil(9 * .75) = 7.
    np.testing.assert_allclose(lower, [8.0, 107.0], rtol=1e-6)
    twice = conditional_limits(points[:9], scores[:9], np.full(9, 2.0), np.eye(2)[:1], 0.9)
    # ceil(19 * .9) = 18, the second copy of the ninth score.
    np.testing.assert_allclose(twice, [9.0], rtol=1e-6)


def test_the_scores_of_cells_by_hand():
    score, cell = np.array([3.0, 1.0, 2.0, 2.0, 5.0]), np.array([0, 0, 0, 0, 1])
    held = CellScores.of(score, np.ones(5), cell, 3)
    np.testing.assert_array_equal(held.n, [4.0, 1.0, 0.0])
    # Ranks of 5, 2 and 1 times the level.
    np.testing.assert_array_equal(held.limits(0.5), [2.0, 5.0, np.inf])
    np.testing.assert_array_equal(held.limits(0.8), [3.0, np.inf, np.inf])
    asked = np.array([0.0, 1.0, 2.0, 2.5, 3.0, 4.0])
    np.testing.assert_allclose(held.p_values(asked, 0), [1.0, 1.0, 0.8, 0.4, 0.4, 0.2])
    np.testing.assert_allclose(held.p_values(asked, 1), 1.0)
    # Of those that are equal, and of the row itself, half.
    np.testing.assert_allclose(
        held.p_values(np.array([2.0, 4.0]), 0, np.array([0.5, 0.5])), [0.5, 0.1]
    )


def _two_classes(confidence):
    right = np.asarray(confidence)
    return np.column_stack([right, 1.0 - right])


def test_sets_need_the_row_that_makes_the_rank_one_of_theirs():
    """Nine rows hold 90 %: the limit is their largest score, .45, that is a probability of .55;
    eight rows hold every class.
    """
    nine = _two_classes([0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55])
    sets = cb.ConformalSets(level=0.9).fit(nine, np.zeros(9, dtype=int))
    assert sets.predict_set([[0.56, 0.44], [0.54, 0.46], [0.3, 0.7]]).tolist() == [
        [True, False],
        [False, False],
        [False, True],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = cb.ConformalSets(level=0.9).fit(nine[:8], np.zeros(8, dtype=int))
        assert few.predict_set([[0.56, 0.44], [0.99, 0.01]]).all()


def _intervals(n, level, **options):
    y = np.arange(1.0, n + 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = (
            cb.ConformalIntervals(score="absolute", **options)
            .fit(np.zeros(n), y, std=np.ones(n))
            .predict([0.0], [1.0])
        )
        low, high = found.interval(level)
    return float(low[0]), float(high[0])


def test_intervals_need_the_row_that_makes_the_rank_one_of_theirs():
    assert _intervals(9, 0.9) == (-9.0, 9.0)
    assert _intervals(8, 0.9) == (-np.inf, np.inf)
    assert _intervals(10, 0.9) == (-10.0, 10.0)
    assert _intervals(19, 0.9) == (-18.0, 18.0)


def test_ends_of_their_own_share_what_may_be_missed():
    """Each end is at 95 %: 19 rows. The lower one is the 19th smallest of the scores with the
    other sign, -1 at the most.
    """
    assert _intervals(19, 0.9, symmetric=False) == (1.0, 19.0)
    assert _intervals(18, 0.9, symmetric=False) == (-np.inf, np.inf)


def test_one_end_alone_has_the_whole_level():
    assert _intervals(9, 0.9, side="upper") == (-np.inf, 9.0)
    assert _intervals(8, 0.9, side="upper") == (-np.inf, np.inf)
    assert _intervals(9, 0.9, side="lower") == (1.0, np.inf)
    assert _intervals(9, 0.9, side="upper", symmetric=False) == (-np.inf, 9.0)


def _one_of_three(rank, n):
    """Rows of three classes whose label is the most probable, or the one after, or the last."""
    P = np.tile([0.6, 0.3, 0.1], (n, 1))
    return P, np.asarray(rank)


def test_the_public_top_k_at_the_row_that_decides():
    """Of nine rows none may be missed at 10 %, of 19 one: the one whose label is second."""
    for n, k in ((9, 2), (18, 2), (19, 1)):
        rule = cb.decisions.ConformalRiskControl(0.1, "top_k").fit(
            *_one_of_three([0] * (n - 1) + [1], n)
        )
        assert (rule.parameter_, rule.n_) == (k, n)
        assert rule.mean_loss_ == (2 - k) / n
        assert rule.predict_set([[0.1, 0.2, 0.7]]).tolist() == [[False, k == 2, True]]


def test_the_public_share_accepted_and_wrong_at_the_row_that_decides():
    """The wrong row of nine names the threshold and is not accepted; of 19 rows it may be."""
    right = np.column_stack([np.full(19, 0.9), np.full(19, 0.1)])
    right[0] = [0.8, 0.2]
    y = np.array([1] + [0] * 18)
    rule = cb.decisions.ConformalRiskControl(0.1, "accepted_and_wrong").fit(right[:9], y[:9])
    assert rule.parameter_ == 0.8
    assert rule.accept([[0.8, 0.2], [0.81, 0.19]]).tolist() == [False, True]
    rule = cb.decisions.ConformalRiskControl(0.1, "accepted_and_wrong").fit(right, y)
    assert (rule.parameter_, rule.mean_loss_) == (-np.inf, 1.0 / 19.0)
    assert rule.accept([[0.8, 0.2]]).tolist() == [True]


def test_the_public_share_of_labels_missed_at_the_row_that_decides():
    """Half of a row's two labels is a loss of a half: of 19 rows two such halves may be lost, of
    14 one, of 13 none.
    """
    P, y = np.full((19, 2), 0.9), np.ones((19, 2), dtype=int)
    P[0, 0], P[1, 0], P[2, 0] = 0.2, 0.4, 0.6
    for n, threshold in ((13, 0.2), (14, 0.4), (18, 0.4), (19, 0.6)):
        rule = cb.decisions.ConformalRiskControl(0.1).fit(P[:n], y[:n])
        assert rule.parameter_ == -threshold
        assert rule.predict_set([[threshold, threshold - 1e-9]]).tolist() == [[True, False]]
    none = np.zeros((9, 2), dtype=int)
    none[0, 1] = 1
    assert cb.decisions.ConformalRiskControl(0.1).fit(P[:9], none).parameter_ == -0.9


def test_clusters_of_the_public_risk_control_count_once():
    """A cluster's loss is the mean of its rows: 19 clusters, one of which loses by half, and one
    by a third of its rows.
    """
    lost, cluster = np.zeros((22, 2)), np.array([0, 0, 1, 1, 1, *range(2, 19)])
    lost[[0, 2], 0] = 1.0
    rule = cb.decisions.ConformalRiskControl(0.1).fit_losses([1.0, 2.0], lost, cluster=cluster)
    assert (rule.parameter_, rule.n_, rule.unit_) == (1.0, 19.0, "clusters")
    assert math.isclose(rule.mean_loss_, (0.5 + 1.0 / 3.0) / 19.0)
    lost[[1, 3], 0] = 1.0
    assert (
        cb.decisions.ConformalRiskControl(0.1)
        .fit_losses([1.0, 2.0], lost, cluster=cluster)
        .parameter_
        == 2.0
    )


def test_regularised_sets_by_hand():
    """Mass of the more probable classes, of the class itself, and a penalty for each rank beyond
    those that are free.
    """
    P = np.array([[0.5, 0.25, 0.125, 0.125]])
    one = np.ones(1)
    for k, expected in ((0, 0.5), (1, 0.75 + 0.1), (2, 1.0 + 0.3)):
        found = Raps(0.1, 1).of_labels(P, np.array([k]), one)
        np.testing.assert_allclose(found, [expected])


def test_parameters_that_do_not_ascend_are_refused():
    losses = np.column_stack([np.ones(9), np.zeros(9)])
    for at in ([0.3, 0.3], [0.7, 0.3]):
        assert refuses(
            lambda at=at: cb.decisions.ConformalRiskControl(0.1).fit_losses(at, losses), "ascend"
        )


def test_weights_of_new_rows_by_hand():
    """Scores 1 to 4 with weights 1 to 4: the new row's own weight lies at infinity."""
    scores, mass = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 6.0, 10.0])
    own = np.array([2.0, 10.0 / 3.0, 3.34, 5.0])

    def limits(level):
        return order_statistic(scores, mass, level, shares=True, new_mass=own).tolist()

    # Half of 12 is the mass of the three smallest; of 13 1/3, 13.34 and 15 it is more.
    assert limits(0.5) == [3.0, 4.0, 4.0, 4.0]
    # Three quarters: 9 and 10 of 10, 10.005 and 11.25 are never reached.
    assert limits(0.75) == [4.0, 4.0, math.inf, math.inf]
    # Equal weights are the unweighted rank, whatever their size.
    for n in (9, 19, 99):
        ascending = np.arange(1.0, n + 1.0)
        for level in (0.1, 0.5, 0.8, 0.9, 0.95):
            plain = order_statistic(ascending, ascending, level)
            for size in (0.3, 1.0, 7.0):
                weighted = np.cumsum(np.full(n, size))
                found = order_statistic(ascending, weighted, level, shares=True, new_mass=size)
                assert found == plain
