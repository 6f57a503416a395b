"""Boosting: slopes by differences, the order of columns by hand, and the mean of the members."""

import numpy as np
import pytest
from scipy import special

from calibrant._numerics.boosting import (
    MOST_COLUMNS,
    Family,
    FittedFamily,
    Growth,
    NormalScores,
    Shares,
    _columns_of_round,
    _step,
    boost,
    fit_families,
    grow_tree,
    held_out_scores,
    leaves,
    outcome_slopes,
    prior_variance,
    shares_of,
    shift_slopes,
    spread_slopes,
)


def differs(objective, eta, column):
    rows, step = np.arange(len(eta)), 1e-4
    up, down = eta.copy(), eta.copy()
    up[:, column] += step
    down[:, column] -= step
    values = [objective.losses(at, rows) for at in (up, eta, down)]
    return (values[2] - values[0]) / (2 * step), (values[0] - 2 * values[1] + values[2]) / step**2


def test_pulls_are_slopes_of_the_losses():
    rng = np.random.default_rng(0)
    one = Shares(rng.integers(0, 2, (9, 1)).astype(float))
    several = Shares(np.eye(3)[rng.integers(0, 3, 9)])
    number = NormalScores(rng.normal(size=9))
    for objective, eta in (
        (one, rng.normal(size=(9, 1))),
        (several, rng.normal(size=(9, 3))),
        (number, rng.normal(size=(9, 2))),
    ):
        pull, curve = objective.pull(eta)
        for column in range(eta.shape[1]):
            slope, bend = differs(objective, eta, column)
            np.testing.assert_allclose(pull[:, column], slope, atol=1e-6)
            if objective is not number:
                np.testing.assert_allclose(curve[:, column], bend, atol=1e-5)
    np.testing.assert_allclose(
        number.pull(np.array([[0.0, np.log(2.0)]] * 9))[1], [[0.25, 2.0]] * 9
    )


def test_losses_by_hand():
    assert Shares(np.array([[1.0], [0.0]])).losses(np.array([[800.0]]), np.array([1]))[
        0
    ] == -np.log(1e-15)
    np.testing.assert_allclose(
        Shares(np.array([[1.0], [0.0]])).losses(np.array([[0.5], [0.5]]), np.arange(2)),
        -np.log([special.expit(0.5), special.expit(-0.5)]),
    )
    found = NormalScores(np.array([3.0, 5.0])).losses(np.array([[1.0, np.log(2.0)]]), np.array([1]))
    np.testing.assert_allclose(found, np.log(2.0) + 0.5 * 4.0)


def test_of_many_columns_trees_take_turns():
    assert _columns_of_round(64, 5).tolist() == list(range(64))
    assert _columns_of_round(100, 0).tolist() == list(range(64))
    assert _columns_of_round(100, 1).tolist() == [*range(28), *range(64, 100)]


def test_members_learn_on_the_other_folds_and_stop_at_the_least_loss():
    rng = np.random.default_rng(1)
    n = 400
    codes = rng.integers(0, 4, (2, n)).astype(np.uint8)
    hit = (rng.random(n) < special.expit(1.5 * (codes[0] > 1) - 0.7)).astype(float)[:, None]
    folds, weight = np.arange(n) % 2, rng.uniform(0.5, 1.5, n)
    starts = [(Shares(hit), np.zeros((n, 1))) for _ in range(2)]
    growth = Growth(1, 5.0, np.array([True, True]), 4)
    found = boost(codes, growth, starts, folds, weight, 0.3, 30)
    assert 0 < found.rounds <= 30
    assert len(found.trees.output) == found.rounds * 2
    np.testing.assert_allclose(found.before, np.log(2.0))
    assert weight @ found.after < weight @ found.before
    assert boost(codes, growth, starts, folds, weight, 0.3, 0).rounds == 0
    # What was left out is what each member says of its own fold: twice its share of the mean.
    eta = np.zeros((n, 2))
    trees = found.trees
    for t in range(len(trees.output)):
        eta[:, t % 2] += 2.0 * trees.value[t][leaves(codes, trees.column[t], trees.right[t])]
    own = eta[np.arange(n), folds]
    np.testing.assert_allclose(
        found.after, -np.log(np.where(hit[:, 0] == 1.0, special.expit(own), special.expit(-own)))
    )
    assert np.abs(2.0 * trees.value).max() <= 0.3


# -- boosted tables -----------------------------------------------------------------------------
# Symmetric trees on codes: the split of most gain, halves that add up, codes put in the order
# of their errors.


def test_the_first_split_is_the_best_of_all():
    rng = np.random.default_rng(0)
    codes, score, information = (
        rng.integers(0, 6, (3, 400)).astype(np.uint8),
        rng.normal(size=400),
        rng.uniform(0.1, 0.3, 400),
    )
    column, right, value, gain = grow_tree(
        codes, score, information, np.arange(400), Growth(1, 2.0, np.ones(3, dtype=bool), 6)
    )

    def worth(mask):
        return score[mask].sum() ** 2 / (information[mask].sum() + 2.0)

    whole = worth(np.ones(400, dtype=bool))
    found = {
        (j, c): 0.5 * (worth(codes[j] <= c) + worth(codes[j] > c) - whole)
        for j in range(3)
        for c in range(5)
    }
    best = max(found, key=lambda split: found[split])
    assert column[0] == best[0]
    assert right[0].tolist() == [c > best[1] for c in range(6)]
    assert np.isclose(gain[0], found[best])
    high = codes[best[0]] > best[1]
    np.testing.assert_allclose(
        value, [score[m].sum() / (information[m].sum() + 2.0) for m in (~high, high)]
    )


def test_deeper_levels_count_each_row_once():
    rng = np.random.default_rng(1)
    codes, score = rng.integers(0, 9, (4, 500)).astype(np.uint8), rng.normal(size=500)
    rows = np.flatnonzero(rng.uniform(size=500) < 0.7)
    column, right, value, _ = grow_tree(
        codes, score, np.ones(500), rows, Growth(4, 1.0, np.array([True, False, True, False]), 9)
    )
    leaf = leaves(codes, column, right)
    expected = np.bincount(leaf[rows], score[rows], 16) / (
        np.bincount(leaf[rows], minlength=16) + 1.0
    )
    np.testing.assert_allclose(value, expected, atol=1e-12)


def test_every_level_takes_the_split_of_most_gain_over_all_nodes():
    """Three levels by trying every column and every cut; the tables have a width that no code
    reaches.
    """
    rng = np.random.default_rng(3)
    codes, score, information = (
        rng.integers(0, 4, (3, 60)).astype(np.uint8),
        rng.normal(size=60),
        rng.uniform(0.5, 1.5, 60),
    )
    column, right, value, gain = grow_tree(
        codes, score, information, np.arange(60), Growth(3, 0.7, np.ones(3, dtype=bool), 5)
    )
    node = np.zeros(60, dtype=int)

    def worth(nodes):
        return (
            np.bincount(nodes, score, 8) ** 2 / (np.bincount(nodes, information, 8) + 0.7)
        ).sum()

    for level in range(3):
        found = {
            (j, c): 0.5 * (worth(2 * node + (codes[j] > c)) - worth(node))
            for j in range(3)
            for c in range(4)
        }
        best = max(found, key=lambda split: found[split])
        assert (column[level], right[level].tolist()) == (best[0], [c > best[1] for c in range(5)])
        assert gain[level] == pytest.approx(found[best], abs=1e-9)
        node = 2 * node + (codes[best[0]] > best[1])
    np.testing.assert_allclose(
        value, np.bincount(node, score, 8) / (np.bincount(node, information, 8) + 0.7)
    )


def test_a_split_that_gains_next_to_nothing_is_not_made():
    """Two halves of 10 rows, off by e either way: a gain of 10 e^2, twice which must be above a
    thousandth.
    """
    codes, growth = (
        np.repeat([0, 1], 10)[None].astype(np.uint8),
        Growth(1, 1e-9, np.ones(1, dtype=bool), 2),
    )
    for off, split in ((0.00707, False), (0.00708, True)):
        _, right, _, gain = grow_tree(
            codes, np.where(codes[0], off, -off), np.ones(20), np.arange(20), growth
        )
        assert right[0].tolist() == [False, split]
        assert gain[0] == pytest.approx(10.0 * off**2 if split else 0.0)


def test_names_are_parted_whatever_their_codes():
    code = np.arange(600) % 6
    hit = np.isin(code, (1, 4)).astype(np.float64)
    _, right, *_ = grow_tree(
        code[None].astype(np.uint8),
        hit - 0.33,
        np.full(600, 0.2),
        np.arange(600),
        Growth(1, 1.0, np.array([False]), 7),
    )
    assert set(np.flatnonzero(right[0, :6])) in ({1, 4}, {0, 2, 3, 5})


def test_of_many_columns_trees_take_turns_boosted_tables():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, (MOST_COLUMNS + 30, 800)).astype(np.uint8)
    hit = (rng.uniform(size=800) < np.where(codes[-1] == 1, 0.8, 0.2))[:, None].astype(np.float64)
    growth = Growth(2, 5.0, np.ones(len(codes), dtype=bool), 2)
    starts = [(Shares(hit), np.zeros((800, 1)))] * 2
    found = boost(codes, growth, starts, np.arange(800) % 2, np.ones(800), 0.3, 30)
    assert found.after.mean() < found.before.mean() - 0.1
    assert len(codes) - 1 in found.trees.column


# -- cell offsets -------------------------------------------------------------------------------
# Shrunken offsets of cells: closed forms, and what many rows must say.


def test_the_prior_variance_of_equal_information_is_in_closed_form():
    # Scores N(0, I + I^2 v) with one I: v = (mean U^2 / I - 1) / I.
    rng = np.random.default_rng(0)
    score, information = rng.normal(0.0, 8.0, 200), np.full(200, 10.0)
    expected = ((score**2).mean() / 10.0 - 1.0) / 10.0
    np.testing.assert_allclose(prior_variance(score, information), expected, rtol=1e-5)
    assert prior_variance(np.full(5, 0.1), np.full(5, 10.0)) == 0.0


def test_an_offset_solves_its_shrunken_score_equation():
    rng = np.random.default_rng(1)
    cell = rng.integers(0, 6, 900)
    hit = (rng.uniform(size=900) < 1.0 / (1.0 + np.exp(-np.linspace(-2, 2, 6)[cell])))[
        :, None
    ].astype(float)
    weight = rng.integers(1, 4, 900).astype(float)
    (found,), status, eta = fit_families(
        np.zeros((900, 1)), outcome_slopes(hit), weight, [Family(cell, 6)]
    )
    assert status == "converged"
    np.testing.assert_allclose(eta[:, 0], found.effect[cell, 0])
    score = np.bincount(cell, weight * (hit - shares_of(eta))[:, 0])
    np.testing.assert_allclose(score, found.effect[:, 0] / found.variance, atol=0.2)
    assert 1.0 < found.variance < 4.0


def test_a_row_left_out_is_what_a_fit_without_it_says():
    rng = np.random.default_rng(2)
    cell, eta = rng.integers(0, 8, 240), rng.normal(size=(240, 1))
    hit = (rng.uniform(size=240) < shares_of(eta + np.linspace(-1.5, 1.5, 8)[cell][:, None])[:, 0])[
        :, None
    ].astype(float)
    families = [Family(cell, 8)]
    fitted, _, after = fit_families(eta, outcome_slopes(hit), np.ones(240), families)
    said = held_out_scores(after, outcome_slopes(hit), families, fitted)
    for i in range(0, 240, 40):
        rest = np.arange(240) != i
        (again,), *_ = fit_families(
            eta[rest], outcome_slopes(hit[rest]), np.ones(239), [Family(cell[rest], 8)]
        )
        np.testing.assert_allclose(said[i, 0], eta[i, 0] + again.effect[cell[i], 0], atol=0.03)
        assert abs(said[i, 0] - after[i, 0]) > 0.01


def test_classes_share_a_variance_and_rows_of_no_cell_stay():
    rng = np.random.default_rng(3)
    cell = rng.integers(0, 4, 4000)
    logits = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])[cell]
    y = (shares_of(logits).cumsum(axis=1) < rng.uniform(size=(4000, 1))).sum(axis=1)
    index = np.where(cell == 3, 3, cell)
    (found,), status, eta = fit_families(
        np.zeros((4000, 3)), outcome_slopes(np.eye(3)[y]), np.ones(4000), [Family(index, 3)]
    )
    assert status == "converged"
    assert not eta[cell == 3].any()
    np.testing.assert_allclose(
        shares_of(found.effect[:1]), shares_of(logits[cell == 0][:1]), atol=0.05
    )


def test_means_and_log_spreads_of_cells_are_shrunken_means():
    rng = np.random.default_rng(4)
    cell, mean, log = rng.integers(0, 40, 8000), rng.normal(0.0, 0.5, 40), rng.normal(0.0, 0.3, 40)
    score = (mean[cell] + np.exp(log[cell]) * rng.normal(size=8000))[:, None]
    known = log[cell][:, None]
    (found,), _, shift = fit_families(
        np.zeros((8000, 1)), shift_slopes(score, known), np.ones(8000), [Family(cell, 40)]
    )
    # The closed form: information over information and prior, times the mean.
    information = np.bincount(cell) * np.exp(-2.0 * log)
    expected = (
        np.bincount(cell, score[:, 0])
        / np.bincount(cell)
        * information
        / (information + 1.0 / found.variance)
    )
    np.testing.assert_allclose(found.effect[:, 0], expected, atol=1e-3)
    (found,), _, _ = fit_families(
        np.zeros((8000, 1)), spread_slopes(score, shift), np.ones(8000), [Family(cell, 40)]
    )
    assert np.abs(found.effect[:, 0] - log).max() < 0.2
    assert 0.2 < found.variance**0.5 < 0.4


def test_the_prior_variance_at_the_ends_of_what_is_tried():
    """The best for equal information is U^2 / I^2 - 1 / I: 5e-6 and 199 are outside of 1e-5 to
    100.
    """
    low = prior_variance(np.full((3, 1), 1e6 * np.sqrt(6e-6)), np.full((3, 1), 1e6))
    assert low == pytest.approx(1e-5, rel=1e-3)
    assert prior_variance(np.full((3, 1), np.sqrt(200.0)), np.ones((3, 1))) == pytest.approx(
        100.0, rel=1e-3
    )
    assert prior_variance(np.full((3, 1), np.sqrt(4.0)), np.ones((3, 1))) == pytest.approx(
        3.0, rel=1e-4
    )
    assert prior_variance(np.ones((3, 1)), np.ones((3, 1))) == 0.0


def with_slopes():
    """(normal scores, a family of two cells with slopes of x)."""
    rng = np.random.default_rng(5)
    cell, x = rng.integers(0, 2, 60), rng.uniform(0.5, 2.0, 60)
    return (np.array([0.5, -0.6])[cell] * x + rng.normal(0.0, 0.3, 60))[:, None], Family(cell, 2, x)


def test_slopes_of_a_cell_are_a_shrunken_regression_on_x():
    score, family = with_slopes()
    weight, log = np.arange(60) % 3 + 1.0, np.full((60, 1), -0.5)
    (found,), status, eta = fit_families(
        np.zeros((60, 1)), shift_slopes(score, log), weight, [family]
    )
    # Of squared errors one step is exact: the sums of x times the score, over those of its squares
    # and 1 / variance.
    worth = np.exp(1.0) * weight
    square, product = (
        np.bincount(family.index, worth * family.x * one) for one in (family.x, score[:, 0])
    )
    assert status == "converged"
    np.testing.assert_allclose(
        found.effect[:, 0], product / (square + 1.0 / found.variance), rtol=1e-3
    )
    np.testing.assert_allclose(found.spread[:, 0], 1.0 / (square + 1.0 / found.variance), rtol=1e-6)
    np.testing.assert_allclose(eta[:, 0], found.effect[family.index, 0] * family.x)
    np.testing.assert_allclose(found.variance, prior_variance(product, square), rtol=1e-4)


def test_a_row_left_out_of_slopes_of_x_is_exactly_a_fit_without_it():
    """Of squared errors, one family and a known variance nothing is of first order only."""
    score, family = with_slopes()
    slopes, index, x, y = (
        shift_slopes(score, np.zeros((60, 1))),
        family.index,
        family.x,
        score[:, 0],
    )
    product, square = np.bincount(index, x * y), np.bincount(index, x * x)
    spread = 1.0 / (square + 2.0)
    fitted = FittedFamily((product * spread)[:, None], spread[:, None], 0.5)
    said = held_out_scores(family.of_rows(fitted.effect), slopes, [family], [fitted])
    without = (product[index] - x * y) / (square[index] - x * x + 2.0) * x
    np.testing.assert_allclose(said[:, 0], without)
    # The pulls of families add up, and no row is taken out more than twentyfold.
    both = [Family(np.zeros(1, dtype=int), 1), Family(np.zeros(1, dtype=int), 1, np.full(1, 2.0))]
    for pulls, left in (((0.1, 0.05), 0.7), ((0.5, 0.125), 0.05)):
        given = [FittedFamily(np.zeros((1, 1)), np.full((1, 1), pull), 1.0) for pull in pulls]
        said = held_out_scores(
            np.full((1, 1), 3.0), shift_slopes(np.full((1, 1), 5.0), np.zeros((1, 1))), both, given
        )
        assert said[0, 0] == pytest.approx(3.0 - (pulls[0] + 4.0 * pulls[1]) * 2.0 / left)


def test_steps_are_at_most_one_and_a_family_of_no_variance_goes_back_to_nothing():
    score, bound, effect = (
        np.array([[9.0], [-9.0], [1.0]]),
        np.ones((3, 1)),
        np.array([[0.0], [0.0], [0.5]]),
    )
    assert _step(score, bound, effect, 1.0).tolist() == [[1.0], [-1.0], [0.25]]
    assert _step(score, bound, effect, 0.0).tolist() == [[0.0], [0.0], [-0.5]]


def test_shares_and_slopes_of_what_is_far_out_are_those_of_the_farthest():
    assert shares_of(np.array([[-1000.0], [1000.0], [0.0]])).tolist() == [
        [np.exp(-700.0)],
        [1.0],
        [0.5],
    ]
    far = shift_slopes(np.ones((2, 1)), np.array([[-40.0], [40.0]]))(np.zeros((2, 1)))
    assert [one[:, 0].tolist() for one in far] == [[np.exp(60.0), np.exp(-60.0)]] * 3
    slope, curvature, most = spread_slopes(np.full((2, 1), 2.0), np.full((2, 1), 0.5))(
        np.array([[-40.0], [40.0]])
    )
    np.testing.assert_allclose(slope[:, 0], 2.25 * np.exp([60.0, -60.0]) - 1.0)
    assert curvature.tolist() == most.tolist() == [[2.0], [2.0]]
    p = shares_of(np.array([[0.3, -0.2, 0.1]]))
    slope, curvature, most = outcome_slopes(np.array([[0.0, 1.0, 0.0]]))(
        np.array([[0.3, -0.2, 0.1]])
    )
    np.testing.assert_allclose([slope, curvature, most], [[[0.0, 1.0, 0.0]] - p, p * (1.0 - p), p])
