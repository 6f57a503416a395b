"""CWC: coverage and width of intervals in one number."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.quotient import quotient
from calibrant.contracts.metric import WholeMetric
from calibrant.contracts.regression_metric import RegressionMetric
from calibrant.errors import InputError

__all__ = ["CoverageWidthCriterion", "coverage_width_criterion"]


@dataclass(frozen=True, repr=False)
class CoverageWidthCriterion(RegressionMetric, WholeMetric):
    r"""One less the mean width of intervals over the range of the outcomes, times a penalty on wrong coverage (CWC).

    .. math:: \Big( 1 - \frac{\bar w}{\max y - \min y} \Big) \exp\big( -\eta (\hat c - c)^2 \big)

    .. versionadded:: 0.2

    Parameters
    ----------
    level : float, default 0.9
        The coverage c that the central interval claims.
    eta : float, default 30.0
        How hard wrong coverage is punished.

    See Also
    --------
    weighted_interval_score : a proper score of intervals.
    interval_coverage, interval_width : the two numbers.

    Notes
    -----
    Use it to compare with papers that report it. Its weighing is arbitrary, and one far outcome changes the range, so never select a model
    by it. nan where all outcomes are equal. The range is no sum, so it has no state. MAPIE's ``coverage_width_based``.

    References
    ----------
    Khosravi, Nahavandi and Creighton, "Construction of optimal prediction intervals for load forecasting problems", IEEE Transactions on
    Power Systems 2010.

    Examples
    --------
    >>> round(coverage_width_criterion([-5.0, 0.0, 5.0], [-5.0, 0.0, 5.0], [1.0] * 3), 4)
    0.4971
    """

    level: float = 0.9
    eta: float = 30.0

    name: ClassVar[str] = "CWC"
    key: ClassVar[str] = "coverage_width_criterion"
    direction: ClassVar[str] = "maximize"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    exceptions: ClassVar[dict[str, str]] = {"one_row": "outcomes of no range: nan"}

    def _check(self):
        if not (isinstance(self.level, float) and 0.0 < self.level < 1.0):
            raise InputError(f"level must be above 0 and below 1; got {self.level!r}; 0.9 is usual.")
        if not self.eta >= 0.0:
            raise InputError(f"eta must be at least 0; got {self.eta!r}.")

    def _value(self, record):
        low, high = record.forecast.interval(self.level)
        n, spread = record.weights.sum(), np.ptp(record.y)
        gap = record.weights @ ((low <= record.y) & (record.y <= high)) / n - self.level
        width = float(quotient(record.weights @ (high - low) / n, spread)) if spread > 0.0 else np.nan
        return float((1.0 - width) * np.exp(-self.eta * gap * gap))


coverage_width_criterion: CoverageWidthCriterion = CoverageWidthCriterion()
