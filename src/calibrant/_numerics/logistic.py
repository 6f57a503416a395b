"""Softmax, log-odds and their logarithms, also of probabilities that may hold exact zeros, and the
logistic regression of one outcome on a handful of columns, with the limits of its coefficients.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy

from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.intervals import FEW, normal_interval, normal_quantile
from calibrant._numerics.newton import projected_newton
from calibrant._numerics.threads import map_blocks, row_blocks

__all__ = [
    "both_occur",
    "bounded_logits",
    "by_class",
    "clipped_log_odds",
    "clipped_logs",
    "fit_logistic",
    "fit_sigmoid",
    "inner_limits",
    "intercept_at_unit_slope",
    "log_odds",
    "log_probabilities",
    "log_softmax",
    "log_softmax_mixed",
    "logistic_derivatives",
    "normalise_rows",
    "plenty",
    "profile_limits",
    "separated_limits",
    "share_rest",
    "shift_limits",
    "sigmoid",
    "slope_and_intercept",
    "smoothed_targets",
    "softmax",
    "working_dtype",
]


ZERO_FLOOR = 1e-12
#: The largest distance of logits below their row's maximum: softmax is exactly 0 at temperatures up
#: to 1e9, and squares stay finite.
DEEPEST_LOGIT = 1e15
#: Up to this many classes, sums and maxima over them are several times faster in column order.
FEW_CLASSES = 32
#: From this size on float32 logits are processed in float32: rounding errors average out.
SINGLE_ENTRIES = 2_000_000
BLOCK_ENTRIES = 65_536


def by_class(values: np.ndarray) -> np.ndarray:
    """The array (n, K), in column order if the classes are few and the rows many."""
    return (
        np.asfortranarray(values)
        if values.ndim == 2 and values.shape[1] <= min(FEW_CLASSES, len(values) // 8)
        else values
    )


def bounded_logits(logits: np.ndarray) -> np.ndarray:
    """The logits (n, K), with rows that reach beyond 1e15 shifted to a largest of 0 and floored at
    -1e15; their softmax is the same.

    Masks of the lowest float and other extremes then never overflow. Rows that are not finite stay.
    """
    if not max(logits.max(), -logits.min()) > DEEPEST_LOGIT:
        return logits
    rows = np.flatnonzero(
        (np.abs(logits) > DEEPEST_LOGIT).any(axis=1) & np.isfinite(logits).all(axis=1)
    )
    far = logits[rows].astype(np.float64)
    with np.errstate(over="ignore"):
        far -= far.max(axis=1, keepdims=True)
    out = logits.copy()
    out[rows] = np.maximum(far, -DEEPEST_LOGIT)
    return out


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Log of the softmax over the last axis, (n, K) -> (n, K) float64, without overflow."""
    logits = by_class(logits)
    shifted = np.subtract(logits, logits.max(axis=-1, keepdims=True), dtype=np.float64)
    shifted -= np.log(sum_rows(np.exp(shifted)))[..., None]
    return shifted


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, (n, K) -> (n, K) float64, without overflow."""
    logits = by_class(logits)
    out = np.subtract(logits, logits.max(axis=-1, keepdims=True), dtype=np.float64)
    np.exp(out, out=out)
    out /= sum_rows(out)[..., None]
    return out


def working_dtype(logits: np.ndarray) -> type[Any]:
    """float32 for many float32 logits, else float64."""
    return (
        np.float32 if logits.dtype == np.float32 and logits.size >= SINGLE_ENTRIES else np.float64
    )


def log_softmax_mixed(logits: np.ndarray, share: float, beta: float = 1.0) -> np.ndarray:
    """Log of (1 - share) softmax(beta logits) + share / K, (n, K) -> (n, K): no entry is below
    log(share / K).
    """
    if logits.size < SINGLE_ENTRIES:
        return _mixed(by_class(logits * beta), share)
    # In blocks that stay in the cache: passes over so many entries wait for the memory.
    out = np.empty(logits.shape, dtype=working_dtype(logits))

    def block(rows):
        out[rows] = _mixed(logits[rows] * out.dtype.type(beta), share, out.dtype)

    map_blocks(block, row_blocks(len(logits), max(BLOCK_ENTRIES // logits.shape[1], 1)))
    return out


def _mixed(logits: np.ndarray, share: float, dtype: type[Any] = np.float64) -> np.ndarray:
    out = np.subtract(logits, logits.max(axis=-1, keepdims=True), dtype=dtype)
    np.exp(out, out=out)
    out *= (1.0 - share) / sum_rows(out)[..., None]
    out += share / out.shape[1]
    return np.log(out, out=out)


def normalise_rows(P: np.ndarray) -> np.ndarray:
    """Rows of P divided by their sums, float64."""
    out = np.array(P, dtype=np.float64)
    out /= sum_rows(out)[..., None]
    return out


def log_probabilities(P: np.ndarray) -> np.ndarray:
    """Log of (n, K) rows that sum to 1, finite everywhere and keeping the order within a row.

    An exact zero is read as 1e-12, or as the row's smallest positive entry where that is smaller
    still. The top entry is taken as -log1p(rest / top), which keeps the relative precision of log p
    near p = 1.
    """
    rows = np.arange(len(P))
    top = P.argmax(axis=1)
    peak = P[rows, top]
    others = P.copy()
    others[rows, top] = 0.0
    rest = sum_rows(others)
    if P.min() <= 0.0:
        zero = P <= 0.0
        smallest = np.where(zero, np.inf, P).min(axis=1)
        floor = np.minimum(ZERO_FLOOR, smallest)
        others = np.where(zero, floor[:, None], P).astype(P.dtype)
    else:
        others[rows, top] = peak
    out = np.log(others, out=others)
    out[rows, top] = -np.log1p(rest / peak)
    return out


def log_odds(p: Any) -> Any:
    """Logit of p in [0, 1], finite: p is kept at least 1e-12 from 0, and at least 2**-53 from 1."""
    p = np.clip(p, ZERO_FLOOR, 1.0 - 2.0**-53)
    return np.log(p) - np.log1p(-p)


def share_rest(P: np.ndarray, predicted: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Rows with ``confidence`` at ``predicted`` and the rest shared in proportion to P (equally
    if that is 0).
    """
    rows = np.arange(len(P))
    rest = P.copy()
    rest[rows, predicted] = 0.0
    total = sum_rows(rest)[:, None]
    even = np.full_like(rest, 1.0 / (P.shape[1] - 1))
    even[rows, predicted] = 0.0
    rest = np.where(total > 0.0, rest / np.where(total > 0.0, total, 1.0), even)
    out = rest * (1.0 - confidence)[:, None]
    out[rows, predicted] = confidence
    return out


def inner_limits(score: np.ndarray, total_weight: float, power: float = 2.0) -> tuple[float, float]:
    """(lowest score, smallest gap from 1) to use in logarithms, two floats.

    A score within 1e-12 of 0 or 1 is beyond the resolution of the model: a vote of all trees, a
    rounded softmax. It is read as half the smallest other score (or gap), and at least 1 / (2
    n^power), so that it has little leverage. Without such scores the limits are 1e-12.
    """
    low = score[score > 1.5 * ZERO_FLOOR].min(initial=1.0)
    gap = 1.0 - score[score < 1.0 - 1.5 * ZERO_FLOOR].max(initial=0.0)
    resolution = min(0.5 / total_weight**power, 0.25)
    low = (
        max(0.5 * low, resolution) if score.min() <= 1.5 * ZERO_FLOOR and low < 1.0 else ZERO_FLOOR
    )
    gap = (
        max(0.5 * gap, resolution)
        if score.max() >= 1.0 - 1.5 * ZERO_FLOOR and gap < 1.0
        else ZERO_FLOOR
    )
    return max(float(low), ZERO_FLOOR), max(float(gap), ZERO_FLOOR)


def clipped_logs(score: np.ndarray, limits: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """log s and log(1 - s) of scores kept inside the limits."""
    s = np.minimum(np.maximum(score, limits[0]), 1.0 - limits[1])
    return np.log(s), np.log1p(-s)


def clipped_log_odds(score: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Their difference."""
    return np.subtract(*clipped_logs(score, limits))


# -- Logistic regression ---------------------------------------------------------------------------

BLOCK_ROWS = 16_384
#: The largest double below 1: no fitted probability is exactly 0 or 1, so that the log loss of any
#: test set is finite.
BELOW_ONE = 1.0 - 2.0**-53
SMALLEST = float(np.finfo(np.float64).tiny)


def sigmoid(z: Any) -> np.ndarray:
    """1 / (1 + exp(-z)) for any finite z, strictly inside (0, 1)."""
    e = np.exp(-np.abs(z))
    # np.clip would take three times as long for one row.
    return np.minimum(np.maximum(np.where(z >= 0.0, 1.0, e) / (1.0 + e), SMALLEST), BELOW_ONE)


def smoothed_targets(correct: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Platt's targets: (N1 + 1) / (N1 + 2) for the right rows and 1 / (N0 + 2) for the wrong
    ones, N their total weights.
    """
    right = float(weight @ correct)
    wrong = float(weight.sum()) - right
    return np.where(correct > 0.0, (right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0))


def logistic_derivatives(
    coefficients: np.ndarray, design: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """(loss, gradient (d,), Hessian (d, d)) of sum w [log(1 + exp(z)) - target z], z = design @
    coefficients.
    """
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


def fit_logistic(
    design: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    starts: list[np.ndarray],
    *,
    ridge: np.ndarray | None = None,
    nonnegative: np.ndarray | None = None,
    loose: bool = False,
) -> tuple[np.ndarray, str]:
    """Coefficients of least weighted log loss, plus ``0.5 * sum(ridge * coefficients**2)``.

    Parameters
    ----------
    design : (n, d); target : (n,) in [0, 1]; weight : (n,) positive
    starts : list of (d,), of which the best is taken
    ridge : (d,) penalties, optional
    nonnegative : (d,) bool, coefficients that may not fall below 0, optional
    loose : bool, whether a lower accuracy is enough, as for a start from a similar fit

    Returns
    -------
    coefficients (d,), status ("converged", "max steps" or "stalled"). Directions in which the loss
    is flat keep their start.
    """
    d = design.shape[1]
    ridge = np.zeros(d) if ridge is None else ridge
    bounded = np.zeros(d, dtype=bool) if nonnegative is None else nonnegative
    total = weight.sum()

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        loss, gradient, hessian = logistic_derivatives(theta, design, target, weight)
        return (
            (loss + 0.5 * ridge @ theta**2) / total,
            (gradient + ridge * theta) / total,
            (hessian + np.diag(ridge)) / total,
        )

    return projected_newton(objective, starts, bounded, loose=loose)


def fit_sigmoid(
    columns: Any,
    target: Any,
    weight: Any,
    *,
    identity: Any,
    intercept: Any = True,
    begin: Any = None,
) -> Any:
    """Slopes (all non-negative) of the columns (n, d) and then the intercept, fitted in standard
    units.

    ``identity`` holds the slopes that do not change a calibrated score: a start, and the result for
    a column without spread. ``begin``, a Start, may hold a start, and receives the end. Returns
    (list of floats, status).
    """
    total, slopes = weight.sum(), columns.shape[1]
    identity = np.asarray(identity)
    centre = weight @ columns / total if intercept else np.zeros(slopes)
    z = columns - centre
    spread = np.sqrt(weight @ z**2 / total)
    # A spread of rounding size determines no slope.
    flat = spread <= 1e-12 * np.abs(columns).max(axis=0)
    spread = np.where(flat, 1.0, spread)
    z = np.where(flat, 0.0, z / spread)
    base = float(weight @ target / total)
    level = np.log(base) - np.log1p(-base) if 0.0 < base < 1.0 else 0.0
    starts = [identity * spread, np.where(flat, identity, 0.0)]
    if intercept:
        starts = [np.append(starts[0], identity @ centre), np.append(starts[1], level)]
        z = np.column_stack([z, np.ones(len(z))])
    near = begin is not None and begin.end is not None and not flat.any()
    if near:
        slope = begin.end[:slopes]
        starts = [np.append(slope * spread, [begin.end[-1] + slope @ centre] if intercept else [])]
    theta, status = fit_logistic(
        z, target, weight, starts, nonnegative=np.arange(z.shape[1]) < slopes, loose=near
    )
    slope = theta[:slopes] / spread
    if begin is not None and not near:
        begin.end = np.append(slope, theta[-1] - slope @ centre)
    return [float(v) for v in slope] + (
        [float(theta[-1] - slope @ centre)] if intercept else []
    ), status


#: With less curvature than this per row of the rarer outcome, rounding moves the maximum of the
#: likelihood.
FLAT = 1e-6


def slope_and_intercept(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """((slope, intercept), their (2, 2) covariance), or None where no finite maximum of the
    likelihood exists.
    """
    odds = log_odds(score)
    right, wrong = odds[hit > 0.0], odds[hit < 1.0]
    if not (len(right) and len(wrong)) or max(right.min(), wrong.min()) >= min(
        right.max(), wrong.max()
    ):
        return None
    centre, n = weight @ odds / weight.sum(), weight.sum()
    spread = np.sqrt(weight @ (odds - centre) ** 2 / n)
    design = np.column_stack([(odds - centre) / spread, np.ones(len(odds))])
    theta, status = fit_logistic(design, hit, weight, [np.zeros(2)])
    if status == "max steps":
        return None
    for _ in range(3):
        # The fit ends when the loss is constant, at half the digits; plain Newton steps give the
        # rest.
        p = sigmoid(design @ theta)
        theta = theta + np.linalg.solve(
            (design * (weight * p * (1.0 - p))[:, None]).T @ design, design.T @ (weight * (hit - p))
        )
    p = sigmoid(design @ theta)
    bread = np.linalg.inv((design * (weight * p * (1.0 - p))[:, None]).T @ design)
    meat = (design * (weight * (hit - p) ** 2)[:, None]).T @ design
    back = np.array([[1.0 / spread, 0.0], [-centre / spread, 1.0]])
    return back @ theta, back @ bread @ meat @ bread @ back.T * n / max(n - 1.0, 1.0)


def intercept_at_unit_slope(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray
) -> tuple[float, float] | None:
    """(intercept, variance) of the logistic fit whose slope is held at 1, or None where the
    likelihood has no one maximum.

    This happens if all outcomes are equal, or if every score is practically 0 or 1, so that a shift
    changes no probability.
    """
    odds = log_odds(score)
    hits, n = weight @ hit, weight.sum()
    if not (both_occur(hit, weight) and hits < n):
        return None
    value = scipy.optimize.brentq(
        lambda a: weight @ sigmoid(odds + a) - hits, -100.0, 100.0, xtol=1e-13
    )
    p = sigmoid(odds + value)
    # Usually p (1 - p) sums to about the weight of the rarer outcome.
    if weight @ (p * (1.0 - p)) <= FLAT * min(hits, n - hits):
        return None
    return value, weight @ (hit - p) ** 2 / (weight @ (p * (1.0 - p))) ** 2 * n / max(n - 1.0, 1.0)


#: Steps of the one-dimensional Newton iteration, and the largest distance of a limit from the
#: estimate, in standard errors.
STEPS, FARTHEST = 100, 2.0**40
#: The least distance, in the same unit.
NEAREST = 0.05
#: From this many rows of the rarer outcome on the normal distribution is accurate.
MANY = 1000.0


def shift_limits(
    odds: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    value: float,
    variance: float,
    level: float,
) -> tuple[float, float]:
    """(low, high) of the shift of the log-odds of which ``value`` is the estimate and ``variance``
    its sandwich variance.

    The sum of the hits is sufficient and a whole number. If its variance is that of fewer than ten
    rows, the tail includes the observed number, as Clopper and Pearson's interval of a rate does;
    else half of it.
    """
    if plenty(hit, weight):
        return normal_interval(value, variance, level)
    best, p = _log_likelihood(odds + value, hit, weight), sigmoid(odds + value)
    information = float(weight @ (p * (1.0 - p)))
    few = information < FEW

    def roots(shift: float) -> tuple[float, float]:
        r = np.sqrt(max(2.0 * (best - _log_likelihood(odds + shift, hit, weight)), 1e-12))
        t = abs(shift - value)
        return r, (-np.expm1(-t) if few else 2.0 * np.sinh(min(0.5 * t, 300.0))) * np.sqrt(
            information
        )

    dispersion = variance * information
    return _ends(
        roots, value, 1.0 / np.sqrt(information), max(dispersion, 1.0) if few else dispersion, level
    )


def profile_limits(
    design: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    theta: np.ndarray,
    covariance: np.ndarray,
    place: int,
    level: float,
) -> tuple[float, float]:
    """(low, high) of coefficient ``place`` of two, ``theta`` the estimates on ``design`` (n, 2),
    ``covariance`` their sandwich variance.
    """
    if plenty(hit, weight):
        return normal_interval(float(theta[place]), covariance[place, place], level)
    column, other = design[:, place], design[:, 1 - place]
    best = _log_likelihood(design @ theta, hit, weight)
    p = sigmoid(design @ theta)
    information = (design * (weight * p * (1.0 - p))[:, None]).T @ design
    whole = np.linalg.det(information)
    spread = information[1 - place, 1 - place] / whole
    # The response of the other coefficient, to first order.
    start, slope = float(theta[1 - place]), information[0, 1] / information[1 - place, 1 - place]

    def roots(value: float) -> tuple[float, float]:
        rest, curvature = _restricted(
            column * value, other, hit, weight, start - (value - theta[place]) * slope
        )
        r = np.sqrt(
            max(2.0 * (best - _log_likelihood(column * value + other * rest, hit, weight)), 1e-12)
        )
        return r, abs(value - theta[place]) * np.sqrt(whole / max(curvature, 1e-300))

    return _ends(
        roots,
        float(theta[place]),
        np.sqrt(spread),
        max(covariance[place, place] / spread, 1.0),
        level,
    )


def separated_limits(
    odds: np.ndarray, hit: np.ndarray, weight: np.ndarray, level: float
) -> tuple[float, float]:
    """(low, high) of a slope without a finite estimate, as the odds separate hits from misses.

    One end is infinite; at the other the root of the likelihood ratio to its supremum is the normal
    quantile. (nan, nan) where the outcomes or the odds are all equal.
    """
    ones, z = np.ones(len(odds)), normal_quantile(level)
    if not (both_occur(hit, weight) and np.ptp(odds) > 0.0):
        return float("nan"), float("nan")
    happened, not_ = odds[hit > 0.5], odds[hit <= 0.5]
    side = 1.0 if happened.min() >= not_.max() else -1.0

    def best(slope: float) -> float:
        rest, _ = _restricted(
            side * slope * odds, ones, hit, weight, -side * slope * float(odds.mean())
        )
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
    end = float(scipy.optimize.brentq(within, -low, 2.0 * far * unit))
    return (end, float("inf")) if side > 0.0 else (float("-inf"), -end)


def both_occur(hit: np.ndarray, weight: np.ndarray) -> bool:
    """Whether hits and misses have weight; sums of equal weights may differ by rounding."""
    return bool(weight @ hit > 0.0 and weight @ (1.0 - hit) > 0.0)


def plenty(hit: np.ndarray, weight: np.ndarray) -> bool:
    """Whether both outcomes have enough rows for the normal distribution."""
    return min(float(weight @ hit), float(weight @ (1.0 - hit))) >= MANY


def _ends(
    roots: Callable[[float], tuple[float, float]],
    value: float,
    unit: float,
    dispersion: float,
    level: float,
) -> tuple[float, float]:
    """The points at which the root equals the normal quantile; distances are scaled to the sandwich
    variance.
    """
    z, ends = normal_quantile(level), []
    for side in (-1.0, 1.0):
        within = partial(_excess, roots, value, side, z, _modified)
        if within(NEAREST * unit) >= 0.0:
            # If the third-order correction exceeds the root, use the root alone.
            within = partial(_excess, roots, value, side, z, _plain)
        far = unit
        while far < FARTHEST * unit and within(far) < 0.0:
            far *= 2.0
        distance = (
            scipy.optimize.brentq(within, NEAREST * unit, far, xtol=1e-9 * unit)
            if within(far) >= 0.0
            else np.inf
        )
        ends.append(value + side * distance * np.sqrt(dispersion))
    return float(ends[0]), float(ends[1])


def _excess(
    roots: Callable[[float], tuple[float, float]],
    value: float,
    side: float,
    z: float,
    of_roots: Callable[[float, float], float],
    away: float,
) -> float:
    return of_roots(*roots(value + side * away)) - z


def _modified(r: float, u: float) -> float:
    return r + np.log(max(u, 1e-300) / r) / r


def _plain(r: float, u: float) -> float:
    return r


def _log_likelihood(z: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
    return float(weight @ (hit * z - np.logaddexp(0.0, z)))


def _restricted(
    offset: np.ndarray, column: np.ndarray, hit: np.ndarray, weight: np.ndarray, start: float
) -> tuple[float, float]:
    """(coefficient of the column beside the offset, curvature of the likelihood there): Newton's
    steps, halved inside a bracket.
    """
    low, high, at = -np.inf, np.inf, start
    for _ in range(STEPS):
        p = sigmoid(offset + at * column)
        gradient, curvature = (
            float((weight * (hit - p)) @ column),
            float((weight * p * (1.0 - p)) @ (column * column)),
        )
        low, high = (at, high) if gradient > 0.0 else (low, at)
        step = gradient / curvature if curvature > 0.0 else np.copysign(1.0 + abs(at), gradient)
        to = at + float(np.clip(step, -5.0 - abs(at), 5.0 + abs(at)))
        if abs(to - at) <= 1e-9 * (1.0 + abs(at)):
            return to, curvature
        # An end of the bracket is known: the next step could lead back here, in a cycle.
        if not low < to < high:
            to = 0.5 * (low + high)
        at = to
    return at, curvature
