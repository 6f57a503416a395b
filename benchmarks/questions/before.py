"""The intervals of rates at 6dd4faf5, written again: normal or Student's t on the log-odds."""

from typing import Any

import numpy as np
from scipy import stats

__all__ = ["difference_before", "rate_before", "transport_before"]


def _parts(judge: Any, labels: Any, chance: Any) -> tuple[float, float, np.ndarray, np.ndarray]:
    """(weight of the judge, rate, influences, labelled rows)."""
    seen, N = np.isfinite(labels), len(labels)
    pi = np.full(N, seen.mean()) if chance is None else chance
    f, y = judge[seen], labels[seen]
    w = (1.0 - pi[seen]) / pi[seen] ** 2
    w = w / w.sum()
    away = f - w @ f
    spread = w @ away**2
    slope = float(np.clip(w @ (away * (y - w @ y)) / spread, 0.0, 1.0)) if spread > 0.0 else 0.0
    v = np.where(seen, 1.0 / pi, 0.0)
    r = np.where(seen, labels, 0.0) - slope * judge
    mean = float(v[seen] @ r[seen] / v.sum())
    phi = slope * judge + mean + np.where(seen, v * (r - mean), 0.0) * N / v.sum()
    value = slope * float(judge.mean()) + mean
    return slope, value, phi - value, seen


def rate_before(
    judge: np.ndarray,
    labels: np.ndarray,
    chance: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
    population: str = "new",
    calibrate: bool = False,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """(rate, low, high); several judges count by their mean, and none is calibrated here."""
    judge = judge if judge.ndim == 1 else judge.mean(axis=1)
    slope, value, moves, seen = _parts(judge, labels, chance)
    N, n = len(labels), int(seen.sum())
    freedom, variance = n - 1.0, float(moves @ moves) / N**2 * n / (n - 1)
    if population == "log":
        pi = (np.full(N, seen.mean()) if chance is None else chance)[seen]
        r = labels[seen] - slope * judge[seen]
        away = r - np.average(r, weights=1.0 / pi)
        variance = float(((1.0 - pi) / pi**2) @ away**2) / N**2 * n / (n - 1)
    elif cluster is not None:
        sums, size = np.bincount(cluster, moves), np.bincount(cluster) / N
        variance = float(sums @ (sums / (1.0 - size))) / N**2
        count = np.bincount(cluster[seen])
        freedom = max(float(count.sum() ** 2 / (count @ count)) - 1.0, 1.0)
    value, rows = min(max(value, 0.0), 1.0), freedom + 1.0
    hits = float(labels[seen].sum())
    ends = list[float]()
    for side, few, other in ((-1.0, n - hits, 0.0), (1.0, hits, 1.0)):
        v, s2 = value, variance
        if few < 10.0:
            v = (rows * value + other) / (rows + 1.0)
            s2 = (variance * rows**2 + (other - value) ** 2) / (rows + 1.0) ** 2
        v = min(max(v, 0.25 / rows), 1.0 - 0.25 / rows)
        half = stats.t.ppf(0.5 + 0.5 * level, freedom) * np.sqrt(s2) / (v * (1.0 - v))
        ends.append(float(1.0 / (1.0 + np.exp(-np.log(v / (1.0 - v)) - side * half))))
    return value, min(ends[0], value), max(ends[1], value)


def difference_before(
    judge: np.ndarray, labels: np.ndarray, first: np.ndarray, item: np.ndarray
) -> tuple[float, float, float]:
    """(difference of the rates of two models, low, high) with Student's t of items."""
    total, moves = 0.0, np.zeros(len(labels))
    for rows, sign in ((first, 1.0), (~first, -1.0)):
        _, value, phi, _ = _parts(judge[rows], labels[rows], None)
        total, moves[rows] = total + sign * value, sign * phi / rows.sum()
    sums, items = np.bincount(item, moves), len(np.unique(item[np.isfinite(labels)]))
    half = stats.t.ppf(0.975, items - 1) * float(np.sqrt(sums @ sums))
    return total, total - half, total + half


def transport_before(away: np.ndarray) -> tuple[float, float]:
    """(low, high) of the mean of residuals of independent rows."""
    half = stats.t.ppf(0.975, len(away) - 1) * away.std(ddof=1) / np.sqrt(len(away))
    return float(away.mean() - half), float(away.mean() + half)
