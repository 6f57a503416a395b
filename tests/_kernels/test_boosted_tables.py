"""Symmetric trees on codes: the split of most gain, halves that add up, codes put in the order of their errors."""

import numpy as np

from calibrant._kernels.boosted_tables import Growth, grow_tree, leaves
from calibrant._kernels.boosting import MOST_COLUMNS, Shares, boost


def test_the_first_split_is_the_best_of_all():
    rng = np.random.default_rng(0)
    codes, score, information = rng.integers(0, 6, (3, 400)).astype(np.uint8), rng.normal(size=400), rng.uniform(0.1, 0.3, 400)
    column, right, value, gain = grow_tree(codes, score, information, np.arange(400), Growth(1, 2.0, np.ones(3, dtype=bool), 6))

    def worth(mask):
        return score[mask].sum() ** 2 / (information[mask].sum() + 2.0)

    whole = worth(np.ones(400, dtype=bool))
    found = {(j, c): 0.5 * (worth(codes[j] <= c) + worth(codes[j] > c) - whole) for j in range(3) for c in range(5)}
    best = max(found, key=lambda split: found[split])
    assert column[0] == best[0]
    assert right[0].tolist() == [c > best[1] for c in range(6)]
    assert np.isclose(gain[0], found[best])
    high = codes[best[0]] > best[1]
    np.testing.assert_allclose(value, [score[m].sum() / (information[m].sum() + 2.0) for m in (~high, high)])


def test_deeper_levels_count_each_row_once():
    rng = np.random.default_rng(1)
    codes, score = rng.integers(0, 9, (4, 500)).astype(np.uint8), rng.normal(size=500)
    rows = np.flatnonzero(rng.uniform(size=500) < 0.7)
    column, right, value, _ = grow_tree(codes, score, np.ones(500), rows, Growth(4, 1.0, np.array([True, False, True, False]), 9))
    leaf = leaves(codes, column, right)
    expected = np.bincount(leaf[rows], score[rows], 16) / (np.bincount(leaf[rows], minlength=16) + 1.0)
    np.testing.assert_allclose(value, expected, atol=1e-12)


def test_names_are_parted_whatever_their_codes():
    code = np.arange(600) % 6
    hit = np.isin(code, (1, 4)).astype(np.float64)
    _, right, *_ = grow_tree(
        code[None].astype(np.uint8), hit - 0.33, np.full(600, 0.2), np.arange(600), Growth(1, 1.0, np.array([False]), 7)
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
