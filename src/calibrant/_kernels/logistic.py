"""Binary logistic regression with a handful of coefficients: projected Newton, in blocks of rows."""

import numpy as np

__all__ = ["fit_logistic", "fit_sigmoid", "logistic_derivatives", "sigmoid", "smoothed_targets"]

BLOCK_ROWS = 16_384
MAX_STEPS = 100
#: The largest double below 1: no fitted probability is exactly 0 or 1, so that the log loss of any test set is finite.
BELOW_ONE = 1.0 - 2.0**-53


def sigmoid(z):
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


def fit_logistic(design, target, weight, starts, *, ridge=None, nonnegative=None):
    """Coefficients of least weighted log loss, plus ``0.5 * sum(ridge * coefficients**2)``.

    Parameters
    ----------
    design : (n, d); target : (n,) in [0, 1]; weight : (n,) positive
    starts : list of (d,), of which the best is taken
    ridge : (d,) penalties, optional
    nonnegative : (d,) bool, coefficients that may not fall below 0, optional

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

    begun = [(objective(np.asarray(start, dtype=np.float64)), np.asarray(start, dtype=np.float64)) for start in starts]
    (value, gradient, hessian), theta = min(begun, key=lambda pair: pair[0][0])
    for _ in range(MAX_STEPS):
        free = ~(bounded & (theta <= 0.0) & (gradient > 0.0))
        step = np.zeros_like(theta)
        step[free] = -_solve(hessian[np.ix_(free, free)], gradient[free])
        # Along a face the quadratic model is exact to second order: a small enough decrease ends the search with this step.
        if -gradient @ step <= 1e-13 * (1.0 + abs(value)):
            return _nearer(objective, theta, step, gradient, bounded), "converged"
        found = _line_search(objective, theta, step, value, gradient, bounded)
        if found is None:
            return theta, "stalled"
        theta, (value, gradient, hessian) = found
    return theta, "max steps"


def _nearer(objective, theta, step, gradient, bounded):
    """The end of a last step whose descent is lost in the rounding of the loss, if the gradient there is smaller."""
    end = np.where(bounded, np.maximum(theta + step, 0.0), theta + step)
    moved = ~(bounded & (end <= 0.0))
    return end if np.abs(objective(end)[1][moved]).max(initial=0.0) < np.abs(gradient[moved]).max(initial=0.0) else theta


def fit_sigmoid(columns, target, weight, *, identity, intercept=True):
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
    theta, status = fit_logistic(z, target, weight, starts, nonnegative=np.arange(z.shape[1]) < slopes)
    slope = theta[:slopes] / spread
    return [float(v) for v in slope] + ([float(theta[-1] - slope @ centre)] if intercept else []), status


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
    scale = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    projected = vectors.T @ (gradient / scale)
    flat = values <= 1e-13 * values.max(initial=0.0)
    return vectors @ np.where(flat, 0.0, projected / np.where(flat, 1.0, values)) / scale
