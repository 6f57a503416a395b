"""What acting on the risk gains at a threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._kernels.intervals import quotient
from calibrant._kernels.thresholds import net_benefit as benefit
from calibrant._kernels.thresholds import net_benefit_interval
from calibrant._support.options import require_option
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import SumMetric
from calibrant.errors import InputError
from calibrant.metrics.pair import Targeted

__all__ = ["NetBenefit", "net_benefit"]

STRATEGIES = ("model", "all", "none")


@dataclass(frozen=True, repr=False)
class NetBenefit(Targeted, SumMetric):
    r"""Net benefit of acting where the risk is at least a threshold, in true positives a row.

    .. math:: NB(t) = \frac{TP_t}{n} - \frac{FP_t}{n} \cdot \frac{t}{1 - t}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    threshold : float, default 0.5
        The risk from which one acts, at least 0 and below 1. It says what a false alarm costs: at 0.1 nine of them outweigh one event.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data: :math:`\pi \cdot TPR - (1 - \pi) FPR \cdot t / (1 - t)`.
    strategy : {"model", "all", "none"}
        Act on the model's risk; on every row, as if there were no model; or on none, which is worth 0.

    See Also
    --------
    standardised_net_benefit : divided by the share of events, so that 1 is the best there is.

    Notes
    -----
    A model is of use at a threshold where it beats both "all" and "none". Choose the threshold by what errors cost, never as the one
    where this is largest, and look at all that reasonable people would choose: ``decision_curve``. Its interval joins Wilson's of the
    shares of true and false positives. nan where a prevalence is given and rows with or without the event are missing.

    References
    ----------
    Vickers and Elkin, "Decision curve analysis: a novel method for evaluating prediction models", Medical Decision Making 2006.

    Examples
    --------
    >>> y, p = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    >>> round(net_benefit(y, p, threshold=0.25), 4), round(net_benefit(y, p, threshold=0.25, strategy="all"), 4)
    (0.4167, 0.3333)
    """

    threshold: float = 0.5
    prevalence: float | None = None
    strategy: Literal["model", "all", "none"] = "model"

    name: ClassVar[str] = "net benefit"
    key: ClassVar[str] = "net_benefit"
    estimand: ClassVar[str] = "net benefit of acting on new rows at the same threshold"
    direction: ClassVar[Direction] = "maximize"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    selects: ClassVar[bool] = True
    _standardised: ClassVar[bool] = False

    @classmethod
    def _examples(cls) -> Sequence[Any]:
        return [cls(), cls(target="answer", threshold=0.2), cls(threshold=0.3, prevalence=0.1)]

    def _exceptions(self) -> Mapping[str, str]:
        """Without rows of either kind there are no rates; the best there is, is the share of events."""
        names = ("one_row", "one_class_only") if self.prevalence else ()
        out = {str(name): "no rate without rows of its kind: nan" for name in names}
        return out if self.target == "answer" else out | {"perfect_is_best": "the best there is, is the share of events"}

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self):
        if not 0.0 <= self.threshold < 1.0:
            raise InputError(f"threshold must be at least 0 and below 1; got {self.threshold!r}.")
        if self.prevalence is not None and not 0.0 < self.prevalence < 1.0:
            raise InputError(f"prevalence must be between 0 and 1; got {self.prevalence!r}.")
        require_option("strategy", self.strategy, STRATEGIES)

    def _columns(self, record: Any):
        score, hit = record.pair(self.target)
        if self.strategy == "model":
            # A risk that its dtype rounded to just below the threshold is on it.
            acted = (score >= self.threshold * (1.0 - record.resolution)).astype(np.float64)
        else:
            acted = np.full(len(score), float(self.strategy == "all"))
        return [hit, 1.0 - hit, acted * hit, acted * (1.0 - hit)]

    def _finalise(self, totals: np.ndarray):
        n, events, others, true, false = (totals[..., j] for j in range(5))
        if self.prevalence is not None:
            shares = self.prevalence * quotient(true, events), (1.0 - self.prevalence) * quotient(false, others)
            return benefit(*shares, self.prevalence if self._standardised else 1.0, self.threshold)
        return quotient(benefit(true, false, 1.0, self.threshold), events if self._standardised else n)

    def _limits(self, totals: np.ndarray, level: float):
        value = self._finalise(totals)
        if self.strategy == "none":
            return value, value
        known = np.isfinite(value)
        events, others, true, false = (np.where(known, totals[..., j], 1.0) for j in range(1, 5))
        options: dict[str, Any] = {"prevalence": self.prevalence, "standardised": self._standardised}
        _, low, high = net_benefit_interval(true, false, events, others, self.threshold, level, **options)
        return np.where(known, np.minimum(low, value), np.nan), np.where(known, np.maximum(np.minimum(high, 1.0), value), np.nan)


net_benefit: NetBenefit = NetBenefit()
