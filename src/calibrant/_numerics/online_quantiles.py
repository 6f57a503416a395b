"""Quantiles of scores that arrive one after the other: sorted windows, weights of experts, and the
feedback that keeps the share of misses at its level.
"""

import math

import numpy as np

from calibrant._numerics.conformal import conformal_rank

__all__ = [
    "feedback",
    "hedge_weights",
    "ideal_worst_window",
    "pinball",
    "rank_within",
    "replace_sorted",
    "saturation",
    "worst_window",
]

#: The feedback is infinite beyond this many standard deviations, times pi / 2, of the misses of
#: independent rows.
REACH = 3.0
#: Rows that the feedback adds to those seen, so that the first few misses change little.
EARLY = 10.0
#: Strength of the feedback in mean absolute scores.
GAIN = 0.3


def replace_sorted(rows: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
    """Replace one value in each ascending row of (J, W), in place; the rows remain sorted."""
    for row, gone, come in zip(rows, old, new, strict=True):
        i, j = int(row.searchsorted(gone)), int(row.searchsorted(come))
        if i < j:
            row[i : j - 1] = row[i + 1 : j]
            row[j - 1] = come
        else:
            row[j + 1 : i + 1] = row[j:i]
            row[j] = come


def rank_within(n: int, level: float) -> int:
    """The conformal rank of a level among n scores, at least 1 and at most n."""
    return max(1, min(n, int(conformal_rank(n, level))))


def pinball(limit: np.ndarray, score: np.ndarray, level: float) -> np.ndarray:
    """Pinball loss of limits (E, J) for scores (E, 1)."""
    return np.maximum(level * (score - limit), (level - 1.0) * (score - limit))


def hedge_weights(losses: np.ndarray, gap: float) -> tuple[np.ndarray, float]:
    """(weights of the experts (J,), their mix loss) by AdaHedge, from their summed losses and the
    summed mixability gap.
    """
    least = float(losses.min())
    if gap <= 0.0:
        weight = (losses == least).astype(np.float64)
        return weight / weight.sum(), least
    eta = math.log(max(len(losses), 2)) / gap
    weight = np.exp(-eta * (losses - least))
    total = float(weight.sum())
    return weight / total, least - math.log(total / len(losses)) / eta


def saturation(n: float, level: float, delay: int) -> float:
    """The sum of misses beyond their expected number, over pi / 2, at which the feedback after n
    rows is infinite; with a delay, n / (delay + 1) rows count as independent.
    """
    return REACH * math.sqrt(level * (1.0 - level) * (delay + 1) * (n + EARLY * (delay + 1)))


def feedback(excess: float, saturated: float) -> float:
    """The addition to a limit, in mean absolute scores: the tangent of the sum of misses beyond
    their expected number.
    """
    angle = excess / saturated
    if abs(angle) >= 0.5 * math.pi:
        return math.copysign(math.inf, angle)
    return GAIN * math.tan(angle)


def worst_window(covered: np.ndarray, size: int) -> float:
    """The least share of covered rows (n,) in any window of ``size`` rows, or in all if fewer."""
    size = min(size, len(covered))
    total = np.append(0, np.cumsum(covered))
    return float((total[size:] - total[:-size]).min()) / size


def ideal_worst_window(n: int, level: float, size: int) -> float:
    """The median over 200 simulated series of the worst window of n independent rows, each covered
    with probability ``level``.
    """
    rng = np.random.default_rng(0)
    return float(np.median([worst_window(rng.random(n) < level, size) for _ in range(200)]))
