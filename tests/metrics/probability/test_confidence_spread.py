"""The spread of the confidences."""

import numpy as np
import pytest

from calibrant import metrics


def test_is_the_standard_deviation_of_the_top_probability():
    P = np.random.default_rng(0).dirichlet(np.ones(5), 300)
    assert metrics.confidence_spread(np.zeros(300, dtype=int), P) == pytest.approx(
        P.max(axis=1).std(), rel=1e-10
    )


def test_equal_confidences_have_none_whatever_the_rounding():
    P = np.tile([0.1, 0.7, 0.2], (1000, 1))
    assert metrics.confidence_spread(np.zeros(1000, dtype=int), P) == 0.0


def test_parts_add_up_to_the_whole():
    P = np.random.default_rng(1).dirichlet(np.ones(3), 100)
    y = np.zeros(100, dtype=int)
    parts = metrics.confidence_spread.state(y[:30], P[:30]) + metrics.confidence_spread.state(
        y[30:], P[30:]
    )
    assert parts.finalise() == pytest.approx(metrics.confidence_spread(y, P), rel=1e-10)
