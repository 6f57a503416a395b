import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.intervals import wilson
from calibrant.errors import InputError

SETS = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
Y = [0, 2, 1, 2]


def test_by_class_group_and_size():
    found = metrics.set_coverage_by(Y, SETS)
    assert (found.group.tolist(), found.n.tolist(), found.coverage.tolist()) == (
        [0, 1, 2],
        [1, 1, 2],
        [1, 0, 1],
    )
    found = metrics.set_coverage_by(Y, SETS, by="size")
    assert (found.group.tolist(), found.coverage.tolist()) == ([0, 1, 2, 3], [0, 1, 1, 1])
    found = metrics.set_coverage_by(Y, SETS, by="groups", groups=["b", "a", "a", None])
    assert (found.group.tolist(), found.coverage.tolist(), found.width.tolist()) == (
        ["a", "b", None],
        [0.5, 1, 1],
        [1, 1, 3],
    )
    low, high = wilson(1, 2)
    assert (found.low[0], found.high[0]) == (low, high)


def test_rows_of_no_weight_are_left_out():
    found = metrics.set_coverage_by(
        Y, SETS, by="groups", groups=list("abab"), sample_weight=[1, 1, 0, 2]
    )
    assert (found.n.tolist(), found.coverage.tolist()) == ([1, 3], [1, 1])


def test_groups_and_by_go_together():
    for options in ({"by": "groups"}, {"groups": list("abab")}, {"by": "sex"}):
        with pytest.raises(InputError, match="by must be"):
            metrics.set_coverage_by(Y, SETS, **options)
