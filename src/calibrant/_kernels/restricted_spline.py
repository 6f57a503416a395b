"""Logistic regression on a restricted cubic spline of the log-odds of a score: straight beyond the outer knots."""

import numpy as np

from calibrant._kernels.logistic import fit_logistic, logistic_derivatives, sigmoid
from calibrant._kernels.natural_spline import curved_basis
from calibrant._kernels.softmax import log_odds

__all__ = ["fit_restricted_spline", "spline_design", "spline_knots"]

#: Harrell's quantiles of the scores, by the number of knots.
QUANTILES = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}
#: Of fewer rows than this the outer knots are the fifth lowest and the fifth highest.
FEW_ROWS = 100
#: A direction in which the outcomes hold less information than this, in rows of variance 1, is one that separates them.
FLAT = 1e-3
FIRTH_STEPS = 50


def spline_knots(x: np.ndarray, mass: np.ndarray, n_knots: int) -> np.ndarray:
    """Distinct knots on the log-odds of the scores x (m,), ascending with their mass: quantiles linear between rows."""
    odds, n = log_odds(x), mass.sum()
    place = np.array(QUANTILES[n_knots]) * (n - 1.0)
    if 10.0 <= n < FEW_ROWS:
        place[[0, -1]] = 4.0, n - 5.0
    first = np.cumsum(mass) - mass
    runs = np.column_stack([first, np.maximum(first + mass - 1.0, first)]).ravel()
    return np.unique(np.interp(place, runs, np.repeat(odds, 2)))


def spline_design(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """(n, 2 or more) columns of the scores x (n,): 1, the log-odds, and what bends between three knots or more."""
    odds = log_odds(x)
    columns = [np.ones(len(x)), odds]
    if len(knots) > 2:
        columns.extend(curved_basis(odds, knots, np.eye(len(knots) - 2) / (knots[-1] - knots[0]) ** 2).T)
    return np.column_stack(columns)


def fit_restricted_spline(design: np.ndarray, mean: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(coefficients (d,), covariance (d, d)) of greatest likelihood for means (m,) of outcomes, each of ``mass`` rows.

    Where the design separates the outcomes there is none: then a straight line (the first two columns) by Firth's likelihood.
    """
    turn = _uncorrelated(design, mass)
    columns = design @ turn
    theta, _ = fit_logistic(columns, mean, mass, [np.zeros(columns.shape[1])])
    _, _, hessian = logistic_derivatives(theta, columns, mean, mass)
    if np.linalg.eigvalsh(hessian)[0] < FLAT:
        turn = np.pad(_uncorrelated(design[:, :2], mass), ((0, max(design.shape[1] - 2, 0)), (0, 0)))
        columns = design @ turn
        theta = _firth(columns, mean, mass)
    else:
        for _ in range(3):
            # The fit ends once the loss stands still, at half the digits; Newton steps from there give the rest.
            _, gradient, hessian = logistic_derivatives(theta, columns, mean, mass)
            theta = theta - np.linalg.solve(hessian, gradient)
    _, _, hessian = logistic_derivatives(theta, columns, mean, mass)
    return turn @ theta, turn @ np.linalg.solve(hessian, turn.T)


def _uncorrelated(design: np.ndarray, mass: np.ndarray):
    """(d, r) that turns the columns into uncorrelated ones of size 1: as many as the scores tell apart."""
    _, size, turn = np.linalg.svd(design * np.sqrt(mass)[:, None], full_matrices=False)
    held = size > 1e-9 * size[0]
    return turn[held].T * (np.sqrt(mass.sum()) / size[held])


def _firth(columns: np.ndarray, mean: np.ndarray, mass: np.ndarray):
    """Greatest likelihood times the root of the information: every row gets half a hit and half a miss of its leverage, in turns."""
    theta = np.zeros(columns.shape[1])
    for _ in range(FIRTH_STEPS):
        _, _, hessian = logistic_derivatives(theta, columns, mean, mass)
        p = sigmoid(columns @ theta)
        leverage = mass * p * (1.0 - p) * np.einsum("ij,ji->i", columns, np.linalg.solve(hessian, columns.T))
        before, total = theta, mass + leverage
        theta, _ = fit_logistic(columns, (mass * mean + 0.5 * leverage) / total, total, [theta])
        if np.abs(theta - before).max() < 1e-8:
            break
    return theta
