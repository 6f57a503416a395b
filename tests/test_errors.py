"""A warning points at the user's line, not into calibrant."""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import CalibrationWarning, SparseDataWarning, warn

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 60)
X = RNG.normal(size=(60, 3)) * [1.0, 1e4, 1.0]


@pytest.mark.parametrize(
    "fit",
    [
        lambda: cb.ConfidenceCalibrator(per_class=True).fit(P, P.argmax(axis=1)),
        lambda: cb.calibrators.PerClass(cb.TemperatureScaling()).fit(P, P.argmax(axis=1)),
        lambda: cb.calibrators.GeometricCalibrator().fit(
            P, np.arange(60) % 3, X=X, reference=(X + 1.0, np.arange(60) % 3)
        ),
        lambda: cb.calibrators.FastSeparation().fit(P, X=X, reference=(X + 1.0, np.arange(60) % 3)),
    ],
)
def test_at_the_line_of_the_call(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert caught
    for one in caught:
        assert one.filename == __file__
        assert one.lineno == fit.__code__.co_firstlineno


def test_from_outside_at_the_line_itself():
    with pytest.warns(SparseDataWarning, match="few") as caught:
        warn("few", SparseDataWarning)
    assert caught[0].filename == __file__
    with pytest.warns(CalibrationWarning, match="any"):
        warn("any")
