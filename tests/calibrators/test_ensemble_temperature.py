"""ETS: the mixture it finds is the best one, and it never changes the label."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics


def _overconfident(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 5)) * 2
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    wild = rng.random(n) < 0.15
    labels[wild] = rng.integers(0, 5, wild.sum())
    return logits * 3, labels


def test_finds_the_uniform_part_of_planted_noise():
    logits, labels = _overconfident(20_000)
    cal = cb.calibrators.EnsembleTemperature(inputs="logit").fit(logits, labels)
    assert cal.status_ == "converged"
    assert cal.weights_[2] == pytest.approx(0.15, abs=0.06)
    assert cal.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    plain = cb.TemperatureScaling(inputs="logit").fit(logits, labels)
    gain = metrics.log_loss(labels, plain.predict_proba(logits)) - metrics.log_loss(
        labels, cal.predict_proba(logits)
    )
    assert gain > 0.005


def test_no_other_mixture_is_better():
    logits, labels = _overconfident(500)
    cal = cb.calibrators.EnsembleTemperature(inputs="logit", prior_weight=0).fit(logits, labels)
    parts = []
    for weights in np.eye(3):
        cal_one = cb.calibrators.EnsembleTemperature(inputs="logit").fit(logits, labels)
        cal_one.weights_ = weights
        parts.append(cal_one.predict_proba(logits)[np.arange(500), labels])
    best = -np.log(cal.weights_ @ parts).mean()
    for other in np.random.default_rng(1).dirichlet([1, 1, 1], 300):
        assert best <= -np.log(other @ parts).mean() + 1e-6


def test_keeps_the_predicted_label_and_repeats_by_weight():
    logits, labels = _overconfident(300)
    weight = np.random.default_rng(2).integers(0, 3, 300)
    cal = cb.calibrators.EnsembleTemperature(inputs="logit").fit(
        logits, labels, sample_weight=weight
    )
    repeated = cb.calibrators.EnsembleTemperature(inputs="logit").fit(
        np.repeat(logits, weight, axis=0), np.repeat(labels, weight)
    )
    np.testing.assert_allclose(cal.weights_, repeated.weights_, atol=1e-7)
    np.testing.assert_array_equal(cal.predict(logits), logits.argmax(axis=1))


def test_a_negative_prior_is_refused():
    with pytest.raises(cb.errors.InputError, match="prior_weight must be a finite number"):
        cb.calibrators.EnsembleTemperature(prior_weight=-1).fit([[0.5, 0.5]], [0])
