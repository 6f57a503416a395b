"""F24: one signal of another package made a whole ConfidenceCalibrator unsavable; once
registered, it is saved and loaded with it.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.testing import problems

DATA = problems()[1]


def _signal(name):
    def _score(self, record):
        return np.sort(record.probabilities, axis=1)[:, -2]

    return type(
        name,
        (cb.core.Signal,),
        {"_score": _score, "__module__": "elsewhere.signals", "__qualname__": name},
    )


def test_f24_a_registered_signal_is_saved_inside_a_calibrator(tmp_path):
    signal = cb.core.register(_signal("RunnerUp"))
    fitted = cb.ConfidenceCalibrator(signal=signal()).fit(DATA.P, DATA.y)
    loaded = cb.load(fitted.save(tmp_path / "fitted.calibrant"))
    assert type(loaded.signal_) is signal
    np.testing.assert_array_equal(
        loaded.predict_confidence(DATA.P_test), fitted.predict_confidence(DATA.P_test)
    )


def test_f24_one_that_is_not_registered_is_told_how():
    fitted = cb.ConfidenceCalibrator(signal=_signal("Unknown")()).fit(DATA.P, DATA.y)
    with pytest.raises(InputError, match=r"calibrant\.core\.register"):
        fitted.save("never.calibrant")
