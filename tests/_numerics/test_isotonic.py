"""Isotonic fits: pooling of adjacent violators, the nearly-isotonic path, both fits of
Venn-Abers, straight lines between knots.
"""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

import calibrant as cb
from calibrant._numerics.isotonic import (
    added_ones,
    added_zeros,
    between_knots,
    line_segments,
    near_isotonic_path,
    pool_ties,
    pooled_blocks,
    pooled_blocks_of,
    smooth_ends,
)

# -- interpolation ------------------------------------------------------------------------------


def test_it_is_the_interpolation_of_numpy_to_the_bit():
    rng = np.random.default_rng(0)
    knots, values, x = np.sort(rng.random(20)), rng.random(20), rng.random(500)
    np.testing.assert_array_equal(between_knots(x, knots, values), np.interp(x, knots, values))


def test_knots_that_are_nearly_one_are_joined_by_a_line_all_the_same():
    knots, values = np.array([0.0, 1e-310, 0.5]), np.array([0.0, 0.8, 1.0])
    assert np.isinf(np.interp(5e-311, knots, values))
    np.testing.assert_allclose(
        between_knots(np.array([0.0, 5e-311, 1e-310, 0.25]), knots, values),
        [0.0, 0.4, 0.8, 0.9],
        atol=1e-9,
    )


@pytest.mark.parametrize(
    "map_",
    [cb.Isotonic(), cb.calibrators.CenteredIsotonic(), cb.calibrators.NearIsotonic()],
    ids=repr,
)
def test_maps_stay_finite_between_tiny_scores(map_):
    """The probabilities of a naive Bayes model end at 1e-320."""
    score = np.concatenate([np.zeros(30), np.full(30, 1e-310), np.full(30, 0.5)])
    said = map_.fit(score, np.repeat([0.0, 0.0, 1.0, 0.0, 1.0], [30, 10, 20, 5, 25])).predict(
        [1e-311, 5e-311, 9e-311, 0.1]
    )
    assert ((said >= 0.0) & (said <= 1.0)).all()


def test_calibrators_stay_finite_between_tiny_probabilities():
    p = np.concatenate([np.zeros(30), np.full(30, 1e-310), np.full(30, 0.5)])
    y = np.repeat([0, 0, 1, 0, 1], [30, 10, 20, 5, 25])
    for calibrator in (
        cb.calibrators.IsotonicPreserving(),
        cb.calibrators.IsotonicOneVsRest(temperature=False),
        cb.OneVsRest(cb.Isotonic()),
    ):
        Q = calibrator.fit(p, y).predict_proba([1e-311, 5e-311, 9e-311, 0.1])
        np.testing.assert_allclose(Q.sum(axis=1), 1.0)


def test_segments_are_the_lines_between_the_knots_and_beyond_them():
    knots, values = np.array([-1.0, 0.5, 2.0, 2.5]), np.array([3.0, 0.0, 6.0, 5.0])
    start, level, slope = line_segments(knots, values, 0.5, -2.0)
    assert slope.tolist() == [0.5, -2.0, 4.0, -2.0, -2.0]
    x = np.array([-3.0, -1.0, 0.0, 0.5, 1.0, 2.2, 2.5, 4.0])
    place = np.searchsorted(knots, x, side="right")
    expected = (
        np.interp(x, knots, values)
        + 0.5 * np.minimum(x + 1.0, 0.0)
        - 2.0 * np.maximum(x - 2.5, 0.0)
    )
    np.testing.assert_allclose(level[place] + slope[place] * (x - start[place]), expected)
    _, level, slope = line_segments(
        np.array([0.0, 1e-310, 1.0]), np.array([0.25, 0.75, 1.0]), 0.0, 0.0
    )
    assert (level.tolist(), slope.tolist()) == ([0.25, 0.25, 0.75, 1.0], [0.0, 0.0, 0.25, 0.0])


# -- near isotonic ------------------------------------------------------------------------------
# The path of nearly-isotonic regression, by hand.


def told(mean, mass):
    return [
        [part.round(12).tolist() for part in one]
        for one in near_isotonic_path(np.array(mean), np.array(mass))
    ]


def test_two_that_violate_meet_at_their_mean():
    first, last = told([3.0, 1.0], [1.0, 3.0])
    assert first == [[0, 1], [3.0, 1.0], [3.0, 1.0], [1.0, 3.0]]
    assert last == [[0], [1.5], [1.5], [4.0]]


def test_three_that_fall_meet_one_after_the_other():
    """3 falls and 0 rises by one, 1 stays: the last two meet at 1, and with the first, then at
    2, after 2/3 more.
    """
    path = told([3.0, 1.0, 0.0], [1.0, 1.0, 1.0])
    assert [one[1] for one in path] == [[3.0, 1.0, 0.0], [2.0, 1.0], [round(4 / 3, 12)]]
    assert path[1] == [[0, 1], [2.0, 1.0], [3.0, 0.5], [1.0, 2.0]]


def test_equal_neighbours_are_one_block_from_the_start_and_what_rises_is_left():
    assert told([1.0, 1.0, 2.0], [1.0, 3.0, 1.0]) == [[[0, 2], [1.0, 2.0], [1.0, 2.0], [4.0, 1.0]]]


def test_the_last_is_the_isotonic_fit():
    rng = np.random.default_rng(0)
    mean, mass = rng.random(12), rng.uniform(0.5, 3.0, 12)
    start, value, centre, weight = list(near_isotonic_path(mean, mass))[-1]
    from scipy.optimize import isotonic_regression

    expected = isotonic_regression(mean, weights=mass).x
    np.testing.assert_allclose(np.repeat(value, np.diff(np.append(start, 12))), expected)
    np.testing.assert_allclose(value, centre)
    np.testing.assert_allclose(weight.sum(), mass.sum())


# -- pava ---------------------------------------------------------------------------------------
# Pooling of ties and violators, by hand.


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


# -- venn abers ---------------------------------------------------------------------------------
# One pass for every place of a new row, against an isotonic fit for each.


def place_by_place(mass, mean, label):
    """The new row's isotonic value before each group (a label of 1) or after it (0), and at the
    far end.
    """
    weight = [np.insert(mass, i, 1.0) for i in range(len(mass) + 1)]
    return np.array(
        [
            isotonic_regression(np.insert(mean, i, label), weights=w).x[i]
            for i, w in enumerate(weight)
        ]
    )


def groups(kind, rng):
    """(mass, mean) of 1 to 60 groups."""
    m = int(rng.integers(1, 61))
    if kind == "rows":
        return np.ones(m), (rng.random(m) < rng.random()).astype(float)
    if kind == "rising":
        return np.ones(m), (rng.random(m) < np.linspace(0.0, 1.0, m)).astype(float)
    if kind == "sorted":
        return np.ones(m), np.sort(rng.integers(0, 2, m)).astype(float)
    if kind == "light":
        return rng.gamma(0.3, 1.0, m) + 1e-6, np.round(rng.random(m), 1)
    mass = rng.integers(1, 7, m).astype(float)
    return mass, rng.binomial(mass.astype(int), rng.random()) / mass


@pytest.mark.parametrize("kind", ["rows", "rising", "sorted", "light", "tied"])
def test_all_places_in_one_pass_are_those_of_one_fit_each(kind):
    rng = np.random.default_rng(0)
    for _ in range(60):
        mass, mean = groups(kind, rng)
        np.testing.assert_allclose(
            added_ones(mass, mean), place_by_place(mass, mean, 1.0), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            added_zeros(mass, mean), place_by_place(mass, mean, 0.0), rtol=0, atol=1e-12
        )


def test_the_values_rise_and_enclose_those_without_the_row_on_many_groups():
    rng = np.random.default_rng(1)
    mean = (rng.random(20_000) < np.linspace(0.1, 0.9, 20_000)).astype(float)
    mass = np.ones(20_000)
    fit = isotonic_regression(mean).x
    ones, zeros = added_ones(mass, mean), added_zeros(mass, mean)
    assert (np.diff(ones) >= 0.0).all()
    assert (np.diff(zeros) >= -1e-15).all()
    assert ones[-1] == 1.0
    assert zeros[0] == 0.0
    # At the place of a group the new row is tied with it.
    assert (ones[:-1] >= fit - 1e-12).all()
    assert (zeros[1:] <= fit + 1e-12).all()
