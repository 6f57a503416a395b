"""Rows that hang together: as how many independent ones they count, and how the variance of a sum follows from the clusters'."""

import numpy as np
from scipy import special

from calibrant._kernels.intervals import normal_quantile

__all__ = ["expanded_level", "group_worth", "mean_worth", "ranked_worth", "side_shares", "variance_of_sum"]

#: A variance below this share of the squares is rounding.
ROUNDING = 1e-13


def variance_of_sum(deviations: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    """(cluster-robust variance (CR1) of the sum of the deviations (n,) from their mean, its degrees of freedom: clusters less one)."""
    sums = np.bincount(cluster, weights=deviations)
    sums = sums[np.bincount(cluster, minlength=len(sums)) > 0]
    return float(sums @ sums) * len(sums) / (len(sums) - 1.0), len(sums) - 1.0


def side_shares(side: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None) -> tuple[np.ndarray, float]:
    """(share of its side's weight that each row's cluster has, or the row, (n,); of how many equal clusters the rarer side is worth).

    ``side`` is (n,) of 0 and 1, such as the rows with and without the event. 0 clusters where a side has no weight.
    """
    side = side.astype(np.intp)
    whole = np.bincount(side, weights=weight, minlength=2)
    if cluster is None:
        return np.minimum(1.0 / np.maximum(whole[side], 1e-300), 1.0), float(whole.min())
    cells = np.bincount(2 * cluster + side, weights=weight, minlength=2 * int(cluster.max()) + 2).reshape(-1, 2)
    share = cells / np.where(whole > 0.0, whole, 1.0)
    worth = np.divide(1.0, (share * share).sum(axis=0), out=np.zeros(2), where=whole > 0.0)
    return share[cluster, side], float(worth.min())


def expanded_level(level: float, freedom: float) -> float:
    """The level at which to take percentiles of a bootstrap of few clusters for ``level``: wider as Student's t is (Hesterberg)."""
    stretch = np.sqrt((freedom + 1.0) / freedom) * normal_quantile(level, freedom)
    return float(2.0 * special.ndtr(stretch) - 1.0)


def group_worth(hit: np.ndarray, weight: np.ndarray, cluster: np.ndarray, group: np.ndarray, n_groups: int, level: float) -> np.ndarray:
    """By what rows are to be multiplied, 0 to 1, for an interval of independent rows to be one of the share of hits by group, (n_groups,).

    It is the inverse of the design effect, times (z / t)^2 with as many degrees of freedom as clusters less one (Korn and Graubard). 0
    where all rows are of one cluster, which says nothing of others. ``hit`` may be any number whose mean by group is looked at.
    """
    cells, cell = np.unique(group * (int(cluster.max()) + 1) + cluster, return_inverse=True)
    of = cells // (int(cluster.max()) + 1)
    mass, hits = np.bincount(cell, weights=weight), np.bincount(cell, weights=weight * hit)
    sums = [np.bincount(of, weights=one, minlength=n_groups) for one in (mass, hits, hits * hits, hits * mass, mass * mass)]
    squares = np.bincount(group, weights=weight * hit * hit, minlength=n_groups)
    return _worth([*sums, squares, np.bincount(of, minlength=n_groups)], level)


def mean_worth(values: np.ndarray, weight: np.ndarray, cluster: np.ndarray, level: float) -> float:
    """``group_worth`` of all rows together."""
    return float(group_worth(values, weight, cluster, np.zeros(len(values), dtype=np.intp), 1, level)[0])


def ranked_worth(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, cluster: np.ndarray, level: float, *, of_all: bool = False
) -> np.ndarray:  # fmt: skip
    """The same of the rows of at least each distinct score, (m,) from the highest; with ``of_all`` of their hits as a share of all rows."""
    order = np.lexsort((cluster, -score))
    score, weight, cluster, part = score[order], weight[order], cluster[order], (weight * hit)[order]
    ends = np.flatnonzero(np.append(np.diff(score) < 0.0, True))
    hits, before = _so_far(part, cluster), np.cumsum(part)
    if of_all:
        whole = np.bincount(cluster, weights=weight)
        sums = before, np.cumsum(part * (2.0 * hits + part)), np.cumsum(part * whole[cluster])
        n, both, count = weight.sum(), np.full(len(part), whole @ whole), np.full(len(part), np.count_nonzero(whole))
        return _worth([np.full(len(ends), n), *(one[ends] for one in (*sums, both, before, count))], level)
    mass = _so_far(weight, cluster)
    sums = (
        np.cumsum(weight), before, np.cumsum(part * (2.0 * hits + part)), np.cumsum(hits * weight + mass * part + part * weight),
        np.cumsum(weight * (2.0 * mass + weight)), np.cumsum(part * np.divide(part, weight, out=np.zeros_like(part), where=weight > 0.0)),
        np.cumsum(mass <= 0.0),
    )  # fmt: skip
    return _worth([one[ends] for one in sums], level)


def _so_far(values, cluster):
    """The sum of the values of each row's cluster before the row, (n,)."""
    order = np.argsort(cluster, kind="stable")
    running = np.cumsum(values[order]) - values[order]
    first = np.append(True, np.diff(cluster[order]) > 0)
    out = np.empty_like(running)
    out[order] = running - running[first][np.cumsum(first) - 1]
    return out


def _worth(sums, level):
    """From sums: of weight and hits, over clusters of products of their hits and their mass, over rows of squares; and the clusters."""
    n, hits, hits_squared, hits_mass, mass_squared, squares, clusters = sums
    n = np.where(n > 0.0, n, 1.0)
    rate, freedom = hits / n, np.maximum(clusters - 1.0, 1.0)
    alone = np.maximum(squares - n * rate * rate, 0.0) * n / np.maximum(n - 1.0, 1.0)
    together = np.maximum(hits_squared - 2.0 * rate * hits_mass + rate * rate * mass_squared, 0.0) * (freedom + 1.0) / freedom
    # Where nothing varies each cluster counts as one row of the mean size: nothing is known of how alike its rows are.
    varies = alone > ROUNDING * squares
    effect = np.where(varies, together / np.where(varies, alone, 1.0), mass_squared / n)
    narrower = special.ndtri(0.5 + 0.5 * level) / special.stdtrit(freedom, 0.5 + 0.5 * level)
    return np.where(clusters > 1, narrower**2 / np.maximum(effect, 1.0), 0.0)
