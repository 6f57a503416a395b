"""D² of all classes: scikit-learn's numbers, the event's for two classes, and an interval that
covers.
"""

import numpy as np
import pytest
from sklearn.metrics import d2_log_loss_score

from calibrant import metrics


def rows(n, seed, sharpness=1.0, n_classes=3):
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n, n_classes)) + np.linspace(0.0, 1.0, n_classes)
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    P = np.exp(sharpness * logits)
    return y, P / P.sum(axis=1, keepdims=True)


def test_it_is_scikit_learns_number_weights_too():
    y, P = rows(200, 0)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    assert metrics.d2_of_classes(y, P) == pytest.approx(d2_log_loss_score(y, P), abs=1e-12)
    found = metrics.d2_of_classes(y, P, sample_weight=weight)
    assert found == pytest.approx(d2_log_loss_score(y, P, sample_weight=weight), abs=1e-12)


def test_of_two_classes_it_is_that_of_the_event():
    y, P = rows(300, 2, n_classes=2)
    assert metrics.d2_of_classes(y, P) == pytest.approx(metrics.d2_log_loss(y, P), abs=1e-12)
    brier = type(metrics.d2_of_classes)(score="brier")
    assert brier(y, P) == pytest.approx(metrics.d2_brier(y, P), abs=1e-12)


@pytest.mark.parametrize("score", ["log_loss", "brier"])
@pytest.mark.parametrize("sharpness", [1.0, 1.8])
def test_the_interval_covers(score, sharpness):
    metric = type(metrics.d2_of_classes)(score=score)
    truth = metric(*rows(200_000, 3, sharpness))
    runs, held = 300, 0
    for seed in range(runs):
        found = metric.interval(*rows(60, 100 + seed, sharpness))
        assert found.low < found.value < found.high
        held += found.low <= truth <= found.high
    assert held / runs >= 0.93 - 2.0 * np.sqrt(0.95 * 0.05 / runs)


def test_a_perfect_model_has_an_interval_with_width():
    y, _ = rows(50, 4)
    found = metrics.d2_of_classes.interval(y, np.eye(3)[y])
    assert found.high == found.value == pytest.approx(1.0)
    assert found.low < 0.97


def test_one_class_has_no_value_whatever_the_weights():
    """The rates of weights that do not add up to 1 exactly gave limits of -1e15."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        P, weight = rng.dirichlet(np.ones(3), 40), rng.integers(1, 9, 40) / 3.0
        assert np.isnan(metrics.d2_of_classes(np.zeros(40, int), P, sample_weight=weight))
