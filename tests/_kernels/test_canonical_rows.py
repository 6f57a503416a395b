"""Merged rows: the same as by sorting whole rows, whatever ties the first columns have."""

import numpy as np
import pytest

from calibrant._kernels.fixed_order import in_pieces, merge_rows


@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("K", [2, 4, 7])
def test_rows_are_those_of_whole_rows_sorted(K, decimals):
    rng = np.random.default_rng(K)
    values = np.round(rng.dirichlet(np.ones(K), 400), decimals)
    values[:50], values[:, 0] = values[50:100], np.round(values[:, 0], 1)
    labels, weight = rng.integers(0, 3, 400), rng.uniform(size=400)
    labels[:50] = labels[50:100]
    first, mass = merge_rows(values, labels, weight)
    _, expected, group = np.unique(
        np.round(np.column_stack([labels, values]), 8),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_allclose(mass, np.bincount(group.ravel(), weights=weight))
    assert len(first) < 400


def test_rows_are_dealt_in_pieces_of_about_one_row():
    row, weight = in_pieces(np.array([0.2, 1.0, 2.4, 2.6, 50.0]), 7)
    assert row.tolist() == [0, 1, 2, 2, 3, 3, 3, *[4] * 7]
    np.testing.assert_allclose(weight, [0.2, 1.0, 1.2, 1.2, *[2.6 / 3.0] * 3, *[50.0 / 7.0] * 7])
