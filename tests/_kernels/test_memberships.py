import numpy as np

from calibrant._kernels.groups import membership, row_sums, scaled_columns, scaled_rows


def test_by_hand():
    matrix = membership(np.array([0, 0, 1, 1]), np.array([0, 2, 1, 1]), (3, 3))
    assert matrix.toarray().tolist() == [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    assert membership(np.array([1]), np.array([0]), (2, 1), np.array([0.5])).toarray().tolist() == [
        [0.0],
        [0.5],
    ]
    assert scaled_columns(matrix, np.array([2.0, 3.0, 5.0])).toarray().tolist() == [
        [2.0, 0.0, 5.0],
        [0.0, 6.0, 0.0],
        [0.0] * 3,
    ]
    assert scaled_rows(matrix, np.array([2.0, 3.0, 5.0])).toarray().tolist() == [
        [2.0, 0.0, 2.0],
        [0.0, 6.0, 0.0],
        [0.0] * 3,
    ]
    assert row_sums(matrix).tolist() == [2.0, 2.0, 0.0]
