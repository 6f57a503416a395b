import numpy as np
import pytest

import calibrant as cb
from calibrant._kernels.isotonic import between_knots, line_segments


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
    "map_", [cb.Isotonic(), cb.maps.CenteredIsotonic(), cb.maps.NearIsotonic()], ids=repr
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
        cb.scalings.IsotonicPreserving(),
        cb.scalings.IsotonicOneVsRest(temperature=False),
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
