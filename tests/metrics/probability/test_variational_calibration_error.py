"""The variational error: near the truth when g can be right, near nothing on calibrated
predictions.
"""

import numpy as np
import pytest

from calibrant import metrics
from calibrant._kernels.softmax import softmax
from calibrant.errors import InputError
from calibrant.scalings.constant import Identity


def drawn(n, factor, seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 4)) * 1.5
    truth = softmax(logits)
    y = (truth.cumsum(axis=1) > rng.uniform(size=(n, 1))).argmax(axis=1)
    return truth, softmax(factor * logits), y


@pytest.mark.parametrize("norm", [1, 2])
def test_a_bound_close_below_the_truth(norm):
    truth, P, y = drawn(6000, 2.5, 0)
    error = np.linalg.norm(truth - P, ord=norm, axis=1).mean()
    found = metrics.variational_calibration_error.interval(y, P, norm=norm)
    assert found.low < error + 0.01
    assert found.value > 0.85 * error


def test_nothing_is_found_in_calibrated_predictions():
    found = [
        metrics.variational_calibration_error.interval(y, P)
        for _, P, y in (drawn(1500, 1.0, seed) for seed in range(6))
    ]
    errors = np.array([(i.high - i.low) / (2 * 1.96) for i in found])
    assert np.mean([i.value for i in found]) < 3 * np.sqrt(np.sum(errors**2)) / len(found)


def test_a_recalibration_that_does_nothing_finds_nothing():
    _, P, y = drawn(300, 3.0, 1)
    assert metrics.variational_calibration_error(y, P, calibrator=Identity()) == 0.0


def test_other_norms_are_refused():
    with pytest.raises(InputError, match="norm must be"):
        metrics.variational_calibration_error([0, 1], [0.2, 0.8], norm=3)
