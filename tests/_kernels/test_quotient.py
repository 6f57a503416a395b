import numpy as np

from calibrant._kernels.intervals import quotient


def test_nothing_to_divide_by_is_nan():
    np.testing.assert_array_equal(
        quotient(np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 0.5])), [0.5, np.nan, 6.0]
    )
    np.testing.assert_array_equal(quotient(np.array([1.0, 2.0]), np.array(4.0)), [0.25, 0.5])
