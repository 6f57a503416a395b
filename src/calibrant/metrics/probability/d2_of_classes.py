"""Share of the class rates' loss that the probabilities of all classes save."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import entr

from calibrant._kernels.mean_interval import mean_limits
from calibrant._support.options import require_option
from calibrant.contracts.interval import Interval
from calibrant.contracts.metric import WholeMetric
from calibrant.metrics.probability.brier_score import brier_score
from calibrant.metrics.probability.log_loss import log_loss

__all__ = ["D2OfClasses", "d2_of_classes"]

ALIKE = "all labels alike: the class rates have no loss to save, nan"


@dataclass(frozen=True, repr=False)
class D2OfClasses(WholeMetric):
    r"""Share of the class rates' log loss, or Brier score, that the probabilities of all classes save (D²).

    .. math:: D^2 = 1 - \frac{\frac1n \sum_i S(P_i, y_i)}{\frac1n \sum_i S(\pi, y_i)}, \qquad \pi_k = \frac1n \sum_i [y_i = k]

    Parameters
    ----------
    score : {"log_loss", "brier"}

    See Also
    --------
    d2_log_loss, d2_brier : of one event, with states.

    Notes
    -----
    1 is perfect, 0 is no better than saying the class rates of these very rows to every row, below 0 is worse. nan where all labels are
    alike. scikit-learn's ``d2_log_loss_score`` and ``d2_brier_score`` are these numbers. The interval is that of the mean loss, the class
    rates' pull on it taken off each row, with one row that is not seen yet and has another label.

    Examples
    --------
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]
    >>> round(d2_of_classes([0, 1, 2], P), 4)
    0.6691
    """

    score: Literal["log_loss", "brier"] = "log_loss"

    name: ClassVar[str] = "D² of all classes"
    key: ClassVar[str] = "d2_of_classes"
    direction: ClassVar[str] = "maximize"
    estimand: ClassVar[str] = "share of the class rates' loss that is saved on new rows, the rates being those of the population"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    selects: ClassVar[bool] = True
    exceptions: ClassVar[Mapping[str, str]] = {"one_row": ALIKE, "one_class_only": ALIKE}

    @classmethod
    def _examples(cls):
        return [cls(), cls(score="brier")]

    def _check(self):
        require_option("score", self.score, ("log_loss", "brier"))

    def _value(self, record):
        base, _ = self._base(_rates(record))
        return 1.0 - self._metric().of(record) / base if base > 0.0 else float("nan")

    def _metric(self):
        return log_loss if self.score == "log_loss" else brier_score

    def _base(self, rates):
        """(mean loss of saying the rates to every row, its slope in each rate)."""
        if self.score == "log_loss":
            return float(entr(rates).sum()), -np.log(np.where(rates > 0.0, rates, 1.0)) - 1.0
        return float(1.0 - rates @ rates), -2.0 * rates

    def _interval(self, record, level, method, n_resamples, random_state):
        value, rates = self._value(record), _rates(record)
        if method not in ("auto", "analytic") or not np.isfinite(value):
            return super()._interval(record, level, method, n_resamples, random_state)
        base, slope = self._base(rates)
        loss, *_, unseen = self._metric().columns_of(record)
        pull = (1.0 - value) * (slope - rates @ slope)
        adjusted = loss - pull[record.labels]
        # Another label than the row's own, by the rates of the others.
        own = rates[record.labels]
        others = (rates @ pull - own * pull[record.labels]) / np.maximum(1.0 - own, 1e-300)
        weight = record.weights
        n = float(weight.sum())
        far = np.asarray(weight @ (unseen - others) / n)
        sums = np.array([weight @ adjusted**power for power in (1, 2, 3)])
        low, high = mean_limits(np.asarray(n), sums, far, far, level)
        low, high = (1.0 - float(high) / base, min(1.0 - float(low) / base, 1.0)) if n > 1.0 else self.range
        return Interval.holding(value, (low, high), level, "analytic", n)


def _rates(record):
    # Divided by their own sum, so that the rate of an only class is 1 exactly.
    total = np.bincount(record.labels, weights=record.weights, minlength=record.n_classes)
    return total / total.sum()


d2_of_classes: D2OfClasses = D2OfClasses()
