"""Coverage of intervals in each group, with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.intervals import wilson
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.forecasts.read import read_forecast
from calibrant.groups import Groups, read_groups

__all__ = ["GroupCoverage", "group_coverage", "held_by_group"]


@dataclass(frozen=True)
class GroupCoverage(Record):
    """One row a group: its label, n (sum of weights), coverage and its interval, and the mean width (of sets, the mean size)."""

    group: np.ndarray
    n: np.ndarray
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: np.ndarray


def group_coverage(
    y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, groups: Sequence[str], level: float = 0.9, band: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> GroupCoverage:  # fmt: skip
    """Share of the outcomes inside their central intervals, group by group.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    groups : (n,) labels of any kind, or a frame of several columns, whose combinations are the groups
    level : float, default 0.9
        The coverage that the intervals claim.
    band : float, default 0.95
        Level of the Wilson interval of each group's coverage.
    sample_weight : (n,), optional

    Returns
    -------
    GroupCoverage
        Groups in sorted order, None (for rows without a label) the last; ``.frame()`` gives a data frame.

    Raises
    ------
    InputError
        When the groups do not fit the rows.

    See Also
    --------
    interval_coverage : all rows together.
    per_group : any metric by group.

    Examples
    --------
    >>> out = group_coverage([0.0, 3.0, 0.0], [0.0] * 3, [1.0] * 3, groups=["a", "b", "a"])
    >>> out.group.tolist(), out.coverage.tolist()
    (['a', 'b'], [1.0, 0.0])
    """
    require_level(level)
    require_level(band, "band")
    record = read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()
    found = read_groups(groups, record)
    low, high, held = record.held(level)
    return held_by_group(found, held, high - low, record.weights, band)


def held_by_group(found: Groups, held: np.ndarray, width: np.ndarray, weight: np.ndarray, band: float) -> GroupCoverage:
    """Coverage of intervals, or of sets, in each group: whether each ``held`` its outcome, and how wide it is, (n,) each."""
    n = np.bincount(found.index, weights=weight)
    inside = np.bincount(found.index, weights=weight * held)
    return GroupCoverage(found.names, n, inside / n, *wilson(inside, n, band), np.bincount(found.index, weights=weight * width) / n)
