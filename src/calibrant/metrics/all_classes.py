"""Calibration errors of the whole probability vector, per label and in cells; and means and ratios
of sums over the rows: correct labels, confidences, accepted rows.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bins import inverted_limits
from calibrant._numerics.bootstrap import resampled_sums
from calibrant._numerics.intervals import (
    clopper_pearson,
    limits_within,
    powers,
    quotient,
    unseen_ends,
)
from calibrant.core.estimators import require_count, require_option
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import (
    Interval,
    MeanMetric,
    Metric,
    RatioMetric,
    SumMetric,
    WholeMetric,
)
from calibrant.errors import InputError

__all__ = [
    "AcceptedShare",
    "Accuracy",
    "ConfidenceSpread",
    "FullCalibrationError",
    "Overconfidence",
    "PerLabelCalibrationError",
    "SelectiveRisk",
    "Underconfidence",
    "accepted_share",
    "accuracy",
    "confidence_spread",
    "full_calibration_error",
    "overconfidence",
    "per_label_calibration_error",
    "selective_risk",
    "underconfidence",
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


class Accuracy(
    MeanMetric,
    name="accuracy",
    key="accuracy",
    estimand="share of right predictions among new rows",
    direction="maximize",
    range=(0.0, 1.0),
    selects=True,
    rate=True,
):
    """Share of rows whose most probable class is the true one; the first class on ties.

    See Also
    --------
    confidence_auroc : the ranking of correct above wrong predictions by confidence.
    coverage_at_risk : the share that can be kept at a given risk.

    Notes
    -----
    Its interval is exact (Clopper and Pearson) where fewer than ten rows are right or wrong, else
    Wilson's.

    Examples
    --------
    >>> accuracy([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    0.5
    >>> print(accuracy.interval([0, 1], [[0.9, 0.1], [0.6, 0.4]]))
    0.5 [0.01258, 0.9874]
    """

    def _losses(self, record: Any) -> np.ndarray:
        return record.correct


accuracy: Accuracy = Accuracy()


class Overconfidence(
    RatioMetric,
    name="overconfidence",
    key="overconfidence",
    estimand="mean confidence of wrong predictions on new rows",
    direction="none",
    range=(0.0, 1.0),
    empty_value=0.0,
):
    r"""Mean confidence of the wrong predictions; 0 without any.

    .. math:: o = E[\hat z \mid \text{wrong}]

    See Also
    --------
    underconfidence : the mean doubt of the correct predictions.
    expected_calibration_error : the size of the miscalibration.

    Notes
    -----
    Report it with ``underconfidence``: by Theorem 1, \|o P(wrong) - u P(right)\| is at most the
    calibration error. Neither is a proper score, so never select a model by either. A model that is
    never wrong has 0.

    References
    ----------
    Wenger, Kjellström and Triebel, "Non-parametric calibration for classification", AISTATS 2020,
    section 2.2 and theorem 1.

    Examples
    --------
    >>> round(overconfidence([0, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 3)
    0.7
    """

    def _parts(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        wrong = 1.0 - record.correct
        return record.confidence * wrong, wrong


overconfidence: Overconfidence = Overconfidence()


class Underconfidence(
    RatioMetric,
    name="underconfidence",
    key="underconfidence",
    estimand="mean doubt of correct predictions on new rows",
    direction="none",
    range=(0.0, 1.0),
    empty_value=0.0,
):
    r"""Mean doubt, 1 - confidence, of the correct predictions; 0 without any.

    .. math:: u = E[1 - \hat z \mid \text{right}]

    See Also
    --------
    overconfidence : the mean confidence of the wrong predictions.
    expected_calibration_error : the size of the miscalibration.

    Notes
    -----
    Report it with ``overconfidence``: by Theorem 1, \|o P(wrong) - u P(right)\| is at most the
    calibration error. Neither is a proper score, so never select a model by either. A model that is
    never right has 0.

    References
    ----------
    Wenger, Kjellström and Triebel, "Non-parametric calibration for classification", AISTATS 2020,
    section 2.2 and theorem 1.

    Examples
    --------
    >>> round(underconfidence([0, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 3)
    0.1
    """

    def _parts(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        return (1.0 - record.confidence) * record.correct, record.correct


underconfidence: Underconfidence = Underconfidence()


class AcceptedShare(
    MeanMetric,
    name="accepted share",
    key="accepted_share",
    estimand="share of new rows above the threshold",
    direction="none",
    range=(0.0, 1.0),
    rate=True,
    examples=({"threshold": 0.7},),
):
    """Share of rows whose confidence is above the threshold.

    Parameters
    ----------
    threshold : float, default 0.0
        The threshold in [0, 1]; a confidence equal to it is not accepted.

    See Also
    --------
    selective_risk : the share of accepted rows that are wrong.
    coverage_at_risk : the share kept at the best threshold for a risk.

    Notes
    -----
    Use it with ``selective_risk``, for a threshold fixed on other rows, such as that of a
    ``SelectiveClassifier``. It does not use labels. The interval is exact (Clopper and Pearson)
    where fewer than ten rows are accepted or not, else Wilson's.

    Examples
    --------
    >>> accepted_share([1, 0, 1, 1], [0.9, 0.2, 0.6, 0.95], threshold=0.7)
    0.75
    """

    threshold: float = 0.0

    def _check(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold must be in [0, 1]; got {self.threshold!r}.")

    def _losses(self, record: Any) -> np.ndarray:
        return (record.confidence > self.threshold) * 1.0


accepted_share: AcceptedShare = AcceptedShare()


class SelectiveRisk(
    SumMetric,
    name="selective risk",
    key="selective_risk",
    estimand="share of wrong answers among new rows above the threshold",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"threshold": 0.4},),
):
    r"""Share of wrong answers among the rows whose confidence is above the threshold,
    :math:`P(\text{wrong} \mid s > t)`.

    Parameters
    ----------
    threshold : float, default 0.0
        The threshold in [0, 1]; a confidence equal to it is not accepted.

    See Also
    --------
    accepted_share : the share of rows above the threshold.
    risk_coverage_curve : all thresholds at once.

    Notes
    -----
    Use it for a threshold fixed on other rows, such as ``SelectiveClassifier().threshold_``, to
    check its guarantee. Its interval is exact (Clopper and Pearson), given the number of accepted
    rows: the upper end at level 0.9 is a bound that fails one time in twenty. It does not hold for
    a threshold chosen on the same rows. The value is nan where no row is accepted.

    Examples
    --------
    >>> print(selective_risk.interval([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.95], threshold=0.7))
    0.3333 [0.008404, 0.9057]
    """

    threshold: float = 0.0

    def _exceptions(self) -> Mapping[str, str]:
        """nan where the threshold accepts no row."""
        return (
            {}
            if self.threshold == 0.0
            else {"constant_scores": "nan: no row is above the threshold"}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold must be in [0, 1]; got {self.threshold!r}.")

    def _columns(self, record: Any) -> list[np.ndarray]:
        accepted = (record.confidence > self.threshold) * 1.0
        return [accepted, accepted * (1.0 - record.correct)]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return np.where(totals[..., 1] > 0.0, quotient(totals[..., 2], totals[..., 1]), np.nan)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        return clopper_pearson(totals[..., 2], totals[..., 1], level)


selective_risk: SelectiveRisk = SelectiveRisk()


#: Variances below this are rounding errors of the sums: the spread of equal confidences is 0.
ROUNDING = 1e-15


class ConfidenceSpread(
    Metric,
    name="confidence spread",
    key="confidence_spread",
    estimand="standard deviation of the confidence of new rows",
    direction="none",
    range=(0.0, 0.5),
):
    r"""Standard deviation of the top label's probability.

    .. math:: \sqrt{\tfrac{1}{w} \sum_i w_i (s_i - \bar s)^2}, \qquad s_i = \max_k P_{ik}

    See Also
    --------
    expected_calibration_error : the error to report with it.

    Notes
    -----
    Report it with every calibration error: a constant confidence equal to the accuracy has
    calibration error 0 and spread 0, and does not discriminate. More spread is not better on its
    own; interpret it with the log loss.

    References
    ----------
    Jang et al., "Confidence calibration using logits transformations", 2021, section 7.2.

    Examples
    --------
    >>> round(confidence_spread([0, 1], [[0.9, 0.1], [0.3, 0.7]]), 6)
    0.1
    """

    def _totals(self, record: Any) -> np.ndarray:
        s, w = record.confidence, record.weights
        return np.array([w.sum(), w @ s, w @ (s * s)])

    def _finalise(self, totals: np.ndarray) -> float:
        if totals[0] <= 0:
            return float("nan")
        mean = totals[1] / totals[0]
        variance = totals[2] / totals[0] - mean * mean
        return float(np.sqrt(variance)) if variance > ROUNDING else 0.0

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        s, w, value = record.confidence, record.weights, self._value(record)
        n = np.float64(w.sum())
        mean = w @ s / n
        sums = np.array([w @ power for power in powers(np.square(s - mean))])
        above = unseen_ends(n, sums, (0.0, np.inf))[1]
        if value == 0.0:
            # The unseen confidence is at the nearer end; at the other end if the mean is at an end.
            near = min(1.0 - mean, mean - 1.0 / record.n_classes)
            above = (near if near > ROUNDING else 1.0 - 1.0 / record.n_classes) ** 2
        limits = np.sqrt(limits_within((0.0, 0.25), n, sums, (0.0, above), level))
        return Interval.holding(value, (limits[0], limits[1]), level, "analytic", float(n))


confidence_spread: ConfidenceSpread = ConfidenceSpread()
