"""Variogram score: whether outputs are as far from each other as was said."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant.contracts.interval import Interval
from calibrant.errors import InputError
from calibrant.forecasts.joint_normal import read_joint
from calibrant.metrics.regression.joint_interval import mean_of_losses

__all__ = ["variogram_score"]

#: Beyond this many standard deviations the mean of a power is its series to 1e-9, and the series of the other end loses digits.
FAR = 30.0


def variogram_score(
    y_true: ArrayLike, forecast: Any, *, power: float = 0.5, level: float = 0.95, sample_weight: ArrayLike | None = None
) -> Interval:
    r"""Mean squared error of the predicted powers of the differences between outputs.

    .. math:: \frac{1}{n} \sum_i \sum_{j, k} \left( |y_{ij} - y_{ik}|^p - E |X_{ij} - X_{ik}|^p \right)^2

    Parameters
    ----------
    y_true : (n, d) outcomes, d at least 2
    forecast : JointNormalForecast, (mean, cov), or draws (n, d, m)
    power : float, default 0.5
        p, above 0 and at most 2; small powers are less moved by single large differences.
    level : float, default 0.95
        Of the interval.
    sample_weight : (n,), optional

    Returns
    -------
    Interval
        From 0; less is better.

    Raises
    ------
    InputError
        When shapes differ, there is one output only, or the power is out of range.

    See Also
    --------
    energy_score : sees means and variances better.

    Notes
    -----
    Proper, but not strictly: a mean wrong by the same in all outputs goes unseen, so read it beside the energy score. Bring outputs of
    different units to one scale first. Exact for normal forecasts.

    References
    ----------
    Scheuerer and Hamill, "Variogram-based proper scoring rules for probabilistic forecasts of multivariate quantities", 2015.

    Examples
    --------
    >>> round(variogram_score([[0.0, 1.0]], ([[0.0, 0.0]], [[[0.5, 0.0], [0.0, 0.5]]]), power=2.0).value, 6)
    0.0
    """
    if not (isinstance(power, float | int) and 0.0 < power <= 2.0):
        raise InputError(f"power must be above 0 and at most 2; got {power!r}; 0.5 is usual.")
    record = read_joint(forecast, y_true, sample_weight)
    if record.y.shape[1] < 2:
        raise InputError("the variogram score compares outputs; got one; use continuous_ranked_probability_score.")
    j, k = np.triu_indices(record.y.shape[1], 1)
    seen = np.abs(record.y[:, j] - record.y[:, k]) ** power
    if record.draws is None:
        mean, cov = record.normal.mean, record.normal.cov
        variance = cov[:, j, j] + cov[:, k, k] - 2.0 * cov[:, j, k]
        said = _mean_power(mean[:, j] - mean[:, k], np.sqrt(variance), power)
    else:
        said = np.stack(
            [(np.abs(record.draws[:, a] - record.draws[:, b]) ** power).mean(axis=1) for a, b in zip(j, k, strict=True)], axis=1
        )
    return mean_of_losses(2.0 * np.square(seen - said).sum(axis=1), record.weights, level)


def _mean_power(mean, std, power):
    """E |mean + std Z|^power."""
    z = np.abs(mean / std)
    near = np.minimum(z, FAR)
    middle = (
        2.0 ** (0.5 * power) * special.gamma(0.5 + 0.5 * power) / np.sqrt(np.pi) * special.hyp1f1(-0.5 * power, 0.5, -0.5 * near * near)
    )
    far = np.maximum(z, FAR)
    # Moments of a normal: 1, 3 and 15 times the powers of its variance.
    c = [power * (power - 1.0) / 2.0, power * (power - 1.0) * (power - 2.0) * (power - 3.0) / 8.0]
    c.append(c[1] * (power - 4.0) * (power - 5.0) / 6.0)
    series = far**power * (1.0 + c[0] / far**2 + c[1] / far**4 + c[2] / far**6)
    return std**power * np.where(z < FAR, middle, series)
