"""Top-label ECE: known answers."""

import numpy as np
import pytest

from calibrant.metrics import expected_calibration_error


def test_hand_worked():
    P = [[0.6, 0.3, 0.1], [0.55, 0.35, 0.1], [0.1, 0.9, 0.0]]
    # Bins [.5, .6), [.6, .7), [.9, 1]: |.55 - 1|, |.6 - 0|, |.9 - 1|.
    assert expected_calibration_error([1, 0, 1], P, n_bins=10) == pytest.approx(
        (0.45 + 0.6 + 0.1) / 3
    )


def test_a_constant_confidence_equal_to_the_accuracy_scores_0():
    P = np.tile([0.75, 0.25], (4, 1))
    assert expected_calibration_error([0, 0, 0, 1], P) == 0.0


def test_a_sure_model_scores_its_error_rate():
    assert expected_calibration_error([0, 1, 1, 0], np.eye(2)[[0, 1, 0, 0]]) == 0.25
