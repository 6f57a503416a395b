"""Energy score: the CRPS of several outputs together."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from calibrant._kernels.mean_norm import mean_norm
from calibrant._support.options import require_option
from calibrant.arrays import to_array
from calibrant.contracts.interval import Interval
from calibrant.errors import InputError
from calibrant.forecasts.joint_normal import read_joint
from calibrant.metrics.regression.joint_interval import mean_of_losses

__all__ = ["energy_score"]


def energy_score(
    y_true: ArrayLike, forecast: Any, *, member_weight: ArrayLike | None = None, estimator: Literal["empirical", "fair"] = "empirical",
    level: float = 0.95, sample_weight: ArrayLike | None = None,
) -> Interval:  # fmt: skip
    r"""Mean distance from draws to the outcome, less half the mean distance between draws.

    .. math:: \frac{1}{n} \sum_i \left( E \|X_i - y_i\| - \frac{1}{2} E \|X_i - X_i'\| \right)

    Parameters
    ----------
    y_true : (n, d) outcomes
    forecast : JointNormalForecast, (mean, cov), or draws (n, d, m)
    member_weight : (m,), or (n, m), optional
        Of draws alone: what each member of an ensemble counts for, beside the others of its row.
    estimator : {"empirical", "fair"}
        Of draws alone: the score of their empirical distribution, or the unbiased estimate of that of what they were drawn from.
    level : float, default 0.95
        Of the interval.
    sample_weight : (n,), optional
        Weight 2 means the row twice.

    Returns
    -------
    Interval
        From 0; less is better.

    See Also
    --------
    variogram_score : sees wrong correlations better.
    continuous_ranked_probability_score : of one output; with d = 1 the same number, here with weights of members too.

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
    require_option("estimator", estimator, ("empirical", "fair"))
    record = read_joint(forecast, y_true, sample_weight)
    if record.draws is None:
        joint = record.normal
        variance = joint.principal_variance
        loss = mean_norm(joint.along(record.y), variance) - 0.5 * mean_norm(np.zeros_like(variance), 2.0 * variance)
        if member_weight is not None or estimator != "empirical":
            raise InputError("member_weight and estimator are of draws; leave them out for a normal forecast, whose score is exact.")
    else:
        loss = _of_draws(record.draws, record.y, _shares(member_weight, record.draws), estimator)
    return mean_of_losses(loss, record.weights, level)


def _of_draws(draws, y, share, estimator):
    first, second = np.triu_indices(draws.shape[2], 1)
    apart = np.array([pdist(row.T) @ (w[first] * w[second]) for row, w in zip(draws, share, strict=True)])
    if estimator == "fair":
        # Members are never compared with themselves.
        apart /= 1.0 - np.square(share).sum(axis=1)
    return (np.sqrt(np.square(draws - y[..., None]).sum(axis=1)) * share).sum(axis=1) - apart


def _shares(weight, draws):
    """(n, m) shares of the members of each row."""
    n, _, m = draws.shape
    if weight is None:
        return np.full((n, m), 1.0 / m)
    weight = to_array(weight, "member_weight").astype(np.float64)
    if weight.shape not in ((m,), (n, m)):
        raise InputError(f"member_weight must be ({m},) or ({n}, {m}), one a member; got shape {weight.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0.0).all() and ((weight > 0.0).sum(axis=-1) >= 2).all()):
        raise InputError("member_weight must be finite, not below 0, and above 0 for two members of each row; drop other rows or members.")
    return np.broadcast_to(weight / weight.sum(axis=-1, keepdims=True), (n, m))
