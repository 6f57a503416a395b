"""A smooth increasing change of normal scores, u = T(t) = t + sum_j c_j b_j(t), fitted by the log loss with a prior around u = t.

The loss of a row, T(t)^2 / 2 - log T'(t), is convex in c, and so is the problem with the normal prior; Newton's method ends in a few steps.
The features are those of a Gaussian process and, for each tail, a bend: the slopes far out may differ. The size of the prior is
averaged over by its evidence (Laplace's), no change at all among the sizes.
"""

from functools import cache

import numpy as np
from scipy import special

from calibrant._kernels.newton import cholesky_solver, minimise

__all__ = ["N_FEATURES", "fit_shape", "shape_values"]

POINTS: np.ndarray = np.linspace(-3.0, 3.0, 13)
LENGTH = 1.2
#: Eigenvectors of the process that are kept.
RANK = 7
#: Those and the two bends.
N_FEATURES = RANK + 2
#: Where the tails begin to bend, and over what distance.
BEND, ROUND = 1.0, 0.5
SIZES = (0.0, 0.05, 0.15, 0.4, 1.0)
NONE = 0.5
#: Rows are pooled in cells of this width; slopes are kept positive here as well, by so many rows in all.
CELL, GUARD, GUARDS = 0.02, np.linspace(-6.0, 6.0, 61), 0.1


@cache
def _root():
    gap = (POINTS[:, None] - POINTS) / LENGTH
    values, vectors = np.linalg.eigh(np.exp(-0.5 * gap * gap))
    return vectors[:, -RANK:] / np.sqrt(values[-RANK:])


def _features(t):
    """(features, their slopes), (n, RANK + 2) each."""
    gap = (t[:, None] - POINTS) / LENGTH
    radial = np.exp(-0.5 * gap * gap)
    out, slopes = [radial @ _root()], [(-gap / LENGTH * radial) @ _root()]
    for side in (-1.0, 1.0):
        x = (side * t - BEND) / ROUND
        out.append((side * ROUND * np.logaddexp(0.0, x))[:, None])
        slopes.append(special.expit(x)[:, None])
    return np.hstack(out), np.hstack(slopes)


def shape_values(coefficients, t):
    """T at t (n,)."""
    return t + _features(t)[0] @ coefficients


def fit_shape(t, weight, status="converged"):
    """(coefficients, status): the mean over the sizes of the prior, each weighed by its evidence.

    ``status`` is that of what came before.
    """
    _, cell = np.unique(np.round(t / CELL), return_inverse=True)
    mass = np.bincount(cell, weights=weight)
    t = np.bincount(cell, weights=weight * t) / mass
    features, slopes = _features(t)
    guard = _features(GUARD)[1]
    zero = np.zeros(features.shape[1])
    base = float(mass @ (0.5 * t * t))
    found, evidence, statuses = [zero], [np.log(NONE) - base], [status]
    start = zero
    for size in SIZES[1:]:
        x, status, value, hessian = _mode(t, mass, features, slopes, guard, size, start)
        start = x
        found.append(x)
        statuses.append(status)
        logdet = np.linalg.slogdet(hessian * size * size)[1]
        evidence.append(np.log((1.0 - NONE) / (len(SIZES) - 1)) - value - 0.5 * logdet)
    share = np.exp(np.array(evidence) - max(evidence))
    return share @ np.array(found) / share.sum(), next((s for s in statuses if s != "converged"), "converged")


def _mode(t, mass, features, slopes, guard, size, start):
    total, prior = mass.sum(), 1.0 / (size * size)

    def parts(c):
        u, slope, kept = t + features @ c, 1.0 + slopes @ c, 1.0 + guard @ c
        if slope.min() <= 0.0 or kept.min() <= 0.0:
            return np.inf, np.zeros_like(c), None
        held = GUARDS / len(GUARD)
        value = mass @ (0.5 * u * u - np.log(slope)) - held * np.log(kept).sum() + 0.5 * prior * c @ c
        gradient = features.T @ (mass * u) - slopes.T @ (mass / slope) - held * guard.T @ (1.0 / kept) + prior * c
        hessian = (features.T * mass) @ features + (slopes.T * (mass / slope**2)) @ slopes + held * (guard.T / kept**2) @ guard
        hessian.flat[:: len(c) + 1] += prior
        return value, gradient, hessian

    def evaluate(c):
        value, gradient, hessian = parts(c)
        return (value, gradient, None) if hessian is None else (value / total, gradient / total, cholesky_solver(hessian / total))

    c, status, _ = minimise(evaluate, start, tolerance=1e-8)
    value, _, hessian = parts(c)
    return c, status, value, hessian
