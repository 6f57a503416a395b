import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = np.round(RNG.random(400), 2)
Y = (RNG.random(400) < P**2).astype(int)


def test_it_is_the_isotonic_fit():
    curve = metrics.isotonic_curve(Y, P, target="event", n_draws=0)
    assert curve.recalibrated == pytest.approx(IsotonicRegression().fit(P, Y).predict(curve.score))
    assert np.isnan(curve.low).all()
    assert curve.n.sum() == 400


def test_the_band_holds_the_curves_of_calibrated_scores():
    inside = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p = np.round(rng.random(300), 1)
        curve = metrics.isotonic_curve((rng.random(300) < p).astype(int), p, target="event", n_draws=100)
        inside.append(np.mean((curve.low <= curve.recalibrated) & (curve.recalibrated <= curve.high)))
    assert 0.9 < np.mean(inside) < 0.99


def test_a_clear_error_leaves_the_band():
    curve = metrics.isotonic_curve(Y, P, target="event")
    assert np.mean((curve.recalibrated < curve.low)[(curve.score > 0.3) & (curve.score < 0.8)]) > 0.8


def test_labels_are_needed():
    with pytest.raises(InputError, match="y_true"):
        metrics.isotonic_curve(None, P)
