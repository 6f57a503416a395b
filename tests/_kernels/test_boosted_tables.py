"""Symmetric trees on codes: the split of most gain, halves that add up, codes put in the order
of their errors.
"""

import numpy as np
import pytest

from calibrant._kernels.boosting import MOST_COLUMNS, Growth, Shares, boost, grow_tree, leaves


def test_the_first_split_is_the_best_of_all():
    rng = np.random.default_rng(0)
    codes, score, information = (
        rng.integers(0, 6, (3, 400)).astype(np.uint8),
        rng.normal(size=400),
        rng.uniform(0.1, 0.3, 400),
    )
    column, right, value, gain = grow_tree(
        codes, score, information, np.arange(400), Growth(1, 2.0, np.ones(3, dtype=bool), 6)
    )

    def worth(mask):
        return score[mask].sum() ** 2 / (information[mask].sum() + 2.0)

    whole = worth(np.ones(400, dtype=bool))
    found = {
        (j, c): 0.5 * (worth(codes[j] <= c) + worth(codes[j] > c) - whole)
        for j in range(3)
        for c in range(5)
    }
    best = max(found, key=lambda split: found[split])
    assert column[0] == best[0]
    assert right[0].tolist() == [c > best[1] for c in range(6)]
    assert np.isclose(gain[0], found[best])
    high = codes[best[0]] > best[1]
    np.testing.assert_allclose(
        value, [score[m].sum() / (information[m].sum() + 2.0) for m in (~high, high)]
    )


def test_deeper_levels_count_each_row_once():
    rng = np.random.default_rng(1)
    codes, score = rng.integers(0, 9, (4, 500)).astype(np.uint8), rng.normal(size=500)
    rows = np.flatnonzero(rng.uniform(size=500) < 0.7)
    column, right, value, _ = grow_tree(
        codes, score, np.ones(500), rows, Growth(4, 1.0, np.array([True, False, True, False]), 9)
    )
    leaf = leaves(codes, column, right)
    expected = np.bincount(leaf[rows], score[rows], 16) / (
        np.bincount(leaf[rows], minlength=16) + 1.0
    )
    np.testing.assert_allclose(value, expected, atol=1e-12)


def test_every_level_takes_the_split_of_most_gain_over_all_nodes():
    """Three levels by trying every column and every cut; the tables have a width that no code
    reaches.
    """
    rng = np.random.default_rng(3)
    codes, score, information = (
        rng.integers(0, 4, (3, 60)).astype(np.uint8),
        rng.normal(size=60),
        rng.uniform(0.5, 1.5, 60),
    )
    column, right, value, gain = grow_tree(
        codes, score, information, np.arange(60), Growth(3, 0.7, np.ones(3, dtype=bool), 5)
    )
    node = np.zeros(60, dtype=int)

    def worth(nodes):
        return (
            np.bincount(nodes, score, 8) ** 2 / (np.bincount(nodes, information, 8) + 0.7)
        ).sum()

    for level in range(3):
        found = {
            (j, c): 0.5 * (worth(2 * node + (codes[j] > c)) - worth(node))
            for j in range(3)
            for c in range(4)
        }
        best = max(found, key=lambda split: found[split])
        assert (column[level], right[level].tolist()) == (best[0], [c > best[1] for c in range(5)])
        assert gain[level] == pytest.approx(found[best], abs=1e-9)
        node = 2 * node + (codes[best[0]] > best[1])
    np.testing.assert_allclose(
        value, np.bincount(node, score, 8) / (np.bincount(node, information, 8) + 0.7)
    )


def test_a_split_that_gains_next_to_nothing_is_not_made():
    """Two halves of 10 rows, off by e either way: a gain of 10 e^2, twice which must be above a
    thousandth.
    """
    codes, growth = (
        np.repeat([0, 1], 10)[None].astype(np.uint8),
        Growth(1, 1e-9, np.ones(1, dtype=bool), 2),
    )
    for off, split in ((0.00707, False), (0.00708, True)):
        _, right, _, gain = grow_tree(
            codes, np.where(codes[0], off, -off), np.ones(20), np.arange(20), growth
        )
        assert right[0].tolist() == [False, split]
        assert gain[0] == pytest.approx(10.0 * off**2 if split else 0.0)


def test_names_are_parted_whatever_their_codes():
    code = np.arange(600) % 6
    hit = np.isin(code, (1, 4)).astype(np.float64)
    _, right, *_ = grow_tree(
        code[None].astype(np.uint8),
        hit - 0.33,
        np.full(600, 0.2),
        np.arange(600),
        Growth(1, 1.0, np.array([False]), 7),
    )
    assert set(np.flatnonzero(right[0, :6])) in ({1, 4}, {0, 2, 3, 5})


def test_of_many_columns_trees_take_turns():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, (MOST_COLUMNS + 30, 800)).astype(np.uint8)
    hit = (rng.uniform(size=800) < np.where(codes[-1] == 1, 0.8, 0.2))[:, None].astype(np.float64)
    growth = Growth(2, 5.0, np.ones(len(codes), dtype=bool), 2)
    starts = [(Shares(hit), np.zeros((800, 1)))] * 2
    found = boost(codes, growth, starts, np.arange(800) % 2, np.ones(800), 0.3, 30)
    assert found.after.mean() < found.before.mean() - 0.1
    assert len(codes) - 1 in found.trees.column
