"""The log odds of the top label, exact where probabilities crowd at 1."""

import numpy as np
import pytest

from calibrant import ConfidenceCalibrator
from calibrant.calibrators import KernelDensity, LogOdds, TopProbability


def test_it_is_the_logit_of_the_top_probability():
    P = np.random.default_rng(0).dirichlet([1.0, 2.0, 0.5], 200)
    top = TopProbability().score(P)
    assert LogOdds().score(P) == pytest.approx(np.log(top / (1.0 - top)), abs=1e-9)


def test_probabilities_and_logits_agree():
    logits = 3.0 * np.random.default_rng(1).normal(size=(100, 5))
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert LogOdds().score(P) == pytest.approx(LogOdds(inputs="logit").score(logits), abs=1e-9)


def test_it_tells_apart_what_probabilities_cannot():
    logits = np.array([[50.0, 0.0], [60.0, 0.0]])
    assert LogOdds(inputs="logit").score(logits).tolist() == [50.0, 60.0]
    assert len(set(TopProbability(inputs="logit").score(logits))) == 1


def test_exact_zeros_stay_finite():
    assert np.isfinite(LogOdds().score([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).all()


def test_kernel_densities_need_it_when_probabilities_crowd_at_one():
    """Log odds spread over 0..40: nearly every top probability is 1 to six digits, and the
    confidence still rises from .5 to 1.
    """
    rng = np.random.default_rng(2)
    odds = rng.uniform(0.0, 40.0, 6000)
    p = 1.0 / (1.0 + np.exp(-odds / 10.0))
    logits = np.column_stack([odds, np.zeros(6000)])
    y = (rng.random(6000) > p).astype(int)
    errors = []
    for signal in (TopProbability(), LogOdds()):
        cal = ConfidenceCalibrator(
            signal=signal, map=KernelDensity(), per_class=False, inputs="logit"
        ).fit(logits, y)
        errors.append(np.abs(cal.predict_confidence(logits) - p).mean())
    assert errors[1] < 0.02 < 0.05 < errors[0]
