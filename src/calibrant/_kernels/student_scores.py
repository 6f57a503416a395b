"""Student distributions on the scale of normal scores, by a table: straight lines between 801 points, and beyond them."""

from functools import cache

import numpy as np
from scipy import special

__all__ = ["DEGREES", "TABLE", "from_student", "student_values"]

#: Degrees of freedom that are compared; infinity is the normal.
DEGREES = (np.inf, 40.0, 20.0, 12.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.5)
#: Normal scores of the table.
TABLE: np.ndarray = np.linspace(-8.0, 8.0, 801)


@cache
def student_values(degrees):
    """(801,) quantiles of the Student distribution at the normal scores of the table."""
    if np.isinf(degrees):
        return TABLE
    lower = special.stdtrit(degrees, special.ndtr(TABLE[:400]))
    return np.concatenate([lower, [0.0], -lower[::-1]])


def from_student(e, degrees):
    """Normal scores of e under the Student distribution, straight beyond the table."""
    if np.isinf(degrees):
        return e
    values = student_values(degrees)
    out = np.interp(e, values, TABLE)
    slope = (TABLE[1] - TABLE[0]) / (values[1] - values[0])
    beyond = np.abs(e) > values[-1]
    return np.where(beyond, np.sign(e) * (TABLE[-1] + slope * (np.abs(e) - values[-1])), out)
