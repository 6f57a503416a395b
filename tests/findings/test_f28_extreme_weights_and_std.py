"""F28: weights of 1e300 and 1e-300 and a std of 1e-320 ended in errors of Python's own; each is
now one clear error.
"""

import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


@pytest.mark.parametrize("weight", [[1e300] * 4, [1e-300] * 4, [1e300, 1e-300, 1.0, 1.0]])
@pytest.mark.parametrize(
    "call",
    [
        lambda w: cb.calibrators.VennAbers().fit(
            [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], sample_weight=w
        ),
        lambda w: metrics.expected_calibration_error.interval(
            [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], sample_weight=w
        ),
        lambda w: metrics.interval_calibration_error.interval(
            [0.0] * 4, [0.0] * 4, [1.0] * 4, sample_weight=w
        ),
    ],
)
def test_f28_weights_beyond_arithmetic_are_refused(call, weight):
    with pytest.raises(
        InputError, match=r"sample_weight must add up to 1e-30 at least and 1e\+12 at most; got"
    ):
        call(weight)


@pytest.mark.parametrize(
    "calibrator",
    [cb.StdScaling(), cb.AutoRegressionCalibrator(), cb.regression.QuantileRecalibration()],
)
def test_f28_a_std_below_arithmetic_is_refused(calibrator):
    with pytest.raises(InputError, match=r"std must be from 1e-37 to 1e\+37; row 1 is 1.e-320"):
        calibrator.fit(([0.0, 0.0, 0.0], [1.0, 1e-320, 1.0]), [0.0, 1.0, 2.0])
