import numpy as np
import pytest
from scipy.special import logit

from calibrant import metrics
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.smoothing import fit_restricted_spline, spline_design, spline_knots
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.beta(1, 2, 400)
Y = (RNG.random(400) < P**1.3).astype(int)


def held(truth, n, repeats):
    """Share of simultaneous bands that hold all of the truth."""
    whole = []
    for seed in range(repeats):
        rng = np.random.default_rng([12, seed])
        p = sigmoid(2 * rng.normal(size=n) - 1)
        found = metrics.spline_curve(
            (rng.random(n) < truth(p)).astype(int), p, n_points=50, n_draws=300, random_state=seed
        )
        true = truth(found.score)
        whole.append(np.all((found.band_low <= true) & (true <= found.band_high)))
    return np.mean(whole)


def test_the_spline_is_straight_beyond_the_outer_knots_and_cubic_between():
    knots = logit(np.array([0.1, 0.3, 0.5, 0.8, 0.9]))
    bent = spline_design(sigmoid(np.linspace(-6, 6, 1201)), knots)[:, 2:]
    second = np.diff(bent, 2, axis=0) / 1e-4
    odds = np.linspace(-6, 6, 1201)[1:-1]
    assert bent.shape[1] == 3
    assert np.abs(second[(odds < knots[0] - 0.02) | (odds > knots[-1] + 0.02)]).max() < 1e-6
    assert np.abs(np.diff(second, axis=0)).max() < 0.2


def test_knots_are_harrells_quantiles():
    x, mass = np.linspace(0.01, 0.99, 150), np.ones(150)
    assert sigmoid(spline_knots(x, mass, 5)) == pytest.approx(
        np.quantile(x, [0.05, 0.275, 0.5, 0.725, 0.95]), abs=2e-4
    )
    few = np.linspace(0.1, 0.9, 50)
    assert sigmoid(spline_knots(few, np.ones(50), 3))[[0, 2]] == pytest.approx(few[[4, 45]])
    assert len(spline_knots(np.array([0.2, 0.8]), np.array([10.0, 10.0]), 5)) <= 3


def test_the_gradient_is_nought_and_the_covariance_that_of_the_likelihood():
    x = np.sort(P)
    design = spline_design(x, spline_knots(x, np.ones(400), 4))
    hits = Y[np.argsort(P)].astype(float)
    theta, covariance = fit_restricted_spline(design, hits, np.ones(400))
    p = sigmoid(design @ theta)
    assert np.abs(design.T @ (hits - p)).max() < 1e-6
    assert covariance @ (design.T @ (design * (p * (1 - p))[:, None])) == pytest.approx(
        np.eye(4), abs=1e-4
    )


def test_weights_are_repetitions():
    weight = RNG.integers(0, 4, 400)
    options = {"n_points": 20, "n_draws": 50}
    weighted = metrics.spline_curve(Y, P, sample_weight=weight, **options)
    repeated = metrics.spline_curve(np.repeat(Y, weight), np.repeat(P, weight), **options)
    for name, column in weighted.to_dict().items():
        assert column == pytest.approx(repeated.to_dict()[name], abs=1e-9), name


def test_the_simultaneous_band_holds_the_truth():
    assert 0.89 <= held(lambda p: p, 300, 120) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_the_simultaneous_band_holds_the_truth_at_length(slope):
    assert held(lambda p: sigmoid(slope * logit(p)), 1000, 400) >= 0.95 - 3 * np.sqrt(
        0.05 * 0.95 / 400
    )


def test_separated_outcomes_have_a_finite_curve():
    curve = metrics.spline_curve([0] * 30 + [1] * 30, np.linspace(0.05, 0.95, 60), n_knots=3)
    assert curve.observed[0] < 0.05
    assert curve.observed[-1] > 0.95
    assert np.max(curve.band_high - curve.band_low) > 0.3
    assert ((curve.band_low <= curve.low) & (curve.high <= curve.band_high)).all()


def test_without_an_event_it_is_firths_half_a_hit():
    mass = np.array([40.0])
    theta, _ = fit_restricted_spline(np.ones((1, 1)), np.array([0.0]), mass)
    assert sigmoid(theta[0]) == pytest.approx(0.5 / 41.0, rel=1e-6)
    curve = metrics.spline_curve([0] * 100, np.linspace(0.01, 0.2, 100), classes=[0, 1])
    assert curve.high.max() > 0.01
    assert np.median(curve.band_high) < 0.5


@pytest.mark.parametrize("p", [[0.3], [0.2, 0.8] * 20, [0.0, 1.0, 1.0], [0.4] * 10])
def test_few_scores(p):
    curve = metrics.spline_curve(
        [0, 1] * (len(p) // 2) + [1] * (len(p) % 2), p, n_draws=20, classes=[0, 1]
    )
    assert all(np.isfinite(column).all() for column in curve.to_dict().values())


def test_refusals():
    with pytest.raises(InputError, match="n_knots"):
        metrics.spline_curve(Y, P, n_knots=2)
