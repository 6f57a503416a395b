"""Binary logistic regression with a handful of coefficients: projected Newton, in blocks of rows."""

from typing import Any

import numpy as np

from calibrant._kernels.projected_newton import projected_newton

__all__ = ["fit_logistic", "fit_sigmoid", "logistic_derivatives", "sigmoid", "smoothed_targets"]

BLOCK_ROWS = 16_384
#: The largest double below 1: no fitted probability is exactly 0 or 1, so that the log loss of any test set is finite.
BELOW_ONE = 1.0 - 2.0**-53


def sigmoid(z: Any) -> np.ndarray:
    """1 / (1 + exp(-z)) for any finite z, strictly inside (0, 1)."""
    e = np.exp(-np.abs(z))
    return np.clip(np.where(z >= 0.0, 1.0, e) / (1.0 + e), np.finfo(np.float64).tiny, BELOW_ONE)


def smoothed_targets(correct, weight):
    """Platt's targets: (N1 + 1) / (N1 + 2) for the right rows and 1 / (N0 + 2) for the wrong ones, N their total weights."""
    right = float(weight @ correct)
    wrong = float(weight.sum()) - right
    return np.where(correct > 0.0, (right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0))


def logistic_derivatives(coefficients, design, target, weight):
    """(loss, gradient (d,), Hessian (d, d)) of sum w [log(1 + exp(z)) - target z], z = design @ coefficients."""
    d = design.shape[1]
    loss, gradient, hessian = 0.0, np.zeros(d), np.zeros((d, d))
    for start in range(0, len(design), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        x, t, w = design[rows], target[rows], weight[rows]
        z = x @ coefficients
        e = np.exp(-np.abs(z))
        p = np.where(z >= 0.0, 1.0, e) / (1.0 + e)
        loss += w @ (np.maximum(z, 0.0) + np.log1p(e) - t * z)
        gradient += (w * (p - t)) @ x
        hessian += (x * (w * e / (1.0 + e) ** 2)[:, None]).T @ x
    return float(loss), gradient, hessian


def fit_logistic(design, target, weight, starts, *, ridge=None, nonnegative=None, loose=False):
    """Coefficients of least weighted log loss, plus ``0.5 * sum(ridge * coefficients**2)``.

    Parameters
    ----------
    design : (n, d); target : (n,) in [0, 1]; weight : (n,) positive
    starts : list of (d,), of which the best is taken
    ridge : (d,) penalties, optional
    nonnegative : (d,) bool, coefficients that may not fall below 0, optional
    loose : bool, to the accuracy of a fit near another, which the start comes from

    Returns
    -------
    coefficients (d,), status ("converged", "max steps" or "stalled"). Directions in which the loss is flat keep their start.
    """
    d = design.shape[1]
    ridge = np.zeros(d) if ridge is None else ridge
    bounded = np.zeros(d, dtype=bool) if nonnegative is None else nonnegative
    total = weight.sum()

    def objective(theta):
        loss, gradient, hessian = logistic_derivatives(theta, design, target, weight)
        return (loss + 0.5 * ridge @ theta**2) / total, (gradient + ridge * theta) / total, (hessian + np.diag(ridge)) / total

    return projected_newton(objective, starts, bounded, loose=loose)


def fit_sigmoid(columns, target, weight, *, identity, intercept=True, memory=None):
    """Slopes (all non-negative) of the columns (n, d) and then the intercept, fitted in standard units.

    ``identity`` holds the slopes that leave a calibrated score alone: a start, and the answer for a column without spread.
    Returns (list of floats, status).
    """
    total, slopes = weight.sum(), columns.shape[1]
    identity = np.asarray(identity)
    centre = weight @ columns / total if intercept else np.zeros(slopes)
    z = columns - centre
    spread = np.sqrt(weight @ z**2 / total)
    # A spread that is only rounding error carries no slope.
    flat = spread <= 1e-12 * np.abs(columns).max(axis=0)
    spread = np.where(flat, 1.0, spread)
    z = np.where(flat, 0.0, z / spread)
    base = float(weight @ target / total)
    level = np.log(base) - np.log1p(-base) if 0.0 < base < 1.0 else 0.0
    starts = [identity * spread, np.where(flat, identity, 0.0)]
    if intercept:
        starts = [np.append(starts[0], identity @ centre), np.append(starts[1], level)]
        z = np.column_stack([z, np.ones(len(z))])
    near = memory is not None and "end" in memory and not flat.any()
    if near:
        slope = memory["end"][:slopes]
        starts = [np.append(slope * spread, [memory["end"][-1] + slope @ centre] if intercept else [])]
    theta, status = fit_logistic(z, target, weight, starts, nonnegative=np.arange(z.shape[1]) < slopes, loose=near)
    slope = theta[:slopes] / spread
    if memory is not None and not near:
        memory["end"] = np.append(slope, theta[-1] - slope @ centre)
    return [float(v) for v in slope] + ([float(theta[-1] - slope @ centre)] if intercept else []), status
