"""Doing nothing."""

import numpy as np

import calibrant as cb
from calibrant._numerics.logistic import softmax


def test_probabilities_come_back():
    P = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])
    cal = cb.calibrators.Identity().fit(P, [0, 2])
    np.testing.assert_array_equal(cal.predict_proba(P), P)
    assert cal.predict_confidence(P).tolist() == [0.5, 0.75]
    assert cal.predict(P).tolist() == [0, 2]


def test_rounded_rows_come_back_normalised():
    P = softmax(np.random.default_rng(0).normal(size=(50, 7)))
    Q = cb.calibrators.Identity().fit(P, np.zeros(50, int)).predict_proba(P.astype(np.float16))
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(Q, P, atol=1e-3)


def test_logits_come_back_as_their_softmax():
    logits = np.random.default_rng(0).normal(size=(5, 3)) * 100
    np.testing.assert_array_equal(
        cb.calibrators.Identity(inputs="logit").fit(logits, [0] * 5).predict_proba(logits),
        softmax(logits),
    )
