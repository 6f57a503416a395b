"""The default calibrator: one, new and unfitted at each call."""

from calibrant.contracts.calibrator import Calibrator
from calibrant.select.default import default_calibrator


def test_it_is_a_new_unfitted_calibrator_each_time():
    first, second = default_calibrator(), default_calibrator()
    assert isinstance(first, Calibrator)
    assert first is not second
    assert not hasattr(first, "classes_")
