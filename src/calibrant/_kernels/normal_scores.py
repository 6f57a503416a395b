"""Distributions as increasing piecewise-linear functions of a standard normal: y = g(z), z = Phi^-1(F(y)).

Straight lines on this scale are normal distributions, so the tails beyond the outer knots are normal ones, a normal forecast is kept
exactly, and mean and variance are sums of closed integrals.
"""

import numpy as np
from scipy import special

__all__ = ["central", "empirical_scores", "interpolate", "invert", "line_moments", "tail_slopes"]

ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


def _density(z):
    return np.exp(-0.5 * z * z) / ROOT_TWO_PI


def central(score: np.ndarray) -> np.ndarray:
    """The level of the central interval that just holds what has this normal score: 2 Phi(|z|) - 1."""
    return special.erf(np.abs(score) / np.sqrt(2.0))


def line_moments(knots, values, low_slope, high_slope):
    """Mean and variance of g(Z), g through (knots, values) (values (..., K)) with the slopes given beyond the ends."""
    finite = np.concatenate([[-np.inf], knots, [np.inf]])
    slope = np.concatenate([low_slope[..., None], np.diff(values, axis=-1) / np.diff(knots), high_slope[..., None]], axis=-1)
    at = np.append(knots[0], knots)
    start = np.concatenate([values[..., :1], values], axis=-1)
    mass = np.diff(special.ndtr(finite))
    # Beyond the middle the upper tail is subtracted instead, which keeps its small masses exact.
    upper = finite[:-1] > 0.0
    mass[upper] = -np.diff(special.ndtr(-finite))[upper]
    density = np.append(np.append(0.0, _density(knots)), 0.0)
    first = density[:-1] - density[1:]
    product = np.append(np.append(0.0, knots * _density(knots)), 0.0)
    second = mass - np.diff(product)
    mean = ((start - slope * at) * mass + slope * first).sum(axis=-1)
    centred = start - slope * at - mean[..., None]
    variance = (centred * centred * mass + 2.0 * centred * slope * first + slope * slope * second).sum(axis=-1)
    return mean, np.maximum(variance, 0.0)


def tail_slopes(knots, values):
    """Slopes from the middle knot to the first and to the last: steadier than those between the two outermost knots."""
    middle = len(knots) // 2
    if len(knots) == 1:
        return np.ones(2)
    low = (values[middle] - values[0]) / (knots[middle] - knots[0]) if middle > 0 else np.nan
    high = (values[-1] - values[middle]) / (knots[-1] - knots[middle]) if middle < len(knots) - 1 else low
    return np.array([low, high])


def interpolate(x, knots, values, slopes):
    """g(x) for knots (K,) ascending, straight beyond the ends; any shape of x. Also the slope at x."""
    x = np.asarray(x, dtype=np.float64)
    out = np.interp(x, knots, values)
    low, high = x < knots[0], x > knots[-1]
    out = np.where(low, values[0] + slopes[0] * (x - knots[0]), np.where(high, values[-1] + slopes[1] * (x - knots[-1]), out))
    inner = np.diff(values) / np.diff(knots) if len(knots) > 1 else np.zeros(0)
    slope = np.concatenate([slopes[:1], inner, slopes[1:]])[np.searchsorted(knots, x, side="left")]
    return out, slope


def invert(y, knots, values, slopes):
    """The x with g(x) = y, where g increases strictly."""
    return interpolate(y, values, knots, 1.0 / slopes)[0]


def empirical_scores(score, weight):
    """(knots, values) of g with g(Z) distributed as the scores: distinct scores, at the middle of the mass each of them holds."""
    values, inverse = np.unique(score, return_inverse=True)
    mass = np.bincount(inverse, weights=weight)
    level = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    return special.ndtri(level), values
