"""How far the coverage of classes or groups is from what was said, on average."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.interval import require_level
from calibrant.metrics.decision.set_coverage_by import set_coverage_by

__all__ = ["conditional_coverage_gap"]


def conditional_coverage_gap(
    y_true: ArrayLike, sets: Any, *, said: float = 0.9, by: str = "class", groups: Any = None, sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:  # fmt: skip
    r"""Mean distance of the coverage of each class (or group, or size) from the coverage that was said.

    .. math:: \frac{1}{G} \sum_g |\hat c_g - \text{said}|

    Parameters
    ----------
    y_true : (n,) labels
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` gives them
    said : float, default 0.9
        The level of the sets.
    by : {"class", "groups", "size"}
    groups : (n,) labels of any kind, or a frame of several columns, for ``by="groups"``
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional

    Returns
    -------
    float
        From 0.

    See Also
    --------
    set_coverage_by : each of them, with its interval.
    worst_slab_coverage : where no groups are given.

    Notes
    -----
    Classes of few rows add noise: with n rows each, sets that cover all as said have a gap of about 0.8 sqrt(said (1 - said) / n).

    References
    ----------
    Ding et al., "Class-conditional conformal prediction with many classes", NeurIPS 2023.

    Examples
    --------
    >>> round(conditional_coverage_gap([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]], said=0.9), 3)
    0.25
    """
    require_level(said, "said")
    found = set_coverage_by(y_true, sets, by=by, groups=groups, sample_weight=sample_weight, classes=classes)
    return float(np.mean(np.abs(found.coverage - said)))
