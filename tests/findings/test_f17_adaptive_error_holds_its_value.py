"""F17: the interval of the adaptive calibration error lacked its own value in 37 to 85 % of
runs, and never held 0.
"""

import numpy as np

from calibrant.metrics import adaptive_calibration_error


def test_of_a_calibrated_model():
    low = []
    for seed in range(15):
        rng = np.random.default_rng([17, seed])
        P = rng.dirichlet(np.ones(3), 300)
        y = (rng.random((300, 1)) > np.cumsum(P, axis=1)[:, :-1]).sum(axis=1)
        found = adaptive_calibration_error.interval(y, P, n_resamples=200)
        assert found.low <= found.value <= found.high
        assert found.low <= adaptive_calibration_error(y, P) == found.plain <= found.high
        low.append(found.low)
    assert np.mean(np.array(low) == 0.0) >= 0.8
