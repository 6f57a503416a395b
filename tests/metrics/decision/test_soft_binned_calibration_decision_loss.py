import numpy as np
import pytest

from calibrant import metrics
from calibrant._kernels.thresholds import decision_loss

scdl = metrics.soft_binned_calibration_decision_loss


def problem(n, seed, slope=1.0):
    rng = np.random.default_rng(seed)
    logit = 1.5 * rng.normal(size=n)
    return (rng.random(n) < 1 / (1 + np.exp(-slope * logit))).astype(int), 1 / (1 + np.exp(-logit))


@pytest.mark.parametrize(("n", "depth"), [(30, 2), (500, 3), (4096, 4)])
def test_equals_the_decision_loss_of_the_knots(n, depth):
    y, p = problem(n, 0, 0.5)
    hat = np.maximum(1.0 - np.abs(p[:, None] * 2**depth - np.arange(2**depth + 1)), 0.0)
    mass = hat.sum(axis=0)
    used = mass > 0
    expected = decision_loss((p @ hat)[used] / mass[used], (y @ hat)[used] / mass[used], mass[used])
    assert scdl(y, p) == pytest.approx(expected, abs=1e-12)


def test_it_tells_calibrated_scores_from_bold_ones_where_the_distinct_scores_cannot():
    calibrated, bold = problem(20_000, 1), problem(20_000, 1, 0.5)
    assert scdl(*calibrated) < 0.005 < 0.01 < scdl(*bold)
    assert metrics.calibration_decision_loss(*calibrated) > 0.2
    assert scdl(*problem(200_000, 2)) < scdl(*problem(200, 2))


def test_it_is_continuous_in_the_scores():
    y, p = problem(300, 3, 0.5)
    rng = np.random.default_rng(0)
    for step in (1e-3, 1e-6, 1e-9):
        moved = np.clip(p + step * rng.choice([-1, 1], len(p)), 0, 1)
        assert abs(scdl(y, moved) - scdl(y, p)) <= 40 * step
    # Also where scores meet on a knot, and cross.
    meet = np.where(p < 0.5, 0.5 - 1e-9, 0.5 + 1e-9)
    assert scdl(y, meet) == pytest.approx(scdl(y, 1.0 - meet), abs=1e-6)
