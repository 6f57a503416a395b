"""Calibration errors of the whole probability vector: per label, in cells."""

from typing import Any, Literal

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bins import inverted_limits
from calibrant._numerics.bootstrap import resampled_sums
from calibrant._numerics.intervals import quotient
from calibrant.core.estimators import require_count, require_option
from calibrant.core.metric_kinds import Interval, Metric, WholeMetric
from calibrant.errors import InputError

__all__ = [
    "FullCalibrationError",
    "PerLabelCalibrationError",
    "full_calibration_error",
    "per_label_calibration_error",
]


class PerLabelCalibrationError(
    Metric,
    name="per-label ECE",
    key="per_label_ece",
    estimand=(
        "error in these bins as the number of rows grows, without the sampling noise in the value"
    ),
    clustered=False,
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"n_bins": 5, "average": "label"},),
):
    r"""Gap between confidence and accuracy over bins of the confidence within each predicted label,
    averaged (top-label ECE).

    .. math:: \sum_l v_l \sum_b \frac{w_{lb}}{w_l} \left| \mathrm{conf}_{lb} - \mathrm{acc}_{lb}
        \right|

    Parameters
    ----------
    n_bins : int, default 15
        Bins of equal width (edges k / n_bins, an edge belongs to the bin above, 1 to the last).
    average : {"row", "label"}
        :math:`v_l` is the label's share of the rows, or equal for all labels that are predicted.

    See Also
    --------
    expected_calibration_error : all labels in one bin.
    classwise_calibration_error : every class's probability.

    Notes
    -----
    Use it where "90 % sure of A" and "90 % sure of B" must both hold: their errors cancel in the
    ECE. It is biased upward, more than the ECE because its bins hold fewer rows. ``.interval``
    removes that bias (method "debiased"); its ``plain`` is the value above. Never select a model or
    a calibrator by it. ``average="label"`` is MAPIE's ``top_label_ece`` with uniform bins, one
    fewer than its ``num_bins``.

    References
    ----------
    Gupta and Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022.

    Examples
    --------
    >>> round(
    ...     per_label_calibration_error(
    ...         [0, 0, 1, 0], [[0.8, 0.2], [0.8, 0.2], [0.2, 0.8], [0.2, 0.8]]
    ...     ),
    ...     3,
    ... )
    0.25
    """

    n_bins: int = 15
    average: Literal["row", "label"] = "row"

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)
        require_option("average", self.average, ("row", "label"))

    def _totals(self, record: Any) -> np.ndarray:
        return self._group_totals(record, 0, 1)[0]

    def _bin(self, record: Any) -> np.ndarray:
        """Number of each row's bin within its label, label after label, (n,)."""
        return (
            bins.equal_width_index(record.confidence, self.n_bins, record.resolution)
            + self.n_bins * record.predicted
        )

    def _group_totals(self, record: Any, group: np.ndarray | int, n_groups: int) -> np.ndarray:
        shape = (n_groups, record.n_classes, self.n_bins)
        index = self._bin(record) + self.n_bins * record.n_classes * group
        return bins.grouped_sums(
            index, int(np.prod(shape)), [record.confidence, record.correct], record.weight
        ).reshape(*shape, 3)

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        weight = totals[..., 0].sum(axis=-1)
        gap = np.abs(totals[..., 1] - totals[..., 2]).sum(axis=-1)
        if self.average == "row":
            return quotient(gap.sum(axis=-1), weight.sum(axis=-1))
        return quotient(
            np.where(weight > 0.0, quotient(gap, weight), 0.0).sum(axis=-1),
            (weight > 0.0).sum(axis=-1),
        )

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        totals = self._all_totals(record)
        n_resamples = max(min(n_resamples, int(2e7 / totals.size)), 100)
        sets = [(self._bin(record), [record.confidence, record.correct])]
        draws = resampled_sums(
            sets, totals[..., 0].size, record.weights, n_resamples, random_state
        )[:, 0]
        if self.average == "row":
            # The bins of all labels count as the bins of one target.
            totals, draws = totals.reshape(1, -1, 3), draws[:, None]
        else:
            used = totals[..., 0].sum(axis=1) > 0.0
            totals, draws = totals[used], draws.reshape(-1, *totals.shape)[:, used]
        n = float(record.weights.sum())
        value, low, high = inverted_limits(totals, draws, 1, level, n=n)
        return Interval.holding(value, (low, high), level, "debiased", n, self._value(record))


per_label_calibration_error: PerLabelCalibrationError = PerLabelCalibrationError()


class FullCalibrationError(
    WholeMetric,
    name="full ECE",
    key="full_ece",
    estimand=(
        "error in these cells as the number of rows grows, without the sampling noise in the value"
    ),
    clustered=False,
    direction="minimize",
    range=(0.0, 2.0),
):
    r"""Gap between mean probabilities and class shares over cells of the simplex, summed over the
    classes (full ECE).

    .. math:: \sum_b \frac{w_b}{w} \sum_k \left| \bar P_{bk} - \bar y_{bk} \right|^r

    A cell holds the rows whose probabilities fall into the same bin of equal width for every class.

    Parameters
    ----------
    n_bins : int, default 15
        Bins of each probability (edges k / n_bins, an edge belongs to the bin above, 1 to the
        last).
    power : float, default 1.0
        r.

    See Also
    --------
    classwise_calibration_error : each class's probability, in bins.
    calibration_error_test : whether it may be chance.

    Notes
    -----
    Use it to compare with papers that report it, and for few classes: with many classes most rows
    have a cell of their own, and the value is uninformative. It has no ``state``, because it has
    too many cells. It is biased upward in small samples; ``.interval`` removes that bias (method
    "debiased"), and its ``plain`` is the value above. Never select a model or a calibrator by it.

    References
    ----------
    Vaicenavicius et al., "Evaluating model calibration in classification", AISTATS 2019.

    Examples
    --------
    >>> round(full_calibration_error([0, 1], [[0.8, 0.2], [0.8, 0.2]]), 3)
    0.6
    """

    n_bins: int = 15
    power: float = 1.0

    def _check(self) -> None:
        require_count("n_bins", self.n_bins, most=32_767)
        if not self.power >= 1.0:
            raise InputError(f"power must be at least 1; got {self.power!r}.")

    def _cell(self, record: Any) -> np.ndarray:
        """Number of each row's cell among the cells that hold rows, (n,)."""
        cells = bins.equal_width_index(record.probabilities, self.n_bins, record.resolution).astype(
            np.int16
        )
        return np.unique(cells, axis=0, return_inverse=True)[1].ravel()

    def _error(self, weight: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Compute the value from the weight and the summed gap of each class and cell, (..., K,
        cells).
        """
        mean = np.divide(
            np.abs(gap),
            weight,
            out=np.zeros(np.broadcast_shapes(gap.shape, weight.shape)),
            where=weight > 0.0,
        )
        return (weight * mean**self.power).sum(axis=-1, keepdims=True).sum(axis=-2) / weight[
            ..., 0, :
        ].sum(axis=-1, keepdims=True)

    def _value(self, record: Any) -> float:
        cell, hot = self._cell(record), record.one_hot
        sums = bins.grouped_sums(
            cell, int(cell.max()) + 1, list((record.probabilities - hot).T), record.weight
        )
        return float(self._error(sums[:, :1].T, sums[:, 1:].T)[0])

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        cell, n = self._cell(record), float(record.weights.sum())
        sets = [
            (cell, [score, hit])
            for score, hit in zip(record.probabilities.T, record.one_hot.T, strict=True)
        ]
        totals = np.stack(
            [
                bins.grouped_sums(cell, int(cell.max()) + 1, list(columns), record.weight)
                for _, columns in sets
            ]
        )
        n_resamples = max(min(n_resamples, int(2e7 / totals.size)), 100)
        draws = resampled_sums(sets, totals.shape[1], record.weights, n_resamples, random_state)
        value, low, high = inverted_limits(
            totals, draws, self._error, level, n=n, most=self.range[1]
        )
        return Interval.holding(value, (low, high), level, "debiased", n, self._value(record))


full_calibration_error: FullCalibrationError = FullCalibrationError()
