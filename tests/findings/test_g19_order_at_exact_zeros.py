"""An exact 0 never gets a higher risk than a small positive number, nor an exact 1 a lower one
than its neighbours (G19).
"""

import numpy as np
import pytest

import calibrant as cb

NEAR_ZERO = np.array([0.0, 1e-300, 1e-30, 1e-12, 1e-9, 1e-3])


def _overconfident(zeros):
    """Risks that are 4.67 times too sharp on the scale of log-odds; ``zeros``: as a float32
    softmax rounds them.
    """
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 25.0, 2000)
    y = (rng.random(2000) < 1.0 / (1.0 + np.exp(-z / 4.67))).astype(int)
    p = 1.0 / (1.0 + np.exp(-z))
    return (np.where(p < 1e-8, 0.0, p) if zeros else p), y


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(
    "calibrator",
    [
        cb.TemperatureScaling(),
        cb.calibrators.VectorScaling(),
        cb.calibrators.DirichletCalibration(),
        cb.calibrators.AwardTemperature(),
    ],
)
def test_calibrated_risks_keep_the_order_of_risks_near_zero_and_one(calibrator, zeros):
    fitted = calibrator.fit(*_overconfident(zeros))
    low = fitted.predict_proba(NEAR_ZERO)[:, 1]
    assert (np.diff(low) >= -1e-12).all(), low
    high = fitted.predict_proba(1.0 - NEAR_ZERO)[:, 1]
    assert (np.diff(high) <= 1e-12).all(), high


def test_classes_that_a_float32_softmax_rounds_to_zero_stay_below_the_others():
    rng = np.random.default_rng(3)
    z = 40.0 * rng.normal(size=(500, 4))
    y = (z / 40.0 + rng.gumbel(size=z.shape)).argmax(axis=1)
    shifted = (z - z.max(axis=1, keepdims=True)).astype(np.float32)
    P = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    assert (P == 0.0).any()
    fitted = cb.TemperatureScaling().fit(P, y)
    row = np.array([[1.0, 0.0, 1e-30, 0.0], [1.0, 0.0, 0.0, 0.0]])
    Q = fitted.predict_proba(row)
    assert Q[0, 1] <= Q[0, 2]
    assert Q[1, 1] <= Q[0, 2] * (1.0 + 1e-9), Q


@pytest.mark.parametrize("signal", [cb.calibrators.LogOdds(), cb.calibrators.Margin(scale="logit")])
def test_certain_rows_are_the_surest(signal):
    score = signal.score([[1.0, 1e-30], [1.0, 0.0]])
    assert score[1] >= score[0]


def test_compiled_rows_agree_at_zeros():
    fitted = cb.TemperatureScaling().fit(*_overconfident(True))
    rows = np.column_stack([1.0 - NEAR_ZERO, NEAR_ZERO])
    found, expected = fitted.compile()(rows), fitted.predict_proba(rows)
    assert np.abs(found - expected).max() <= 1e-15
    assert (np.diff(found[:, 1]) >= -1e-12).all(), found[:, 1]
