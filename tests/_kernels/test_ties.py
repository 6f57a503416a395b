import numpy as np

from calibrant._kernels.bins import (
    distinct_scores,
    flat_knots,
    just_above,
    just_below,
    near_ties,
    settled,
)

EPS = np.finfo(np.float64).eps


def test_scores_that_differ_by_rounding_are_one_and_others_are_not():
    score = np.array([0.7, 0.3, 0.1 + 0.2, 0.7 - EPS, 0.3 + 1e-12, 1.0])
    unique, place = distinct_scores(score)
    assert place.tolist() == [2, 0, 0, 2, 1, 3]
    np.testing.assert_allclose(unique, [0.3, 0.3 + 1e-12, 0.7, 1.0], rtol=0.0, atol=2.0 * EPS)


def test_without_near_ties_the_scores_stay_as_they_are():
    score = np.array([3.0, -1e-30, 0.0, 1e-30, 3.0])
    unique, place = distinct_scores(score)
    assert unique.tolist() == [-1e-30, 0.0, 1e-30, 3.0]
    assert place.tolist() == [3, 0, 1, 2, 3]


def test_runs_lie_further_apart_than_their_edges():
    knots = np.array([1e-300, 1e-20, 1e-12, 0.3, 1.0 - 1e-9, 1.0, 30.0, 1e15])
    assert (just_below(knots)[1:] > just_above(knots)[:-1]).all()
    for each in (
        np.nextafter(knots, np.inf),
        np.nextafter(knots, -np.inf),
        knots * (1.0 + 4.0 * EPS),
        knots * (1.0 - 4.0 * EPS),
    ):
        assert (each >= just_below(knots)).all()
        assert (each <= just_above(knots)).all()
    unique = np.unique(np.concatenate([knots, just_below(knots), just_above(knots)]))
    assert len(near_ties(unique)) == len(knots)


def test_extremes_are_finite():
    ends = np.array([-np.finfo(np.float64).max, -5e-324, 0.0, 5e-324, np.finfo(np.float64).max])
    unique, _ = distinct_scores(ends)
    np.testing.assert_array_equal(unique, ends)
    assert np.isfinite(flat_knots(ends[1:-1], ends[1:-1])).all()


def test_differences_of_nothing_but_rounding_are_nothing():
    assert settled(np.array([EPS, -EPS, 0.0, 1e-13, -2.0])).tolist() == [0.0, 0.0, 0.0, 1e-13, -2.0]
