import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


@pytest.mark.parametrize("width", [0.4, 0.05, 0.005])
def test_one_sweep_equals_the_double_sum(width):
    rng = np.random.default_rng(0)
    p = np.round(rng.random(200), 2)
    y = (rng.random(200) < p**2).astype(int)
    weight = rng.integers(1, 3, 200)
    r = weight * (y - p)
    double = r @ np.exp(-np.abs(p[:, None] - p) / width) @ r
    got = metrics.maximum_mean_calibration_error(
        y, p, target="event", width=width, sample_weight=weight
    )
    assert got == pytest.approx(np.sqrt(double) / weight.sum(), rel=1e-9)


def test_refuses_a_width_that_would_overflow():
    with pytest.raises(InputError, match="width must be"):
        metrics.maximum_mean_calibration_error([0], [0.5], width=1e-4)
