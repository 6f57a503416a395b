"""Whether what simulations realised is what a guarantee promised, with a margin for their number."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.guarantee import Guarantee

__all__ = ["check_guarantee"]

#: Simulation errors that a kept promise may be off by.
MARGIN = 3.0


def check_guarantee(guarantee: Guarantee, realised: ArrayLike) -> None:
    """Fail where the numbers of independent runs break what was promised by more than three simulation errors.

    Parameters
    ----------
    guarantee : Guarantee
    realised : (runs,) the promised quantity in each run, on its population or on many new rows.
        Each run draws a calibration set of its own.

    Raises
    ------
    AssertionError
        Where the mean of the runs (of a "pac" promise: the share of runs beyond the bound) is outside the promise.

    See Also
    --------
    contracts.Guarantee : the promise.

    Examples
    --------
    >>> from calibrant.contracts import Guarantee
    >>> said = Guarantee("marginal", "coverage", "new rows", "rows are exchangeable", n=99, least=0.9)
    >>> check_guarantee(said, [0.89, 0.92, 0.9, 0.91])
    """
    values = np.asarray(realised, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise AssertionError(f"realised must be finite numbers, one a run, of at least 2 runs; got {realised!r}.")
    if guarantee.guarantee == "pac":
        _few_broken(guarantee, values)
        return
    slack = MARGIN * float(values.std(ddof=1)) / math.sqrt(len(values))
    low, high = guarantee.least, guarantee.most
    mean = float(values.mean())
    if (low is not None and mean < low - slack) or (high is not None and mean > high + slack):
        raise AssertionError(f"promised: {guarantee}; {len(values)} runs have a mean of {mean:.4f} (margin {slack:.4f}).")


def _few_broken(guarantee, values):
    low = -np.inf if guarantee.least is None else guarantee.least
    high = np.inf if guarantee.most is None else guarantee.most
    # A quantity on its bound, but for rounding, is no break.
    broken = float(np.mean((values < low - 1e-12) | (values > high + 1e-12)))
    allowed = 1.0 - guarantee.confidence
    limit = allowed + MARGIN * math.sqrt(allowed * (1.0 - allowed) / len(values))
    if broken > limit:
        raise AssertionError(f"promised: {guarantee}; broken in {broken:.4f} of {len(values)} runs, more than {limit:.4f}.")
