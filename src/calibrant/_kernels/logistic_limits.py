"""Limits of one coefficient of a logistic recalibration, of higher order: by the modified likelihood root.

The log-odds of the outcome are linear in the coefficients, so that the distribution of a coefficient's sufficient statistic given those of
the others is known to third order from the likelihood alone: its quantile is r + log(u / r) / r, r the signed root of the likelihood ratio
and u Wald's statistic on the canonical scale. Few events, or scores that are sure of nearly all rows, leave Wald's own interval far off;
with very many of either outcome it is the same, and is taken.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import brentq

from calibrant._kernels.intervals import FEW, normal_interval, normal_quantile
from calibrant._kernels.logistic import sigmoid

__all__ = ["plenty", "profile_limits", "separated_limits", "shift_limits"]

#: Steps of the one-dimensional Newton iteration, and how far beyond the estimate a limit is sought, in standard errors.
STEPS, FARTHEST = 100, 2.0**40
#: The nearest that one may be, in the same.
NEAREST = 0.05
#: From so many rows of the rarer outcome on the normal distribution serves.
MANY = 1000.0


def shift_limits(odds: np.ndarray, hit: np.ndarray, weight: np.ndarray, value: float, variance: float, level: float) -> tuple[float, float]:
    """(low, high) of the shift of the log-odds of which ``value`` is the estimate and ``variance`` its sandwich variance.

    The sum of the hits is sufficient and a whole number. Where the odds leave fewer than ten rows' worth of doubt its tail takes in the
    number seen, as Clopper and Pearson's interval of a rate does; else half of it.
    """
    if plenty(hit, weight):
        return normal_interval(value, variance, level)
    best, p = _log_likelihood(odds + value, hit, weight), sigmoid(odds + value)
    information = float(weight @ (p * (1.0 - p)))
    few = information < FEW

    def roots(shift: float) -> tuple[float, float]:
        r = np.sqrt(max(2.0 * (best - _log_likelihood(odds + shift, hit, weight)), 1e-12))
        t = abs(shift - value)
        return r, (-np.expm1(-t) if few else 2.0 * np.sinh(min(0.5 * t, 300.0))) * np.sqrt(information)

    dispersion = variance * information
    return _ends(roots, value, 1.0 / np.sqrt(information), max(dispersion, 1.0) if few else dispersion, level)


def profile_limits(
    design: np.ndarray, hit: np.ndarray, weight: np.ndarray, theta: np.ndarray, covariance: np.ndarray, place: int, level: float
) -> tuple[float, float]:
    """(low, high) of coefficient ``place`` of two, ``theta`` the estimates on ``design`` (n, 2), ``covariance`` their sandwich variance."""
    if plenty(hit, weight):
        return normal_interval(float(theta[place]), covariance[place, place], level)
    own, other = design[:, place], design[:, 1 - place]
    best = _log_likelihood(design @ theta, hit, weight)
    p = sigmoid(design @ theta)
    information = (design * (weight * p * (1.0 - p))[:, None]).T @ design
    whole = np.linalg.det(information)
    spread = information[1 - place, 1 - place] / whole
    # How the other coefficient follows, to first order.
    start, slope = float(theta[1 - place]), information[0, 1] / information[1 - place, 1 - place]

    def roots(value: float) -> tuple[float, float]:
        rest, curvature = _restricted(own * value, other, hit, weight, start - (value - theta[place]) * slope)
        r = np.sqrt(max(2.0 * (best - _log_likelihood(own * value + other * rest, hit, weight)), 1e-12))
        return r, abs(value - theta[place]) * np.sqrt(whole / max(curvature, 1e-300))

    return _ends(roots, float(theta[place]), np.sqrt(spread), max(covariance[place, place] / spread, 1.0), level)


def separated_limits(odds: np.ndarray, hit: np.ndarray, weight: np.ndarray, level: float) -> tuple[float, float]:
    """(low, high) of a slope whose likelihood has no maximum, as every hit has odds of at least, or at most, those of every miss.

    One end is infinite; at the other the root of the likelihood ratio to its supremum is the normal quantile. (nan, nan) where the
    outcomes or the odds are all alike.
    """
    ones, z = np.ones(len(odds)), normal_quantile(level)
    if not (0.0 < weight @ hit < weight.sum() and np.ptp(odds) > 0.0):
        return float("nan"), float("nan")
    happened, not_ = odds[hit > 0.5], odds[hit <= 0.5]
    side = 1.0 if happened.min() >= not_.max() else -1.0

    def best(slope: float) -> float:
        rest, _ = _restricted(side * slope * odds, ones, hit, weight, -side * slope * float(odds.mean()))
        return _log_likelihood(side * slope * odds + rest, hit, weight)

    far, unit = 1.0, 1.0 / float(odds.std())
    while best(2.0 * far * unit) - best(far * unit) > 1e-9 and far < FARTHEST:
        far *= 2.0
    top = best(2.0 * far * unit)

    def within(slope: float) -> float:
        return np.sqrt(max(2.0 * (top - best(slope)), 0.0)) - z

    low = unit
    while within(-low) < 0.0 and low < FARTHEST * unit:
        low *= 2.0
    end = float(brentq(within, -low, 2.0 * far * unit))
    return (end, float("inf")) if side > 0.0 else (float("-inf"), -end)


def plenty(hit: np.ndarray, weight: np.ndarray) -> bool:
    """Whether there are so many rows of either outcome that the normal distribution serves."""
    return min(float(weight @ hit), float(weight @ (1.0 - hit))) >= MANY


def _ends(
    roots: Callable[[float], tuple[float, float]], value: float, unit: float, dispersion: float, level: float
) -> tuple[float, float]:  # fmt: skip
    """Where the root is the normal quantile on either side; the distances are stretched to the variance that the rows show."""
    z, ends = normal_quantile(level), []
    for side in (-1.0, 1.0):
        within = partial(_excess, roots, value, side, z, _modified)
        if within(NEAREST * unit) >= 0.0:
            # So skewed that the correction, of third order, is worth more than the root: the root alone.
            within = partial(_excess, roots, value, side, z, _plain)
        far = unit
        while far < FARTHEST * unit and within(far) < 0.0:
            far *= 2.0
        found = brentq(within, NEAREST * unit, far, xtol=1e-9 * unit) if within(far) >= 0.0 else np.inf
        ends.append(value + side * found * np.sqrt(dispersion))
    return float(ends[0]), float(ends[1])


def _excess(
    roots: Callable[[float], tuple[float, float]], value: float, side: float, z: float, of_roots: Callable[[float, float], float],
    away: float,
) -> float:  # fmt: skip
    return of_roots(*roots(value + side * away)) - z


def _modified(r: float, u: float) -> float:
    return r + np.log(max(u, 1e-300) / r) / r


def _plain(r: float, u: float) -> float:
    return r


def _log_likelihood(z: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
    return float(weight @ (hit * z - np.logaddexp(0.0, z)))


def _restricted(offset: np.ndarray, column: np.ndarray, hit: np.ndarray, weight: np.ndarray, start: float) -> tuple[float, float]:
    """(coefficient of the column beside the offset, curvature of the likelihood there): Newton's steps, halved inside a bracket."""
    low, high, at = -np.inf, np.inf, start
    for _ in range(STEPS):
        p = sigmoid(offset + at * column)
        gradient, curvature = float((weight * (hit - p)) @ column), float((weight * p * (1.0 - p)) @ (column * column))
        low, high = (at, high) if gradient > 0.0 else (low, at)
        step = gradient / curvature if curvature > 0.0 else np.copysign(1.0 + abs(at), gradient)
        to = at + float(np.clip(step, -5.0 - abs(at), 5.0 + abs(at)))
        if abs(to - at) <= 1e-9 * (1.0 + abs(at)):
            return to, curvature
        # An end of the bracket has been looked at: from it the next step could lead back here, and so on.
        if not low < to < high:
            to = 0.5 * (low + high)
        at = to
    return at, curvature
