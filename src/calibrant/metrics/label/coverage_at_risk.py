"""Largest share of predictions that can be kept at a given risk."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.intervals import rate_interval
from calibrant._kernels.risk_coverage import ranked, risk_coverage
from calibrant.contracts.metric import Interval, WholeMetric
from calibrant.errors import InputError

__all__ = ["CoverageAtRisk", "coverage_at_risk"]


@dataclass(frozen=True, repr=False)
class CoverageAtRisk(WholeMetric):
    """Largest share of the rows, kept by a threshold on the confidence, of which at most ``risk`` are wrong.

    Parameters
    ----------
    risk : float, default 0.05
        Share of wrong predictions allowed among those kept.

    See Also
    --------
    risk_coverage_curve : all risks at once.
    area_under_risk_coverage : no risk to choose.

    Notes
    -----
    Use it where a person takes over below a threshold. It is the best threshold in hindsight: on new data expect some more risk,
    which the lower end of the interval allows for. Rows of
    equal confidence are kept or left together.

    Examples
    --------
    >>> coverage_at_risk([0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], risk=0.1)
    0.75
    """

    risk: float = 0.05

    name: ClassVar[str] = "coverage at risk"
    key: ClassVar[str] = "coverage_at_risk"
    estimand: ClassVar[str] = "share that could be kept of ever more rows of the same kind"
    direction: ClassVar[str] = "maximize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    selects: ClassVar[bool] = True
    paired: ClassVar[bool] = True

    @classmethod
    def _examples(cls):
        return [cls(), cls(risk=0.2)]

    def _check(self):
        if not 0.0 <= self.risk <= 1.0:
            raise InputError(f"risk must be in [0, 1]; got {self.risk!r}.")

    def _interval(self, record, level, method, n_resamples, random_state):
        found = super()._interval(record, level, method, n_resamples, random_state)
        if method != "auto":
            return found
        # What is kept for sure, and what may be kept, by the interval of the risk among the rows above each confidence.
        _, covered, wrong = risk_coverage(record.confidence, record.correct, record.weights)
        least, most = rate_interval(wrong, covered, level)
        sure, may = (np.max(covered, where=ends <= self.risk, initial=0.0) / covered[-1] for ends in (most, least))
        # One row more may have to be left out of all.
        low = min(found.low, sure, found.n / (found.n + 1.0))
        return Interval.holding(found.value, (low, max(found.high, may)), level, "bootstrap", found.n)

    def _value(self, record):
        return self._revalued(record)(record.weights)

    def _revalued(self, record):
        _, sums = ranked(*record.ranks)

        def value(weight, labels=record.labels):
            _, covered, wrong = sums(record.predicted == labels, weight)
            # The slack forgives the rounding of summed weights.
            within = np.flatnonzero(wrong <= (self.risk + 1e-12) * covered)
            return float(covered[within[-1]] / covered[-1]) if len(within) else 0.0

        return value


coverage_at_risk: CoverageAtRisk = CoverageAtRisk()
