"""Boxes hold what they say where outputs are independent, and more where they hang together."""

import numpy as np

from calibrant import metrics


def test_independent_outputs_are_held_as_said():
    y = np.random.default_rng(0).normal(size=(8000, 5)) * [1.0, 2.0, 0.1, 10.0, 1.0]
    cov = np.diag(np.square([1.0, 2.0, 0.1, 10.0, 1.0]))
    found = metrics.box_coverage.interval(y, (np.zeros_like(y), cov), said=0.8, level=0.999)
    assert found.low < 0.8 < found.high


def test_those_that_hang_together_are_held_more_often():
    cov = 0.95 * np.ones((5, 5)) + 0.05 * np.eye(5)
    y = np.random.default_rng(0).multivariate_normal(np.zeros(5), cov, size=4000)
    assert (
        metrics.box_coverage.interval(y, (np.zeros_like(y), cov), said=0.8, level=0.999).low > 0.8
    )
    assert (
        metrics.box_coverage.interval(3.0 * y, (np.zeros_like(y), cov), said=0.8, level=0.999).high
        < 0.8
    )


def test_weight_is_repetition():
    y, cov = [[0.0, 0.0], [9.0, 0.0]], np.eye(2)
    found = metrics.box_coverage.interval(y, (np.zeros((2, 2)), cov), sample_weight=[3, 1])
    assert (found.value, found.n) == (0.75, 4.0)
