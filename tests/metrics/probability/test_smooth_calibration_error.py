import numpy as np
import pytest

from calibrant import metrics
from calibrant.metrics.binless import FEW_ROWS

smece = metrics.smooth_calibration_error
RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P**2).astype(int)


def by_quadrature(sigma):
    """The smoothed gap's integral with the kernel and its reflections written out."""
    t = (np.arange(4000) + 0.5) / 4000
    kernel = sum(
        np.exp(-0.5 * ((t[:, None] - c) / sigma) ** 2) for k in (-2, 0, 2) for c in (k + P, k - P)
    )
    return np.abs((kernel / (sigma * np.sqrt(2 * np.pi))) @ (Y - P) / len(P)).mean()


def test_it_solves_its_equation():
    value = smece(Y, P, target="event")
    assert by_quadrature(value) == pytest.approx(value, abs=1e-4)


def test_a_constant_gap_and_the_ends():
    assert smece([1, 0] * 100, [0.9] * 200, target="event") == pytest.approx(0.4, abs=1e-6)
    assert smece([1, 1], [0.0, 0.0], target="event") == 1.0
    assert smece([0, 1], [0.0, 1.0], target="event") == 0.0


def test_it_moves_little_when_scores_move_little():
    """Where binned errors jump at an edge."""
    moved = np.clip(P + 1e-6 * RNG.choice([-1, 1], 400), 0, 1)
    assert smece(Y, moved, target="event") == pytest.approx(smece(Y, P, target="event"), abs=1e-5)


@pytest.mark.parametrize("n", [60, 1_000, 10_001])
def test_draws_smoothed_together_have_the_widths_of_those_alone(n):
    rng = np.random.default_rng(n)
    score, weight = rng.beta(0.5, 2.0, n), rng.random(n) + 0.5
    value = smece._prepared(score, weight)
    true, wrong = ((rng.random((10, n)) < p) * 1.0 for p in (score, score**0.6))
    draws = [*true, *wrong, score, np.ones(n)]
    alone = np.array([value(hit) for hit in draws])
    # Few rows are smoothed on fewer cells.
    error = 0.005 if n <= FEW_ROWS else 1e-8
    assert np.array(value.each(iter(draws))) == pytest.approx(alone, rel=error, abs=1e-8)


def test_no_width_is_above_one():
    score = np.zeros(50)
    value = smece._prepared(score, np.ones(50))
    assert value.each([np.ones(50), score]) == pytest.approx([value(np.ones(50)), 0.0], abs=1e-8)
