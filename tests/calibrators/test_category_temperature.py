"""One temperature a predicted class: planted ones are found, the label never changes, sparse
classes lean on the common one.
"""

import numpy as np
import pytest

from calibrant import TemperatureScaling
from calibrant._numerics.logistic import softmax
from calibrant.calibrators import CategoryTemperature
from calibrant.errors import FitWarning, InputError

TRUE = np.array([0.5, 1.0, 2.5])


@pytest.fixture
def planted():
    """Binary outcomes of the predicted class follow a temperature of its own."""
    rng = np.random.default_rng(0)
    logits = 2.5 * rng.normal(size=(60_000, 3))
    predicted = logits.argmax(axis=1)
    p = softmax(logits / TRUE[predicted, None])[np.arange(len(logits)), predicted]
    right = rng.random(len(logits)) < p
    return logits, np.where(right, predicted, (predicted + 1) % 3), predicted, p


def test_planted_temperatures_are_found(planted):
    logits, y, predicted, p = planted
    cal = CategoryTemperature(inputs="logit", ridge=0.0).fit(logits, y)
    assert cal.temperature_ == pytest.approx(TRUE, rel=0.05)
    assert np.abs(cal.predict_confidence(logits) - p).max() < 0.02
    assert (cal.predict(logits) == predicted).all()


def test_one_shared_temperature_cannot_do_it(planted):
    logits, y, _, p = planted
    shared = TemperatureScaling(inputs="logit", objective="top_label").fit(logits, y)
    own = CategoryTemperature(inputs="logit").fit(logits, y)
    assert shared.temperature_ == pytest.approx(own.common_temperature_, rel=1e-9)
    errors = [np.abs(c.predict_confidence(logits) - p).mean() for c in (shared, own)]
    assert errors[1] < 0.1 * errors[0]


def test_the_ridge_holds_a_class_of_few_rows_near_the_common_temperature(planted):
    logits, y, predicted, _ = planted
    few = np.concatenate(
        [np.flatnonzero(predicted != 2)[:3000], np.flatnonzero(predicted == 2)[:30]]
    )
    distance = []
    for ridge in (1e-3, 1.0, 1e6):
        cal = CategoryTemperature(inputs="logit", ridge=ridge).fit(logits[few], y[few])
        distance.append(abs(np.log(cal.temperature_[2] / cal.common_temperature_)))
    assert distance[0] > distance[1] > distance[2]
    assert distance[2] < 1e-3


def test_a_class_without_wrong_predictions_stays_finite_with_the_ridge_and_warns_without():
    rng = np.random.default_rng(1)
    P = rng.dirichlet([1.0, 1.0, 1.0], 300)
    y = np.where(P.argmax(axis=1) == 0, 0, [rng.choice(3, p=row) for row in P])
    cal = CategoryTemperature().fit(P, y)
    assert cal.status_ == "converged"
    assert 0.1 < cal.temperature_[0] < 1.0
    with pytest.warns(FitWarning, match="1 classes"):
        assert CategoryTemperature(ridge=0.0).fit(P, y).status_ == "at bound"


def test_a_bad_ridge_is_named():
    with pytest.raises(InputError, match="ridge"):
        CategoryTemperature(ridge=-1.0).fit([[0.6, 0.4]], [0])


def test_the_brier_form_gives_nearly_the_same(planted):
    """As the paper says of its two losses."""
    logits, y, *_ = planted
    log, brier = (
        CategoryTemperature(inputs="logit", objective=loss).fit(logits, y)
        for loss in ("log_loss", "brier")
    )
    gap = np.abs(log.predict_confidence(logits) - brier.predict_confidence(logits))
    assert 0.0 < gap.max() < 0.03
    with pytest.raises(InputError, match="loss"):
        CategoryTemperature(objective="nll").fit([[0.6, 0.4]], [0])
