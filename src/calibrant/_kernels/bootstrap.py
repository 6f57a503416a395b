"""Bootstrap weights: how often each row is drawn, so that weight 2 stands for the row twice."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse, special

__all__ = ["bca_limits", "bootstrap_totals", "leave_out_values", "percentile_limits", "resample_weights", "resampled_sums"]

#: Rows beyond which a resample draws whole random parts of the rows instead of single rows.
MANY_ROWS = 50_000
PARTS = 2_000
#: Parts that are left out in turn.
LEFT_OUT = 200
#: Into about as many pieces as this rows are split among the parts where weights are unequal.
PIECES = 1_000_000
#: Resamples summed at a time.
CHUNK = 64


def resample_weights(weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One resample: how many times each row is drawn, (n,) float64, of round(sum of weights) draws in proportion to the weights."""
    if (weight == 1.0).all():
        return np.bincount(rng.integers(0, len(weight), len(weight)), minlength=len(weight)).astype(np.float64)
    total = weight.sum()
    return rng.multinomial(max(round(float(total)), 1), weight / total).astype(np.float64)


def bootstrap_totals(weight: np.ndarray, value: Callable[[np.ndarray], float], n_resamples: int, random_state: int) -> np.ndarray:
    """``value(weight)`` on each of ``n_resamples`` seeded resamples of rows of these weights, (n_resamples,)."""
    rng = np.random.default_rng(random_state)
    return np.array([value(resample_weights(weight, rng)) for _ in range(n_resamples)])


def leave_out_values(weight: np.ndarray, value: Callable[[np.ndarray], float], random_state: int) -> np.ndarray:
    """``value(weight)`` with one part of the rows left out, for at most 200 random equal parts (single rows if few)."""
    n = len(weight)
    part = np.random.default_rng(random_state).permutation(n) % min(n, LEFT_OUT)
    return np.array([value(np.where(part == j, 0.0, weight)) for j in range(part.max() + 1)]) if part.max() else np.zeros(0)


def percentile_limits(values: np.ndarray, level: float) -> Any:
    """Equal-tailed percentile interval of the finite values; nan where there are none."""
    values = values[np.isfinite(values)]
    return np.quantile(values, [0.5 - 0.5 * level, 0.5 + 0.5 * level]) if len(values) else (np.nan, np.nan)


def bca_limits(values: np.ndarray, value: float, left_out: np.ndarray, level: float) -> Any:
    """Bias-corrected and accelerated interval (Efron 1987): ``values`` on resamples, ``left_out`` with parts of the rows left out."""
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
    sets: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]], n_groups: int, weight: np.ndarray, n_resamples: int, random_state: int
) -> np.ndarray:
    """Sums per group on bootstrap resamples of the rows, groups held fixed.

    ``sets`` is a list of (group (n,), columns); returns (n_resamples, len(sets), n_groups, 1 + columns), the first column the weight.
    With more than 50,000 rows, 2,000 random parts of the rows are resampled instead of the rows.
    """
    rng = np.random.default_rng(random_state)
    n = len(weight)
    sets, each = [(group, (np.ones(n), *columns)) for group, columns in sets], weight
    if n > MANY_ROWS:
        table, each = _sums_of_parts(sets, n_groups, weight, rng)
    else:
        table = _each_row(sets, n_groups)
    # Parts are drawn as often on average as they are there, rows as often as their weight says.
    out, scale = np.empty((n_resamples, table.shape[0])), 1.0 / each[0] if n > MANY_ROWS else 1.0
    for start in range(0, n_resamples, CHUNK):
        draws = np.stack([resample_weights(each, rng) for _ in range(min(CHUNK, n_resamples - start))], axis=1)
        out[start : start + draws.shape[1]] = scale * (table @ draws).T
    return out.reshape(n_resamples, len(sets), -1, n_groups).swapaxes(2, 3)


def _sums_of_parts(sets, n_groups, weight, rng):
    """((sets * columns * groups, parts) sums over random parts of the rows, how many times each part is to be drawn (parts,)).

    A weight of w is w rows, which fall into parts by themselves: whole, one heavy row would decide every resample. Where pieces have to
    be of another weight than 1, as many parts are drawn as make up for it.
    """
    total = weight.sum()
    pieces = np.maximum(np.ceil(weight / max(total / PIECES, 1.0)), 1.0).astype(np.intp)
    row = slice(None) if (pieces == 1).all() else np.repeat(np.arange(len(weight)), pieces)
    share = (weight / pieces)[row]
    part = rng.integers(0, PARTS, len(share)) * n_groups
    sums = [np.bincount(part + group[row], column[row] * share, PARTS * n_groups) for group, columns in sets for column in columns]
    drawn = max(round(PARTS * float(share @ share) / float(total)), 1)
    return np.concatenate([one.reshape(PARTS, n_groups).T for one in sums]), np.full(PARTS, drawn / PARTS)


def _each_row(sets, n_groups):
    """The same of single rows, sparse, (sets * columns * groups, n): a row has one entry for each set and column."""
    columns = np.stack([column for _, columns in sets for column in columns], axis=1)
    n, count = columns.shape
    places = np.stack([group for group, columns in sets for _ in columns], axis=1) + n_groups * np.arange(count)
    return sparse.csc_array((columns.ravel(), places.ravel(), count * np.arange(n + 1)), shape=(count * n_groups, n))
