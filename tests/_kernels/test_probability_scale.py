import numpy as np
import pytest

from calibrant._kernels.thresholds import (
    probability_grid,
    probability_scale,
    probability_ticks,
    scale_ends,
)


def drawn(a, b, n=4000):
    rng = np.random.default_rng(0)
    score = rng.beta(a, b, n)
    return score, (rng.random(n) < score).astype(float), np.ones(n)


@pytest.mark.parametrize(
    ("shape", "scale"),
    [((2, 2), "linear"), ((0.5, 50), "log"), ((0.1, 0.1), "logit"), ((50, 0.5), "logit")],
)
def test_the_scale_follows_the_data(shape, scale):
    score, hit, weight = drawn(*shape)
    assert probability_scale(score, hit, weight) == scale
    bins = np.minimum((score * 200).astype(int), 199)
    mass = np.bincount(bins, minlength=200)
    held = mass > 0
    means = (np.bincount(bins, v, 200)[held] / mass[held] for v in (score, hit))
    assert probability_scale(*means, mass[held].astype(float)) == scale


def test_risks_far_above_a_rare_event_are_seen_on_the_logarithm():
    rng = np.random.default_rng(0)
    assert (
        probability_scale(
            rng.uniform(0.1, 0.5, 5000), (rng.random(5000) < 0.014).astype(float), np.ones(5000)
        )
        == "log"
    )


def test_axes_end_at_decades_and_are_no_emptier_than_the_event_is_rare():
    assert scale_ends("linear", np.array([0.2]), 0.5) == (0.0, 1.0)
    assert scale_ends("log", np.array([0.0, 0.003, 0.5]), 0.01) == pytest.approx((0.001, 1.0))
    assert scale_ends("log", np.array([1e-30, 0.5]), 0.01) == pytest.approx((1e-5, 1.0))
    assert scale_ends("log", np.array([1e-8, 0.5]), 1e-6) == pytest.approx((1e-8, 1.0))
    assert scale_ends("logit", np.array([0.2, 1.0 - 2e-4, 1.0]), 0.5) == pytest.approx(
        (1e-4, 1 - 1e-4)
    )


@pytest.mark.parametrize("scale", ["linear", "log", "logit"])
def test_a_grid_has_both_ends(scale):
    grid = probability_grid(scale, 0.01, 0.99, 7)
    assert (len(grid), grid[0], grid[-1]) == (7, pytest.approx(0.01), pytest.approx(0.99))
    assert (np.diff(grid) > 0).all()


@pytest.mark.parametrize(
    ("scale", "low", "high", "ticks"),
    [
        ("linear", 0.0, 1.0, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("log", 0.01, 1.0, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]),
        ("log", 1e-4, 1.0, [1e-4, 1e-3, 1e-2, 0.1, 1.0]),
        ("log", 1e-12 * (1 + 1e-12), 1e-9, [1e-12, 1e-11, 1e-10, 1e-9]),
        ("logit", 1e-3, 1.0 - 1e-3, [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]),
        ("logit", 1e-5, 1.0 - 1e-5, [1e-5, 0.001, 0.1, 0.5, 0.9, 0.999, 0.99999]),
    ],
)
def test_a_handful_of_ticks(scale, low, high, ticks):
    assert probability_ticks(scale, low, high) == ticks


def test_the_scale_at_its_shares():
    """Half of the weight beyond 5 % of the ends, and 5 % of it near one; or fewer than 5 % of
    events.
    """
    score, share = np.array([0.01, 0.5, 0.97]), np.array([0.0, 0.5, 1.0])
    assert probability_scale(score, share, np.array([0.45, 0.5, 0.05])) == "logit"
    assert probability_scale(score, share, np.array([0.44, 0.51, 0.05])) == "linear"
    assert probability_scale(score, share, np.array([0.46, 0.5, 0.04])) == "linear"
    assert probability_scale(np.array([0.05, 0.95, 0.95]), share, np.ones(3)) == "linear"
    assert (
        probability_scale(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([95.0, 5.0]))
        == "linear"
    )
    assert (
        probability_scale(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([95.1, 4.9]))
        == "log"
    )


def test_ends_by_hand():
    assert scale_ends("linear", np.array([0.3]), 0.1) == (0.0, 1.0)
    np.testing.assert_allclose(scale_ends("log", np.array([0.0, 0.003, 0.2]), 0.01), (1e-3, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([0.001, 0.2]), 0.01), (1e-3, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([1e-9, 0.2]), 0.01), (1e-5, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([1e-9, 0.2]), 1e-4), (1e-7, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([1e-9, 0.2]), 0.0), (1e-5, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([0.5, 1.0]), 0.3), (0.1, 1.0))
    np.testing.assert_allclose(scale_ends("logit", np.array([0.3, 0.995]), 0.5), (1e-3, 1.0 - 1e-3))
    np.testing.assert_allclose(scale_ends("log", np.array([0.3, 0.995]), 0.5), (0.1, 1.0))
    np.testing.assert_allclose(scale_ends("logit", np.array([0.04, 0.5, 1.0]), 0.5), (0.01, 0.99))


def test_grids_by_hand():
    np.testing.assert_allclose(probability_grid("linear", 0.0, 1.0, 3), [0.0, 0.5, 1.0])
    np.testing.assert_allclose(probability_grid("log", 0.01, 1.0, 3), [0.01, 0.1, 1.0])
    np.testing.assert_allclose(probability_grid("logit", 0.1, 0.9, 3), [0.1, 0.5, 0.9])


def test_ticks_by_hand():
    assert probability_ticks("linear", 0.0, 1.0) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert probability_ticks("log", 0.01, 1.0) == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    assert probability_ticks("log", 0.005, 1.0) == [0.01, 0.1, 1.0]
    assert probability_ticks("logit", 0.001, 0.999) == [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    assert probability_ticks("logit", 0.0001, 0.9999) == [0.001, 0.1, 0.5, 0.9, 0.999]
    assert probability_ticks("logit", 0.00001, 0.99999) == [
        0.00001,
        0.001,
        0.1,
        0.5,
        0.9,
        0.999,
        0.99999,
    ]
