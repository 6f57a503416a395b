"""Draws that depend on the content of rows, not on their names or order."""

import numpy as np

__all__ = [
    "content_seed",
    "entry_codes",
    "halves",
    "level_codes",
    "mixed_codes",
    "numbered_by_content",
    "one_of_each",
    "placed_codes",
    "row_codes",
    "table_codes",
    "uniform_of_rows",
]

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
    often = _often(weight, len(values))
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
    bits, (n, k), often = _bits(value), shape, _often(weight, shape[0])
    zero = _mixed(np.zeros(1, dtype=np.uint64))
    columns = np.full(k, often.sum(dtype=np.uint64)) * zero
    np.add.at(columns, column, (_mixed(bits) - zero) * often[row])
    empty = _mixed(columns)
    out = np.full(n, empty.sum(dtype=np.uint64))
    np.add.at(out, row, _mixed(bits + columns[column]) - empty[column])
    return out


def _often(weight: np.ndarray | None, n: int) -> np.ndarray:
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
    codes = [row_codes(one.astype(np.float32)[:, None]) for one in (score, loss)]
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
