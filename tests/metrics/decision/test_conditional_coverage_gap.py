import numpy as np
import pytest

from calibrant import metrics


def test_mean_distance_from_what_was_said():
    sets = np.array([[1, 0], [1, 0], [0, 1], [1, 0]], dtype=bool)
    assert metrics.conditional_coverage_gap([0, 0, 1, 1], sets, said=0.8) == pytest.approx(
        (0.2 + 0.3) / 2
    )
    assert metrics.conditional_coverage_gap(
        [0, 0, 1, 1], sets, said=0.8, by="groups", groups=[1, 1, 1, 1]
    ) == pytest.approx(0.05)
