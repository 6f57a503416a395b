import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibrant import metrics
from calibrant._numerics.isotonic import pool_ties
from calibrant.errors import CalibrationWarning, InputError
from calibrant.metrics.curves.isotonic import LARGE_DIP, isotonic_fit, largest_dip

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
        curve = metrics.isotonic_curve(
            (rng.random(300) < p).astype(int), p, target="event", n_draws=100
        )
        inside.append(
            np.mean((curve.low <= curve.recalibrated) & (curve.recalibrated <= curve.high))
        )
    assert 0.9 < np.mean(inside) < 0.99


def test_a_clear_error_leaves_the_band():
    curve = metrics.isotonic_curve(Y, P, target="event")
    assert (
        np.mean((curve.recalibrated < curve.low)[(curve.score > 0.3) & (curve.score < 0.8)]) > 0.8
    )


def test_labels_are_needed():
    with pytest.raises(InputError, match="y_true"):
        metrics.isotonic_curve(None, P)


RISING = {
    "constant": lambda s: np.full_like(s, 0.5),
    "rare": lambda s: np.full_like(s, 0.03),
    "linear": lambda s: s,
    "steps": lambda s: np.where(s < 0.3, 0.01, np.where(s > 0.7, 0.99, 0.5)),
}


def warned(truth, n, seed):
    rng = np.random.default_rng(seed)
    s = rng.random(n)
    _, mass, mean = pool_ties(s, (rng.random(n) < truth(s)).astype(float), np.ones(n))
    return largest_dip(mean, mass, isotonic_fit(mean, mass)) > LARGE_DIP


@pytest.mark.parametrize("n", [20, 300])
@pytest.mark.parametrize("truth", RISING)
def test_a_rising_truth_is_let_pass(truth, n):
    assert np.mean([warned(RISING[truth], n, seed) for seed in range(400)]) <= 0.05 + 3 * np.sqrt(
        0.05 * 0.95 / 400
    )


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 200, 1000, 5000])
@pytest.mark.parametrize("truth", RISING)
def test_a_rising_truth_is_let_pass_over_many_repeats(truth, n):
    assert np.mean([warned(RISING[truth], n, seed) for seed in range(4000)]) <= 0.05 + 3 * np.sqrt(
        0.05 * 0.95 / 4000
    )


def test_a_falling_truth_warns_where_it_is_drawn():
    s = np.random.default_rng(1).random(1000)
    y = (np.random.default_rng(2).random(1000) < 0.5 + 0.3 * np.sin(4 * np.pi * s)).astype(int)
    with pytest.warns(CalibrationWarning, match="outcomes seem to decrease somewhere"):
        metrics.isotonic_curve(y, s, target="event", n_draws=0)
    with pytest.warns(CalibrationWarning, match="see smooth_curve"):
        metrics.corp_state(y, s, target="event").curve(n_draws=0)
    assert (
        np.mean(
            [
                warned(lambda s: np.where((s > 0.4) & (s < 0.6), 0.2, s), 5000, seed)
                for seed in range(20)
            ]
        )
        >= 0.9
    )
