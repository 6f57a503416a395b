"""Sums and products whose bits depend on the row alone."""

import numpy as np
import pytest

from calibrant._numerics.fixed_order import (
    in_pieces,
    merge_rows,
    multiply_rows,
    sum_in_sequence,
    sum_rows,
)
from calibrant.testing.check import LAYOUTS, splits


@pytest.mark.parametrize("width", [0, 1, 3, 8, 20, 32, 33, 100])
def test_sums_do_not_depend_on_the_rows_beside_nor_on_the_memory_order(width):
    values = np.random.default_rng(width).normal(size=(67, width))
    whole = sum_rows(values)
    assert np.allclose(whole, values.sum(axis=1), rtol=0.0, atol=1e-12)
    for layout in LAYOUTS.values():
        assert sum_rows(layout(values)).tolist() == whole.tolist()
    for parts in splits(67):
        assert all(sum_rows(values[rows]).tolist() == whole[rows].tolist() for rows in parts)


def test_few_columns_are_added_from_the_first_to_the_last():
    # Pairs would give 1e16 + (1 + 1): the two ones count then.
    row = np.array([[1e16, 1.0, 1.0, -1e16]])
    assert sum_rows(row).tolist() == [0.0]
    for width, sum_ in ((32, 0.0), (33, 2.0)):
        wide = np.pad([[1e16, 0.0, 1.0, 1.0, -1e16]], ((0, 0), (0, width - 5)))
        assert sum_rows(wide).tolist() == sum_rows(np.vstack([wide, wide])).tolist()[:1] == [sum_]
    assert (
        sum_in_sequence(row.T).tolist()
        == sum_in_sequence(np.vstack([row, row]).T)[:1].tolist()
        == [0.0]
    )


@pytest.mark.parametrize(("width", "columns"), [(1, 1), (3, 3), (10, 10), (33, 20), (300, 300)])
def test_products_do_not_depend_on_the_rows_beside(width, columns):
    rng = np.random.default_rng(width)
    values, matrix = rng.normal(size=(70, width)), rng.normal(size=(columns, width)).T
    whole = multiply_rows(values, matrix)
    assert np.allclose(whole, values @ matrix, rtol=0.0, atol=1e-11)
    for parts in splits(70):
        for rows in parts:
            assert np.abs(
                multiply_rows(values[rows], matrix) - whole[rows]
            ).max() <= 4.0 * np.spacing(np.abs(whole).max())
    for layout in LAYOUTS.values():
        assert multiply_rows(layout(values), matrix).tolist() == whole.tolist()


def test_a_vector_gives_one_number_a_row():
    assert multiply_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0])).tolist() == [
        12.0,
        34.0,
    ]


# -- canonical rows -----------------------------------------------------------------------------
# Merged rows: the same as by sorting whole rows, whatever ties the first columns have.


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
