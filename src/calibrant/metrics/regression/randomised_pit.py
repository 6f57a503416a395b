"""Probability integral transforms of counts, with the steps of their distributions filled at random."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.null_draws import null_generator
from calibrant.arrays import to_array
from calibrant.errors import InputError

__all__ = ["randomised_pit"]


def randomised_pit(y_true: ArrayLike, forecast: Any, *, random_state: int = 0) -> np.ndarray:
    r"""A place of each count in its predicted distribution, uniform on [0, 1] where the forecasts are calibrated.

    .. math:: P(Y_i < y_i) + u_i P(Y_i = y_i), \qquad u_i \sim U(0, 1)

    Parameters
    ----------
    y_true : (n,) whole numbers
    forecast : frozen discrete distribution of scipy.stats, or (below, at)
        Such as ``stats.poisson(mu)``, its parameters one number or (n,); or the (n,) probabilities P(Y < y) and P(Y <= y) themselves.
    random_state : int, default 0
        The draws belong to the rows in the order of their numbers, so that their order in the arrays does not matter.

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        When outcomes are no whole numbers, the forecast is continuous, or the probabilities are out of order or range.

    See Also
    --------
    pit_histogram, pit_test : take normal scores of these with means 0 and stds 1, as below.
    BoundedOutcomes : for amounts that are no counts.

    Notes
    -----
    The plain PIT of a count is not uniform however good the forecast. A bowl means too narrow a forecast (counts vary more than said), a
    hump one too wide. An outcome that was said to be impossible gives 0 or 1.

    References
    ----------
    Czado, Gneiting and Held, "Predictive model assessment for count data", Biometrics 65, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import special, stats
    >>> from calibrant.metrics import pit_test
    >>> mu = np.random.default_rng(0).uniform(0.5, 5.0, 1000)
    >>> y = np.random.default_rng(1).negative_binomial(1.0, 1.0 / (1.0 + mu))
    >>> for said in (stats.nbinom(1.0, 1.0 / (1.0 + mu)), stats.poisson(mu)):
    ...     z = special.ndtri(randomised_pit(y, said))
    ...     print(bool(pit_test(np.clip(z, -9.0, 9.0), np.zeros(1000), np.ones(1000)).p_value > 0.01))
    True
    False
    """
    y = to_array(y_true, "y_true").astype(np.float64)
    if y.ndim != 1 or len(y) == 0 or not (np.isfinite(y).all() and (y == np.rint(y)).all()):
        raise InputError(f"y_true must be (n,) whole numbers; got shape {y.shape} beginning {y.ravel()[:3].tolist()}; use pit_histogram.")
    below, at = _steps(y, forecast)
    if not ((below >= 0.0) & (below <= at) & (at <= 1.0 + 1e-12)).all():
        row = int(np.flatnonzero(~((below >= 0.0) & (below <= at) & (at <= 1.0 + 1e-12)))[0])
        raise InputError(f"P(Y < y) and P(Y <= y) must ascend from 0 to 1; row {row} has {below[row]:g} and {at[row]:g}; pass (below, at).")
    draws = np.empty(len(y))
    draws[np.lexsort((at, below, y))] = null_generator(random_state).random(len(y))
    return np.minimum(below + draws * (at - below), 1.0)


def _steps(y: np.ndarray, forecast: Any) -> list[np.ndarray]:
    frozen = forecast
    if isinstance(forecast, tuple) and len(forecast) == 2:
        pair = [to_array(part, name).astype(np.float64) for part, name in zip(forecast, ("below", "at"), strict=True)]
    elif hasattr(forecast, "pmf") and hasattr(forecast, "cdf"):
        try:
            pair = [np.asarray(frozen.cdf(y + step), dtype=np.float64) for step in (-1.0, 0.0)]
        except ValueError as error:
            raise InputError(f"the forecast must be of the {len(y)} rows of y_true; {error}; give one distribution a row.") from error
    else:
        raise InputError(
            f"forecast must be a frozen discrete distribution of scipy.stats, or (below, at); got {type(forecast).__name__}; "
            "for continuous ones use pit_histogram."
        )
    if any(part.shape != y.shape for part in pair):
        raise InputError(f"the forecast must be of the {len(y)} rows of y_true; got shape {pair[0].shape}; give one distribution a row.")
    return pair
