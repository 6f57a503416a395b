"""How often prediction sets hold the true class, by class, by group and by size."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.interval import require_level
from calibrant.errors import InputError
from calibrant.groups import Groups, read_groups
from calibrant.metrics.decision.read_sets import read_sets
from calibrant.metrics.regression.conditional import GroupCoverage, held_by_group

__all__ = ["set_coverage_by"]


def set_coverage_by(
    y_true: ArrayLike, sets: Any, *, by: str = "class", groups: Any = None, level: float = 0.95, sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> GroupCoverage:  # fmt: skip
    """Coverage and mean size of the sets of each class, of each group, or of each size.

    Parameters
    ----------
    y_true : (n,) labels
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` gives them
    by : {"class", "groups", "size"}
        The true class, the ``groups``, or the number of classes in the set: empty and full sets are sizes of their own.
    groups : (n,) labels of any kind, or a frame of several columns, for ``by="groups"``
    level : float, default 0.95
        Of the interval of each (Wilson's).
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional

    Returns
    -------
    GroupCoverage
        One row a class, group or size, with n, coverage, its interval, and the mean size as ``width``; ``.frame()`` gives a data frame.

    Raises
    ------
    InputError
        When groups are given for another ``by``, or not given for theirs.

    See Also
    --------
    set_coverage : of all rows together.
    conditional_coverage_gap : one number for all classes or groups.
    worst_slab_coverage : where no groups are given.

    Notes
    -----
    Coverage right on the whole may be wrong for a class that is rare or hard. By size it shows whether larger sets are earned: a set of one
    class should be right as often as others.

    Examples
    --------
    >>> found = set_coverage_by([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]])
    >>> found.group.tolist(), found.coverage.tolist(), found.width.tolist()
    ([0, 1], [1.0, 0.5], [1.5, 1.0])
    """
    require_level(level)
    if by not in ("class", "groups", "size") or (by == "groups") != (groups is not None):
        given = "without" if groups is None else "with"
        raise InputError(f'by must be "class" or "size", or "groups" with groups=; got {by!r} {given} groups.')
    rows = read_sets(y_true, sets, classes, sample_weight)
    if by == "groups":
        found = read_groups(groups, rows)
    else:
        names, index = np.unique(np.asarray(rows.labels if by == "class" else rows.sizes), return_inverse=True)
        found = Groups(rows.classes[names] if by == "class" else names, index)
    return held_by_group(found, rows.held, rows.sizes, rows.weights, level)
