import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.metrics.decisions import curve_thresholds, read_thresholds, table_thresholds


def test_grids_suit_the_rate():
    assert curve_thresholds(0.3).tolist() == [k / 100 for k in range(100)]
    rare = curve_thresholds(0.001)
    assert rare[0] <= 0.0001 < 0.98 < rare[-1] < 1.0
    assert table_thresholds(0.3)[:3].tolist() == [0.01, 0.02, 0.05]
    assert table_thresholds(0.014).tolist() == [
        0.001,
        0.002,
        0.005,
        0.01,
        0.02,
        0.05,
        0.1,
        0.2,
        0.5,
    ]
    for grid in (
        curve_thresholds(0.0),
        table_thresholds(0.0),
        curve_thresholds(1e-7),
        table_thresholds(1e-7),
    ):
        assert (np.diff(grid) > 0).all()


@pytest.mark.parametrize("wrong", [[], [1.0], [-0.1], [np.nan], [[0.1]]])
def test_what_is_no_threshold_is_refused(wrong):
    with pytest.raises(InputError, match="thresholds must be numbers"):
        read_thresholds(wrong)


def test_one_number_is_one_threshold():
    assert read_thresholds(0.25).tolist() == [0.25]
