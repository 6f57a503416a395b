"""RPS: what a row not seen yet may lose, by the losses of all its other labels."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.predictions import read


def test_the_row_not_seen_yet_loses_the_mean_over_the_other_labels():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(4), 5), rng.integers(0, 4, 5)
    rps = metrics.ranked_probability_score
    others = [
        np.mean([rps([k], P[i : i + 1], classes=[0, 1, 2, 3]) for k in range(4) if k != y[i]])
        for i in range(5)
    ]
    assert rps.columns_of(read(P, y))[3] == pytest.approx(others)


def test_sure_and_right_every_time_leaves_a_width():
    found = metrics.ranked_probability_score.interval([0, 1] * 25, np.eye(2)[[0, 1] * 25])
    assert found.low == 0.0
    assert 0.05 < found.high < 0.1
