"""Draws of weights and of outcomes: the bootstrap, nulls, limits by simulation, and draws that
depend on the content of rows, not on their names or order.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy
from scipy import special

__all__ = [
    "MANY_ROWS",
    "ROWS_FOR_EACH",
    "bca_limits",
    "binomial_gaps",
    "bootstrap_totals",
    "content_seed",
    "draw_hits",
    "draw_shared_hits",
    "drawn_by_score",
    "each_of",
    "entry_codes",
    "halves",
    "hit_drawer",
    "leave_out_values",
    "level_codes",
    "mixed_codes",
    "null_generator",
    "numbered_by_content",
    "of_whole_rows",
    "one_of_each",
    "percentile_limits",
    "placed_codes",
    "pooled_gaps",
    "resample_weights",
    "resampled_sums",
    "row_codes",
    "score_drawer",
    "shared_share",
    "simulated_limits",
    "table_codes",
    "uniform_of_rows",
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
    columns), the first column the weight. With more than 50,000 rows, or weights that stand for so
    many, 2,000 random parts of the rows are resampled instead of the rows.
    """
    rng = np.random.default_rng(random_state)
    n = len(weight)
    many = n > MANY_ROWS or (n > PARTS and weight.sum() > MANY_ROWS)
    sets, each = [(group, (np.ones(n), *columns)) for group, columns in sets], weight
    if many:
        table, each = _sums_of_parts(sets, n_groups, weight, rng)
    else:
        table = _each_row(sets, n_groups)
    # Parts are drawn once on average, rows in proportion to their weight.
    out, scale = np.empty((n_resamples, table.shape[0])), 1.0 / each[0] if many else 1.0
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
    return np.concatenate([table.reshape(PARTS, n_groups).T for table in sums]), np.full(
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
    return scipy.sparse.csc_array(
        (columns.ravel(), places.ravel(), count * np.arange(n + 1)), shape=(count * n_groups, n)
    )


#: Mixed into every seed: data simulated with ``default_rng(0)`` must not share its numbers with a
#: null drawn from seed 0.
RANDOM_KEY = 0xCA11B8A7


def null_generator(random_state: int) -> np.random.Generator:
    """Generator for draws under a null hypothesis; a seed gives a separate stream, a Generator or
    None is returned unchanged.
    """
    return np.random.default_rng(
        [RANDOM_KEY, random_state] if isinstance(random_state, int | np.integer) else random_state
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
    grid = partial(_grid, error, score, weight=weight, tail=tail, n_draws=n_draws)
    seed, low, estimate = rng.integers(2**63), 0.0, 0.0
    truths, quantiles = grid(direction, seed=seed, stretch=STRETCH[:1])
    null_median = quantiles[0, 1]
    if observed >= null_median:
        more = grid(direction, seed=seed, stretch=STRETCH[1:])
        truths = np.maximum.accumulate(np.append(truths, more[0]))
        quantiles = np.maximum.accumulate(np.append(quantiles, more[1], axis=0), axis=0)
        low, estimate = (_crossing(truths, quantiles[:, k], observed) for k in (2, 1))
    else:
        # Less error than expected under calibration does not reveal its shape: shift all scores one
        # way, by steps of a standard error, with no tighter limit than a typical calibrated sample.
        sign = 1.0 if weight @ direction >= 0.0 else -1.0
        step = sign * np.sqrt(np.maximum(weight @ (score * (1.0 - score)), 1.0)) / weight.sum()
        # Shrunk near the ends, so that the truth stays inside [0, 1].
        room = np.where(sign > 0.0, 1.0 - score, score)
        shifted = step * np.minimum(1.0, 2.0 * room)
        truths, quantiles = grid(shifted, seed=rng.integers(2**63), stretch=3.0 * STRETCH)
    high = _crossing(truths, quantiles[:, 0], max(observed, null_median))
    return min(estimate, observed), min(low, estimate, observed), max(high, estimate)


def _grid(
    error: Callable[..., Any],
    score: np.ndarray,
    direction: np.ndarray,
    weight: np.ndarray,
    tail: float,
    n_draws: int,
    seed: int,
    stretch: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The true error at each stretch, ascending, and its (tail, 1/2, 1 - tail) quantiles over
    draws of the outcomes.
    """
    truths, quantiles = [], []
    for t in stretch:
        truth = np.clip(score + t * direction, 0.0, 1.0)
        truths.append(error(truth))
        generator = np.random.default_rng(seed)
        values = each_of(error, (draw_hits(truth, weight, generator) for _ in range(n_draws)))
        quantiles.append(np.quantile(values, [tail, 0.5, 1.0 - tail], method="weibull"))
    return np.maximum.accumulate(truths), np.maximum.accumulate(quantiles, axis=0)


def each_of(error: Callable[..., Any], draws: Iterable[np.ndarray]) -> list[float]:
    """``error(hits)`` of each of several draws; by its method ``each``, if it has one, for many at
    a time.
    """
    return error.each(draws) if hasattr(error, "each") else [error(hits) for hits in draws]


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
    observed = (np.add.reduceat(residual, start) ** 2).sum() - (residual**2).sum()
    # In ascending order each score is the minimum with all later ones.
    most = (
        2.0 * (score * later).sum() - (np.add.reduceat(score, start) ** 2).sum() + (score**2).sum()
    )
    return float(np.clip(observed / most, 0.0, 1.0)) if most > 0.0 else 0.0


def draw_shared_hits(
    score: np.ndarray, cluster: np.ndarray, share: float, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Outcomes (n_draws, n) of rows in clusters 0..G-1; a ``share`` of the pairs of a cluster has
    one common uniform number.
    """
    of_cluster = rng.random((n_draws, int(cluster.max()) + 1))[:, cluster]
    separate, together = rng.random((2, n_draws, len(score)))
    return (np.where(together < np.sqrt(share), of_cluster, separate) < score).astype(np.float64)


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


#: Variance from which a binomial number is drawn as a rounded normal one with its skewness.
STEADY = 9.0


def binomial_gaps(
    times: np.ndarray, risk: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """(m, count) numbers of events in ``times`` draws (m,) of a risk (m,), minus the expected ones;
    the fraction of a draw varies as that share of one.
    """
    whole, out = np.floor(times), np.empty((len(times), count))
    rest, mean = np.sqrt(times - whole)[:, None], (whole * risk)[:, None]
    large = mean[:, 0] * (1.0 - risk) >= STEADY
    for k in np.flatnonzero(~large):
        out[k] = rng.binomial(int(whole[k]), risk[k], count) - mean[k]
    large = np.flatnonzero(large)
    mean, p = mean[large], risk[large, None]
    variance, part = mean * (1.0 - p), mean - np.floor(mean)
    skew = (1.0 - 2.0 * p) / np.sqrt(variance)
    # Rounding adds a twelfth to the variance.
    spread = np.sqrt((variance - 1.0 / 12.0) / (1.0 + skew * skew / 18.0))
    for b in (slice(start, start + CHUNK) for start in range(0, len(large), CHUNK)):
        z = rng.standard_normal((len(mean[b]), count))
        steps = np.rint(spread[b] * (z + skew[b] / 6.0 * (z * z - 1.0)) + part[b])
        out[large[b]] = steps - part[b]
    if rest.any():
        out += rest * ((rng.random(out.shape) < risk[:, None]) - risk[:, None])
    return out


def pooled_gaps(
    mass: np.ndarray, risk: np.ndarray, variance: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """(m, count) sums of outcomes minus their risks over units of ``mass`` (m,) rows, drawn as
    binomial with the mean and variance of the sum of their different risks.

    ``risk`` and ``variance`` (m,) are the means of p and p (1 - p) over the rows.
    """
    mean = mass * np.minimum(risk, 1.0 - risk)
    times = mean * mean / np.maximum(mean - mass * variance, 1e-300)
    # Whole numbers of rows stay whole.
    times = np.minimum(np.where(mass == np.rint(mass), np.rint(times), times), mass)
    off = binomial_gaps(times, mean / np.maximum(times, 1e-300), count, rng)
    return np.where(risk > 0.5, -1.0, 1.0)[:, None] * off


#: Rows for each distinct score from which outcomes are drawn by score.
ROWS_FOR_EACH = 20


def drawn_by_score(scores: int, weight: np.ndarray, cluster: np.ndarray | None) -> bool:
    """Whether the numbers of hits at each of so many distinct scores are binomial, and fewer by
    far than the rows.
    """
    return weight.sum() >= ROWS_FOR_EACH * scores and of_whole_rows(weight, cluster)


def of_whole_rows(weight: np.ndarray, cluster: np.ndarray | None) -> bool:
    """Whether each row stands for a whole number of independent ones."""
    return cluster is None and bool((weight == np.rint(weight)).all())


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
    separate, shared = np.sqrt(1.0 - alike), np.sqrt(alike)
    return lambda rng: (
        separate * rng.standard_normal(n)[place] + shared * rng.standard_normal(len(size))[cluster]
    )


# -- Draws by the content of rows ------------------------------------------------------------------

#: Odd constants of the splitmix64 generator.
GOLDEN, FIRST, SECOND = (
    np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
#: Weights count in codes to this fraction.
SCALE = 2.0**10
#: Values in one block: the derived arrays stay in the cache.
BLOCK_ENTRIES = 131_072


def row_codes(values: np.ndarray) -> np.ndarray:
    """(n,) uint64 of the numbers in each row of (n, K), whatever their order and dtype; 0 and -0
    are one number.
    """
    size = max(1, BLOCK_ENTRIES // max(values.shape[1], 1))
    return np.concatenate(
        [_codes(values[start : start + size]) for start in range(0, max(len(values), 1), size)]
    )


def table_codes(values: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(n,) uint64 of the numbers in each row of (n, K) with their columns, which are told apart by
    their content: neither the order of the rows nor that of the columns counts. A row of weight 2
    counts as two.
    """
    size = max(1, BLOCK_ENTRIES // max(values.shape[1], 1))
    starts = range(0, max(len(values), 1), size)
    blocks = [slice(start, start + size) for start in starts]
    often = _repetitions(weight, len(values))
    column = np.sum([often[b] @ _mixed(_bits(values[b])) for b in blocks], axis=0)
    rows = [_mixed(_bits(values[b]) + column).sum(axis=1, dtype=np.uint64) for b in blocks]
    return np.concatenate(rows)


def level_codes(level: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) uint64 of each row's level (numbers from 0) by the codes of its rows, whatever its name;
    a row of weight 2 counts as two.
    """
    sums = np.zeros(int(level.max(initial=0)) + 1, dtype=np.uint64)
    np.add.at(sums, level, codes * np.rint(weight * SCALE).astype(np.uint64))
    return _mixed(sums)[level]


def entry_codes(
    shape: tuple[int, int],
    row: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """(n,) uint64, those of ``table_codes`` for a matrix of these entries and zeros."""
    bits, (n, k), often = _bits(value), shape, _repetitions(weight, shape[0])
    zero = _mixed(np.zeros(1, dtype=np.uint64))
    columns = np.full(k, often.sum(dtype=np.uint64)) * zero
    np.add.at(columns, column, (_mixed(bits) - zero) * often[row])
    empty = _mixed(columns)
    out = np.full(n, empty.sum(dtype=np.uint64))
    np.add.at(out, row, _mixed(bits + columns[column]) - empty[column])
    return out


def _repetitions(weight: np.ndarray | None, n: int) -> np.ndarray:
    return np.ones(n, np.uint64) if weight is None else np.rint(weight).astype(np.uint64)


def placed_codes(values: np.ndarray) -> np.ndarray:
    """(n,) uint64 from the content and the position of each row, different for equal rows."""
    return row_codes(values) + np.arange(1, len(values) + 1, dtype=np.uint64) * SECOND


def _codes(block: np.ndarray) -> np.ndarray:
    bits = _bits(block)
    bits ^= bits >> np.uint64(32)
    bits *= GOLDEN
    bits ^= bits >> np.uint64(29)
    # Sums wrap around, so they do not depend on the order of the columns.
    return bits.sum(axis=1, dtype=np.uint64)


def _bits(block: np.ndarray) -> np.ndarray:
    return (block.astype(np.float64) + 0.0).view(np.uint64)


def uniform_of_rows(codes: np.ndarray, seed: int) -> np.ndarray:
    """(n,) float64 in (0, 1) from the codes of rows; another seed gives independent draws."""
    key = _mixed(np.array([seed], dtype=np.int64).view(np.uint64) + GOLDEN)
    return ((_mixed(codes + key) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def mixed_codes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n,) uint64 from two codes of each row, whose order counts."""
    return _mixed(_mixed(first + GOLDEN) + second)


def _mixed(code: np.ndarray) -> np.ndarray:
    code = (code ^ (code >> np.uint64(30))) * FIRST
    code = (code ^ (code >> np.uint64(27))) * SECOND
    return code ^ (code >> np.uint64(31))


#: Digits of a part's mark that are free of rounding.
DIGITS = 9


def numbered_by_content(part: np.ndarray, mark: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) numbers of the same parts, in the order of a sum over the rows of each.

    ``part`` is (n,) numbers 0..G-1, ``mark`` (n,) a number or a code that depends on the content of
    a row, ``weight`` (n,) how often it does. Parts with equal content keep their order.
    """
    codes = mark if mark.dtype == np.uint64 else row_codes(mark[:, None])
    # Pseudo-random numbers distinguish parts with equal sums of marks.
    sums = np.bincount(part, weights=weight * uniform_of_rows(codes, 0))
    rank = np.empty(len(sums), dtype=np.intp)
    rank[np.argsort(np.round(sums, DIGITS), kind="stable")] = np.arange(len(sums))
    return rank[part]


#: Above this many rows weights are not expanded.
MOST = 1e7


def halves(
    keys: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n,), (n,) of two halves that add up to ``weight``; clusters stay whole.

    ``keys`` (n, k) tell rows apart. A row of whole weight w is w rows, of which each half gets
    some; a row of another weight, or among very many, stays whole. The content of the rows seeds
    the draw: a fixed draw would select the same ranks of the keys in every data set of n rows,
    which is not a random sample of the outcomes.
    """
    order = np.lexsort(keys.T[::-1])
    whole = bool((weight == np.round(weight)).all()) and weight.sum() <= MOST
    seed = _seed(keys[order], weight[order])
    if cluster is not None:
        _, first, code = np.unique(cluster[order], return_index=True, return_inverse=True)
        unit = np.empty(len(order), dtype=np.intp)
        unit[order] = np.argsort(np.argsort(first))[code]
        chosen = _chosen(len(first), seed)[unit]
        return np.where(chosen, weight, 0.0), np.where(chosen, 0.0, weight)
    if not whole:
        chosen = np.empty(len(order), dtype=bool)
        chosen[order] = _chosen(len(order), seed)
        return np.where(chosen, weight, 0.0), np.where(chosen, 0.0, weight)
    row = np.repeat(order, weight[order].astype(np.intp))
    first_half = np.bincount(row, weights=_chosen(len(row), seed), minlength=len(weight))
    return first_half, weight - first_half


def _chosen(n: int, seed: list[int]) -> np.ndarray:
    """A random mask of n // 2 of n elements."""
    return np.random.default_rng(seed).permutation(n) < n // 2


def _seed(keys: np.ndarray, weight: np.ndarray) -> list[int]:
    """Relative position of each column's mean between its minimum and maximum, in any units and for
    any form of repetition.
    """
    low, high = 0.5 * keys.min(axis=0), 0.5 * keys.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    place = np.average((0.5 * keys - low) / spread, axis=0, weights=weight)
    # Rounded coarsely, so that floating-point error rarely changes it.
    return np.round(1e6 * np.nan_to_num(place)).astype(np.int64).tolist()


def content_seed(score: np.ndarray, loss: np.ndarray, weight: np.ndarray) -> int:
    """Seed from the content of rows, whatever their order and the unit of their weights; a row of
    weight 2 counts as two.

    A fixed seed would draw the same ranks of every data set, at a level of its own.
    """
    # In single precision: last bits, which differ between processors, do not count.
    codes = [row_codes(column.astype(np.float32)[:, None]) for column in (score, loss)]
    mean = np.average(uniform_of_rows(mixed_codes(*codes), 0), weights=weight)
    return round(10.0**DIGITS * float(mean))


def one_of_each(
    cluster: np.ndarray, score: np.ndarray, loss: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(G,) positions of rows, one per cluster, ``cluster`` (n,) numbers 0..G-1; a row of weight 2
    is drawn twice as often.

    The draw depends on the content of the rows, which is its seed, not on their order, nor on the
    numbers of the clusters.
    """
    place = numbered_by_content(cluster, row_codes(np.column_stack([score, loss])), weight)
    order = np.lexsort((loss, score, place))
    mass = np.cumsum(weight[order])
    ends = np.searchsorted(place[order], np.arange(cluster.max() + 1), side="right")
    high = mass[ends - 1]
    low = np.append(0.0, high[:-1])
    rng = np.random.default_rng(content_seed(score, loss, weight))
    drawn = low + rng.random(len(ends)) * (high - low)
    rows = order[np.minimum(np.searchsorted(mass, drawn, side="right"), ends - 1)]
    return rows[np.argsort(cluster[rows])]
