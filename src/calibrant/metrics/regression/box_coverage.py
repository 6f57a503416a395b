"""How often one interval for each output holds all outputs of a row."""

from typing import Any

from numpy.typing import ArrayLike

from calibrant.contracts.interval import Interval
from calibrant.forecasts.joint_normal import read_joint
from calibrant.metrics.regression.joint_interval import share_of_rows

__all__ = ["box_coverage"]


def box_coverage(
    y_true: ArrayLike, forecast: Any, *, said: float = 0.9, level: float = 0.95, sample_weight: ArrayLike | None = None
) -> Interval:
    r"""Share of the rows whose outputs all lie in the box that claims to hold at least ``said`` of them.

    .. math:: \frac{1}{n} \sum_i \prod_j \left[ |y_{ij} - \mu_{ij}| \le z \sigma_{ij} \right], \qquad
        (2 \Phi(z) - 1)^d = \text{said}

    Parameters
    ----------
    y_true : (n, d) outcomes
    forecast : JointNormalForecast, or (mean, cov)
    said : float, default 0.9
        What the boxes claim to hold at least.
    level : float, default 0.95
        Of the interval.
    sample_weight : (n,), optional

    Returns
    -------
    Interval

    See Also
    --------
    ellipse_coverage : sees correlations too.
    interval_coverage : of one output.

    Notes
    -----
    The boxes are Sidak's (``JointNormalForecast.box``): of a calibrated forecast they hold exactly ``said`` where outputs are
    independent, and more where they hang together. A coverage below ``said`` is a fault, one above it need not be.

    References
    ----------
    Sidak, "Rectangular confidence regions for the means of multivariate normal distributions", 1967.

    Examples
    --------
    >>> box_coverage([[0.0, 0.0], [3.0, 0.0]], ([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])).value
    0.5
    """
    record = read_joint(forecast, y_true, sample_weight)
    low, high = record.normal.box(said)
    return share_of_rows(((low <= record.y) & (record.y <= high)).all(axis=1) * 1.0, record.weights, level)
