"""G10: the interval of the mean error knows which of the rows may still fail."""

import numpy as np
import pytest

import calibrant as cb

REPEATS, LEAST = 200, 180  # 95 % of 200 repeats, less what chance takes


@pytest.mark.parametrize("n", [50, 100])
def test_the_interval_of_the_bias_holds_where_the_sure_rows_fail(n):
    truth, held = 0.9 * (0.001 - 0.003) + 0.1 * (0.97 - 0.9), 0
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        high = rng.random(n) < 0.1
        y = (rng.random(n) < np.where(high, 0.9, 0.003)).astype(int)
        found = cb.metrics.calibration_bias.interval(y, np.where(high, 0.97, 0.001))
        held += found.low <= truth <= found.high
    assert held >= LEAST
