import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.decisions.certificates import confidence_of
from calibrant.errors import InputError

P = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25]])
RECORD = read(P, [0, 1])


def test_by_default_it_is_the_largest_probability():
    assert confidence_of(None, RECORD)[1] == pytest.approx([0.7, 0.4])


def test_a_signal_is_fitted_on_a_copy():
    given = cb.calibrators.Margin()
    fitted, score = confidence_of(given, RECORD)
    assert score == pytest.approx([0.5, 0.05])
    assert fitted is not given
    assert not hasattr(given, "classes_")
    assert confidence_of(fitted, RECORD)[0] is fitted


def test_a_calibrator_comes_fitted():
    with pytest.raises(InputError, match="fitted on rows other than"):
        confidence_of(cb.TemperatureScaling(), RECORD)
    rng = np.random.default_rng(0)
    other = rng.dirichlet(np.ones(3), 200)
    cal = cb.TemperatureScaling().fit(other, [rng.choice(3, p=p) for p in other])
    assert (confidence_of(cal, RECORD)[1] == cal.predict_confidence(P)).all()


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="signal must be a signal"):
        confidence_of("margin", RECORD)
