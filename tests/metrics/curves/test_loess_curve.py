import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.smoothing import loess_matrix, pooled_scores, score_grid
from calibrant.core.predictions import read
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.beta(1, 2, 400)
Y = (RNG.random(400) < P**1.3).astype(int)


def loess_at(x, y, at, span=0.75):
    """One local quadratic fit, written out."""
    distance = np.abs(x - at)
    width = np.sort(distance)[int(span * len(x)) - 1]
    root = np.sqrt(np.maximum(1 - (distance / width) ** 3, 0) ** 3)
    return np.linalg.lstsq(
        np.vander(x - at, 3, increasing=True) * root[:, None], y * root, rcond=None
    )[0][0]


def held(truth, draw, n, repeats, curve=metrics.loess_curve):
    """(share of simultaneous bands that hold all of the truth, share of points whose own
    interval does).
    """
    whole, points = [], []
    for seed in range(repeats):
        rng = np.random.default_rng([11, seed])
        p = draw(rng, n)
        found = curve(
            (rng.random(n) < truth(p)).astype(int), p, n_points=50, n_draws=200, random_state=seed
        )
        true = truth(found.score)
        whole.append(np.all((found.band_low <= true) & (true <= found.band_high)))
        points.append(np.mean((found.low <= true) & (true <= found.high)))
    return np.mean(whole), np.mean(points)


@pytest.mark.parametrize(("n", "span"), [(400, 0.75), (399, 0.5)])
def test_it_is_the_local_quadratic_fit(n, span):
    curve = metrics.loess_curve(Y[:n], P[:n], span=span, n_points=20, n_draws=20)
    expected = [loess_at(P[:n], Y[:n], t, span) for t in curve.score]
    assert curve.observed == pytest.approx(np.clip(expected, 0, 1), abs=1e-9)


def test_scores_that_are_nearly_one_keep_their_digits():
    x = np.concatenate([np.geomspace(1e-9, 1e-3, 30), [0.3, 0.6, 0.9, 1.0]])
    line = 0.1 + 0.5 * x + 0.2 * x**2
    matrix = loess_matrix(x, np.ones(34), x, 0.95)
    assert matrix @ line == pytest.approx(line, abs=1e-9)


def test_weights_are_repetitions():
    weight = RNG.integers(0, 4, 400)
    options = {"n_points": 20, "n_draws": 50}
    weighted = metrics.loess_curve(Y, P, sample_weight=weight, **options)
    repeated = metrics.loess_curve(np.repeat(Y, weight), np.repeat(P, weight), **options)
    for name, column in weighted.to_dict().items():
        assert column == pytest.approx(repeated.to_dict()[name], abs=1e-9), name


def test_the_bands_hold_the_truth():
    whole, points = held(lambda p: p, lambda rng, n: rng.random(n), 300, 120)
    assert 0.89 <= whole <= 0.99
    assert 0.92 <= points <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("truth", [lambda p: p, lambda p: p**2], ids=["calibrated", "squared"])
@pytest.mark.parametrize(
    "draw",
    [lambda rng, n: rng.random(n), lambda rng, n: rng.beta(0.5, 10, n)],
    ids=["uniform", "rare"],
)
def test_the_bands_hold_the_truth_at_length(truth, draw):
    whole, points = held(truth, draw, 1000, 400)
    assert whole >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)
    assert points >= 0.93


def test_the_simultaneous_band_is_the_wider_and_both_hold_the_curve():
    curve = metrics.loess_curve(Y, P)
    assert (curve.band_low <= curve.low).all()
    assert (curve.high <= curve.band_high).all()
    assert (curve.low <= curve.observed).all()
    assert (curve.observed <= curve.high).all()
    assert 90 <= len(curve.score) <= 100


def test_a_score_without_events_has_a_band():
    curve = metrics.loess_curve([0] * 60 + [1] * 5, np.linspace(0.01, 0.9, 65))
    assert (curve.band_high - curve.band_low).min() > 0.01
    nothing = metrics.loess_curve([0] * 100, np.linspace(0.01, 0.2, 100), classes=[0, 1])
    assert (nothing.band_high >= nothing.high).all()


@pytest.mark.parametrize("p", [[0.3], [0.2, 0.8] * 20, [0.0, 1.0, 1.0], [0.4] * 10])
def test_few_scores(p):
    curve = metrics.loess_curve(
        [0, 1] * (len(p) // 2) + [1] * (len(p) % 2), p, n_draws=20, classes=[0, 1]
    )
    assert all(np.isfinite(column).all() for column in curve.to_dict().values())


def test_many_scores_are_pooled_without_making_a_tail_one():
    p = np.random.default_rng(1).beta(0.5, 20, 12_000)
    y = (np.random.default_rng(2).random(12_000) < p**0.9).astype(int)
    x, mass, index = pooled_scores(p, np.ones(len(p)))
    assert len(x) <= 5000
    assert mass.sum() == 12_000
    assert np.abs(x[index] - p).max() <= (p.max() - p.min()) / 2500
    curve = metrics.loess_curve(y, p, n_points=10, n_draws=20)
    assert curve.observed == pytest.approx(
        [max(loess_at(p, y, t), 0.0) for t in curve.score], abs=2e-4
    )


def test_the_points_are_in_order_and_reach_both_ends():
    grid = score_grid(np.array([0.1, 0.2, 0.9]), np.ones(3), 10)
    assert grid[0] == 0.1
    assert grid[-1] == 0.9
    assert (np.diff(grid) > 0).all()


def test_a_record_gives_the_same():
    record = read(P, Y)
    assert (
        metrics.loess_curve.of(record, n_points=10).to_dict()
        == metrics.loess_curve(Y, P, n_points=10).to_dict()
    )


@pytest.mark.parametrize(
    "options", [{"span": 0.0}, {"level": 1.0}, {"n_points": 1}, {"n_draws": 0}]
)
def test_refusals(options):
    with pytest.raises(InputError, match=next(iter(options))):
        metrics.loess_curve(Y, P, **options)
