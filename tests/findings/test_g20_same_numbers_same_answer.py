"""The same numbers in float32 and float64 give the same answer, and p-values say which classes a
set holds (G20).
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics


def _on_edges(n=600):
    """Probabilities in twentieths, many of them on edges of bins, and labels."""
    rng = np.random.default_rng(0)
    P = rng.multinomial(20, [0.5, 0.3, 0.2], n) / 20.0
    return P.astype(np.float32), (P + 0.3 * rng.gumbel(size=P.shape)).argmax(axis=1)


@pytest.mark.parametrize(
    "metric",
    [
        metrics.classwise_calibration_error,
        metrics.expected_calibration_error,
        metrics.full_calibration_error,
        metrics.brier_score,
    ],
)
def test_metrics_of_float32_are_those_of_the_same_numbers(metric):
    P, y = _on_edges()
    assert metric(y, P) == metric(y, P.astype(np.float64))


def test_curves_of_float32_are_those_of_the_same_numbers():
    P, y = _on_edges()
    one, other = (
        metrics.reliability_curve(y, each, n_bins=10) for each in (P, P.astype(np.float64))
    )
    assert one.n.tolist() == other.n.tolist()


@pytest.mark.parametrize(
    "calibrator",
    [
        cb.TemperatureScaling(inputs="logit"),
        cb.calibrators.MatrixScaling(inputs="logit"),
        cb.calibrators.IsotonicPreserving(inputs="logit"),
        cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning(), inputs="logit"),
    ],
)
def test_methods_on_float32_logits_answer_as_on_the_same_numbers(calibrator):
    rng = np.random.default_rng(1)
    z = (3.0 * rng.normal(size=(400, 5))).astype(np.float32)
    y = (0.5 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    answers = [calibrator.fit(each, y).predict_proba(each) for each in (z, z.astype(np.float64))]
    assert answers[0].tolist() == answers[1].tolist()


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
def test_a_set_holds_the_classes_whose_p_value_is_above_one_minus_the_level(score):
    rng = np.random.default_rng(2)
    z = 2.0 * rng.normal(size=(288 + 101, 4))
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (z / 2.0 + rng.gumbel(size=z.shape)).argmax(axis=1)
    sets = cb.ConformalSets(score, never_empty=False).fit(P[:101], y[:101])
    for level in (0.55, 0.83, 0.9):
        found = sets.predict_set(P[101:], level=level)
        assert (found == (sets.p_values(P[101:]) > 1.0 - level)).all()


def test_smoothed_p_values_are_never_larger():
    P, y = _on_edges()
    sets = cb.ConformalSets("lac").fit(P[:300], y[:300])
    smoothed, whole = (sets.p_values(P[300:], smoothed=smoothed) for smoothed in (True, False))
    assert (smoothed <= whole + 1e-12).all()
    assert (smoothed < whole).any()
