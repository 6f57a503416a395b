import numpy as np

from calibrant.comparison.scores import Measure, score_table
from calibrant.metrics import expected_calibration_error
from calibrant.predictions import read


def test_calibration_errors_differ_only_where_their_intervals_lie_apart():
    """Their paired bootstrap does not cover near 0: the change is what the intervals before and
    after leave to it.
    """
    rng = np.random.default_rng(5)
    p = rng.uniform(0.5, 1.0, 2000)
    y = (rng.random(2000) < 0.5 + 0.6 * (p - 0.5)).astype(int)
    before = read(p, y)
    for after, said in (
        (before.recalibrated(_second(0.5 + 0.6 * (p - 0.5))), "better"),
        (before, "no clear change"),
    ):
        (found,) = score_table(before, after, [Measure(expected_calibration_error, 200)])
        assert found.change.method == "both intervals"
        assert found.change.meaning == said
        assert found.change.low == found.after.low - found.before.high
        assert found.change.low <= found.change.value <= found.change.high


def _second(p):
    return np.column_stack([1.0 - p, p])
