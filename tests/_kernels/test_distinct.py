import numpy as np

from calibrant._kernels.bins import Distinct


def test_parts_add_up_and_are_cut():
    one = Distinct.of(
        np.array([2.0, 1.0, 2.0]), [np.array([5.0, 7.0, 11.0])], np.array([1.0, 2.0, 3.0])
    )
    assert (one.values.tolist(), one.sums.tolist()) == ([1.0, 2.0], [[2.0, 14.0], [4.0, 38.0]])
    both = one + Distinct.of(np.array([3.0, 1.0]), [np.array([1.0, 2.0])], np.array([4.0, 2.0]))
    assert (both.values.tolist(), both.sums.tolist()) == (
        [1.0, 2.0, 3.0],
        [[4.0, 18.0], [4.0, 38.0], [4.0, 4.0]],
    )
    cut = both.cut(3)
    assert (len(cut), cut.part.tolist(), cut.lower.tolist(), cut.upper.tolist()) == (
        3,
        [0, 1, 2],
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 3.0],
    )
    assert cut.index(np.array([3.0, 1.0])).tolist() == [2, 0]
    halves = Distinct.of(np.arange(4.0)).cut(2)
    assert (halves.lower.tolist(), halves.upper.tolist(), halves.part.tolist()) == (
        [0.0, 2.0],
        [1.0, 3.0],
        [0, 0, 1, 1],
    )
