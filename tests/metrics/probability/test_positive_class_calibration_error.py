"""Positive-class ECE: known answers, and that it is another question than the top label's."""

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.metrics import expected_calibration_error, positive_class_calibration_error


def test_hand_worked():
    # Bins of a tenth: .1 | .3 | .9: |.1 - 0|, |.3 - 1|, |.9 - 1|.
    assert positive_class_calibration_error([0, 1, 1], [0.1, 0.3, 0.9], n_bins=10) == pytest.approx(
        0.9 / 3
    )


def test_it_is_not_the_top_labels():
    y, p = [0, 1], [0.1, 0.9]
    assert positive_class_calibration_error(y, p, n_bins=1) == 0.0
    assert expected_calibration_error(y, p, n_bins=1) == pytest.approx(0.1)


def test_more_than_two_classes_are_refused():
    with pytest.raises(
        InputError, match="takes two classes; got 3; use classwise_calibration_error"
    ):
        positive_class_calibration_error([0, 1], np.eye(3)[:2])
