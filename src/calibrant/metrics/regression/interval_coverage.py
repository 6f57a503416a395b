"""Share of the outcomes inside their predicted intervals."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.interval import require_level
from calibrant.contracts.regression_metric import RegressionMeanMetric

__all__ = ["IntervalCoverage", "interval_coverage"]


@dataclass(frozen=True, repr=False)
class IntervalCoverage(RegressionMeanMetric):
    r"""Share of the outcomes inside the central interval at ``level`` (PICP).

    .. math:: \frac{1}{n} \sum_i [l_i \le y_i \le h_i]

    Parameters
    ----------
    level : float, default 0.9
        The coverage that the central interval claims.

    See Also
    --------
    interval_width : read it beside this.
    interval_calibration_error : all levels.

    Notes
    -----
    It should be near the level; see ``interval_width`` for what that costs, and ``group_coverage`` for whether it holds in each group.

    Examples
    --------
    >>> interval_coverage([0.0, 3.0], [0.0, 0.0], [1.0, 1.0])
    0.5
    """

    level: float = 0.9

    name: ClassVar[str] = "PICP"
    key: ClassVar[str] = "coverage"
    estimand: ClassVar[str] = "share of new outcomes inside their intervals"
    direction: ClassVar[str] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    rate: ClassVar[bool] = True

    def _check(self):
        require_level(self.level, usual=0.9)

    def _losses(self, record):
        return record.held(self.level)[2].astype(np.float64)


interval_coverage: IntervalCoverage = IntervalCoverage()
