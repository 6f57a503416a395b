"""Vector scaling: planted scales and shifts come back; the penalty has a scale of its own."""

import numpy as np

import calibrant as cb
from calibrant._numerics.logistic import log_softmax, softmax

SHIFT = np.array([0.4, 0.2, -0.6])


def _planted(n, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    z = log_softmax(rng.normal(size=(n, 3)) * 2)
    truth = z * scale + SHIFT
    return softmax(z), (truth + rng.gumbel(size=z.shape)).argmax(axis=1), softmax(truth)


def test_recovers_planted_shifts_and_probabilities():
    P, y, _ = _planted(60_000)
    cal = cb.calibrators.VectorScaling(ridge=0).fit(P, y)
    assert cal.status_ == "converged"
    assert cal.gradient_ <= 1e-8
    np.testing.assert_allclose(cal.scale_ / cal.temperature_, 1.0, atol=0.05)
    np.testing.assert_allclose(cal.shift_ - cal.shift_.mean(), SHIFT, atol=0.05)
    P, y, truth = _planted(60_000, np.array([0.6, 1.0, 1.5]))
    np.testing.assert_allclose(
        cb.calibrators.VectorScaling().fit(P, y).predict_proba(P), truth, atol=0.03
    )


def test_logits_and_probabilities_give_the_same_answer():
    P, y, _ = _planted(500)
    shifted = np.log(P) + np.random.default_rng(1).normal(size=(500, 1)) * 50
    by_probability = cb.calibrators.VectorScaling().fit(P, y).predict_proba(P)
    by_logit = cb.calibrators.VectorScaling(inputs="logit").fit(shifted, y).predict_proba(shifted)
    np.testing.assert_allclose(by_logit, by_probability, atol=1e-9)


def test_the_penalty_does_not_depend_on_the_confidence_of_the_model():
    P, y, _ = _planted(400)
    blurred = softmax(np.log(P) / 50)
    sharp, dull = (
        cb.calibrators.VectorScaling().fit(P, y),
        cb.calibrators.VectorScaling().fit(blurred, y),
    )
    np.testing.assert_allclose(sharp.predict_proba(P), dull.predict_proba(blurred), atol=1e-6)


def test_an_absent_class_keeps_mass_that_only_the_penalty_explains():
    P, y, _ = _planted(400)
    seen = y != 2
    held, free = (
        cb.calibrators.VectorScaling(ridge=ridge).fit(P[seen], y[seen]).predict_proba(P)[:, 2]
        for ridge in (10.0, 0.0)
    )
    assert 1e-3 < held.mean() < 0.2
    assert 0 < free.mean() < 1e-6
