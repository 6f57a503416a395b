"""IOP: order kept in every row, gradients by differences, planted bends found."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.gap_slopes import order_preserving_logits, slope_objective, slope_rows
from calibrant._numerics.logistic import log_softmax, softmax

KNOTS = np.array([-4.0, -2.0, -0.5])


@pytest.mark.parametrize("K", [2, 5])
def test_the_derivatives_agree_with_differences(K):
    rng = np.random.default_rng(0)
    z, y, weight = (
        log_softmax(rng.normal(size=(80, K)) * 2),
        rng.integers(0, K, 80),
        rng.uniform(0.5, 2, 80),
    )
    evaluate = slope_objective(slope_rows(z, y, weight, KNOTS), KNOTS, 0.1)
    slopes = rng.uniform(0.3, 2.0, 8)
    value, gradient, hessian = evaluate(slopes)
    loss = -log_softmax(order_preserving_logits(slopes.reshape(2, 4), KNOTS, z))[np.arange(80), y]
    assert value == pytest.approx(
        np.average(loss, weights=weight) + 0.1 * ((slopes - 1) ** 2).sum(), rel=1e-12
    )
    for m in range(8):
        step = 1e-6 * np.eye(8)[m]
        assert (evaluate(slopes + step)[0] - evaluate(slopes - step)[0]) / 2e-6 == pytest.approx(
            gradient[m], abs=1e-7
        )
        np.testing.assert_allclose(
            (evaluate(slopes + step)[1] - evaluate(slopes - step)[1]) / 2e-6, hessian[m], atol=1e-7
        )


def test_slopes_of_one_change_nothing():
    z = log_softmax(np.random.default_rng(1).normal(size=(50, 6)) * 3)
    np.testing.assert_allclose(
        softmax(order_preserving_logits(np.ones((2, 4)), KNOTS, z)), np.exp(z), atol=1e-12
    )


def test_the_order_of_the_classes_is_kept_in_every_row():
    rng = np.random.default_rng(2)
    P = softmax(rng.normal(size=(400, 6)) * 4)
    y = np.where(rng.random(400) < 0.4, rng.integers(0, 6, 400), P.argmax(axis=1))
    Q = cb.calibrators.IntraOrderPreserving().fit(P, y).predict_proba(P)
    order = P.argsort(axis=1)
    assert (np.diff(np.take_along_axis(Q, order, axis=1), axis=1) >= 0).all()


def test_beats_temperature_where_confidence_bends():
    rng = np.random.default_rng(3)
    z = log_softmax(rng.normal(size=(6000, 5)) * 3)
    y = (np.maximum(z, -2.0) + rng.gumbel(size=z.shape)).argmax(axis=1)
    P, half = np.exp(z), slice(3000)
    cal = cb.calibrators.IntraOrderPreserving().fit(P[half], y[half])
    assert cal.status_ == "converged"
    losses = [
        metrics.log_loss(y[3000:], c.predict_proba(P[3000:]))
        for c in (cal, cb.TemperatureScaling().fit(P[half], y[half]))
    ]
    assert losses[0] < losses[1] - 0.02


def test_many_classes():
    rng = np.random.default_rng(4)
    P = softmax(rng.normal(size=(300, 1000)) * 3)
    cal = cb.calibrators.IntraOrderPreserving().fit(P, P.argmax(axis=1))
    np.testing.assert_array_equal(cal.predict(P), P.argmax(axis=1))
