"""Awards for the predicted class: planted ones are found, the confidence speaks of the model's
own label even when Q does not.
"""

import numpy as np
import pytest

from calibrant import TemperatureScaling
from calibrant._numerics.logistic import softmax
from calibrant.calibrators import AwardTemperature, CategoryTemperature
from calibrant.errors import FitWarning, InputError

AWARD, TEMPERATURE = np.array([1.0, 0.0, -2.0]), 1.6


def _planted(temperature):
    rng = np.random.default_rng(0)
    logits = 2.5 * rng.normal(size=(60_000, 3))
    predicted = logits.argmax(axis=1)
    z = logits + AWARD[predicted, None] * np.eye(3)[predicted]
    p = softmax(z / temperature[predicted, None])[np.arange(len(z)), predicted]
    return logits, np.where(rng.random(len(z)) < p, predicted, (predicted + 1) % 3), predicted, p


@pytest.fixture(scope="module")
def planted():
    return _planted(np.full(3, TEMPERATURE))


def test_planted_awards_and_temperature_are_found(planted):
    logits, y, _, p = planted
    cal = AwardTemperature(inputs="logit", ridge=0.0).fit(logits, y)
    assert cal.temperature_ == pytest.approx(TEMPERATURE, rel=0.05)
    assert cal.award_ == pytest.approx(AWARD, abs=0.15)
    assert np.abs(cal.predict_confidence(logits) - p).max() < 0.02


def test_planted_temperatures_of_each_class_are_found_too():
    temperature = np.array([0.7, 1.5, 3.0])
    logits, y, _, _p = _planted(temperature)
    cal = AwardTemperature(per_class_temperature=True, inputs="logit", ridge=0.0).fit(logits, y)
    assert cal.temperature_ == pytest.approx(temperature, rel=0.1)
    assert cal.award_ == pytest.approx(AWARD, abs=0.25)


def test_the_confidence_is_of_the_models_own_label(planted):
    logits, y, predicted, _ = planted
    cal = AwardTemperature(inputs="logit").fit(logits, y)
    Q, rows = cal.predict_proba(logits), np.arange(len(logits))
    overtaken = Q.argmax(axis=1) != predicted
    assert overtaken.mean() > 0.05  # the negative award lets other classes win
    assert (cal.predict_confidence(logits) == Q[rows, predicted]).all()
    assert cal.predict_confidence(logits)[overtaken].max() < 0.5
    at_own = (predicted == y)[overtaken].mean()
    assert cal.predict_confidence(logits)[overtaken].mean() == pytest.approx(at_own, abs=0.02)


def test_awards_beat_temperatures_where_awards_are_the_truth(planted):
    logits, y, predicted, p = planted
    half = np.arange(len(logits)) % 2 == 0
    losses = []
    for cal in (
        TemperatureScaling(objective="top_label", inputs="logit"),
        CategoryTemperature(inputs="logit"),
        AwardTemperature(inputs="logit"),
    ):
        c = cal.fit(logits[half], y[half]).predict_confidence(logits[~half])
        right = (predicted == y)[~half]
        losses.append(-np.log(np.where(right, c, 1.0 - c)).mean())
    assert losses[0] > losses[1] > losses[2] + 0.001
    truth = -np.log(np.where((predicted == y)[~half], p[~half], 1 - p[~half])).mean()
    assert losses[2] == pytest.approx(truth, abs=0.001)


def test_a_class_without_wrong_predictions_stays_finite_with_the_ridge_and_warns_without():
    rng = np.random.default_rng(1)
    P = rng.dirichlet([1.0, 1.0, 1.0], 300)
    y = np.where(P.argmax(axis=1) == 0, 0, [rng.choice(3, p=row) for row in P])
    for each in (False, True):
        cal = AwardTemperature(per_class_temperature=each).fit(P, y)
        assert cal.status_ == "converged"
        assert np.abs(cal.award_).max() < 20.0
        assert 0.7 < cal.predict_confidence(P)[P.argmax(axis=1) == 0].mean() < 1.0 - 1e-6
        with pytest.warns(FitWarning, match="bound"):
            assert (
                AwardTemperature(per_class_temperature=each, ridge=0.0).fit(P, y).status_
                == "at bound"
            )


def test_a_bad_ridge_is_named():
    with pytest.raises(InputError, match="ridge"):
        AwardTemperature(ridge=np.nan).fit([[0.6, 0.4]], [0])


def test_the_brier_form_gives_nearly_the_same(planted):
    """As the paper says of its two losses."""
    logits, y, *_ = planted
    log, brier = (
        AwardTemperature(inputs="logit", objective=loss).fit(logits, y)
        for loss in ("log_loss", "brier")
    )
    gap = np.abs(log.predict_confidence(logits) - brier.predict_confidence(logits))
    assert 0.0 < gap.max() < 0.03
    with pytest.raises(InputError, match="loss"):
        AwardTemperature(objective="nll").fit([[0.6, 0.4]], [0])
