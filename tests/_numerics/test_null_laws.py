"""What chance alone does: the laws of the smallest of many p-values, and of how far a path goes.

- Several checks as one test: the smallest of their p-values, by its own law under the null.
- Tails of how far Brownian motion on [0, 1], its end free, goes: from 0, and from its lowest to its
  highest point.
"""

import numpy as np
from scipy import integrate

from calibrant._numerics.normal_scores import range_tail, reach_tail

# -- brownian -----------------------------------------------------------------------------------
# Tails of Brownian motion, by the other series of each and by the moments that are known.


def test_how_far_it_reaches():
    """1 - (4 / pi) sum (-1)^k / (2k + 1) exp(-(2k + 1)^2 pi^2 / (8 x^2))."""
    k = np.arange(200)
    for x in (0.3, 0.5, 1.0, 2.0, 3.0):
        inside = (
            4
            / np.pi
            * np.sum(
                (-1.0) ** k / (2 * k + 1) * np.exp(-((2 * k + 1) ** 2) * np.pi**2 / (8 * x * x))
            )
        )
        np.testing.assert_allclose(reach_tail(x), 1.0 - inside, atol=1e-12)
    assert (reach_tail(0.1), reach_tail(0.0)) == (1.0, 1.0)
    assert 0.9999 < reach_tail(0.16) <= 1.0


def test_the_range():
    """Its mean is 2 sqrt(2 / pi), its mean square 4 log 2 (Feller)."""
    mean = integrate.quad(range_tail, 0.0, 12.0, limit=200, points=[0.15])[0]
    square = integrate.quad(lambda x: 2 * x * range_tail(x), 0.0, 12.0, limit=200, points=[0.15])[0]
    np.testing.assert_allclose([mean, square], [2 * np.sqrt(2 / np.pi), 4 * np.log(2)], rtol=1e-6)
    assert (range_tail(0.1), range_tail(0.0)) == (1.0, 1.0)
    assert 0.9999 < range_tail(0.2) <= 1.0
