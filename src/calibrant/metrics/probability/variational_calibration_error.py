"""Variational calibration error: how much a recalibration, fitted out of fold, says is wrong."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.canonical_rows import merge_rows
from calibrant._kernels.intervals import normal_interval
from calibrant.contracts.kinds import require_calibrator
from calibrant.contracts.metric import Interval, WholeMetric
from calibrant.errors import CalibrationWarning, InputError
from calibrant.folds.out_of_fold import out_of_fold
from calibrant.scalings.vector import StructuredVectorScaling

__all__ = ["VariationalCalibrationError", "variational_calibration_error"]


@dataclass(frozen=True, repr=False)
class VariationalCalibrationError(WholeMetric):
    r"""A lower bound, in expectation, of the whole vector's L_p calibration error, by an out-of-fold recalibration g.

    .. math:: \frac{1}{n} \sum_i \left\langle \nabla |g(P_i) - P_i|_p,\; e_{y_i} - P_i \right\rangle
        \;\lesssim\; E\, |E[Y \mid P] - P|_p

    Parameters
    ----------
    norm : {1, 2}, default 1
        p. The L1 error of a vector is at most 2.
    calibrator : Calibrator, optional
        Fits g. Default structured vector scaling.
    n_splits : int, default 5

    See Also
    --------
    kernel_calibration_error : the whole vector too, without a fit.
    refinement_error : what is left after recalibration.

    Notes
    -----
    Use it for more than two classes, where binning the whole vector is hopeless: no bins, and no upward bias. The better g, the tighter the
    bound; it may be negative, which says that g found nothing. Equal rows stay in one fold. Its analytic interval takes the rows as
    independent, which the shared fits make slightly wrong.
    Never select a model or a calibrator by it: it is not a proper score.

    References
    ----------
    Berta, Holzmüller, Jordan and Bach, "A variational estimator for L_p calibration errors", arXiv 2602.24230, 2026.

    Examples
    --------
    >>> p = np.linspace(0.8, 0.95, 400)
    >>> y = np.arange(400) % 2
    >>> bool(0.7 < variational_calibration_error(y, p) < 0.8)
    True
    """

    norm: int = 1
    calibrator: Any = None
    n_splits: int = 5

    name: ClassVar[str] = "variational calibration error"
    key: ClassVar[str] = "variational_error"
    clustered: ClassVar[bool] = False
    estimand: ClassVar[str] = "gap that recalibrations fitted to as many rows find on new rows"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (-2.0, 2.0)
    exceptions: ClassVar[Mapping[str, str]] = {"perfect_is_best": "an estimate of an error that is at least 0; chance takes it below"}

    @classmethod
    def _examples(cls):
        return [cls(), cls(norm=2)]

    def _check(self):
        if self.calibrator is not None:
            require_calibrator(self.calibrator)
        if self.norm not in (1, 2):
            raise InputError(f"norm must be 1 or 2; got {self.norm!r}.")

    def _terms(self, record):
        """(one term a distinct row, its weight)."""
        first, weight = merge_rows(record.log_probabilities, record.labels, record.weights)
        rows = replace(replace(record, weight=None).take(first), weight=weight)
        if len(first) < self.n_splits:
            return np.zeros(len(first)), weight
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            template = StructuredVectorScaling() if self.calibrator is None else self.calibrator
            Q, _ = out_of_fold(template, rows, n_splits=self.n_splits)
        gap = Q - rows.probabilities
        if self.norm == 1:
            direction = np.sign(gap)
        else:
            length = np.sqrt(np.einsum("nk,nk->n", gap, gap))[:, None]
            direction = np.divide(gap, length, out=np.zeros_like(gap), where=length > 0.0)
        return np.einsum("nk,nk->n", direction, rows.one_hot - rows.probabilities), weight

    def _value(self, record):
        terms, weight = self._terms(record)
        return float(weight @ terms / weight.sum())

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        terms, weight = self._terms(record)
        n = float(weight.sum())
        mean = float(weight @ terms / n)
        if n <= 1.0:
            return Interval(mean, *self.range, level, "analytic", n)
        low, high = normal_interval(mean, float(weight @ (terms - mean) ** 2) / n / (n - 1.0), level)
        return Interval(mean, max(low, self.range[0]), min(high, self.range[1]), level, "analytic", n)


variational_calibration_error: VariationalCalibrationError = VariationalCalibrationError()
