"""Limits of a rate from the residuals of labels on a judge.

A good judge is rarely wrong, so that few of its errors are among the labels, or none. Each limit
therefore includes an unseen residual, as large as the range of labels and scores allows.
"""

import math

import numpy as np

from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.intervals import mean_limits, normal_quantile, powers
from calibrant.questions.scored_rows import Sample

__all__ = ["influences", "judge_weight", "narrower", "rate_limits", "residual_limits"]

#: (rate, low, high)
Limits = tuple[float, float, float]


def judge_weight(sample: Sample) -> float:
    """The judge's weight: the slope of labels on scores, from 0 to 1."""
    seen = sample.seen
    pi, f, y = sample.chance[seen], sample.score[seen], sample.label[seen]
    w = (1.0 - pi) / pi**2
    if not w.sum() > 0.0:
        return 0.0
    w = w / w.sum()
    away = f - w @ f
    spread = w @ away**2
    return float(np.clip(w @ (away * (y - w @ y)) / spread, 0.0, 1.0)) if spread > 0.0 else 0.0


def influences(sample: Sample, weight: float) -> tuple[float, np.ndarray]:
    """(estimate, each row's contribution less the estimate) with the judge at a weight."""
    seen, N = sample.seen, len(sample.label)
    w = np.where(seen, 1.0 / sample.chance, 0.0)
    r = np.where(seen, sample.label, 0.0) - weight * sample.score
    mean = float(w[seen] @ r[seen] / w.sum())
    value = weight * float(sample.score.mean()) + mean
    phi = weight * sample.score + mean + np.where(seen, w * (r - mean), 0.0) * N / w.sum()
    return value, phi - value


def residual_limits(
    residual: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray | None,
    ends: tuple[float, float],
    level: float,
    times: float = 1.0,
) -> tuple[float, float]:
    """(low, high) of the mean of residuals (n,) with weights of mean 1, or as of ``times`` as many
    rows; ``ends`` are the least and the largest possible residual.

    The unseen residual counts as several rows: as many as are worth one independent row, and at
    least the mean weight and the root of the mean size of a cluster, means over the weighted rows.
    A judge may fail in whole clusters, of which none has a label.
    """
    n, mean = len(residual), float(weight @ residual) / len(residual)
    if cluster is None and not np.ptp(weight) > 0.0:
        sums = times * np.array([power.sum() for power in powers(residual)])
        low, high = mean_limits(times * n, sums, *ends, level)
        return float(low), float(high)
    cluster = np.arange(n) if cluster is None else cluster
    # The limits of independent rows hold without Student's t, which the worth of rows includes.
    student = (normal_quantile(level, n - 1.0) / normal_quantile(level)) ** 2
    worth = min(student * mean_worth(residual, weight, cluster, level), 1.0)
    sizes, found = np.bincount(cluster, weights=weight), list[float]()
    apart = max(1.0 / worth, float(weight @ weight) / n, math.sqrt(sizes @ sizes / n))
    for side, end in enumerate(ends):
        r, w = np.append(residual, end), np.append(weight, apart / times)
        worth = min(student * mean_worth(r, w, np.append(cluster, cluster.max() + 1), level), 1.0)
        sums = times * worth * np.array([w @ power for power in powers(r)])
        rows = times * worth * w.sum()
        limit = float(mean_limits(rows, sums, sums[0] / rows, sums[0] / rows, level)[side])
        found.append(max(limit, mean) if side else min(limit, mean))
    return found[0], found[1]


def rate_limits(
    sample: Sample, slope: float, level: float, population: str = "new", times: float = 1.0
) -> Limits:
    """(rate, low, high) with the judge's scores at weight ``slope``, or as of ``times`` as many
    labels.

    The errors of the mean score and of the mean residual are added in quadrature at each end. For
    "log" the residuals of the rows without labels vary alone.
    """
    part, seen, N = sample.of(sample.seen), sample.seen, len(sample.label)
    weight = 1.0 / part.chance
    weight /= weight.mean()
    residual = part.label - slope * part.score
    mean = float(weight @ residual) / len(weight)
    reach = -slope * float(part.score.max()), 1.0 - slope * float(part.score.min())
    low, high = residual_limits(residual, weight, part.cluster, reach, level, times)
    moves, rest, score = weight * (residual - mean), 1.0, slope * sample.score
    value, spare = float(score.mean()) + mean, 0.0
    if population == "log":
        moves = moves if _squares(moves, part.cluster) > 0.0 else weight
        open_ = _squares(np.sqrt(1.0 - part.chance) * moves, part.cluster)
        rest = min(open_ / _squares(moves, part.cluster), 1.0)
    elif slope > 0.0:
        both = (score - score.mean()) / N
        both[seen] += moves / len(weight)
        spare = _squares(both, sample.cluster) - _squares(moves / len(weight), part.cluster)
        spare = normal_quantile(level) ** 2 * max(spare, 0.0)
    below, above = (math.sqrt(rest * (end - mean) ** 2 + spare) for end in (low, high))
    low, high = value - below, value + above
    # The mean of the scores corrected by few labels may leave the range of a rate.
    value = min(max(value, 0.0), 1.0)
    return value, min(max(low, 0.0), value), max(min(high, 1.0), value)


def narrower(sample: Sample, level: float, population: str = "new") -> tuple[float, Limits, Limits]:
    """(weight of the judge, limits with it, limits of the labels alone): the judge is used where it
    makes the interval narrower.
    """
    slope, alone = judge_weight(sample), rate_limits(sample, 0.0, level, population)
    judged = rate_limits(sample, slope, level, population) if slope > 0.0 else alone
    used = judged[2] - judged[1] < alone[2] - alone[1]
    return (slope, judged, alone) if used else (0.0, alone, alone)


def _squares(moves: np.ndarray, cluster: np.ndarray | None) -> float:
    """The sum of the squares of the sums by cluster."""
    sums = moves if cluster is None else np.bincount(cluster, weights=moves)
    return float(sums @ sums)
