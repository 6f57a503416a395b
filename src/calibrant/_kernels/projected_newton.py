"""Newton's method for a convex function of a handful of unknowns, some of which may not fall below 0."""

import numpy as np
from scipy.linalg.lapack import dposv

__all__ = ["projected_newton"]

MAX_STEPS = 100
#: Descent left, relative to the value, at which the last step is made; the second for a fit that begins near its end.
LEFT, LEFT_NEAR = 1e-13, 1e-8
#: Pivots of a scaled Hessian's root, at least: its condition number is then below 1e10 or so.
CLEAR_PIVOT = 1e-4


def projected_newton(objective, starts, bounded, *, loose=False):
    """(x, status) of least ``objective(x) -> (value, gradient, hessian)``; status "converged", "max steps" or "stalled".

    ``starts`` is a list, of which the best is taken; ``bounded`` (d,) bool. Directions in which the function is flat keep their start.
    A ``loose`` search begins near its end and makes the last step unseen: a Newton step from 1e-8 above the least leaves next to nothing.
    """
    begun = [(objective(np.asarray(start, dtype=np.float64)), np.asarray(start, dtype=np.float64)) for start in starts]
    (value, gradient, hessian), theta = min(begun, key=lambda pair: pair[0][0])
    for _ in range(MAX_STEPS):
        held = bounded & (theta <= 0.0) & (gradient > 0.0)
        if held.any():
            step = np.zeros_like(theta)
            step[~held] = -_solve(hessian[np.ix_(~held, ~held)], gradient[~held])
        else:
            step = -_solve(hessian, gradient)
        # Along a face the quadratic model is exact to second order: a small enough decrease ends the search with this step.
        if -gradient @ step <= (LEFT_NEAR if loose else LEFT) * (1.0 + abs(value)):
            end = np.where(bounded, np.maximum(theta + step, 0.0), theta + step)
            return (end if loose else _nearer(objective, theta, end, gradient, bounded)), "converged"
        found = _line_search(objective, theta, step, value, gradient, bounded)
        if found is None:
            return theta, "stalled"
        theta, (value, gradient, hessian) = found
    return theta, "max steps"


def _nearer(objective, theta, end, gradient, bounded):
    """The end of a last step whose descent is lost in the rounding of the loss, if the gradient there is smaller."""
    moved = ~(bounded & (end <= 0.0))
    return end if np.abs(objective(end)[1][moved]).max(initial=0.0) < np.abs(gradient[moved]).max(initial=0.0) else theta


def _line_search(objective, theta, step, value, gradient, bounded):
    """The first of step, step / 2, ... whose projection lowers the objective enough, with the objective there; None when none does."""
    size = 1.0
    for _ in range(60):
        trial = theta + size * step
        trial = np.where(bounded, np.maximum(trial, 0.0), trial)
        result = objective(trial)
        if result[0] <= value + 1e-4 * gradient @ (trial - theta):
            return trial, result
        size *= 0.5
    return None


def _solve(hessian, gradient):
    """Least-norm solution of the scaled system; a direction of no curvature gets no step."""
    if not len(gradient):
        return gradient
    scale = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    scale[scale == 0.0] = 1.0
    scaled = hessian / (scale[:, None] * scale)
    # A factor whose pivots are well above rounding shows that no direction is flat, at a fraction of the cost of the eigenvalues.
    factor, solution, failed = dposv(scaled, gradient / scale)
    if not failed and factor.diagonal().min() > CLEAR_PIVOT:
        return solution / scale
    values, vectors = np.linalg.eigh(scaled)
    projected = vectors.T @ (gradient / scale)
    flat = values <= 1e-13 * values.max(initial=0.0)
    return vectors @ np.where(flat, 0.0, projected / np.where(flat, 1.0, values)) / scale
