"""Calibration errors that bound the loss of decisions at the worst cut-off or payoff."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import bins
from calibrant._kernels.bins import grouped_sums
from calibrant._kernels.intervals import quotient
from calibrant._kernels.thresholds import decision_loss
from calibrant._support.options import require_count
from calibrant.contracts.metric import Interval
from calibrant.contracts.tags import Promises
from calibrant.metrics.pair import PairMetric

__all__ = [
    "AverageTwoBinCalibrationError",
    "CalibrationDecisionLoss",
    "CutMetric",
    "average_two_bin_calibration_error",
    "calibration_decision_loss",
]


class CutMetric(
    PairMetric,
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "answer"}, {"cells": 1024}),
):
    """Template of metrics of the sums on either side of each cut; a subclass defines
    ``_of_cuts(sums, low, high)``.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
    cells : int, default 0
        0 sorts all rows and cuts between any two distinct scores. A number of cells (1,024 is
        plenty) cuts only at k / cells, which gives the metric a state of fixed size.
    """

    target: Any = "event"
    cells: int = 0

    promises: ClassVar[Promises]

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options; it requires ``cells``."""
        return self.cells > 0

    def _check(self) -> None:
        require_count("cells", self.cells, 0, most=65_536)

    @abstractmethod
    def _of_cuts(self, sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Compute the value from sums of (weight, score, hits) between cuts, (..., m, 3), and the
        range of each of the m + 1 cuts.
        """

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Range of each cut; on a grid a single point, and the first, at 0, cuts nothing."""
        edges = bins.equal_width_edges(self.cells)
        return edges, edges

    def _prepared(self, score: np.ndarray, weight: np.ndarray) -> Callable[[np.ndarray], float]:
        if self.cells:
            index, count, ends = bins.equal_width_index(score, self.cells), self.cells, self._ends()
        else:
            unique, index = np.unique(score, return_inverse=True)
            count, ends = len(unique), (np.append(0.0, unique), np.append(unique, 1.0))
        given = bins.grouped_sums(index, count, [score], weight)

        def value(hit: np.ndarray) -> float:
            hits = np.bincount(index, weights=weight * hit, minlength=count)
            return float(self._of_cuts(np.column_stack([given, hits]), *ends))

        return value

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        return self._prepared(score, weight)(hit)

    def _value(self, record: Any) -> float:
        return (
            float(self._finalise(self._all_totals(record)))
            if self.cells
            else super()._value(record)
        )

    def _totals(self, record: Any) -> np.ndarray:
        return self._group_totals(record, 0, 1)[0]

    def _group_totals(self, record: Any, group: np.ndarray | int, n_groups: int) -> np.ndarray:
        if not self.cells:
            return super()._totals(record)
        score, hit = record.pair(self.target)
        cell = bins.equal_width_index(score, self.cells) + group * self.cells
        return bins.grouped_sums(cell, n_groups * self.cells, [score, hit], record.weight).reshape(
            n_groups, self.cells, 3
        )

    def _finalise(self, totals: np.ndarray) -> np.ndarray | float:
        return self._of_cuts(totals, *self._ends())


class AverageTwoBinCalibrationError(
    CutMetric,
    name="ATB",
    key="atb",
    tilted=True,
    promises=Promises("yes", "yes", "no", "none: a constant base rate reaches the minimum"),
):
    r"""Squared gap of two bins, summed, and averaged over a cut drawn evenly from [0, 1] (ATB): a
    *truthful* measure.

    .. math:: \frac{1}{n^2} \int_0^1 \Big[ \big( \sum_{s_i < \theta} (c_i - s_i) \big)^2 + \big(
        \sum_{s_i \ge \theta} (c_i - s_i) \big)^2
        \Big] d\theta

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    cells : int, default 0
        0 is exact and costs one sort. A number of cells draws the cut from k / cells instead: still
        truthful, with a state of fixed size, and within the exact value by at most
        :math:`2 \bar r^2 / \mathrm{cells}`, :math:`\bar r` the mean of :math:`|c - s|`: 0.002 at
        most for 1,024.

    See Also
    --------
    soft_binned_calibration_decision_loss : the cost of acting on the scores.
    brier_score : a score that also separates good forecasts from constant ones.

    Notes
    -----
    Use it where those who are evaluated choose the probabilities: rounding or shifting them, which
    lowers an ECE, raises it in expectation. Each row is in one of the two bins, so the variance of
    the outcomes adds the same :math:`\sum p(1-p)/n^2` to any prediction. The rest is squared bias,
    and only the truth always makes it 0. Hence its minimum is not 0; ``null_of`` returns the value
    for calibrated scores. Do not subtract it: the difference is not truthful. The constant base
    rate does as well as the truth, so report it with a proper score. The formula was reconstructed
    from the abstract; the paper may divide by another power of n.

    References
    ----------
    Hartline, Hu and Wu, "A perfectly truthful calibration measure", COLT 2026.

    Examples
    --------
    >>> round(average_two_bin_calibration_error([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]), 6)
    0.006125
    """

    def _of_cuts(self, sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        gap = np.cumsum(sums[..., 2] - sums[..., 1], axis=-1)
        gap = np.concatenate([np.zeros((*gap.shape[:-1], 1)), gap], axis=-1)
        squares = gap * gap + (gap[..., -1:] - gap) ** 2
        # On a grid the cuts 1 / cells, ..., 1 are equally likely.
        law = np.append(0.0, np.full(self.cells, 1.0 / self.cells)) if self.cells else high - low
        n = sums[..., 0].sum(axis=-1)
        return quotient(squares @ law, n * n)


average_two_bin_calibration_error: AverageTwoBinCalibrationError = AverageTwoBinCalibrationError()


#: With fewer rows per distinct score, the interval begins at 0.
ROWS_EACH = 10.0


class CalibrationDecisionLoss(
    PairMetric,
    name="CDL",
    key="cdl",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "answer"},),
):
    r"""Mean payoff gained by knowing the true rate at each distinct score, for the worst V-shaped
    payoff in [0, 1] (CDL).

    .. math:: \sup_\mu \frac{1}{\max(\mu, 1 - \mu)} \sum_v w_v \left| \bar c_v - \mu \right|
        1\{\mu \text{ between } v \text{ and } \bar c_v\}

    over the distinct scores v, of share :math:`w_v` and rate :math:`\bar c_v`.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    soft_binned_calibration_decision_loss : the same where scores are distinct.

    Notes
    -----
    Use it for scores with few distinct values (rounded, or from a table), to bound the loss of any
    decision maker who trusts them. The loss is at most twice this value, for any payoffs in [0, 1].
    The value is at most twice the ECE of the distinct scores, and can be far smaller. Where most
    scores are distinct, it is uninformative and gives no warning: use the soft-binned loss. Its
    interval begins at 0 below ten rows per score. It is no sum over rows, so it has no state. It is
    not truthful: coarser scores have less noise.

    References
    ----------
    Hu and Wu, "Predict to minimize swap regret for all payoff-bounded tasks", FOCS 2024.

    Examples
    --------
    >>> round(calibration_decision_loss([0, 1, 1, 1], [0.4, 0.4, 0.4, 0.4]), 3)
    0.583
    """

    target: Any = "event"

    promises: ClassVar[Promises] = Promises(
        "no", "no", "yes", "against the best use of the scores: at most twice its value"
    )

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        unique, index = np.unique(score, return_inverse=True)
        mass, hits = grouped_sums(index, len(unique), [hit], weight).T
        return min(decision_loss(unique, hits / mass, mass), 1.0)

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        found = super()._interval(record, level, method, n_resamples, random_state)
        distinct = len(np.unique(record.pair(self.target)[0]))
        if found.method != "debiased" or found.n >= ROWS_EACH * distinct:
            return found
        return Interval.holding(
            found.value, (0.0, found.high), level, found.method, found.n, found.plain
        )


calibration_decision_loss: CalibrationDecisionLoss = CalibrationDecisionLoss()
