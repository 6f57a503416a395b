"""Newton's method behind the scalings."""

import numpy as np

from calibrant.core.solving import solve


def test_solve_minimises():
    x, status, _ = solve(lambda v: (float(v @ v), 2 * v, lambda r, relative: r / 2), np.ones(2))
    assert status == "converged"
    np.testing.assert_allclose(x, 0.0, atol=1e-12)
