import numpy as np

from calibrant.decisions.cells import CellScores


def one(scores, mass=None, shares=False):
    mass = np.ones(len(scores)) if mass is None else np.asarray(mass, dtype=float)
    return CellScores.of(
        np.asarray(scores, dtype=float),
        mass,
        np.zeros(len(scores), dtype=np.intp),
        1,
        shares=shares,
    )


def test_the_limit_is_the_order_statistic_of_one_more():
    held = one([3, 1, 2, 4, 5, 6, 7, 8, 9])
    assert held.limits(0.9).tolist() == [9.0]
    assert held.limits(0.8).tolist() == [8.0]
    assert held.limits(0.91).tolist() == [np.inf]
    # In floats (1 - 0.18) * 150 is not 123 by itself.
    assert one(range(1, 150)).limits(1 - 0.18).tolist() == [123.0]


def test_repetitions_count_as_rows():
    assert (
        one([1, 2, 3], [2, 1, 2]).limits(0.5).tolist() == one([1, 1, 2, 3, 3]).limits(0.5).tolist()
    )
    assert one([1, 2, 3], [2, 1, 2]).n.tolist() == [5.0]


def test_each_cell_has_its_own():
    held = CellScores.of(np.array([0.5, 0.1, 0.9, 0.3]), np.ones(4), np.array([2, 0, 2, 0]), 3)
    assert held.n.tolist() == [2.0, 0.0, 2.0]
    assert held.limits(0.5).tolist() == [0.3, np.inf, 0.9]


def test_clusters_share_one_count():
    # Three clusters; half of one and all of another are at or below 2: 1.5 of the 4 / 2 that a
    # level of one half asks for.
    assert one([1, 2, 3, 3, 4], [0.5, 1.0, 0.5, 0.5, 0.5], shares=True).limits(0.5).tolist() == [
        3.0
    ]


def test_p_values_by_hand():
    held = one([1, 2, 2, 3])
    assert held.p_values(np.array([0.0, 2.0, 5.0]), 0).tolist() == [1.0, 0.8, 0.2]
    assert held.p_values(np.array([2.0]), 0, np.array([0.5])).tolist() == [(1 + 0.5 * 3) / 5]
