"""The door of what is said of several outputs together: forecast, outcomes and weights become one checked record."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.arrays import weights
from calibrant.errors import InputError
from calibrant.forecasts.forecast import require_finite
from calibrant.forecasts.joint_normal import JointNormalForecast
from calibrant.forecasts.normal import finite_values

__all__ = ["JointRecord", "as_joint", "read_joint"]


@dataclass(frozen=True)
class JointRecord:
    """Checked outcomes of d outputs, with forecasts of them together; rows of weight 0 have been dropped.

    Attributes
    ----------
    y : (n, d)
    forecast : JointNormalForecast, or None where draws were given
    draws : (n, d, m), or None
    weights : (n,) positive
    kept : (n given,) mask of the rows kept, or None
    """

    y: np.ndarray
    forecast: JointNormalForecast | None
    draws: np.ndarray | None
    weights: np.ndarray
    kept: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def normal(self) -> JointNormalForecast:
        """The forecast, refused where draws were given."""
        if self.forecast is None:
            raise InputError("the forecast must be JointNormalForecast(mean, cov) here; got draws; pass their mean and covariance.")
        return self.forecast


def as_joint(forecast: Any) -> JointNormalForecast:
    """A JointNormalForecast as it is, or of (mean, cov)."""
    if isinstance(forecast, JointNormalForecast):
        return forecast
    if isinstance(forecast, tuple) and len(forecast) == 2:
        return JointNormalForecast(*forecast)
    raise InputError(
        f"a forecast of outputs together must be JointNormalForecast(mean, cov) or (mean, cov); got {type(forecast).__name__}; "
        "a std for each output says nothing of how they hang together."
    )


def read_joint(forecast: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> JointRecord:
    """The record of a forecast of outputs together, JointNormalForecast, (mean, cov) or draws (n, d, m), and outcomes (n, d).

    Examples
    --------
    >>> read_joint(([[0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]), [[2.0, 1.0]]).normal.distance([[2.0, 1.0]]).tolist()
    [4.0]
    """
    draws = None
    if isinstance(forecast, np.ndarray) and forecast.ndim == 3:
        draws = forecast.astype(np.float64, copy=False)
        require_finite(draws, "the draws")
        shape = draws.shape[:2]
        joint = None
        if draws.shape[2] < 2:
            raise InputError(f"draws must be (n, d, m) with m at least 2; got {draws.shape}.")
    else:
        joint = as_joint(forecast)
        shape = joint.shape
    outcomes = finite_values(y, "y")
    if outcomes.shape != shape:
        raise InputError(f"y must have the shape of the forecast, {shape}; got {outcomes.shape}; pass all outputs of the same rows.")
    weight, kept = weights(sample_weight, len(outcomes))
    if kept is not None:
        outcomes = outcomes[kept]
        joint, draws = None if joint is None else joint.take(kept), None if draws is None else draws[kept]
    return JointRecord(outcomes, joint, draws, np.ones(len(outcomes)) if weight is None else weight, kept)
