"""Calibration error of the confidence, apart for each predicted label."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from calibrant._kernels import bins
from calibrant._kernels.bootstrap import resampled_sums
from calibrant._kernels.debias import inverted_limits
from calibrant._kernels.quotient import quotient
from calibrant._support.options import require_count, require_option
from calibrant.contracts.metric import Interval, Metric

__all__ = ["PerLabelCalibrationError", "per_label_calibration_error"]


@dataclass(frozen=True, repr=False)
class PerLabelCalibrationError(Metric):
    r"""Gap between confidence and accuracy over bins of the confidence within each predicted label, averaged (top-label ECE).

    .. math:: \sum_l v_l \sum_b \frac{w_{lb}}{w_l} \left| \mathrm{conf}_{lb} - \mathrm{acc}_{lb} \right|

    Parameters
    ----------
    n_bins : int, default 15
        Bins of equal width (edges k / n_bins, an edge belongs to the bin above, 1 to the last).
    average : {"row", "label"}
        :math:`v_l` is the label's share of the rows, or the same for every label that is predicted at all.

    See Also
    --------
    expected_calibration_error : all labels in one bin.
    classwise_calibration_error : every class's probability.

    Notes
    -----
    Use it where "90 % sure of A" and "90 % sure of B" must both hold: their errors cancel in the ECE. Biased upward, by more than the ECE
    as its bins hold fewer rows; ``.interval`` is freed of that (method "debiased"), and ``plain`` in it is the number above. Never select
    a model or a calibrator by it. ``average="label"`` is MAPIE's ``top_label_ece`` with uniform bins, one fewer than its ``num_bins``
    says.

    References
    ----------
    Gupta and Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022.

    Examples
    --------
    >>> round(per_label_calibration_error([0, 0, 1, 0], [[0.8, 0.2], [0.8, 0.2], [0.2, 0.8], [0.2, 0.8]]), 3)
    0.25
    """

    n_bins: int = 15
    average: Literal["row", "label"] = "row"

    name: ClassVar[str] = "per-label ECE"
    key: ClassVar[str] = "per_label_ece"
    estimand: ClassVar[str] = "error in these bins on ever more rows: without the noise that the number itself carries"
    clustered: ClassVar[bool] = False
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def _examples(cls):
        return [cls(), cls(n_bins=5, average="label")]

    def _check(self):
        require_count("n_bins", self.n_bins)
        require_option("average", self.average, ("row", "label"))

    def _totals(self, record):
        return self._group_totals(record, 0, 1)[0]

    def _bin(self, record):
        """Number of each row's bin within its label, the labels one after the other, (n,)."""
        return bins.equal_width_index(record.confidence, self.n_bins, record.resolution) + self.n_bins * record.predicted

    def _group_totals(self, record, group, n_groups):
        shape = (n_groups, record.n_classes, self.n_bins)
        index = self._bin(record) + self.n_bins * record.n_classes * group
        return bins.grouped_sums(index, int(np.prod(shape)), [record.confidence, record.correct], record.weight).reshape(*shape, 3)

    def _finalise(self, totals):
        weight = totals[..., 0].sum(axis=-1)
        gap = np.abs(totals[..., 1] - totals[..., 2]).sum(axis=-1)
        if self.average == "row":
            return quotient(gap.sum(axis=-1), weight.sum(axis=-1))
        return quotient(np.where(weight > 0.0, quotient(gap, weight), 0.0).sum(axis=-1), (weight > 0.0).sum(axis=-1))

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        totals = self._all_totals(record)
        n_resamples = max(min(n_resamples, int(2e7 / totals.size)), 100)
        sets = [(self._bin(record), [record.confidence, record.correct])]
        draws = resampled_sums(sets, totals[..., 0].size, record.weights, n_resamples, random_state)[:, 0]
        if self.average == "row":
            # All bins of all labels as those of one question.
            totals, draws = totals.reshape(1, -1, 3), draws[:, None]
        else:
            used = totals[..., 0].sum(axis=1) > 0.0
            totals, draws = totals[used], draws.reshape(-1, *totals.shape)[:, used]
        n = float(record.weights.sum())
        value, low, high = inverted_limits(totals, draws, 1, level, n=n)
        return Interval.holding(value, (low, high), level, "debiased", n, self._value(record))


per_label_calibration_error: PerLabelCalibrationError = PerLabelCalibrationError()
