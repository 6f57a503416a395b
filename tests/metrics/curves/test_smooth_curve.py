import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.random(3000)
Y = (RNG.random(3000) < P**2).astype(int)


def test_it_is_the_kernel_mean_with_reflection():
    h = 0.05
    curve = metrics.smooth_curve(Y, P, target="event", bandwidth=h)
    kernel = sum(
        np.exp(-0.5 * ((curve.score[:, None] - c) / h) ** 2)
        for k in (-2, 0, 2)
        for c in (k + P, k - P)
    )
    assert curve.accuracy == pytest.approx(kernel @ Y / kernel.sum(axis=1), abs=1e-4)
    assert curve.density == pytest.approx(
        kernel.sum(axis=1) / (len(P) * h * np.sqrt(2 * np.pi)), abs=2e-3
    )


def test_the_band_covers_the_smoothed_truth():
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = rng.random(500)
        curve = metrics.smooth_curve(
            (rng.random(500) < p).astype(int), p, target="event", bandwidth=0.05
        )
        middle = (curve.score > 0.15) & (curve.score < 0.85)
        inside.append(np.mean(((curve.low <= curve.score) & (curve.score <= curve.high))[middle]))
    assert 0.92 < np.mean(inside) < 0.985


def test_places_without_rows_are_left_out():
    curve = metrics.smooth_curve([0, 1] * 20, [0.9, 0.95] * 20, target="event", bandwidth=0.01)
    assert curve.score.min() > 0.8
    with pytest.raises(InputError, match="bandwidth must be"):
        metrics.smooth_curve(Y, P, bandwidth=0)
