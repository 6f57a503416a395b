"""Classwise ECE: known answers."""

import numpy as np
import pytest

from calibrant.metrics import classwise_calibration_error, positive_class_calibration_error


def test_hand_worked():
    P = [[0.8, 0.2], [0.4, 0.6]]
    # Class 0: |.8 - 1|, |.4 - 0|; class 1: |.2 - 0|, |.6 - 1|.
    assert classwise_calibration_error([0, 1], P) == pytest.approx((0.6 / 2 + 0.6 / 2) / 2)


def test_binary_is_the_mean_over_both_sides():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p**2).astype(int)
    both = np.mean(
        [positive_class_calibration_error(y, p), positive_class_calibration_error(1 - y, 1 - p)]
    )
    assert classwise_calibration_error(y, p) == pytest.approx(both, rel=1e-12)


def test_a_class_without_labels_counts():
    P = np.array([[0.5, 0.25, 0.25]] * 4)
    # Gaps .5 (class 0 has all labels), .25 and .25.
    assert classwise_calibration_error([0, 0, 0, 0], P) == pytest.approx(1.0 / 3)
