"""The path of nearly-isotonic regression, by hand."""

import numpy as np

from calibrant._kernels.isotonic import near_isotonic_path


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
