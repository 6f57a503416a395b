"""F10: where every prediction is certain no shift of the log-odds is likelier than another: nan,
said, whatever the order of the rows.
"""

import numpy as np
import pytest

from calibrant.errors import CalibrationWarning
from calibrant.metrics import calibration_in_the_large

FLAT = [
    ([1, 0], [0.0, 1.0]),
    ([1, 0, 1, 0, 0], [0.0, 1.0, 1.0, 0.0, 0.0]),
    ([1, 0, 0], [1.0, 0.0, 0.0]),
]


@pytest.mark.parametrize(("y", "p"), FLAT)
def test_f10_a_flat_likelihood_has_no_intercept(y, p):
    for order in (slice(None), slice(None, None, -1)):
        with pytest.warns(
            CalibrationWarning,
            match="calibration intercept is nan, because every probability is numerically",
        ):
            assert np.isnan(calibration_in_the_large(y[order], p[order]))
        with pytest.warns(CalibrationWarning, match="calibration intercept is nan"):
            assert np.isnan(calibration_in_the_large.interval(y[order], p[order]).low)


def test_f10_rare_events_and_certain_rows_beside_others_have_one():
    p = np.full(100_000, 1e-5)
    y = np.zeros(100_000, dtype=int)
    y[0] = 1
    assert calibration_in_the_large(y, p) == pytest.approx(0.0, abs=1e-3)
    assert calibration_in_the_large([1, 0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5, 1.0]) == pytest.approx(
        -np.log(3.0), abs=1e-6
    )
