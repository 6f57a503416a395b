"""Area under the risk-coverage curve."""

from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant._kernels.mean_interval import moved_limits
from calibrant._kernels.risk_coverage import ranked, risk_coverage_area, row_moves
from calibrant.contracts.metric import Interval, WholeMetric

__all__ = ["AreaUnderRiskCoverage", "area_under_risk_coverage"]


@dataclass(frozen=True, repr=False)
class AreaUnderRiskCoverage(WholeMetric):
    r"""Share of wrong predictions among the most confident ones, averaged over how many are kept (AURC).

    .. math:: \int_0^1 P(\text{wrong} \mid \text{among the share } c \text{ of highest confidence})\, dc

    See Also
    --------
    excess_area_under_risk_coverage : what ranking alone adds to it.
    risk_coverage_curve : the curve itself.

    Notes
    -----
    The integral is exact, rows of equal confidence entering together; the sum over rows used elsewhere differs from it by the order of 1/n.
    Use it to choose a model for selective prediction; calibration by an increasing map does not change it. It mixes the error rate
    with the ranking: ``excess_area_under_risk_coverage`` takes the error rate out. Its interval is that of a mean of what each row moves
    the area by, with a row not seen yet; Student's t where rows are few.

    References
    ----------
    Geifman, Uziel and El-Yaniv, "Bias-reduced uncertainty estimation for deep neural classifiers", ICLR 2019.

    Examples
    --------
    >>> round(area_under_risk_coverage([0, 0], [[0.9, 0.1], [0.2, 0.8]]), 4)
    0.1534
    """

    name: ClassVar[str] = "AURC"
    key: ClassVar[str] = "aurc"
    estimand: ClassVar[str] = "area on ever more rows of the same kind"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    selects: ClassVar[bool] = True
    paired: ClassVar[bool] = True

    def _value(self, record):
        return self._revalued(record)(record.weights)

    def _revalued(self, record):
        _, sums = ranked(*record.ranks)

        def value(weight, labels=record.labels):
            _, covered, wrong = sums(record.predicted == labels, weight)
            return min(max(risk_coverage_area(covered, wrong), 0.0), 1.0)

        return value

    def moves_of(self, record: Any) -> Any:
        """How far each row moves it, (n,)."""
        return row_moves(record.ranks[1], record.correct, record.weights)[0]

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        value, weight = self._value(record), record.weights
        limits = moved_limits(self.range, weight, value, *row_moves(record.ranks[1], record.correct, weight), level)
        return Interval.holding(value, limits, level, "analytic", float(weight.sum()))


area_under_risk_coverage: AreaUnderRiskCoverage = AreaUnderRiskCoverage()
