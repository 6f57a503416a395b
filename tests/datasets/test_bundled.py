import numpy as np
import pytest

from calibrant.datasets.sets import BUNDLED, three_parts


@pytest.mark.parametrize("name", BUNDLED)
def test_labels_are_positions_in_the_classes(name):
    data = BUNDLED[name]()
    assert sorted(set(data.y.tolist())) == list(range(len(data.classes)))
    assert data.X.shape[0] == len(data)


def test_parts_share_no_row_and_leave_none_out():
    data = BUNDLED["digits"]()
    parts = three_parts(data)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(data)))
    shares = np.array([np.bincount(data.y[rows], minlength=10) / len(rows) for rows in parts])
    assert np.ptp(shares, axis=0).max() < 0.005
