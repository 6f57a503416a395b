"""Pooling of ties and violators, by hand."""

import numpy as np

from calibrant._kernels.isotonic import pool_ties, pooled_blocks, pooled_blocks_of, smooth_ends


def test_ties_are_pooled_whether_scores_come_sorted_or_not():
    score, correct, weight = (
        np.array([0.2, 0.2, 0.5, 0.7, 0.7]),
        np.array([1.0, 0.0, 1.0, 0.0, 1.0]),
        np.array([1.0, 3.0, 2.0, 1.0, 1.0]),
    )
    for order in (np.arange(5), np.array([4, 0, 2, 3, 1])):
        found = pool_ties(score[order], correct[order], weight[order])
        for one, expected in zip(
            found, ([0.2, 0.5, 0.7], [4.0, 2.0, 2.0], [0.25, 1.0, 0.5]), strict=True
        ):
            np.testing.assert_allclose(one, expected)


def test_blocks_by_hand():
    """.6 and .2 with weights 1 and 3 make .3; .9 stays."""
    first, last, value, mass = pooled_blocks(np.array([0.6, 0.2, 0.9]), np.array([1.0, 3.0, 2.0]))
    assert (first.tolist(), last.tolist(), mass.tolist()) == ([0, 2], [1, 2], [4.0, 2.0])
    np.testing.assert_allclose(value, [0.3, 0.9])
    np.testing.assert_array_equal(pooled_blocks(np.array([-0.5, 1.5]), np.ones(2))[2], [0.0, 1.0])
    first, value, mass = pooled_blocks_of(np.array([5.0, 1.0, 9.0]), np.array([1.0, 3.0, 2.0]))
    assert (first.tolist(), value.tolist(), mass.tolist()) == ([0, 2], [2.0, 9.0], [4.0, 2.0])


def test_ends_of_zero_and_one_are_smoothed_by_hand():
    mass = np.array([8.0, 5.0, 3.0])
    # 1 / 10 is below half of the neighbour .5, 1 - 1 / 5 above the middle of it and 1.
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 0.5, 1.0]), mass), [0.1, 0.5, 0.8])
    # Where the neighbours are nearer the ends go half of the way.
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 0.1, 1.0]), mass), [0.05, 0.1, 0.8])
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 0.9, 1.0]), mass), [0.1, 0.9, 0.95])
    # Two blocks: the inner neighbour is the other end, which says nothing.
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 1.0]), np.array([8.0, 3.0])), [0.1, 0.8])
    np.testing.assert_allclose(smooth_ends(np.array([0.0]), np.array([8.0])), [0.1])
    np.testing.assert_allclose(smooth_ends(np.array([1.0]), np.array([8.0])), [0.9])
    np.testing.assert_allclose(smooth_ends(np.array([0.2, 0.8]), np.array([8.0, 3.0])), [0.2, 0.8])


def test_scores_apart_by_rounding_alone_are_one_though_they_are_sorted():
    score = np.array([0.1, np.nextafter(0.1, 1.0), 0.5, 0.5, 0.7])
    for order in (np.arange(5), np.array([4, 1, 3, 0, 2])):
        unique, mass, mean = pool_ties(
            score[order],
            np.array([1.0, 0.0, 1.0, 0.0, 1.0])[order],
            np.array([1.0, 3.0, 1.0, 1.0, 2.0])[order],
        )
        np.testing.assert_allclose(unique, [0.1, 0.5, 0.7])
        assert (mass.tolist(), mean.tolist()) == ([4.0, 2.0, 2.0], [0.25, 0.5, 1.0])


def test_ends_of_one_and_of_two_blocks():
    light, heavy = np.array([0.1, 0.1]), np.array([8.0, 8.0])
    # Laplace's estimate, but no nearer to the middle than halfway to the neighbour.
    np.testing.assert_allclose(smooth_ends(np.array([0.2, 1.0]), light), [0.2, 0.6])
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 0.8]), light), [0.4, 0.8])
    np.testing.assert_allclose(smooth_ends(np.array([0.2, 1.0]), heavy), [0.2, 0.9])
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 0.8]), heavy), [0.1, 0.8])
    np.testing.assert_allclose(smooth_ends(np.array([0.0, 1.0]), heavy), [0.1, 0.9])
    np.testing.assert_allclose(smooth_ends(np.array([0.0]), heavy), [0.1])
    np.testing.assert_allclose(smooth_ends(np.array([1.0]), heavy), [0.9])
    np.testing.assert_allclose(smooth_ends(np.array([0.3]), heavy), [0.3])
