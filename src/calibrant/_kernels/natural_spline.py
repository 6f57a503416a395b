"""Natural cubic splines: a basis of their curved part, with the roughness penalty turned into a plain ridge."""

import numpy as np

from calibrant._kernels.fixed_order import multiply_rows

__all__ = ["cube_weights", "curved_basis", "penalty_root"]


def _tamed(cubes, knots):
    """Combinations of the cubes above each knot that are straight beyond the last, (n, q) -> (n, q - 2)."""
    d = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return d[:, :-1] - d[:, -1:]


def cube_weights(knots, root):
    """(q, q - 2): the basis of :func:`curved_basis` is the cubes above each knot times this."""
    return _tamed(np.eye(len(knots)), knots) @ root


def _second_derivatives(knots):
    """Second derivatives of the functions at the knots, (q, q - 2); between them they are straight lines."""
    return _tamed(6.0 * np.maximum(knots[:, None] - knots, 0.0), knots)


def penalty_root(knots):
    """The matrix R (q - 2, q - 2) for which |b|^2 is the integral of f''(x)^2 of f = curved_basis(x, knots, R) @ b."""
    at, width = _second_derivatives(knots), np.diff(knots)
    left, right = at[:-1], at[1:]
    omega = (left.T * width) @ left + (right.T * width) @ right + 0.5 * ((left.T * width) @ right + (right.T * width) @ left)
    return np.linalg.inv(np.linalg.cholesky(omega / 3.0)).T


def curved_basis(x, knots, root):
    """(n, q - 2) basis whose coefficients' sum of squares is the roughness: cubic between the knots, straight outside.

    With 1 and x it spans all natural splines.
    """
    return multiply_rows(_tamed(np.maximum(x[:, None] - knots, 0.0) ** 3, knots), root)
