"""Energy score: the CRPS of several outputs together."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from calibrant._kernels.mean_norm import mean_norm
from calibrant.contracts.interval import Interval
from calibrant.forecasts.read_joint import read_joint
from calibrant.metrics.regression.joint_interval import mean_of_losses

__all__ = ["energy_score"]


def energy_score(y_true: ArrayLike, forecast: Any, *, level: float = 0.95, sample_weight: ArrayLike | None = None) -> Interval:
    r"""Mean distance from draws to the outcome, less half the mean distance between draws.

    .. math:: \frac{1}{n} \sum_i \left( E \|X_i - y_i\| - \frac{1}{2} E \|X_i - X_i'\| \right)

    .. versionadded:: 0.2

    Parameters
    ----------
    y_true : (n, d) outcomes
    forecast : JointNormalForecast, (mean, cov), or draws (n, d, m)
    level : float, default 0.95
        Of the interval.
    sample_weight : (n,), optional
        Weight 2 means the row twice.

    Returns
    -------
    Interval
        From 0; less is better.

    Raises
    ------
    InputError
        When shapes differ, a value is not finite, or a covariance is not positive definite.

    See Also
    --------
    variogram_score : sees wrong correlations better.
    continuous_ranked_probability_score : of one output; with d = 1 the same number.

    Notes
    -----
    A proper score in the units of y, so bring outputs of different units to one scale first. For normal forecasts both means are exact, by
    one integral each; draws are taken for the distribution itself, whose score is larger by about 1 / m of the spread. It tells
    wrong means and variances well and wrong correlations badly.

    References
    ----------
    Gneiting and Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007, section 4.3.

    Examples
    --------
    >>> round(energy_score([[0.0]], ([[0.0]], [[[1.0]]])).value, 6)
    0.233695
    """
    record = read_joint(forecast, y_true, sample_weight)
    if record.draws is None:
        joint = record.normal
        variance = joint.principal_variance
        loss = mean_norm(joint.along(record.y), variance) - 0.5 * mean_norm(np.zeros_like(variance), 2.0 * variance)
    else:
        size = record.draws.shape[2]
        apart = np.array([pdist(row.T).sum() for row in record.draws]) / size**2
        loss = np.sqrt(np.square(record.draws - record.y[..., None]).sum(axis=1)).mean(axis=1) - apart
    return mean_of_losses(loss, record.weights, level)
