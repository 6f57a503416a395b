"""Coverage of prediction sets where it seems to be worst, honestly: found on one half of the rows, measured on the other."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.intervals import clopper_pearson
from calibrant._support.options import require_count
from calibrant.arrays import to_array
from calibrant.contracts.interval import Interval, require_level
from calibrant.errors import InputError
from calibrant.metrics.decision.read_sets import read_sets

__all__ = ["worst_slab_coverage"]

#: Slabs begin and end at so many places along a direction.
CUTS = 40


def worst_slab_coverage(
    y_true: ArrayLike, sets: Any, X: ArrayLike, *, share: float = 0.2, n_draws: int = 200, level: float = 0.95, random_state: int = 0,
    classes: ArrayLike | None = None,
) -> Interval:  # fmt: skip
    """Coverage in the slab of features where it is least, with the interval of Clopper and Pearson.

    The slab, the rows between two parallel planes, is chosen on a random half of the rows, among ``n_draws`` directions; the coverage is
    that of the other half's rows in it.

    Parameters
    ----------
    y_true : (n,) labels
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` gives them
    X : (n, d) numbers
    share : float, default 0.2
        Of the rows that a slab holds at least.
    n_draws : int, default 200
        Of directions.
    level : float, default 0.95
        Of the interval.
    random_state : int, default 0
        Seed of the halves and the directions.
    classes : (K,) labels in column order, optional

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        When X does not fit the sets, or rows are too few to be halved.

    See Also
    --------
    set_coverage_by : of classes and groups that have names.

    Notes
    -----
    In the half that it was chosen on, the worst slab covers too little for any sets whatever: by chance. Only the other half says whether
    there is a region that is not covered.

    References
    ----------
    Cauchois, Gupta and Duchi, "Knowing what you know", JMLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 400)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> found = worst_slab_coverage(y, np.tile([True, False], (400, 1)), X)
    >>> found.value
    0.0
    """
    require_level(level)
    require_count("n_draws", n_draws)
    rows, values = read_sets(y_true, sets, classes, None), to_array(X, "X").astype(np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != len(rows) or not np.isfinite(values).all():
        raise InputError(f"X must be ({len(rows)}, d) finite numbers, a row for each set; got shape {values.shape}.")
    if not 0.0 < share <= 0.5 or share * len(rows) < 20.0:
        raise InputError(f"share must be at most 0.5, and of {len(rows)} rows at least 20; got {share!r}; give more, or raise it.")
    rng = np.random.default_rng(random_state)
    spread = values.std(axis=0)
    values = (values - values.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    first = rng.permutation(len(rows)) < len(rows) // 2
    directions = rng.normal(size=(n_draws, values.shape[1]))
    least, found = np.inf, (0, -np.inf, np.inf)
    for k, direction in enumerate(directions):
        coverage, low, high = _worst(values[first] @ direction, rows.held[first], share)
        if coverage < least:
            least, found = coverage, (k, low, high)
    place = values[~first] @ directions[found[0]]
    inside = (found[1] <= place) & (place <= found[2])
    n, held = float(inside.sum()), float(rows.held[~first][inside].sum())
    low, high = (float(np.asarray(end)) for end in clopper_pearson(held, n, level))
    return Interval.holding(held / n if n > 0.0 else np.nan, (low, high), level, "analytic", n)


def _worst(place: np.ndarray, held: np.ndarray, share: float) -> tuple[float, float, float]:
    """(coverage, low, high) of the slab along one direction that covers least."""
    order = np.argsort(place, kind="stable")
    total = np.append(0.0, np.cumsum(held[order]))
    ends = np.unique(np.linspace(0, len(place), CUTS + 1).astype(np.intp))
    count = ends[None, :] - ends[:, None]
    covered = total[ends][None, :] - total[ends][:, None]
    rate = np.where(count >= share * len(place), covered / np.maximum(count, 1), np.inf)
    begin, end = np.unravel_index(int(np.argmin(rate)), rate.shape)
    along = place[order]
    # The outermost slabs have no end on their side.
    low = -np.inf if begin == 0 else along[ends[begin]]
    high = np.inf if ends[end] == len(place) else along[ends[end] - 1]
    return float(rate[begin, end]), float(low), float(high)
