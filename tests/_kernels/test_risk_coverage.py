"""Risk over coverage, by hand, and its derivatives by differences."""

import numpy as np

from calibrant._kernels.thresholds import (
    optimal_area,
    ranked,
    risk_coverage,
    risk_coverage_area,
    row_moves,
)

CONFIDENCE = np.array([0.9, 0.5, 0.9, 0.2, 0.7])
CORRECT = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0, 1.0])


def area_of(weight, correct=CORRECT):
    return risk_coverage_area(*risk_coverage(CONFIDENCE, correct, weight)[1:])


def test_sums_down_to_each_confidence():
    found = risk_coverage(CONFIDENCE, CORRECT, WEIGHT)
    assert [one.tolist() for one in found] == [
        [0.9, 0.7, 0.5, 0.2],
        [2.0, 3.0, 5.0, 8.0],
        [1.0, 1.0, 3.0, 3.0],
    ]
    unique, sums = ranked(np.array([0.1, 0.5, 0.9]), np.array([0, 2, 2]))
    rows, covered, wrong = sums(np.array([1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert (unique[rows].tolist(), covered.tolist(), wrong.tolist()) == (
        [0.9, 0.1],
        [5.0, 6.0],
        [2.0, 2.0],
    )
    # Without weight there is nothing to be covered.
    assert risk_coverage(CONFIDENCE, CORRECT, np.array([1.0, 0.0, 1.0, 3.0, 1.0]))[0].tolist() == [
        0.9,
        0.7,
        0.2,
    ]


def test_the_area_is_the_integral():
    covered, wrong = risk_coverage(CONFIDENCE, CORRECT, WEIGHT)[1:]
    at = (np.arange(400_000) + 0.5) / 400_000 * 8.0
    risk = np.interp(at, np.append(0.0, covered), np.append(0.0, wrong)) / at
    np.testing.assert_allclose(area_of(WEIGHT), risk.mean(), rtol=1e-6)
    assert risk_coverage_area(np.array([4.0]), np.array([1.0])) == 0.25


def test_the_least_area_is_that_of_right_rows_first():
    right = np.append(np.ones(3), 0.0)
    # Many rows: the first three quarters right, each run a point.
    fine = np.repeat(right, 5000)
    _, covered, wrong = risk_coverage(-np.arange(20_000.0), fine, np.ones(20_000))
    np.testing.assert_allclose(risk_coverage_area(covered, wrong), optimal_area(0.25), atol=1e-4)
    assert optimal_area(1.0) == 1.0
    assert optimal_area(0.0) == 0.0


def test_how_far_rows_move_the_area():
    place = np.unique(CONFIDENCE, return_inverse=True)[1]
    moves, were_wrong = row_moves(place, CORRECT, WEIGHT)
    total, step = WEIGHT.sum(), 1e-6
    for row in range(5):
        more, fewer = WEIGHT.copy(), WEIGHT.copy()
        more[row] += step
        fewer[row] -= step
        np.testing.assert_allclose(
            moves[row], total * (area_of(more) - area_of(fewer)) / (2 * step), atol=1e-6
        )
        # A bit of weight of a wrong row of the same confidence.
        split = risk_coverage(
            np.append(CONFIDENCE, CONFIDENCE[row]), np.append(CORRECT, 0.0), np.append(WEIGHT, step)
        )
        np.testing.assert_allclose(
            were_wrong[row],
            total * (risk_coverage_area(*split[1:]) - area_of(WEIGHT)) / step,
            atol=1e-5,
        )
