"""Distributions by normal scores (lines between knots, Student's, smooth changes of shape, the mean
length of a vector), and null distributions of what tests look at: the smallest of several p-values,
and the largest distance and the range of a Brownian motion on [0, 1] with a free end.
"""

from functools import cache
from typing import Any

import numpy as np
from scipy import special
from scipy.special import ndtr

from calibrant._numerics.newton import cholesky_solver, minimise

__all__ = [
    "DEGREES",
    "N_FEATURES",
    "TABLE",
    "central",
    "empirical_scores",
    "fit_shape",
    "from_student",
    "interpolate",
    "invert",
    "line_moments",
    "mean_norm",
    "range_tail",
    "reach_tail",
    "shape_values",
    "smallest_p",
    "student_values",
    "tail_slopes",
]


ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


def _density(z: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * z * z) / ROOT_TWO_PI


def central(score: np.ndarray) -> np.ndarray:
    """The level of the central interval that ends at this normal score: 2 Phi(|z|) - 1."""
    return special.erf(np.abs(score) / np.sqrt(2.0))


def line_moments(knots: Any, values: Any, low_slope: Any, high_slope: Any) -> Any:
    """Mean and variance of g(Z), g through (knots, values) (values (..., K)) with the slopes
    given beyond the ends.
    """
    finite = np.concatenate([[-np.inf], knots, [np.inf]])
    slope = np.concatenate(
        [low_slope[..., None], np.diff(values, axis=-1) / np.diff(knots), high_slope[..., None]],
        axis=-1,
    )
    at = np.append(knots[0], knots)
    start = np.concatenate([values[..., :1], values], axis=-1)
    mass = np.diff(special.ndtr(finite))
    # Above the median the upper tail is used, which keeps small masses exact.
    upper = finite[:-1] > 0.0
    mass[upper] = -np.diff(special.ndtr(-finite))[upper]
    density = np.append(np.append(0.0, _density(knots)), 0.0)
    first = density[:-1] - density[1:]
    product = np.append(np.append(0.0, knots * _density(knots)), 0.0)
    second = mass - np.diff(product)
    mean = ((start - slope * at) * mass + slope * first).sum(axis=-1)
    centred = start - slope * at - mean[..., None]
    variance = (
        centred * centred * mass + 2.0 * centred * slope * first + slope * slope * second
    ).sum(axis=-1)
    return mean, np.maximum(variance, 0.0)


def tail_slopes(knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Slopes from the middle knot to the first and to the last: steadier than those between the
    two outermost knots.
    """
    middle = len(knots) // 2
    if len(knots) == 1:
        return np.ones(2)
    low = (values[middle] - values[0]) / (knots[middle] - knots[0]) if middle > 0 else np.nan
    high = (
        (values[-1] - values[middle]) / (knots[-1] - knots[middle])
        if middle < len(knots) - 1
        else low
    )
    return np.array([low, high])


def interpolate(x: Any, knots: Any, values: Any, slopes: Any) -> Any:
    """g(x) for knots (K,) ascending, straight beyond the ends; any shape of x. Also the slope at
    x.
    """
    x = np.asarray(x, dtype=np.float64)
    out = np.interp(x, knots, values)
    low, high = x < knots[0], x > knots[-1]
    out = np.where(
        low,
        values[0] + slopes[0] * (x - knots[0]),
        np.where(high, values[-1] + slopes[1] * (x - knots[-1]), out),
    )
    inner = np.diff(values) / np.diff(knots) if len(knots) > 1 else np.zeros(0)
    slope = np.concatenate([slopes[:1], inner, slopes[1:]])[np.searchsorted(knots, x, side="left")]
    return out, slope


def invert(y: np.ndarray, knots: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The x with g(x) = y, where g increases strictly."""
    return interpolate(y, values, knots, 1.0 / slopes)[0]


def empirical_scores(score: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(knots, values) of g with g(Z) distributed as the scores: distinct scores, at the middle of
    the mass of each.
    """
    values, inverse = np.unique(score, return_inverse=True)
    mass = np.bincount(inverse, weights=weight)
    level = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    return special.ndtri(level), values


#: Degrees of freedom that are compared; infinity is the normal.
DEGREES = (np.inf, 40.0, 20.0, 12.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.5)
#: Normal scores of the table.
TABLE: np.ndarray = np.linspace(-8.0, 8.0, 801)


@cache
def student_values(degrees: float) -> np.ndarray:
    """(801,) quantiles of the Student distribution at the normal scores of the table."""
    if np.isinf(degrees):
        return TABLE
    lower = special.stdtrit(degrees, special.ndtr(TABLE[:400]))
    return np.concatenate([lower, [0.0], -lower[::-1]])


def from_student(e: np.ndarray, degrees: float) -> np.ndarray:
    """Normal scores of e under the Student distribution, straight beyond the table."""
    if np.isinf(degrees):
        return e
    values = student_values(degrees)
    out = np.interp(e, values, TABLE)
    slope = (TABLE[1] - TABLE[0]) / (values[1] - values[0])
    beyond = np.abs(e) > values[-1]
    return np.where(beyond, np.sign(e) * (TABLE[-1] + slope * (np.abs(e) - values[-1])), out)


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
#: Rows are pooled in cells of this width; slopes are kept positive by this many pseudo-rows.
CELL, GUARD, GUARDS = 0.02, np.linspace(-6.0, 6.0, 61), 0.1


@cache
def _root():
    gap = (POINTS[:, None] - POINTS) / LENGTH
    values, vectors = np.linalg.eigh(np.exp(-0.5 * gap * gap))
    return vectors[:, -RANK:] / np.sqrt(values[-RANK:])


def _features(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(features, their slopes), (n, RANK + 2) each."""
    gap = (t[:, None] - POINTS) / LENGTH
    radial = np.exp(-0.5 * gap * gap)
    out, slopes = [radial @ _root()], [(-gap / LENGTH * radial) @ _root()]
    for side in (-1.0, 1.0):
        x = (side * t - BEND) / ROUND
        out.append((side * ROUND * np.logaddexp(0.0, x))[:, None])
        slopes.append(special.expit(x)[:, None])
    return np.hstack(out), np.hstack(slopes)


def shape_values(coefficients: np.ndarray, t: np.ndarray) -> np.ndarray:
    """T at t (n,)."""
    return t + _features(t)[0] @ coefficients


def fit_shape(
    t: np.ndarray, weight: np.ndarray, status: str = "converged"
) -> tuple[np.ndarray, str]:
    """(coefficients, status): the mean over the sizes of the prior, each weighed by its evidence.

    ``status`` is that of the previous step.
    """
    _, cell = np.unique(np.round(t / CELL), return_inverse=True)
    mass = np.bincount(cell, weights=weight)
    t = np.bincount(cell, weights=weight * t) / mass
    features, slopes = _features(t)
    guard = _features(GUARD)[1]
    zero = np.zeros(features.shape[1])
    base = float(mass @ (0.5 * t * t))
    modes, evidence, statuses = [zero], [np.log(NONE) - base], [status]
    start = zero
    for size in SIZES[1:]:
        x, status, value, hessian = _mode(t, mass, features, slopes, guard, size, start)
        start = x
        modes.append(x)
        statuses.append(status)
        logdet = np.linalg.slogdet(hessian * size * size)[1]
        evidence.append(np.log((1.0 - NONE) / (len(SIZES) - 1)) - value - 0.5 * logdet)
    share = np.exp(np.array(evidence) - max(evidence))
    return share @ np.array(modes) / share.sum(), next(
        (s for s in statuses if s != "converged"), "converged"
    )


def _mode(
    t: np.ndarray,
    mass: np.ndarray,
    features: np.ndarray,
    slopes: np.ndarray,
    guard: np.ndarray,
    size: float,
    start: np.ndarray,
) -> tuple[np.ndarray, str, float, np.ndarray]:
    total, prior = mass.sum(), 1.0 / (size * size)

    def parts(c: np.ndarray) -> tuple[Any, ...]:
        u, slope, guard_slope = t + features @ c, 1.0 + slopes @ c, 1.0 + guard @ c
        if slope.min() <= 0.0 or guard_slope.min() <= 0.0:
            return np.inf, np.zeros_like(c), None
        guard_weight = GUARDS / len(GUARD)
        value = (
            mass @ (0.5 * u * u - np.log(slope))
            - guard_weight * np.log(guard_slope).sum()
            + 0.5 * prior * c @ c
        )
        gradient = (
            features.T @ (mass * u)
            - slopes.T @ (mass / slope)
            - guard_weight * guard.T @ (1.0 / guard_slope)
            + prior * c
        )
        hessian = (
            (features.T * mass) @ features
            + (slopes.T * (mass / slope**2)) @ slopes
            + guard_weight * (guard.T / guard_slope**2) @ guard
        )
        hessian.flat[:: len(c) + 1] += prior
        return value, gradient, hessian

    def evaluate(c: np.ndarray) -> tuple[Any, ...]:
        value, gradient, hessian = parts(c)
        return (
            (value, gradient, None)
            if hessian is None
            else (value / total, gradient / total, cholesky_solver(hessian / total))
        )

    c, status, _ = minimise(evaluate, start, tolerance=1e-8)
    value, _, hessian = parts(c)
    return c, status, value, hessian


#: Step and reach of the trapezoid rule in log t: the integrand falls as exp(-|u| / 2) and is
#: analytic in a strip about the axis.
STEP, REACH = 0.25, 44.0
#: Maximal numbers in memory.
BLOCK = 2_000_000


def mean_norm(centre: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""E ||c + diag(sqrt(variance)) Z|| of each row, Z standard normal: (n, d) each -> (n,).

    .. math:: E \sqrt Q = \frac{1}{2 \sqrt \pi} \int_0^\infty (1 - E e^{-tQ}) t^{-3/2} dt, \qquad
        E e^{-tQ} = \prod_k (1 + 2 v_k t)^{-1/2} \exp\left( -\frac{c_k^2 t}{1 + 2 v_k t} \right)
    """
    square = np.square(centre)
    size = (square + variance).sum(axis=1)
    safe = np.where(size > 0.0, size, 1.0)[:, None]
    u = np.arange(-REACH, REACH + 0.5 * STEP, STEP)
    # Beyond the reach the integrand is E Q e^(u/2) on the left and e^(-u/2) on the right, of Q over
    # its mean.
    tails = 2.0 * (np.exp(0.5 * (u[0] - 0.5 * STEP)) + np.exp(-0.5 * (u[-1] + 0.5 * STEP)))
    out = np.empty(len(centre))
    rows = max(1, BLOCK // (u.size * centre.shape[1]))
    for start in range(0, len(out), rows):
        part = slice(start, start + rows)
        total = _trapezoid(square[part] / safe[part], variance[part] / safe[part], u)
        out[part] = (total + tails) / (2.0 * np.sqrt(np.pi))
    return out * np.sqrt(size)


def _trapezoid(square: np.ndarray, variance: np.ndarray, u: np.ndarray) -> np.ndarray:
    t = np.exp(u)
    spread = variance[..., None] * t
    log_laplace = -(
        0.5 * np.log1p(2.0 * spread) + square[..., None] * t / (1.0 + 2.0 * spread)
    ).sum(axis=1)
    return STEP * (-np.expm1(log_laplace) @ np.exp(-0.5 * u))


# -- Null distributions ----------------------------------------------------------------------------

#: Decimals of checks, in units of the largest, that are free of rounding.
DECIMALS = 9


def smallest_p(observed: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
    r"""The p-value of each check and of all as one test, from draws of the checks under the null.

    .. math:: p_c = \frac{\#\{b : T_{bc} \ge T_{0c}\}}{B + 1}, \qquad
              p = \frac{\#\{b : \min_c p_{bc} \le \min_c p_{0c}\}}{B + 1}

    over the B draws and what was observed, b = 0, so that p is exact wherever the draws are.

    Parameters
    ----------
    observed : (c,) the checks, larger with more evidence against the null
    drawn : (B, c) the same for draws under the null

    Examples
    --------
    >>> drawn = np.random.default_rng(0).normal(size=(999, 2))
    >>> each, together = smallest_p(np.array([3.0, 0.0]), drawn)
    >>> each.round(3).tolist(), round(together, 3)
    ([0.001, 0.482], 0.002)
    """
    every = np.vstack([observed, drawn])
    size = np.abs(np.where(np.isfinite(every), every, 0.0)).max(axis=0)
    # Rounded, because sums that are equal but for their order must count as equal.
    every = np.round(every / np.where(size > 0.0, size, 1.0), DECIMALS)
    less = np.column_stack([np.searchsorted(np.sort(column), column) for column in every.T])
    p_values = 1.0 - less / len(every)
    smallest = p_values.min(axis=1)
    return p_values[0], float((smallest <= smallest[0]).mean())


#: Below this both tails are 1 in float64, and the series would need more terms.
SMALL = 0.15


def reach_tail(x: float) -> float:
    """P(sup |B| > x) = 4 sum_k (-1)^k Phi(-(2k + 1) x), k = 0, 1, ..."""
    k = np.arange(200)
    return (
        1.0
        if x < SMALL
        else float(min(4.0 * np.sum((-1.0) ** k * ndtr(-(2.0 * k + 1.0) * x)), 1.0))
    )


def range_tail(x: float) -> float:
    """P(sup B - inf B > x) = 8 sum_k (-1)^(k + 1) k Phi(-k x), k = 1, 2, ... (Feller 1951)."""
    k = np.arange(1, 401)
    return 1.0 if x < SMALL else float(min(8.0 * np.sum(-((-1.0) ** k) * k * ndtr(-k * x)), 1.0))
