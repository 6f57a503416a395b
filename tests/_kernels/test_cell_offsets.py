"""Shrunken offsets of cells: closed forms, and what many rows must say."""

import numpy as np
import pytest

from calibrant._kernels.boosting import (
    Family,
    FittedFamily,
    _step,
    fit_families,
    held_out_scores,
    outcome_slopes,
    prior_variance,
    shares_of,
    shift_slopes,
    spread_slopes,
)


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
