"""Formulas of other libraries for intervals of a series, on signed scores in order of time."""

import bisect
from collections.abc import Callable
from functools import partial

import numpy as np

from calibrant._numerics.conformal import rank_within

__all__ = ["PEERS", "Limits", "darts", "enbpi", "mapie", "split"]

#: (lower, upper) limits of the scores of the rows after the calibration.
Limits = tuple[np.ndarray, np.ndarray]


def late(limit: np.ndarray, delay: int) -> np.ndarray:
    """Limits from scores alone, with each score known ``delay`` rows later."""
    return limit[np.maximum(np.arange(len(limit)) - delay, 0)]


def split(scores: np.ndarray, start: int, level: float, *, delay: int = 0) -> Limits:
    """Split conformal prediction: one quantile of the calibration rows for ever."""
    size = np.sort(np.abs(scores[:start]))
    limit = np.full(len(scores) - start, size[rank_within(start, level) - 1])
    return -limit, limit


def mapie(
    scores: np.ndarray,
    start: int,
    level: float,
    *,
    rate: float,
    renewed: bool = False,
    delay: int = 0,
) -> Limits:
    """``TimeSeriesRegressor`` of MAPIE 1.6, method "aci": quantiles of signed scores at a
    miscoverage within [0, 1], finite in the prediction and infinite in the update.

    With ``renewed``, each new score takes the place of the oldest one. The package itself raises an
    error where the miscoverage is 0; its limits are the same elsewhere.
    """
    ordered, waiting, alpha = sorted(scores[:start].tolist()), scores.tolist(), 1.0 - level
    low, high = np.empty((2, len(scores) - start))
    endless = np.zeros(len(low), dtype=bool)
    for t in range(len(low)):
        k = int(np.ceil((start + 1) * (1.0 - 0.5 * alpha)))
        shown, endless[t] = max(1, min(k, start)), k > start
        low[t], high[t] = ordered[start - shown], ordered[shown - 1]
        if t < delay:
            continue
        score = waiting[start + t - delay]
        inside = endless[t - delay] or low[t - delay] < score < high[t - delay]
        alpha = min(max(alpha + rate * ((1.0 - level) - (not inside)), 0.0), 1.0)
        if renewed:
            del ordered[bisect.bisect_left(ordered, waiting[t - delay])]
            bisect.insort(ordered, score)
    return low, high


def enbpi(
    scores: np.ndarray, start: int, level: float, *, size: int | None = None, delay: int = 0
) -> Limits:
    """EnbPI's window: quantiles of the last signed scores."""
    low, high = np.empty((2, len(scores) - start))
    for t in range(start, len(scores)):
        last = scores[max(0, t - (size or start)) : t]
        low[t - start], high[t - start] = np.quantile(last, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return late(low, delay), late(high, delay)


def darts(scores: np.ndarray, start: int, level: float, *, rolling: bool, delay: int = 0) -> Limits:
    """``ConformalNaiveModel`` of darts: a quantile of the last absolute errors, or of all."""
    size, limit = np.abs(scores), np.empty(len(scores) - start)
    ordered = sorted(size[:start].tolist())
    for t in range(start, len(scores)):
        limit[t - start] = ordered[min(int(np.ceil(level * (len(ordered) - 1))), len(ordered) - 1)]
        if rolling:
            del ordered[bisect.bisect_left(ordered, float(size[t - start]))]
        bisect.insort(ordered, float(size[t]))
    return -late(limit, delay), late(limit, delay)


PEERS: dict[str, Callable[..., Limits]] = {
    "MAPIE ACI, rate .05": partial(mapie, rate=0.05),
    "MAPIE ACI, rate .005": partial(mapie, rate=0.005),
    "ACI .05, new scores": partial(mapie, rate=0.05, renewed=True),
    "ACI .005, new scores": partial(mapie, rate=0.005, renewed=True),
    "EnbPI window": enbpi,
    "EnbPI window of 100": partial(enbpi, size=100),
    "darts, rolling": partial(darts, rolling=True),
    "darts, all past": partial(darts, rolling=False),
    "split, fixed": split,
}
