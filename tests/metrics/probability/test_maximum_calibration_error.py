import numpy as np
import pytest

from calibrant import metrics

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 200)
Y = RNG.integers(0, 3, 200)


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_it_is_the_expected_error_with_another_norm(strategy):
    ece = metrics.expected_calibration_error
    assert metrics.maximum_calibration_error(Y, P, strategy=strategy) == ece(
        Y, P, strategy=strategy, norm="max"
    )
