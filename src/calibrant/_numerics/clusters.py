"""Rows that belong together: how many independent rows a sample of clusters is worth, estimates
pooled over sites, the rows of groups that overlap or nest, and groups that fix their outcome.

Rows with equal scores, or in one group, differ in their outcomes as often as chance lets them if
they are independent. Where they hardly ever do, as copies of a row, the group fixes the outcome.
"""

import math
from typing import Any

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.intervals import normal_interval, normal_quantile

__all__ = [
    "apart_limits",
    "between_variance",
    "dense",
    "expanded_level",
    "fixed_outcomes",
    "group_worth",
    "grow_regions",
    "mean_worth",
    "membership",
    "pooled_mean",
    "ranked_worth",
    "region_paths",
    "repeated_rows",
    "row_sums",
    "rows_by_group",
    "rubin",
    "scaled_columns",
    "scaled_rows",
    "side_shares",
    "variance_of_sum",
]


#: A variance below this share of the squares is rounding.
ROUNDING = 1e-13


def variance_of_sum(
    deviations: np.ndarray, cluster: np.ndarray, weight: np.ndarray
) -> tuple[float, float]:
    """(variance of the sum of the weighted deviations (n,) from a mean, robust to clusters of any
    size; its degrees of freedom).

    CR2: with p the share of the weight that a cluster has, its sum counts 1 / (1 - p) times;
    Satterthwaite's degrees of freedom are few if one cluster dominates. (nan, 0) for a single
    cluster. For crossed clusters (n, 2): V1 + V2 less that of their cells, at least the larger of
    the two, and the smaller degrees (Cameron, Gelbach and Miller 2011).
    """
    if cluster.ndim > 1:
        cells = np.unique(cluster, axis=0, return_inverse=True)[1].ravel()
        both = variance_of_sum(deviations, cells, weight)[0]
        first, second = (variance_of_sum(deviations, labels, weight) for labels in cluster.T)
        return max(first[0] + second[0] - both, first[0], second[0]), min(first[1], second[1])
    sums = np.bincount(cluster, weights=deviations)
    share = np.bincount(cluster, weights=weight) / weight.sum()
    if not share.max() < 1.0:
        return float("nan"), 0.0
    leverage = share * share / (1.0 - share)
    return float(sums @ (sums / (1.0 - share))), float(
        _freedom(share @ share, leverage.sum(), leverage @ leverage)
    )


def _freedom(squares: Any, leverage: Any, leverage_squared: Any) -> Any:
    """Satterthwaite's degrees of freedom of CR2, from the sums of the squared shares, of p^2 /
    (1 - p) and of the squares of that.
    """
    return 1.0 / np.maximum(squares + leverage**2 - leverage_squared, 1e-300)


def apart_limits(
    value: float,
    moves: np.ndarray,
    share: np.ndarray,
    bounded: bool,
    level: float,
) -> tuple[float, float] | None:
    """(low, high) of an estimate with influences ``moves`` (n,) and sampling weights.

    ``share`` (n,) is each row's share of the relevant weight. The variance is the sandwich
    sum(moves^2 / (1 - share)). The distribution is Student's t with Satterthwaite's degrees of
    freedom of the squares, sum(squares)^2 / sum(squares^2), which are few if large weights
    dominate. ``bounded`` estimates, from 0 to 1, use the log-odds scale. None where nothing varies.
    """
    if not share.max() < 1.0 or (bounded and not 0.0 < value < 1.0):
        return None
    squares = moves * moves / (1.0 - share)
    variance = float(squares.sum())
    if not variance > 0.0:
        return None
    freedom = max(variance**2 / float(squares @ squares), 1.0)
    if not bounded:
        low, high = normal_interval(value, variance, level, freedom)
        return float(low), float(high)
    variance /= (value * (1.0 - value)) ** 2
    low, high = normal_interval(special.logit(value), variance, level, freedom)
    return float(special.expit(low)), float(special.expit(high))


def side_shares(
    side: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """(share of its side's weight in each row's cluster or row, (n,); effective clusters of the
    rarer side).

    ``side`` is (n,) of 0 and 1, such as the rows with and without the event. 0 clusters where a
    side has no weight.
    """
    side = side.astype(np.intp)
    whole = np.bincount(side, weights=weight, minlength=2)
    if cluster is None:
        return np.minimum(1.0 / np.maximum(whole[side], 1e-300), 1.0), float(whole.min())
    cells = np.bincount(
        2 * cluster + side, weights=weight, minlength=2 * int(cluster.max()) + 2
    ).reshape(-1, 2)
    share = cells / np.where(whole > 0.0, whole, 1.0)
    worth = np.divide(1.0, (share * share).sum(axis=0), out=np.zeros(2), where=whole > 0.0)
    return share[cluster, side], float(worth.min())


def expanded_level(level: float, freedom: float) -> float:
    """Percentile level for a bootstrap of few clusters: wider, as Student's t is (Hesterberg)."""
    stretch = np.sqrt((freedom + 1.0) / freedom) * normal_quantile(level, freedom)
    return float(2.0 * special.ndtr(stretch) - 1.0)


def group_worth(
    hit: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    level: float,
    *,
    soft: bool = False,
) -> np.ndarray:
    """Factors, 0 to 1, that turn rows into effective rows for an interval of the share of hits by
    group, (n_groups,).

    It is the inverse of the design effect (CR2), times (z / t)^2 with Satterthwaite's degrees of
    freedom (Korn and Graubard). 0 where all rows are in one cluster. ``hit`` may be any number
    whose mean by group is estimated. With ``soft`` it is a share between 0 and 1: a row is compared
    with a binary one of the same mean, and may count for more.
    """
    cells, cell = np.unique(group * (int(cluster.max()) + 1) + cluster, return_inverse=True)
    of = cells // (int(cluster.max()) + 1)
    mass, hits = np.bincount(cell, weights=weight), np.bincount(cell, weights=weight * hit)

    def by_group(values: np.ndarray) -> np.ndarray:
        return np.bincount(of, weights=values, minlength=n_groups)

    whole, rate = by_group(mass), by_group(hits)
    whole = np.where(whole > 0.0, whole, 1.0)
    rate, share = rate / whole, mass / whole[of]
    rest = np.where(share < 1.0, 1.0 - share, 1.0)
    leverage = share * share / rest
    together = by_group((hits - rate[of] * mass) ** 2 / rest)
    freedom = _freedom(by_group(share * share), by_group(leverage), by_group(leverage * leverage))
    squares = np.bincount(group, weights=weight * hit * (1.0 if soft else hit), minlength=n_groups)
    some = np.bincount(of, minlength=n_groups) > 1
    mass_squared = by_group(mass * mass)
    worth = _worth(whole, rate, squares, together, mass_squared, freedom, level, soft)
    return np.where(some, worth, 0.0)


def mean_worth(values: np.ndarray, weight: np.ndarray, cluster: np.ndarray, level: float) -> float:
    """``group_worth`` of all rows together."""
    return float(
        group_worth(values, weight, cluster, np.zeros(len(values), dtype=np.intp), 1, level)[0]
    )


def ranked_worth(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray,
    level: float,
    *,
    of_all: bool = False,
) -> np.ndarray:
    """``group_worth`` of the rows with at least each distinct score, (m,) from the highest; with
    ``of_all`` for their hits as a share of all rows.
    """
    order = np.lexsort((cluster, -score))
    score, weight, cluster, part = (
        score[order],
        weight[order],
        cluster[order],
        (weight * hit)[order],
    )
    ends = np.flatnonzero(np.append(np.diff(score) < 0.0, True))
    hits, before = _sums_before(part, cluster), np.cumsum(part)
    if of_all:
        whole = np.bincount(cluster, weights=weight)
        sums = (
            before,
            np.cumsum(part * (2.0 * hits + part)),
            np.cumsum(part * whole[cluster]),
            np.full(len(part), whole @ whole),
            before,
        )
        return _in_ranks(
            [np.full(len(ends), weight.sum()), *(column[ends] for column in sums)], level
        )
    mass = _sums_before(weight, cluster)
    sums = (
        np.cumsum(weight),
        before,
        np.cumsum(part * (2.0 * hits + part)),
        np.cumsum(hits * weight + mass * part + part * weight),
        np.cumsum(weight * (2.0 * mass + weight)),
        np.cumsum(part * np.divide(part, weight, out=np.zeros_like(part), where=weight > 0.0)),
    )
    return _in_ranks([column[ends] for column in sums], level)


def _sums_before(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """The sum of the values of each row's cluster before the row, (n,)."""
    order = np.argsort(cluster, kind="stable")
    running = np.cumsum(values[order]) - values[order]
    first = np.append(True, np.diff(cluster[order]) > 0)
    out = np.empty_like(running)
    out[order] = running - running[first][np.cumsum(first) - 1]
    return out


def _in_ranks(sums: Any, level: float) -> np.ndarray:
    """``group_worth`` from sums: of weight and hits, of products within clusters, and of squares
    over rows.

    The variance is CR1 with the effective number of clusters, 1 / sum(p^2), which needs no pass for
    each rank.
    """
    n, hits, hits_squared, hits_mass, mass_squared, squares = sums
    n = np.where(n > 0.0, n, 1.0)
    rate, freedom = hits / n, n * n / mass_squared - 1.0
    several = freedom > ROUNDING
    known = np.where(several, freedom, 1.0)
    together = (
        np.maximum(hits_squared - 2.0 * rate * hits_mass + rate * rate * mass_squared, 0.0)
        * (known + 1.0)
        / known
    )
    return np.where(several, _worth(n, rate, squares, together, mass_squared, known, level), 0.0)


def _worth(
    n: Any,
    rate: Any,
    squares: Any,
    together: Any,
    mass_squared: Any,
    freedom: Any,
    level: float,
    soft: bool = False,
) -> np.ndarray:
    """The inverse of the design effect, times (z / t)^2.

    The effect is at least 1; that of ``soft`` outcomes is instead shrunk to 1, as by two more
    clusters.
    """
    alone = np.maximum(squares - n * rate * rate, 0.0) * n / np.maximum(n - 1.0, 1.0)
    # Where nothing varies each cluster counts as one row: the correlation of its rows is unknown.
    varies = alone > ROUNDING * squares
    effect = np.where(varies, together / np.where(varies, alone, 1.0), mass_squared / n)
    narrower = special.ndtri(0.5 + 0.5 * level) / special.stdtrit(freedom, 0.5 + 0.5 * level)
    if soft:
        return narrower**2 * (freedom + 2.0) / (freedom * effect + 2.0)
    return narrower**2 / np.maximum(effect, 1.0)


#: Points at which the restricted likelihood is evaluated before the highest one is refined.
GRID = 200


def between_variance(estimate: np.ndarray, variance: np.ndarray, method: str) -> float:
    """The variance between sites: by restricted likelihood ("reml"), or equating Q to its mean
    ("paule-mandel").
    """
    # Neither can be far above the variance of the estimates.
    most = 2.0 * float(np.var(estimate, ddof=1)) + 1e-12
    if method == "paule-mandel":
        if _surplus(0.0, estimate, variance) <= 0.0:
            return 0.0
        while _surplus(most, estimate, variance) > 0.0:
            most *= 2.0
        return float(
            scipy.optimize.brentq(_surplus, 0.0, most, args=(estimate, variance), xtol=1e-14)
        )
    grid = np.concatenate([[0.0], most * np.linspace(0.02, 2.0, GRID) ** 2])
    best = int(np.argmin([_restricted(t, estimate, variance) for t in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, GRID)]
    result = scipy.optimize.minimize_scalar(
        _restricted,
        args=(estimate, variance),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10 * most},
    )
    return 0.0 if _restricted(0.0, estimate, variance) <= result.fun else float(result.x)


def pooled_mean(estimate: np.ndarray, variance: np.ndarray, between: float) -> tuple[float, float]:
    """(mean over sites, its variance by Hartung and Knapp, to be used with Student's t of one
    degree less than there are sites).
    """
    weight = 1.0 / (variance + between)
    mean = float(weight @ estimate / weight.sum())
    return mean, float(weight @ (estimate - mean) ** 2 / ((len(estimate) - 1) * weight.sum()))


def rubin(
    estimate: np.ndarray, variance: np.ndarray, complete_freedom: float
) -> tuple[float, float, float, float]:
    """(mean over m imputations, its variance, degrees of freedom of Barnard and Rubin, share of the
    variance due to missing values).
    """
    m = len(estimate)
    within, between = float(variance.mean()), float(np.var(estimate, ddof=1)) * (1.0 + 1.0 / m)
    total = within + between
    share = between / total if total > 0.0 else 0.0
    observed = (
        (complete_freedom + 1.0) / (complete_freedom + 3.0) * complete_freedom * (1.0 - share)
        if math.isfinite(complete_freedom)
        else math.inf
    )
    old = (m - 1.0) / share**2 if share > 0.0 else math.inf
    freedom = (
        1.0 / (1.0 / old + 1.0 / observed)
        if observed > 0.0 and min(old, observed) < math.inf
        else min(old, observed)
    )
    return float(estimate.mean()), total, freedom, share


def _surplus(between: float, estimate: np.ndarray, variance: np.ndarray) -> float:
    weight = 1.0 / (variance + between)
    mean = weight @ estimate / weight.sum()
    return float(weight @ (estimate - mean) ** 2) - (len(estimate) - 1)


def _restricted(between: float, estimate: np.ndarray, variance: np.ndarray) -> float:
    """Minus twice the restricted log-likelihood."""
    weight = 1.0 / (variance + between)
    mean = weight @ estimate / weight.sum()
    return float(-np.log(weight).sum() + np.log(weight.sum()) + weight @ (estimate - mean) ** 2)


# -- Groups of rows --------------------------------------------------------------------------------


def rows_by_group(group: np.ndarray, n_groups: int) -> list[np.ndarray]:
    """Row numbers of each of the groups 0..n_groups-1, ascending: a list of n_groups integer
    arrays.
    """
    # NumPy sorts 16-bit integers by radix, in linear time.
    narrow = group.astype(np.uint16) if n_groups <= 65_536 else group
    order = np.argsort(narrow, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])


#: Codes below this many times their number are counted instead of sorted.
SPARSE = 4


def dense(code: np.ndarray) -> tuple[np.ndarray, int]:
    """(numbers 0..G-1 of the codes (n,), whole numbers from 0, in their order; G)."""
    if code.max(initial=0) > SPARSE * len(code):
        present, index = np.unique(code, return_inverse=True)
        return index, len(present)
    number = np.cumsum(np.bincount(code) > 0) - 1
    return number[code], int(number[-1]) + 1


def membership(
    group: np.ndarray, row: np.ndarray, shape: tuple[int, int], value: np.ndarray | None = None
) -> Any:
    """Sparse (groups, rows) with ``value`` (default 1) at each pair of group and row; repeated
    pairs add up.
    """
    return scipy.sparse.csr_array(
        (np.ones(len(row)) if value is None else value, (group, row)), shape=shape
    )


def scaled_columns(matrix: Any, by: np.ndarray) -> Any:
    """Each column times its number."""
    return scipy.sparse.csr_array(matrix @ scipy.sparse.diags_array(by))


def scaled_rows(matrix: Any, by: np.ndarray) -> Any:
    """Each row times its number."""
    return scipy.sparse.csr_array(scipy.sparse.diags_array(by) @ matrix)


def row_sums(matrix: Any) -> np.ndarray:
    """(groups,) sums."""
    return np.asarray(matrix.sum(axis=1)).ravel()


#: A feature that varies less than this, its spread over all rows being 1, cannot be halved.
LEAST_SPREAD = 1e-9


def grow_regions(points: np.ndarray, weight: np.ndarray, depth: int, least: float) -> np.ndarray:
    """(2^depth - 1, 2) feature and threshold of the nodes 0, 1, 2, ... whose halves are 2k + 1 and
    2k + 2; feature -1 where one is whole.

    A node is halved where both halves have at least ``least`` of the weight. Points, (n, d), have
    spreads of about 1.
    """
    nodes = np.full((2**depth - 1, 2), -1.0)
    node = np.zeros(len(points), dtype=np.intp)
    for k in range(len(nodes)):
        rows = node == k
        if not weight[rows].sum() >= 2.0 * least:
            continue
        feature, threshold = _halved(points[rows], weight[rows], least)
        if feature >= 0:
            nodes[k] = feature, threshold
            node[rows] = 2 * k + 1 + (points[rows, feature] > threshold)
    return nodes


def _halved(points: np.ndarray, weight: np.ndarray, least: float) -> tuple[int, float]:
    """(feature, threshold) of the halves, -1 for none."""
    mean = weight @ points / weight.sum()
    spread = weight @ (points - mean) ** 2 / weight.sum()
    # Ties between spreads are broken by position, not by rounding.
    for feature in np.argsort(-np.round(spread, 9), kind="stable").tolist():
        if spread[feature] <= LEAST_SPREAD:
            break
        values, place = np.unique(points[:, feature], return_inverse=True)
        mass = np.cumsum(np.bincount(place, weight))
        cut = int(np.argmin(np.abs(np.round(mass[:-1] / mass[-1] - 0.5, 9))))
        if min(mass[cut], mass[-1] - mass[cut]) >= least:
            return feature, 0.5 * (values[cut] + values[cut + 1])
    return -1, 0.0


def region_paths(nodes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n, depth) the node that each row is in at each depth from 1 on, -1 below a whole one."""
    depth = (len(nodes) + 1).bit_length() - 1
    node, out = (
        np.zeros(len(points), dtype=np.intp),
        np.full((len(points), depth), -1, dtype=np.intp),
    )
    for level in range(depth):
        feature = np.where(node >= 0, nodes[np.maximum(node, 0), 0], -1.0).astype(np.intp)
        going = feature >= 0
        right = (
            points[np.arange(len(points)), np.maximum(feature, 0)] > nodes[np.maximum(node, 0), 1]
        )
        node = np.where(going, 2 * node + 1 + right, -1)
        out[:, level] = node
    return out


# -- Groups that fix their outcome -----------------------------------------------------------------

#: Largest share of the rows in one group: a larger one may be a value of a discrete score.
LARGE = 0.05
#: Share of the expected differences that may occur, and the largest probability that so few do by
#: chance.
FEW, SURE = 0.25, 1e-4
#: Fewest distinct rows whose numbers of copies are compared.
DISTINCT = 20


def fixed_outcomes(
    group: np.ndarray, score: np.ndarray, outcome: np.ndarray, place: np.ndarray | None = None
) -> np.ndarray:
    """(n,) whether a row is in a small group of several rows, if the outcomes of these groups are
    fixed; else all False.

    ``group`` (n,) numbers 0..G-1, ``outcome`` (n,) 0 or 1, whose rate is assumed to rise with
    ``score`` (n,) or to fall. ``place`` (n,) is the index of each score among the distinct ones,
    where it is known.
    """
    size = np.bincount(group)
    several = (size > 1) & (size <= LARGE * len(group))
    small = several[group]
    if not small.any():
        return small
    place = np.unique(score, return_inverse=True)[1] if place is None else place
    mass = np.bincount(place).astype(np.float64)
    mean = np.bincount(place, weights=outcome) / mass
    rising = float((np.arange(len(mass)) - 0.5 * len(mass)) @ (mean - mean.mean())) >= 0.0
    rate = scipy.optimize.isotonic_regression(mean, weights=mass, increasing=rising).x[place]
    hits, predicted, spread = (
        np.bincount(group, weights=each) for each in (outcome, rate, rate * (1.0 - rate))
    )
    # Of m rows with k events in random order, 2 k (m - k) / m neighbours differ on average.
    differing = float((2.0 * hits * (size - hits) / np.maximum(size, 1))[several].sum())
    pairs = 2.0 * (predicted * (size - predicted) - spread) / np.maximum(size, 1)
    expected = float(pairs[several].sum())
    sure = differing <= FEW * expected and special.pdtr(np.floor(differing), expected) <= SURE
    return small if sure else np.zeros_like(small)


def repeated_rows(
    content: np.ndarray, score: np.ndarray, outcome: np.ndarray, place: np.ndarray | None = None
) -> np.ndarray:
    """(n,) whether a row repeats an earlier one, if rows of equal content are copies of each other;
    else all False.

    They are where their outcomes are fixed, and where each of ``DISTINCT`` rows or more occurs a
    multiple of the same number of times. ``content`` (n,) are equal for equal predictions.
    """
    group = np.unique(content, return_inverse=True)[1]
    binary = bool(np.isin(outcome, (0.0, 1.0)).all())
    kind = outcome.astype(np.intp) if binary else np.unique(outcome, return_inverse=True)[1]
    rows = group * (int(kind.max(initial=0)) + 1) + kind
    times = np.bincount(rows)
    times = times[times > 0]
    copies = np.full(len(group), len(times) >= DISTINCT and np.gcd.reduce(times) > 1)
    if not copies.any() and binary:
        copies = fixed_outcomes(group, score, outcome, place)
    if not copies.any():
        return copies
    first = np.zeros(len(group), bool)
    first[np.unique(rows, return_index=True)[1]] = True
    return copies & ~first
