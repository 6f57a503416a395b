"""Temperature scaling: the exact optimum, bounds, and the data on which other implementations
run away.
"""

import numpy as np
import pytest
from scipy.optimize import check_grad

import calibrant as cb
from calibrant._numerics.logistic import softmax
from calibrant._numerics.temperature import nll_derivatives
from calibrant.errors import FitWarning
from calibrant.metrics import log_loss


def soft_labels(T, n_classes, n=100, seed=0):
    """Logits whose best temperature is exactly T: every label of every row, weighted by its true
    probability.
    """
    logits = 3.0 * np.random.default_rng(seed).normal(size=(n, n_classes))
    rows = np.repeat(np.arange(n), n_classes)
    return T * logits[rows], np.tile(np.arange(n_classes), n), softmax(logits).ravel()


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("T", [0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0])
def test_planted_temperature_is_found(T, n_classes):
    logits, y, weight = soft_labels(T, n_classes)
    for inputs, P in (("logit", logits), ("probability", softmax(logits))):
        cal = cb.TemperatureScaling(inputs=inputs).fit(P, y, sample_weight=weight)
        assert cal.status_ == "converged"
        assert cal.temperature_ == pytest.approx(T, rel=1e-6)


@pytest.mark.filterwarnings("ignore:sample_weight adds up:calibrant.errors.CalibrationWarning")
def test_planted_temperature_is_found_with_a_thousand_classes():
    logits, y, weight = soft_labels(2.0, 1000, n=3)
    assert cb.TemperatureScaling(inputs="logit").fit(
        logits, y, sample_weight=weight
    ).temperature_ == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("T", [0.05, 1.0, 20.0])
def test_planted_temperature_is_found_in_float32(T):
    logits, y, weight = soft_labels(T, 3)
    cal = cb.TemperatureScaling(inputs="logit").fit(
        logits.astype(np.float32), y, sample_weight=weight
    )
    assert cal.temperature_ == pytest.approx(T, rel=1e-5)


def drawn(n=400, n_classes=4, sharpness=2.0, seed=1):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes)) * 1.5
    y = (softmax(logits).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return sharpness * logits, y


def test_gradient_vanishes_and_no_other_temperature_is_better():
    logits, y = drawn()
    cal = cb.TemperatureScaling(inputs="logit").fit(logits, y)
    value, slope, curvature = nll_derivatives(1.0 / cal.temperature_, logits, y, np.ones(len(y)))
    assert abs(slope) < 1e-12
    assert curvature > 0
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert log_loss(y, logits / (factor * cal.temperature_), inputs="logit") > value
    assert log_loss(y, cal.predict_proba(logits)) == pytest.approx(value, abs=1e-12)


def test_gradient_is_the_derivative_of_the_loss():
    logits, y = drawn(n=50)
    weight = np.linspace(0.5, 2.0, 50)

    def value(beta):
        return nll_derivatives(beta[0], logits, y, weight)[0]

    def slope(beta):
        return np.array([nll_derivatives(beta[0], logits, y, weight)[1]])

    assert check_grad(value, slope, [0.7]) < 1e-6


def test_predictions_are_the_softmax_of_the_logits_over_the_temperature():
    logits, y = drawn()
    cal = cb.TemperatureScaling(inputs="logit").fit(logits, y)
    np.testing.assert_allclose(
        cal.predict_proba(logits), softmax(logits / cal.temperature_), rtol=1e-13
    )


@pytest.mark.parametrize("n", [2, 10, 1000])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_separable_rows_bound_the_confidence_by_their_number(n, n_classes):
    # Rows of one margin: the smoothed targets are met exactly.
    y = np.arange(n) % n_classes
    cal = cb.TemperatureScaling(inputs="logit").fit(3.0 * np.eye(n_classes)[y], y)
    assert cal.status_ == "separable"
    expected = 1.0 - (1.0 - 1.0 / n_classes) / (n + 1)
    np.testing.assert_allclose(
        cal.predict_confidence(3.0 * np.eye(n_classes)[y]), expected, rtol=1e-9
    )


def test_separable_rows_with_other_margins_reach_neither_0_nor_1():
    logits, _ = drawn(n=50)
    Q = (
        cb.TemperatureScaling(inputs="logit")
        .fit(logits, logits.argmax(axis=1))
        .predict_proba(logits)
    )
    assert 0.0 < Q.min() < Q.max() < 1.0


def test_flat_logits_leave_the_temperature_at_1():
    cal = cb.TemperatureScaling().fit(np.full((30, 3), 1 / 3), np.arange(30) % 3)
    assert (cal.temperature_, cal.status_) == (1.0, "flat")
    # The logarithm of equal numbers may differ in the last bit between lanes of a processor.
    noise = np.random.default_rng(0).choice([0.0, np.spacing(1.0)], (30, 3))
    cal = cb.TemperatureScaling(inputs="logit").fit(np.log(1 / 3) + noise, np.arange(30) % 3)
    assert (cal.temperature_, cal.status_) == (1.0, "flat")


def test_anti_informative_scores_stop_at_the_bound_and_keep_the_argmax():
    logits, _ = drawn()
    with pytest.warns(FitWarning, match="ended at upper bound: T = 1000; look at the data"):
        cal = cb.TemperatureScaling(inputs="logit").fit(logits, logits.argmin(axis=1))
    assert (cal.temperature_, cal.status_) == (1000.0, "at upper bound")
    np.testing.assert_array_equal(cal.predict(logits), logits.argmax(axis=1))


def test_timid_scores_go_far_below_a_tenth():
    # AdaBoost's averaged votes need such temperatures.
    logits, y = drawn(sharpness=0.004)
    cal = cb.TemperatureScaling(inputs="logit").fit(logits, y)
    assert cal.status_ == "converged"
    assert 0.003 < cal.temperature_ < 0.005


def test_scores_too_timid_for_the_bound_say_so():
    logits, y = drawn(sharpness=1e-6)
    with pytest.warns(FitWarning, match="ended at lower bound: T = 0.001"):
        cal = cb.TemperatureScaling(inputs="logit").fit(logits, y)
    assert cal.status_ == "at lower bound"


def test_the_warning_points_at_the_caller():
    logits, _ = drawn()
    with pytest.warns(FitWarning) as caught:
        cb.TemperatureScaling(inputs="logit").fit(logits, logits.argmin(axis=1))
    assert caught[0].filename == __file__


def test_wrong_and_certain_rows_have_a_finite_optimum():
    P = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.9, 0.1]])
    cal = cb.TemperatureScaling().fit(P, [0, 0, 1, 0])
    assert cal.status_ == "converged"
    assert 1.0 < cal.temperature_ < 1000.0
    assert np.isfinite(log_loss([0, 0, 1, 0], cal.predict_proba(P)))
