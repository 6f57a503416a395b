"""Where the error bars are still wrong: by predicted std, by predicted value, by group, the worst first."""

import numpy as np

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.intervals import wilson
from calibrant._kernels.spread_bins import enough_bins
from calibrant.reporting.classes import badness

__all__ = ["CLAIMED", "group_table", "region_table"]

REGIONS = 10
#: The coverage that the intervals looked at claim.
CLAIMED = 0.9


def region_table(record, values, *, level=0.95) -> list[dict]:
    """Per region of equal weight by ``values``, (n,): from, to, rows, error, claimed (root mean square), ratio, bias, coverage and gap.

    The gap is 90 % minus the coverage of the 90 % intervals, with its interval; the worst come first.
    """
    index = equal_mass_groups(values, enough_bins(REGIONS, record.weights.sum()), record.weight)
    count = int(index.max()) + 1
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, index, values)
    np.maximum.at(last, index, values)
    rows = _rows(record, index, count, level)
    return sorted(
        ({"from": float(a), "to": float(b), **row} for a, b, row in zip(first, last, rows, strict=True)), key=badness, reverse=True
    )


def group_table(record, groups, *, level=0.95) -> list[dict]:
    """The same for groups of rows."""
    rows = _rows(record, groups.index, len(groups), level)
    return sorted(({"group": text, **row} for text, row in zip(groups.texts, rows, strict=True)), key=badness, reverse=True)


def _rows(record, index, count, level):
    low, high = record.forecast.interval(CLAIMED)
    inside = ((low <= record.y) & (record.y <= high)).astype(np.float64)
    columns = [inside, record.error, np.square(record.error), np.square(record.std)]
    n, held, error, square, variance = grouped_sums(index, count, columns, record.weight).T
    lower, upper = wilson(held, n, level)
    names = ("rows", "error", "claimed", "ratio", "bias", "coverage", "gap", "low", "high")
    numbers = np.column_stack([
        n, np.sqrt(square / n), np.sqrt(variance / n), np.sqrt(square / variance), error / n,
        held / n, CLAIMED - held / n, CLAIMED - upper, CLAIMED - lower,
    ])  # fmt: skip
    return [dict(zip(names, row, strict=True)) for row in numbers.tolist()]
