"""IRM: a known answer, the label always kept."""

import numpy as np

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax


def test_known_answer():
    P = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4]])
    cal = cb.calibrators.IsotonicPreserving().fit(P, [0, 1, 0, 1])
    # Entries .1 .4 .6 .9 are each right half of the time: everything is 1/2, and the tie-break
    # keeps the label.
    Q = cal.predict_proba(P)
    np.testing.assert_allclose(Q, 0.5, atol=1e-8)
    assert (Q.argmax(axis=1) == 0).all()


def test_undoes_an_increasing_distortion_shared_by_all_classes():
    rng = np.random.default_rng(0)
    truth = softmax(rng.normal(size=(20_000, 4)) * 2)
    y = (truth.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    distorted = truth**3 / (truth**3).sum(axis=1, keepdims=True)
    Q = cb.calibrators.IsotonicPreserving().fit(distorted, y).predict_proba(distorted)
    np.testing.assert_array_equal(Q.argmax(axis=1), distorted.argmax(axis=1))
    assert metrics.log_loss(y, Q) < 0.5 * (
        metrics.log_loss(y, distorted) + metrics.log_loss(y, truth)
    )


def test_nearly_equal_entries_keep_their_order_at_the_top():
    P = np.array([[0.5 - 1e-16, 0.5 + 1e-16], [0.7, 0.3]])
    P[0] = [0.5, np.nextafter(0.5, 1)]
    Q = cb.calibrators.IsotonicPreserving().fit(P, [0, 1]).predict_proba(P)
    assert Q.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)
