"""Log loss under temperatures and awards with derivatives, of all classes or of the top label,
and its exact minimisation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy.special import expit

from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.logistic import SINGLE_ENTRIES, by_class, working_dtype
from calibrant._numerics.threads import map_blocks, row_blocks

__all__ = [
    "LOG_BETA_BOUNDS",
    "TopLabels",
    "fit_top_label",
    "increasing_root",
    "inverse_temperature",
    "is_separable",
    "log_rest",
    "nll_derivatives",
    "other_logits",
    "refine_brier",
    "tilted_losses",
    "tilted_root",
    "tilts",
]


def increasing_root(
    function: Any,
    low: float,
    high: float,
    start: float,
    tolerance: float = 1e-12,
    max_steps: int = 200,
) -> tuple[float, str]:
    """Root of an increasing ``function(x) -> (value, slope)`` on [low, high], low > 0.

    Newton steps kept inside a bracket that shrinks at every step; a step that leaves it becomes a
    bisection in log x. Returns (x, status), status one of "converged", "at lower bound", "at upper
    bound", "flat" (value and slope are 0 at the start: nothing to learn, x = start), "max steps".
    """
    x = float(start)
    value, slope = function(x)
    if value == 0.0 and slope <= 0.0:
        return x, "flat"
    lower, upper, has_negative, has_positive = low, high, False, False
    for _ in range(max_steps):
        if value == 0.0:
            return x, "converged"
        if value < 0.0:
            lower, has_negative = x, True
        else:
            upper, has_positive = x, True
        if x >= high and value < 0.0:
            return high, "at upper bound"
        if x <= low and value > 0.0:
            return low, "at lower bound"
        step = x - value / slope if slope > 0.0 else np.inf
        # Before the bracket is asked: rounding puts a last step on its edge, and halving a wide
        # bracket would go on for long.
        if not lower < step < upper and not abs(step - x) <= tolerance * x:
            step = (
                np.sqrt(lower * upper)
                if has_negative and has_positive
                else _widen(x, value, low, high)
            )
        if abs(step - x) <= tolerance * x:
            return float(step), "converged"
        x = float(step)
        value, slope = function(x)
    return x, "max steps"


def _widen(x: float, value: float, low: float, high: float) -> float:
    """One decade towards the root while it is not bracketed."""
    return max(x / 10.0, low) if value > 0.0 else min(x * 10.0, high)


BLOCK_ENTRIES = 65_536
COARSE_STRIDE = 16
#: Logits of a row that differ by no more than so many units in the last place are equal but for
#: rounding.
FLAT_ULPS = 4
FACTORIALS = np.array([1.0, 1.0, 2.0, 6.0, 24.0])


def inverse_temperature(
    logits: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    low: float = 1e-9,
    high: float = 1e9,
    start: float | None = None,
) -> tuple[float, str]:
    """(beta in [low, high] of least mean log loss, status); status as of
    :func:`roots.increasing_root`, or "separable".

    ``start`` is the end of a search on nearly the same rows.
    "flat" is also where logits of a row differ by rounding alone.
    Separable rows have no finite optimum: they are fitted to targets smoothed by 1 / (n + 1).
    """
    logits, pull = by_class(logits), 0.0
    if _is_flat(logits):
        return 1.0, "flat"
    if is_separable(logits, labels):
        # Smoothed targets add a constant to the gradient: epsilon * (own logit - mean logit),
        # averaged.
        label_logits = logits[np.arange(len(logits)), labels]
        pull = (
            float(weight @ (label_logits - logits.mean(axis=1, dtype=np.float64)))
            / weight.sum()
            / (weight.sum() + 1.0)
        )
    single = working_dtype(logits) == np.float32
    # Rounding in float32 hides steps below about 1e-8; Newton squares the last step's error, so it
    # may stop at the square root of that.
    tolerance = 1e-4 if single else 1e-12
    if start is None and logits.size >= SINGLE_ENTRIES:
        part = slice(None, None, COARSE_STRIDE)
        start, _ = _root(logits[part], labels[part], weight[part], pull, low, high, 1.0, 1e-3)
    beta, status = _root(logits, labels, weight, pull, low, high, start or 1.0, tolerance)
    return beta, "separable" if pull and status == "converged" else status


def _root(
    logits: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    pull: float,
    low: float,
    high: float,
    start: float,
    tolerance: float,
) -> tuple[float, str]:
    def gradient(beta: float) -> tuple[float, float]:
        _, slope, curvature = nll_derivatives(beta, logits, labels, weight)
        return slope + pull, curvature

    return increasing_root(gradient, low, high, start, tolerance)


def nll_derivatives(
    beta: float, logits: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[float, float, float]:
    """(mean NLL, d/dbeta, d2/dbeta2) of softmax(beta * logits), weighted; sums over rows in
    float64.
    """
    dtype = working_dtype(logits)
    blocks = row_blocks(len(logits), max(BLOCK_ENTRIES // logits.shape[1], 1))
    totals = np.zeros(3)
    for part in map_blocks(
        lambda rows: _block(beta, logits[rows], labels[rows], weight[rows], dtype), blocks
    ):
        totals += part
    return tuple(totals / weight.sum())


def _block(
    beta: float, logits: np.ndarray, labels: np.ndarray, weight: np.ndarray, dtype: type[Any]
) -> np.ndarray:
    z = np.subtract(logits, logits.max(axis=1, keepdims=True), dtype=dtype)
    label_logits = z[np.arange(len(z)), labels].astype(np.float64)
    e = z * dtype(beta)
    np.exp(e, out=e)
    total = e.sum(axis=1).astype(np.float64)
    if dtype == np.float32:
        # Sums of float32 in float64 would cost more than the exponentials.
        first = np.einsum("ij,ij->i", e, z) / total
        e *= z
        second = np.einsum("ij,ij->i", e, z) / total
    else:
        e *= z
        first = e.sum(axis=1) / total
        e *= z
        second = e.sum(axis=1) / total
    return np.array(
        [
            weight @ (np.log(total) - beta * label_logits),
            weight @ (first - label_logits),
            weight @ np.maximum(second - first * first, 0.0),
        ]
    )


def _is_flat(logits: np.ndarray) -> bool:
    if len(logits) > 1000 and not _is_flat(logits[:1000]):
        return False
    largest = logits.max(axis=1)
    return bool(
        (
            largest - logits.min(axis=1) <= FLAT_ULPS * np.spacing(np.maximum(np.abs(largest), 1))
        ).all()
    )


def is_separable(logits: np.ndarray, labels: np.ndarray) -> bool:
    """Whether every row's label has its largest logit, so that the log loss has no finite
    optimum in the temperature.
    """
    if len(labels) > 1000 and not is_separable(logits[:1000], labels[:1000]):
        return False
    return bool((logits[np.arange(len(labels)), labels] >= logits.max(axis=1)).all())


def tilts(beta: float, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n, 5): each row's loss at softmax(beta * logits) and its first four derivatives in beta,
    cumulants of the logits.
    """
    logits, dtype = by_class(logits), working_dtype(logits)
    out = np.empty((len(logits), 5))

    def block(rows: Any) -> None:
        z = np.subtract(logits[rows], logits[rows].max(axis=1, keepdims=True), dtype=dtype)
        label_logits = z[np.arange(len(z)), labels[rows]].astype(np.float64)
        e = z * dtype(beta)
        np.exp(e, out=e)
        total = e.sum(axis=1).astype(np.float64)
        mean = np.einsum("ij,ij->i", e, z) / total
        z -= mean[:, None].astype(dtype)
        e *= z
        moments = []
        for _ in range(3):
            e *= z
            moments.append(e.sum(axis=1) / total)
        second, third, fourth = moments
        out[rows] = np.column_stack(
            [
                np.log(total) - beta * label_logits,
                mean - label_logits,
                second,
                third,
                fourth - 3.0 * second**2,
            ]
        )

    map_blocks(block, row_blocks(len(logits), max(BLOCK_ENTRIES // logits.shape[1], 1)))
    return out


def tilted_losses(tilts: np.ndarray, change: float) -> np.ndarray:
    """(n,) losses where beta is so much larger than where the ``tilts`` were taken: their Taylor
    series.
    """
    return tilts @ (change ** np.arange(5) / FACTORIALS)


def tilted_root(tilts: np.ndarray, weight: np.ndarray, widest: float) -> float | None:
    """The change of beta at which the weighted losses are least, by their Taylor series; None
    where it is more than ``widest``.
    """
    slope = weight @ tilts[:, 1:] / FACTORIALS[:4]
    change = 0.0
    for _ in range(8):
        powers = change ** np.arange(4)
        bend = slope[1:] * np.arange(1, 4) @ powers[:3]
        step = slope @ powers / bend if bend > 0.0 else np.inf
        change -= step
        if not abs(change) <= widest:
            return None
        if abs(step) <= 1e-13 * widest:
            break
    return float(change)


LOG_BETA_BOUNDS = (np.log(1e-3), np.log(1e3))
GRID = 25
#: How far past the scores an award may go when nothing holds it: confidence 1 - 2e-9.
AWARD_ROOM = 20.0
BLOCK_CELLS = 65_536


def other_logits(logits: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Logits of the other classes less that of the predicted one, (n, K) -> (n, K - 1)."""
    rows = np.arange(len(logits))
    shifted = logits - logits[rows, predicted][:, None]
    keep = np.ones(shifted.shape, dtype=bool)
    keep[rows, predicted] = False
    return shifted[keep].reshape(len(logits), -1)


def log_rest(others: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(u, du/dbeta), each (n,), for one beta a row."""
    u, slope = np.empty(len(others)), np.empty(len(others))
    rows = max(BLOCK_CELLS // others.shape[1], 1)
    for start in range(0, len(others), rows):
        z, b = others[start : start + rows], beta[start : start + rows]
        peak = z.max(axis=1)
        e = np.exp((z - peak[:, None]) * b[:, None].astype(z.dtype))
        total = sum_rows(e.astype(np.float64, copy=False))
        u[start : start + rows] = b * peak + np.log(total)
        slope[start : start + rows] = np.einsum("ij,ij->i", e, z, dtype=np.float64) / total
    return u, slope


@dataclass(frozen=True)
class TopLabels:
    """Rows of the top-label loss, which of its temperatures and awards each has, and the ridge on
    them.

    Attributes
    ----------
    others : (n, K - 1) logits of the other classes, less that of the top label
    correct : (n,) 0 and 1, or targets between them
    weight : (n,)
    temperature_of : (n,) position of the row's temperature
    n_temperatures : int
    award_of : (n,) position of the row's award; None without awards
    n_awards : int
    ridge : weight of sum of award^2 + (ln beta - centre)^2
    centre : float
    """

    others: np.ndarray
    correct: np.ndarray
    weight: np.ndarray
    temperature_of: np.ndarray
    n_temperatures: int
    award_of: np.ndarray | None = None
    n_awards: int = 0
    ridge: float = 0.0
    centre: float = 0.0


def _profile(t: np.ndarray, rows: TopLabels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(loss, d loss / dt, awards) at t = ln beta, the first two for each temperature, the awards
    at their best for this t.
    """
    beta = np.exp(t)[rows.temperature_of]
    u, slope = log_rest(rows.others, beta)
    award = np.zeros(rows.n_awards)
    margin = -u
    if rows.n_awards:
        group = rows.award_of
        award = _awards(u, rows.correct, rows.weight, group, rows.n_awards, rows.ridge)
        margin = award[group] - u
    loss = rows.weight * (np.logaddexp(0.0, -margin) + (1.0 - rows.correct) * margin)
    pull = rows.weight * (expit(margin) - rows.correct) * -slope * beta
    value = np.bincount(rows.temperature_of, weights=loss, minlength=rows.n_temperatures)
    squares = award**2 if rows.n_awards == rows.n_temperatures else (award**2).sum()
    value += rows.ridge * (squares + (t - rows.centre) ** 2)
    gradient = np.bincount(
        rows.temperature_of, weights=pull, minlength=rows.n_temperatures
    ) + 2.0 * rows.ridge * (t - rows.centre)
    return value, gradient, award


def _awards(
    u: np.ndarray,
    correct: np.ndarray,
    weight: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    ridge: float,
    tolerance: float = 1e-12,
    max_steps: int = 100,
) -> np.ndarray:
    """The award of each group, the root of an increasing function: Newton's steps inside a
    bracket that shrinks.
    """
    low, high = np.zeros(n_groups), np.zeros(n_groups)
    np.minimum.at(low, group, u - AWARD_ROOM)
    np.maximum.at(high, group, u + AWARD_ROOM)
    award = np.zeros(n_groups)
    right = np.bincount(group, weights=weight * correct, minlength=n_groups)
    for _ in range(max_steps):
        p = expit(award[group] - u)
        value = (
            np.bincount(group, weights=weight * p, minlength=n_groups) - right + 2.0 * ridge * award
        )
        curvature = (
            np.bincount(group, weights=weight * p * (1.0 - p), minlength=n_groups) + 2.0 * ridge
        )
        low, high = np.where(value < 0.0, award, low), np.where(value > 0.0, award, high)
        step = award - np.divide(
            value, curvature, out=np.full(n_groups, np.inf), where=curvature > 0.0
        )
        step = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        step = np.where(value == 0.0, award, step)
        moved = np.abs(step - award)
        award = step
        if (moved <= tolerance * np.maximum(1.0, np.abs(award))).all():
            break
    return award


def fit_top_label(rows: TopLabels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least top-label loss plus its ridge, the loss summed over rows.

    Returns (beta (n_temperatures,), award (n_awards,), at_bound (n_temperatures,) bool).
    """
    grid = np.linspace(*LOG_BETA_BOUNDS, GRID)
    table = [_profile(np.full(rows.n_temperatures, t), rows)[:2] for t in grid]
    values, slopes = (np.stack(column) for column in zip(*table, strict=True))
    best, every = values.argmin(axis=0), np.arange(rows.n_temperatures)
    slope = slopes[best, every]
    low = grid[np.where(slope > 0.0, np.maximum(best - 1, 0), best)]
    high = grid[np.where(slope < 0.0, np.minimum(best + 1, GRID - 1), best)]
    t = _roots(lambda t: _profile(t, rows)[1], low, high)
    flat = np.isclose(values.min(axis=0), values.max(axis=0), rtol=0.0, atol=1e-12)
    t = np.where(flat, rows.centre, t)
    at_bound = ~flat & ((t <= LOG_BETA_BOUNDS[0] + 1e-9) | (t >= LOG_BETA_BOUNDS[1] - 1e-9))
    return np.exp(t), _profile(t, rows)[2], at_bound


def _roots(
    gradient: Any, low: np.ndarray, high: np.ndarray, tolerance: float = 1e-11, max_steps: int = 80
) -> np.ndarray:
    """Where each gradient turns from negative to positive in [low, high]: regula falsi (Illinois),
    every fourth step a halving.

    The end itself where the gradient does not change sign.
    """
    left, right = gradient(low), gradient(high)
    t = np.where(left >= 0.0, low, high)
    open_ = (left < 0.0) & (right > 0.0)
    side = np.zeros(len(t))
    for step in range(max_steps):
        if not open_.any():
            break
        slope = np.where(right > left, right - left, 1.0)
        new = np.where(
            open_, 0.5 * (low + high) if step % 4 == 3 else (low * right - high * left) / slope, t
        )
        value = gradient(new)
        up, down = open_ & (value > 0.0), open_ & (value <= 0.0)
        left, right = (
            np.where(up & (side > 0), 0.5 * left, left),
            np.where(down & (side < 0), 0.5 * right, right),
        )
        high, right = np.where(up, new, high), np.where(up, value, right)
        low, left = np.where(down, new, low), np.where(down, value, left)
        side = np.where(up, 1.0, -1.0)
        still = step % 4 == 3 or np.abs(new - t) > tolerance
        t, open_ = new, open_ & (high - low > tolerance) & (value != 0.0) & still
    return t


def refine_brier(
    beta: np.ndarray, award: np.ndarray, rows: TopLabels
) -> tuple[np.ndarray, np.ndarray]:
    """The minimum of sum w (correct - confidence)^2 plus the ridge that is nearest downhill from
    (beta, award); the same two.
    """
    n = len(beta)

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        t, a = x[:n], x[n:]
        each = np.exp(t)[rows.temperature_of]
        u, slope = log_rest(rows.others, each)
        p = expit((a[rows.award_of] if len(a) else 0.0) - u)
        pull = 2.0 * rows.weight * (p - rows.correct) * p * (1.0 - p)
        value = rows.weight @ (p - rows.correct) ** 2 + rows.ridge * (
            a @ a + ((t - rows.centre) ** 2).sum()
        )
        gradient = np.bincount(
            rows.temperature_of, weights=-pull * slope * each, minlength=n
        ) + 2.0 * rows.ridge * (t - rows.centre)
        if len(a):
            gradient = np.append(
                gradient,
                np.bincount(rows.award_of, weights=pull, minlength=len(a)) + 2.0 * rows.ridge * a,
            )
        return value, gradient

    start = np.concatenate([np.log(beta), award])
    bounds = [LOG_BETA_BOUNDS] * n + [(None, None)] * len(award)
    out = scipy.optimize.minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-8},
    )
    return np.exp(out.x[:n]), out.x[n:]
