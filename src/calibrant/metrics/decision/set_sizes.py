"""How large prediction sets are: what their coverage costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.columns import plain
from calibrant.metrics.decision.read_sets import read_sets

__all__ = ["SetSizes", "set_sizes"]


@dataclass(frozen=True)
class SetSizes:
    """Sizes of sets.

    Attributes
    ----------
    mean : float
        Mean number of classes (the ambiguity).
    median : float
    single, empty, full : float
        Share of sets of one class, of none, and of all.
    n : float, sum of weights

    See Also
    --------
    metrics.set_sizes : makes it.
    """

    mean: float
    median: float
    single: float
    empty: float
    full: float
    n: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return plain(vars(self))


def set_sizes(sets: Any, *, sample_weight: ArrayLike | None = None) -> SetSizes:
    """Mean and median size of the sets, and the shares of sets of one class, of none and of all.

    Parameters
    ----------
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` gives them
    sample_weight : (n,), optional

    Returns
    -------
    SetSizes

    Raises
    ------
    InputError
        When the sets are no booleans.

    See Also
    --------
    set_coverage : whether they hold the true class; sizes compare at equal coverage only.

    Examples
    --------
    >>> found = set_sizes([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]])
    >>> found.mean, found.single, found.empty
    (1.5, 0.25, 0.25)
    """
    rows = read_sets(None, sets, None, sample_weight)
    size, weight = rows.sizes, rows.weights
    n = float(weight.sum())
    mass = np.cumsum(np.bincount(size, weights=weight, minlength=rows.sets.shape[1] + 1))
    share = np.diff(mass, prepend=0.0) / n
    return SetSizes(
        float(weight @ size) / n, float(np.searchsorted(mass, 0.5 * n)), float(share[1]), float(share[0]), float(share[-1]), n
    )  # fmt: skip
