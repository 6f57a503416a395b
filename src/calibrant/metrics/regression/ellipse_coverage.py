"""How often the predicted ellipses hold the outcome."""

from typing import Any

from numpy.typing import ArrayLike
from scipy import special

from calibrant.contracts.interval import Interval
from calibrant.forecasts.forecast import require_level
from calibrant.forecasts.joint_normal import read_joint
from calibrant.metrics.regression.joint_interval import share_of_rows

__all__ = ["ellipse_coverage"]


def ellipse_coverage(
    y_true: ArrayLike, forecast: Any, *, said: float = 0.9, level: float = 0.95, sample_weight: ArrayLike | None = None
) -> Interval:
    r"""Share of the outcomes inside the ellipse that claims to hold ``said`` of them.

    .. math:: \frac{1}{n} \sum_i \left[ (y_i - \mu_i)^\top \Sigma_i^{-1} (y_i - \mu_i) \le \chi^2_{d, \text{said}} \right]

    Parameters
    ----------
    y_true : (n, d) outcomes
    forecast : JointNormalForecast, or (mean, cov)
    said : float, default 0.9
        What the ellipses claim to hold.
    level : float, default 0.95
        Of the interval.
    sample_weight : (n,), optional

    Returns
    -------
    Interval

    See Also
    --------
    box_coverage : of an interval for each output.
    joint_pit : of ellipses of all sizes.
    CovarianceScaling : repairs it.

    Notes
    -----
    Near ``said`` where variances and correlations are right on average; too narrow in one direction and too wide in another can cancel.

    Examples
    --------
    >>> ellipse_coverage([[0.0, 0.0], [3.0, 0.0]], ([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])).value
    0.5
    """
    require_level(said, "said", usual=0.9)
    record = read_joint(forecast, y_true, sample_weight)
    most = 2.0 * special.gammaincinv(0.5 * record.y.shape[1], said)
    return share_of_rows((record.normal.distance(record.y) <= most) * 1.0, record.weights, level)
