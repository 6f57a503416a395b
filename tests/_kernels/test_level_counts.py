"""Counts between levels, by hand."""

import numpy as np

from calibrant._kernels.bins import level_counts, level_gaps, redrawn_counts

REACH, LEVELS = np.array([1.0, 2.0]), np.array([0.5, 0.9])


def test_a_row_on_a_reach_is_below_it():
    score, index = np.array([0.5, 1.0, 1.5, 2.0, 2.5]), np.array([0, 0, 1, 1, 1])
    assert level_counts(score, REACH, index, 3).tolist() == [
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 1.0],
        [0.0, 0.0, 0.0],
    ]
    assert level_counts(score, REACH, index, 2, np.arange(1.0, 6.0)).tolist() == [
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
