"""Draws of weights and of outcomes: bootstrap weights, nulls, and limits by simulation."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse, special

__all__ = [
    "bca_limits",
    "bootstrap_totals",
    "draw_hits",
    "draw_shared_hits",
    "hit_drawer",
    "leave_out_values",
    "null_generator",
    "percentile_limits",
    "resample_weights",
    "resampled_sums",
    "score_drawer",
    "shared_share",
    "simulated_limits",
]

#: Rows beyond which a resample draws whole random parts of the rows instead of single rows.
MANY_ROWS = 50_000
PARTS = 2_000
#: Parts that are left out in turn.
LEFT_OUT = 200
#: With unequal weights, rows are split among the parts into about this many pieces.
PIECES = 1_000_000
#: Resamples summed at a time.
CHUNK = 64


def resample_weights(weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One resample: how many times each row is drawn, (n,) float64, of round(sum of weights)
    draws in proportion to the weights.
    """
    if (weight == 1.0).all():
        return np.bincount(rng.integers(0, len(weight), len(weight)), minlength=len(weight)).astype(
            np.float64
        )
    total = weight.sum()
    return rng.multinomial(max(round(float(total)), 1), weight / total).astype(np.float64)


def bootstrap_totals(
    weight: np.ndarray, value: Callable[[np.ndarray], float], n_resamples: int, random_state: int
) -> np.ndarray:
    """``value(weight)`` on each of ``n_resamples`` seeded resamples of rows of these weights,
    (n_resamples,).
    """
    rng = np.random.default_rng(random_state)
    return np.array([value(resample_weights(weight, rng)) for _ in range(n_resamples)])


def leave_out_values(
    weight: np.ndarray, value: Callable[[np.ndarray], float], random_state: int
) -> np.ndarray:
    """``value(weight)`` with one part of the rows left out, for at most 200 random equal parts
    (single rows if few).
    """
    n = len(weight)
    part = np.random.default_rng(random_state).permutation(n) % min(n, LEFT_OUT)
    return (
        np.array([value(np.where(part == j, 0.0, weight)) for j in range(part.max() + 1)])
        if part.max()
        else np.zeros(0)
    )


def percentile_limits(values: np.ndarray, level: float) -> Any:
    """Equal-tailed percentile interval of the finite values; nan where there are none."""
    values = values[np.isfinite(values)]
    return (
        np.quantile(values, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        if len(values)
        else (np.nan, np.nan)
    )


def bca_limits(values: np.ndarray, value: float, left_out: np.ndarray, level: float) -> Any:
    """Bias-corrected and accelerated interval (Efron 1987): ``values`` on resamples,
    ``left_out`` with parts of the rows left out.
    """
    values, left_out = values[np.isfinite(values)], left_out[np.isfinite(left_out)]
    if len(values) == 0:
        return np.nan, np.nan
    below = (np.sum(values < value) + 0.5 * np.sum(values == value)) / len(values)
    bias = special.ndtri(np.clip(below, 0.5 / len(values), 1.0 - 0.5 / len(values)))
    gap = left_out.mean() - left_out if len(left_out) else np.zeros(1)
    spread = (gap * gap).sum() ** 1.5
    acceleration = (gap**3).sum() / (6.0 * spread) if spread > 0.0 else 0.0
    z = bias + special.ndtri(np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]))
    return np.quantile(values, special.ndtr(bias + z / np.maximum(1.0 - acceleration * z, 1e-3)))


def resampled_sums(
    sets: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]],
    n_groups: int,
    weight: np.ndarray,
    n_resamples: int,
    random_state: int,
) -> np.ndarray:
    """Sums per group on bootstrap resamples of the rows, groups held fixed.

    ``sets`` is a list of (group (n,), columns); returns (n_resamples, len(sets), n_groups, 1 +
    columns), the first column the weight. With more than 50,000 rows, 2,000 random parts of the
    rows are resampled instead of the rows.
    """
    rng = np.random.default_rng(random_state)
    n = len(weight)
    sets, each = [(group, (np.ones(n), *columns)) for group, columns in sets], weight
    if n > MANY_ROWS:
        table, each = _sums_of_parts(sets, n_groups, weight, rng)
    else:
        table = _each_row(sets, n_groups)
    # Parts are drawn once on average, rows in proportion to their weight.
    out, scale = np.empty((n_resamples, table.shape[0])), 1.0 / each[0] if n > MANY_ROWS else 1.0
    for start in range(0, n_resamples, CHUNK):
        draws = np.stack(
            [resample_weights(each, rng) for _ in range(min(CHUNK, n_resamples - start))], axis=1
        )
        out[start : start + draws.shape[1]] = scale * (table @ draws).T
    return out.reshape(n_resamples, len(sets), -1, n_groups).swapaxes(2, 3)


def _sums_of_parts(
    sets: list[tuple[np.ndarray, tuple[Any, ...]]], n_groups: int, weight: np.ndarray, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """((sets * columns * groups, parts) sums over random parts of the rows, how many times each
    part is to be drawn (parts,)).

    A weight of w is w rows, which fall into parts separately: otherwise one heavy row would
    dominate every resample. Where pieces have another weight than 1, the number of drawn parts
    compensates.
    """
    total = weight.sum()
    pieces = np.maximum(np.ceil(weight / max(total / PIECES, 1.0)), 1.0).astype(np.intp)
    row = slice(None) if (pieces == 1).all() else np.repeat(np.arange(len(weight)), pieces)
    share = (weight / pieces)[row]
    part = rng.integers(0, PARTS, len(share)) * n_groups
    sums = [
        np.bincount(part + group[row], column[row] * share, PARTS * n_groups)
        for group, columns in sets
        for column in columns
    ]
    drawn = max(round(PARTS * float(share @ share) / float(total)), 1)
    return np.concatenate([one.reshape(PARTS, n_groups).T for one in sums]), np.full(
        PARTS, drawn / PARTS
    )


def _each_row(sets: list[tuple[np.ndarray, tuple[Any, ...]]], n_groups: int) -> Any:
    """The same of single rows, sparse, (sets * columns * groups, n): a row has one entry for
    each set and column.
    """
    columns = np.stack([column for _, columns in sets for column in columns], axis=1)
    n, count = columns.shape
    places = np.stack(
        [group for group, columns in sets for _ in columns], axis=1
    ) + n_groups * np.arange(count)
    return sparse.csc_array(
        (columns.ravel(), places.ravel(), count * np.arange(n + 1)), shape=(count * n_groups, n)
    )


#: Mixed into every seed: data simulated with ``default_rng(0)`` must not share its numbers with a
#: null drawn from seed 0.
OWN = 0xCA11B8A7


def null_generator(random_state: int) -> np.random.Generator:
    """Generator for draws under a null hypothesis; a seed gives a separate stream, a Generator or
    None is returned unchanged.
    """
    return np.random.default_rng(
        [OWN, random_state] if isinstance(random_state, int | np.integer) else random_state
    )


#: How far the recalibrated probabilities are drawn from the scores: 0 is calibrated, 1 is the
#: recalibration.
STRETCH = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5])


def draw_hits(probability: np.ndarray, weight: np.ndarray, rng: Any) -> np.ndarray:
    """Outcomes drawn from their probabilities, (n,); a row of weight w stands for w draws
    (rounded) and gets their share of hits.
    """
    if (weight == 1.0).all():
        return (rng.random(len(probability)) < probability).astype(np.float64)
    times = np.maximum(np.rint(weight), 1.0).astype(np.int64)
    return rng.binomial(times, probability) / times


def simulated_limits(
    error: Callable[..., Any],
    score: np.ndarray,
    recalibrated: np.ndarray,
    weight: np.ndarray,
    observed: float,
    level: float,
    n_draws: int,
    rng: Any,
) -> tuple[float, float, float]:
    """(estimate, low, high) of the error ``error(hits)``, whose value on the data is ``observed``.

    For each stretch the truth is score + stretch (recalibrated - score); the error's quantiles over
    outcomes drawn from it are compared with the value observed. The limits put it at either tail,
    and the estimate makes it the median.
    """
    tail = 0.5 - 0.5 * level
    direction = recalibrated - score
    truths, quantiles = _grid(error, score, direction, weight, tail, n_draws, rng, STRETCH)
    low, estimate = (
        _crossing(truths, quantiles[:, 2], observed),
        _crossing(truths, quantiles[:, 1], observed),
    )
    null_median = quantiles[0, 1]
    if observed < null_median:
        # Less error than expected under calibration does not reveal its shape: shift all scores one
        # way, by steps of a standard error, with no tighter limit than a typical calibrated sample.
        sign = 1.0 if weight @ direction >= 0.0 else -1.0
        step = sign * np.sqrt(np.maximum(weight @ (score * (1.0 - score)), 1.0)) / weight.sum()
        # Shrunk near the ends, so that the truth stays inside [0, 1].
        room = np.where(sign > 0.0, 1.0 - score, score)
        truths, quantiles = _grid(
            error,
            score,
            step * np.minimum(1.0, 2.0 * room),
            weight,
            tail,
            n_draws,
            rng,
            3.0 * STRETCH,
        )
    high = _crossing(truths, quantiles[:, 0], max(observed, null_median))
    return min(estimate, observed), min(low, estimate, observed), max(high, estimate)


def _grid(
    error: Callable[..., Any],
    score: np.ndarray,
    direction: np.ndarray,
    weight: np.ndarray,
    tail: float,
    n_draws: int,
    rng: Any,
    stretch: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The true error at each stretch, ascending, and its (tail, 1/2, 1 - tail) quantiles over
    draws of the outcomes.
    """
    seed = rng.integers(2**63)
    truths, quantiles = [], []
    for t in stretch:
        truth = np.clip(score + t * direction, 0.0, 1.0)
        truths.append(error(truth))
        again = np.random.default_rng(seed)
        values = [error(draw_hits(truth, weight, again)) for _ in range(n_draws)]
        quantiles.append(np.quantile(values, [tail, 0.5, 1.0 - tail], method="weibull"))
    return np.maximum.accumulate(truths), np.maximum.accumulate(quantiles, axis=0)


def _crossing(truths: np.ndarray, quantile: np.ndarray, observed: float) -> float:
    """The true error at which the quantile equals the observed value: 0 below the first,
    extrapolated linearly above the last.
    """
    if observed <= quantile[0]:
        return 0.0
    if observed >= quantile[-1]:
        return float(truths[-1] + observed - quantile[-1])
    j = int(np.searchsorted(quantile, observed, side="left"))
    share = (observed - quantile[j - 1]) / (quantile[j] - quantile[j - 1])
    return float(truths[j - 1] + share * (truths[j] - truths[j - 1]))


def shared_share(score: np.ndarray, hit: np.ndarray, cluster: np.ndarray) -> float:
    r"""The share, 0 to 1, of pairs of rows of a cluster that one uniform number decides, by the
    products of their residuals.

    .. math:: \lambda = \frac{\sum_{i \ne j} (h_i - s_i)(h_j - s_j)}{\sum_{i \ne j} (\min(s_i, s_j)
        - s_i s_j)}

    over the pairs (n,) of one cluster: their covariance, relative to that of outcomes from one
    common uniform number.
    """
    order = np.lexsort((score, cluster))
    score, residual, cluster = score[order], (hit - score)[order], cluster[order]
    start = np.flatnonzero(np.append(True, np.diff(cluster) > 0))
    size = np.diff(np.append(start, len(score)))
    later = np.repeat(start + size, size) - 1 - np.arange(len(score))
    seen = (np.add.reduceat(residual, start) ** 2).sum() - (residual**2).sum()
    # In ascending order each score is the minimum with all later ones.
    most = (
        2.0 * (score * later).sum() - (np.add.reduceat(score, start) ** 2).sum() + (score**2).sum()
    )
    return float(np.clip(seen / most, 0.0, 1.0)) if most > 0.0 else 0.0


def draw_shared_hits(
    score: np.ndarray, cluster: np.ndarray, share: float, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Outcomes (n_draws, n) of rows in clusters 0..G-1; a ``share`` of the pairs of a cluster has
    one common uniform number.
    """
    of_cluster = rng.random((n_draws, int(cluster.max()) + 1))[:, cluster]
    own, together = rng.random((2, n_draws, len(score)))
    return (np.where(together < np.sqrt(share), of_cluster, own) < score).astype(np.float64)


def hit_drawer(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None
) -> Callable[[np.random.Generator], np.ndarray]:
    """A function that draws the outcomes (n,) of calibrated scores; within clusters they are as
    correlated as ``hit``.

    A row of weight w stands for w rows (rounded) and gets their share of hits. The order of the
    rows does not count.
    """
    order = np.lexsort([*([] if cluster is None else [cluster]), hit, weight, score])
    back, score, hit, weight = np.argsort(order), score[order], hit[order], weight[order]
    if cluster is None:
        return lambda rng: draw_hits(score, weight, rng)[back]
    times = np.maximum(np.rint(weight), 1.0)
    row = np.repeat(np.arange(len(score)), times.astype(np.intp))
    score, cluster = score[row], cluster[order][row]
    share = shared_share(score, hit[row], cluster)

    def drawn(rng: np.random.Generator) -> np.ndarray:
        each = draw_shared_hits(score, cluster, share, 1, rng)[0]
        return (np.bincount(row, weights=each) / times)[back]

    return drawn


def score_drawer(
    score: np.ndarray, cluster: np.ndarray | None
) -> Callable[[np.random.Generator], np.ndarray]:
    """A function that draws standard normal scores (n,); those of a cluster are correlated as
    the given ones are about their mean. The order of the rows does not count.
    """
    n, place = len(score), np.argsort(np.argsort(score, kind="stable"), kind="stable")
    if cluster is None:
        return lambda rng: rng.standard_normal(n)[place]
    centred = np.clip(score, -40.0, 40.0)
    centred = centred - centred.mean()
    sums, size = np.bincount(cluster, weights=centred), np.bincount(cluster)
    squares, pairs = centred @ centred, float(size @ size) - n
    alike = (
        np.clip((sums @ sums - squares) / pairs * n / squares, 0.0, 1.0)
        if pairs > 0.0 and squares > 0.0
        else 0.0
    )
    own, shared = np.sqrt(1.0 - alike), np.sqrt(alike)
    return lambda rng: (
        own * rng.standard_normal(n)[place] + shared * rng.standard_normal(len(size))[cluster]
    )
