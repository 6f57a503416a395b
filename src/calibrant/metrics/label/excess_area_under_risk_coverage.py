"""Area under the risk-coverage curve above that of a perfect ranking."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.mean_interval import moved_limits
from calibrant._kernels.risk_coverage import optimal_area, ranked, risk_coverage_area, row_moves
from calibrant.contracts.metric import Interval, WholeMetric

__all__ = ["ExcessAreaUnderRiskCoverage", "excess_area_under_risk_coverage"]


@dataclass(frozen=True, repr=False)
class ExcessAreaUnderRiskCoverage(WholeMetric):
    r"""What imperfect ranking adds to the area under the risk-coverage curve (E-AURC).

    .. math:: \mathrm{AURC} - \left( r + (1 - r) \ln(1 - r) \right), \quad r = P(\text{wrong})

    See Also
    --------
    area_under_risk_coverage : with what the accuracy makes unavoidable.
    confidence_auroc : the ranking as a probability.

    Notes
    -----
    Use it to compare confidences of models that differ in accuracy. It says nothing of calibration: any increasing map leaves it as it is.

    References
    ----------
    Geifman, Uziel and El-Yaniv, "Bias-reduced uncertainty estimation for deep neural classifiers", ICLR 2019.

    Examples
    --------
    >>> round(excess_area_under_risk_coverage([0, 0], [[0.9, 0.1], [0.2, 0.8]]), 4)
    0.0
    """

    name: ClassVar[str] = "E-AURC"
    key: ClassVar[str] = "excess_aurc"
    estimand: ClassVar[str] = "area on ever more rows of the same kind"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    exceptions: ClassVar[Mapping[str, str]] = {"perfect_is_best": "where every prediction is wrong, no ranking is better than another"}

    def _value(self, record):
        return self._revalued(record)(record.weights)

    def _revalued(self, record):
        _, sums = ranked(*record.ranks)

        def value(weight, labels=record.labels):
            _, covered, wrong = sums(record.predicted == labels, weight)
            excess = risk_coverage_area(covered, wrong) - optimal_area(float(wrong[-1] / covered[-1]))
            return min(max(excess, 0.0), 1.0)

        return value

    def moves_of(self, record: Any) -> Any:
        """How far each row moves it, (n,)."""
        return self._told(record)[0]

    def _told(self, record):
        """What each row moves it by, and what it would were it wrong."""
        wrong, weight = 1.0 - record.correct, record.weights
        moves, if_wrong = row_moves(record.ranks[1], record.correct, weight)
        # The derivative of the area of a perfect ranking by the risk.
        risk = weight @ wrong / weight.sum()
        slope = -np.log1p(-min(risk, 1.0 - 1e-12))
        return moves - slope * (wrong - risk), if_wrong - slope * (1.0 - risk)

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        value, weight = self._value(record), record.weights
        limits = moved_limits(self.range, weight, value, *self._told(record), level)
        return Interval.holding(value, limits, level, "analytic", float(weight.sum()))


excess_area_under_risk_coverage: ExcessAreaUnderRiskCoverage = ExcessAreaUnderRiskCoverage()
