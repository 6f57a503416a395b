"""TemperatureScaling(objective="top_label"): the temperature for the question whether the
predicted label is right.
"""

import numpy as np
import pytest

from calibrant import TemperatureScaling
from calibrant._numerics.logistic import softmax
from calibrant.errors import InputError


@pytest.mark.parametrize("temperature", [0.05, 0.5, 1.0, 3.0, 20.0])
def test_planted_temperature_is_found_by_both_losses(temperature):
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.normal(size=(40_000, 3))
    p = softmax(logits)
    y = (rng.random((40_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    for loss in ("log_loss", "top_label"):
        cal = TemperatureScaling(objective=loss, inputs="logit").fit(logits * temperature, y)
        assert cal.temperature_ == pytest.approx(temperature, rel=0.03)


def test_the_two_losses_differ_where_the_other_classes_mislead():
    rng = np.random.default_rng(1)
    logits = 2.0 * rng.normal(size=(20_000, 4))
    own = logits.argmax(axis=1)
    p = softmax(logits)[np.arange(20_000), own]
    right = rng.random(20_000) < p
    last = np.argsort(logits, axis=1)[:, 0]  # when wrong, the truth is the least likely class
    y = np.where(right, own, last)
    top, whole = (
        TemperatureScaling(objective=loss, inputs="logit").fit(logits, y)
        for loss in ("top_label", "log_loss")
    )
    assert top.temperature_ == pytest.approx(1.0, rel=0.05)
    assert whole.temperature_ > 1.2
    losses = [
        -np.log(np.where(right, c, 1 - c)).mean()
        for c in (m.predict_confidence(logits) for m in (top, whole))
    ]
    assert losses[0] < losses[1]


def test_all_right_is_smoothed_and_said():
    P = np.array([[0.8, 0.2], [0.7, 0.3], [0.1, 0.9]])
    cal = TemperatureScaling(objective="top_label").fit(P, [0, 0, 1])
    assert cal.status_ == "separable"
    assert cal.predict_confidence(P).max() < 0.99


def test_a_bad_loss_is_named():
    with pytest.raises(InputError, match="loss"):
        TemperatureScaling(objective="brier").fit([[0.6, 0.4]], [0])
