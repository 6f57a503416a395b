import numpy as np

from calibrant import metrics


def test_by_hand():
    sets = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
    found = metrics.set_sizes(sets)
    assert (found.mean, found.median, found.single, found.empty, found.full, found.n) == (
        1.5,
        1.0,
        0.25,
        0.25,
        0.25,
        4.0,
    )
    assert metrics.set_sizes(sets, sample_weight=[0, 3, 0, 1]) == metrics.set_sizes(
        sets[[1, 1, 1, 3]]
    )
    assert found.to_dict()["mean"] == 1.5
