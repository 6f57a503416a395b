"""How often prediction sets hold the true class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.clusters import mean_worth
from calibrant._kernels.intervals import clopper_pearson
from calibrant.contracts.interval import Interval, require_level
from calibrant.groups import read_clusters
from calibrant.metrics.decision.read_sets import read_sets

__all__ = ["set_coverage"]


def set_coverage(
    y_true: ArrayLike, sets: Any, *, level: float = 0.95, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Interval:  # fmt: skip
    r"""Share of the sets that hold the true class, with the interval of Clopper and Pearson.

    .. math:: \frac{1}{n} \sum_i [y_i \in C_i]

    Parameters
    ----------
    y_true : (n,) labels
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` gives them
    level : float, default 0.95
        Of the interval, not of the sets.
    sample_weight : (n,), optional
        Weight 2 means the row twice.
    classes : (K,) labels in column order, optional
    cluster : (n,), optional
        Which rows hang together: the interval counts as many independent rows as they are worth.

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        When the sets are no booleans, or the labels do not fit them.

    See Also
    --------
    set_coverage_by : of each class, group or size.
    set_sizes : what the coverage costs.
    ConformalSets : makes sets that keep a promise.

    Notes
    -----
    The interval is of the coverage of these very sets on ever more rows; that of sets made on other calibration rows varies besides.

    Examples
    --------
    >>> found = set_coverage([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]])
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.75, 0.194, 0.994)
    """
    require_level(level)
    rows = read_sets(y_true, sets, classes, sample_weight)
    n, held = float(rows.weights.sum()), float(rows.weights @ rows.held)
    worth = 1.0 if cluster is None else mean_worth(rows.held, rows.weights, read_clusters(cluster, rows), level)
    low, high = (float(np.asarray(end)) for end in clopper_pearson(worth * held, worth * n, level))
    return Interval.holding(held / n, (low, high), level, "analytic", n)
