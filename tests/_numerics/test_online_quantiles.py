"""Sorted windows, AdaHedge weights, feedback and worst windows, by hand."""

import math

import numpy as np
import pytest

from calibrant._numerics.conformal import (
    feedback,
    hedge_weights,
    ideal_worst_window,
    pinball,
    rank_within,
    replace_sorted,
    saturation,
    worst_window,
)


def test_rows_remain_sorted_windows_of_the_last_values():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (60, 2)).astype(float)
    kept, rows = np.full((60 + 7, 2), np.inf), np.full((2, 7), np.inf)
    kept[7:] = values
    for t in range(60):
        replace_sorted(rows, kept[t], values[t])
        last = np.sort(kept[t + 1 : t + 8], axis=0).T
        assert np.array_equal(rows, last)


@pytest.mark.parametrize(
    ("n", "level", "rank"), [(9, 0.9, 9), (8, 0.9, 8), (19, 0.9, 18), (19, 0.01, 1), (0, 0.5, 1)]
)
def test_ranks_are_conformal_within_the_scores(n, level, rank):
    assert rank_within(n, level) == rank


def test_pinball_losses():
    found = pinball(np.array([[1.0, 3.0]]), np.array([[2.0]]), 0.9)
    assert found == pytest.approx(np.array([[0.9, 0.1]]))


def test_hedge_follows_the_leader_without_a_gap_and_mixes_with_one():
    weight, mix = hedge_weights(np.array([2.0, 1.0, 1.0]), 0.0)
    assert weight.tolist() == [0.0, 0.5, 0.5]
    assert mix == 1.0
    # The rate is ln 2 / gap = ln 2, so that a loss of 1 more halves a weight.
    weight, mix = hedge_weights(np.array([0.0, 1.0]), 1.0)
    assert weight == pytest.approx([2.0 / 3.0, 1.0 / 3.0])
    assert mix == pytest.approx(-math.log2(0.75))


def test_feedback_is_odd_and_infinite_at_its_limit():
    limit = saturation(90.0, 0.95, 0)
    assert limit == pytest.approx(3.0 * math.sqrt(0.95 * 0.05 * 100.0))
    assert saturation(80.0, 0.95, 1) == pytest.approx(3.0 * math.sqrt(0.95 * 0.05 * 2.0 * 100.0))
    assert feedback(0.25 * math.pi * limit, limit) == pytest.approx(0.3)
    assert feedback(-0.25 * math.pi * limit, limit) == pytest.approx(-0.3)
    assert feedback(0.5 * math.pi * limit, limit) == math.inf
    assert feedback(-0.5 * math.pi * limit, limit) == -math.inf
    assert feedback(0.499 * math.pi * limit, limit) < 100.0


def test_worst_window_by_hand():
    covered = np.array([True, True, False, False, True, True, True])
    assert worst_window(covered, 3) == pytest.approx(1.0 / 3.0)
    assert worst_window(covered, 2) == 0.0
    assert worst_window(covered, 100) == pytest.approx(5.0 / 7.0)


def test_the_ideal_window_is_that_of_independent_rows():
    # Sliding windows of 200 over 5,000 rows stay above 85 % in 28 % of series.
    assert 0.82 < ideal_worst_window(5_000, 0.9, 200) < 0.855
    assert ideal_worst_window(5_000, 0.9, 200) == ideal_worst_window(5_000, 0.9, 200)
