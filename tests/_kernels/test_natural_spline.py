"""The basis of natural splines, against numerical derivatives and integrals."""

from itertools import pairwise

import numpy as np
from scipy import integrate

from calibrant._kernels.splines import cube_weights, curved_basis, penalty_root

KNOTS = np.array([-1.0, 0.0, 0.7, 2.0, 3.5])


def test_it_is_straight_outside_the_knots_and_curved_between():
    root = np.eye(3)
    for x in (-3.0, 5.0):
        second = np.diff(curved_basis(x + np.array([-0.4, 0.0, 0.4]), KNOTS, root), 2, axis=0)
        np.testing.assert_allclose(second, 0.0, atol=1e-9)
    np.testing.assert_array_equal(curved_basis(np.array([-2.0, -1.0]), KNOTS, root), 0.0)
    assert (
        np.abs(np.diff(curved_basis(np.array([1.0, 1.2, 1.4]), KNOTS, root), 2, axis=0)) > 1e-3
    ).all()


def test_the_cubes_above_the_knots_by_hand():
    """Knots 0, 1, 2: ((x)^3 - (x - 2)^3) / 2 - ((x - 1)^3 - (x - 2)^3) of the positive parts."""
    found = curved_basis(np.array([0.5, 1.5, 3.0]), np.array([0.0, 1.0, 2.0]), np.eye(1))[:, 0]
    np.testing.assert_allclose(found, [0.5**3 / 2, 1.5**3 / 2 - 0.5**3, (27 - 1) / 2 - (8 - 1)])


def test_the_sum_of_squares_is_the_roughness():
    root, b = penalty_root(KNOTS), np.array([0.3, -1.2, 0.8])
    step = 1e-3

    def squared(x):
        values = curved_basis(np.array([x - step, x, x + step]), KNOTS, root) @ b
        return (np.diff(values, 2)[0] / step**2) ** 2

    found = sum(integrate.quad(squared, low, high)[0] for low, high in pairwise(KNOTS))
    np.testing.assert_allclose(found, b @ b, rtol=2e-3)


def test_it_is_the_cubes_times_their_weights():
    root, x = penalty_root(KNOTS), np.linspace(-2.0, 4.0, 9)
    cubes = np.maximum(x[:, None] - KNOTS, 0.0) ** 3
    np.testing.assert_allclose(
        curved_basis(x, KNOTS, root), cubes @ cube_weights(KNOTS, root), atol=1e-9
    )
