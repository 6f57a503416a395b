import numpy as np
from scipy import special

from calibrant._kernels.normal_scores import DEGREES, TABLE, from_student, student_values


def test_the_table_is_of_quantiles():
    assert (TABLE[0], TABLE[400], TABLE[-1], len(TABLE)) == (-8.0, 0.0, 8.0, 801)
    assert student_values(np.inf) is TABLE
    for degrees in (2.5, 6.0):
        values = student_values(degrees)
        np.testing.assert_allclose(
            special.stdtr(degrees, values[::50]), special.ndtr(TABLE[::50]), rtol=1e-9
        )
        np.testing.assert_array_equal(values, -values[::-1])
        assert values[400] == 0.0
    assert DEGREES[0] == np.inf
    assert list(DEGREES) == sorted(DEGREES, reverse=True)


def test_scores_are_normal_inside_and_straight_beyond():
    e = np.array([-1.3, 0.0, 0.4, 2.0])
    assert from_student(e, np.inf) is e
    np.testing.assert_allclose(
        from_student(e, 4.0), special.ndtri(special.stdtr(4.0, e)), atol=1e-4
    )
    values = student_values(4.0)
    slope = 0.02 / (values[-1] - values[-2])
    far = np.array([values[-1], values[-1] + 3.0, -values[-1] - 3.0])
    np.testing.assert_allclose(
        from_student(far, 4.0), [8.0, 8.0 + 3.0 * slope, -8.0 - 3.0 * slope], rtol=1e-9
    )
