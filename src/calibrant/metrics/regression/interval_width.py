"""Mean width of the predicted intervals."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.contracts.interval import require_level
from calibrant.contracts.regression_metric import RegressionMeanMetric

__all__ = ["IntervalWidth", "interval_width"]


@dataclass(frozen=True, repr=False)
class IntervalWidth(RegressionMeanMetric):
    r"""Mean width of the central interval at ``level`` (MPIW).

    .. math:: \frac{1}{n} \sum_i (h_i - l_i)

    Parameters
    ----------
    level : float, default 0.9
        The coverage that the central interval claims.

    See Also
    --------
    interval_coverage : read it beside this.
    sharpness : the same by the variance.

    Notes
    -----
    Of intervals with the coverage they claim the narrower are the better: read it beside ``interval_coverage``. Infinite intervals make
    it infinite.

    Examples
    --------
    >>> round(interval_width([0.0], [0.0], [1.0]), 4)
    3.2897
    """

    level: float = 0.9

    name: ClassVar[str] = "MPIW"
    key: ClassVar[str] = "width"
    direction: ClassVar[str] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    degree: ClassVar[int | None] = 1

    def _check(self):
        require_level(self.level, usual=0.9)

    def _losses(self, record):
        low, high = record.forecast.interval(self.level)
        return high - low


interval_width: IntervalWidth = IntervalWidth()
