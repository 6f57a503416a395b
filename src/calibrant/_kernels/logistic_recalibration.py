"""Logistic regression of the outcome on the log-odds of the score, with variances that hold when it is not the truth."""

import numpy as np
from scipy.optimize import brentq

from calibrant._kernels.logistic import fit_logistic, sigmoid
from calibrant._kernels.softmax import log_odds

__all__ = ["intercept_at_unit_slope", "slope_and_intercept"]

#: A likelihood of less curvature than this for each row of the rarer outcome has no maximum that rounding leaves in place.
FLAT = 1e-6


def slope_and_intercept(score, hit, weight):
    """((slope, intercept), their (2, 2) covariance), or None where no finite maximum of the likelihood exists."""
    odds = log_odds(score)
    right, wrong = odds[hit > 0.0], odds[hit < 1.0]
    if not (len(right) and len(wrong)) or max(right.min(), wrong.min()) >= min(right.max(), wrong.max()):
        return None
    centre, n = weight @ odds / weight.sum(), weight.sum()
    spread = np.sqrt(weight @ (odds - centre) ** 2 / n)
    design = np.column_stack([(odds - centre) / spread, np.ones(len(odds))])
    theta, status = fit_logistic(design, hit, weight, [np.zeros(2)])
    if status == "max steps":
        return None
    for _ in range(3):
        # The fit ends once the loss stands still, at half the digits; plain Newton steps from there give the rest.
        p = sigmoid(design @ theta)
        theta = theta + np.linalg.solve((design * (weight * p * (1.0 - p))[:, None]).T @ design, design.T @ (weight * (hit - p)))
    p = sigmoid(design @ theta)
    bread = np.linalg.inv((design * (weight * p * (1.0 - p))[:, None]).T @ design)
    meat = (design * (weight * (hit - p) ** 2)[:, None]).T @ design
    back = np.array([[1.0 / spread, 0.0], [-centre / spread, 1.0]])
    return back @ theta, back @ bread @ meat @ bread @ back.T * n / max(n - 1.0, 1.0)


def intercept_at_unit_slope(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> tuple[float, float] | None:
    """(intercept, variance) of the logistic fit whose slope is held at 1, or None where the likelihood has no one maximum.

    That is where all outcomes are alike, and where every score is as good as 0 or 1, so that a shift changes no probability.
    """
    odds = log_odds(score)
    hits, n = weight @ hit, weight.sum()
    if not 0.0 < hits < n:
        return None
    value = brentq(lambda a: weight @ sigmoid(odds + a) - hits, -100.0, 100.0, xtol=1e-13)
    p = sigmoid(odds + value)
    # As a rule p (1 - p) adds up to about as much as the rarer outcome.
    if weight @ (p * (1.0 - p)) <= FLAT * min(hits, n - hits):
        return None
    return value, weight @ (hit - p) ** 2 / (weight @ (p * (1.0 - p))) ** 2 * n / max(n - 1.0, 1.0)
