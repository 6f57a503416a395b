"""Estimates of one quantity pooled: over sites that differ (random effects), and over imputations of one data set (Rubin)."""

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar

__all__ = ["between_variance", "pooled_mean", "rubin"]

#: Points at which the restricted likelihood is looked at before its highest one is refined.
GRID = 200


def between_variance(estimate: np.ndarray, variance: np.ndarray, method: str) -> float:
    """The variance between sites: of greatest restricted likelihood ("reml"), or at which Q is its mean ("paule-mandel")."""
    # Neither can be far above the variance of the estimates, since each leaves them a variance of about their own.
    most = 2.0 * float(np.var(estimate, ddof=1)) + 1e-12
    if method == "paule-mandel":
        if _surplus(0.0, estimate, variance) <= 0.0:
            return 0.0
        while _surplus(most, estimate, variance) > 0.0:
            most *= 2.0
        return float(brentq(_surplus, 0.0, most, args=(estimate, variance), xtol=1e-14))
    grid = np.concatenate([[0.0], most * np.linspace(0.02, 2.0, GRID) ** 2])
    best = int(np.argmin([_restricted(t, estimate, variance) for t in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, GRID)]
    found = minimize_scalar(_restricted, args=(estimate, variance), bounds=(low, high), method="bounded", options={"xatol": 1e-10 * most})
    return 0.0 if _restricted(0.0, estimate, variance) <= found.fun else float(found.x)


def pooled_mean(estimate: np.ndarray, variance: np.ndarray, between: float) -> tuple[float, float]:
    """(mean over sites, its variance by Hartung and Knapp, to be used with Student's t of one degree less than there are sites)."""
    weight = 1.0 / (variance + between)
    mean = float(weight @ estimate / weight.sum())
    return mean, float(weight @ (estimate - mean) ** 2 / ((len(estimate) - 1) * weight.sum()))


def rubin(estimate: np.ndarray, variance: np.ndarray, complete_freedom: float) -> tuple[float, float, float, float]:
    """(mean over m imputations, its variance, degrees of freedom of Barnard and Rubin, share of the variance from what is missing)."""
    m = len(estimate)
    within, between = float(variance.mean()), float(np.var(estimate, ddof=1)) * (1.0 + 1.0 / m)
    total = within + between
    share = between / total if total > 0.0 else 0.0
    observed = (
        (complete_freedom + 1.0) / (complete_freedom + 3.0) * complete_freedom * (1.0 - share)
        if math.isfinite(complete_freedom)
        else math.inf
    )
    old = (m - 1.0) / share**2 if share > 0.0 else math.inf
    freedom = 1.0 / (1.0 / old + 1.0 / observed) if observed > 0.0 and min(old, observed) < math.inf else min(old, observed)
    return float(estimate.mean()), total, freedom, share


def _surplus(between: float, estimate: np.ndarray, variance: np.ndarray) -> float:
    weight = 1.0 / (variance + between)
    mean = weight @ estimate / weight.sum()
    return float(weight @ (estimate - mean) ** 2) - (len(estimate) - 1)


def _restricted(between: float, estimate: np.ndarray, variance: np.ndarray) -> float:
    """Minus twice the restricted log-likelihood."""
    weight = 1.0 / (variance + between)
    mean = weight @ estimate / weight.sum()
    return float(-np.log(weight).sum() + np.log(weight.sum()) + weight @ (estimate - mean) ** 2)
