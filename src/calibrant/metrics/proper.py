"""Proper scores of all classes, and their skill relative to the class rates; and the skill of one
event's probability: the relative reduction of the base rate's loss.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics import intervals
from calibrant._numerics.intervals import mean_limits, over_rates, quotient
from calibrant._numerics.logistic import ZERO_FLOOR
from calibrant.core.estimators import require_option
from calibrant.core.metric import Interval, by_options
from calibrant.core.metric_kinds import MeanMetric, SumMetric, WholeMetric
from calibrant.metrics.events import Targeted, event_brier_score

__all__ = [
    "BrierScore",
    "D2Brier",
    "D2LogLoss",
    "D2OfClasses",
    "LogLoss",
    "RankedProbabilityScore",
    "SkillScore",
    "SphericalScore",
    "brier_score",
    "d2_brier",
    "d2_log_loss",
    "d2_of_classes",
    "log_loss",
    "ranked_probability_score",
    "spherical_score",
]


class BrierScore(
    MeanMetric,
    name="Brier score",
    key="brier_score",
    direction="minimize",
    range=(0.0, 2.0),
    proper=True,
    soft_labels=True,
    selects=True,
    examples=({"scale_by_half": True},),
):
    r"""Mean squared distance between the probability vector and the true class.

    .. math:: \frac{1}{n} \sum_i \sum_k (P_{ik} - [y_i = k])^2

    Parameters
    ----------
    scale_by_half : bool, default False
        Halve the score, which for two classes gives scikit-learn's binary score. The default is the
        sum over all classes, for any K.

    See Also
    --------
    brier_decomposition : the part that is miscalibration.
    log_loss, event_brier_score : stricter on confident errors; for the event alone.

    Notes
    -----
    It is a proper score, bounded by 2: use it for selection where single confident errors must not
    dominate. For two classes it is twice mean((p - y)^2), which often has the same name: both
    classes are summed. For :class:`SoftLabels`, it is the mean over the raters' labels, so it does
    not depend on the number of raters: the squared distance to the shares s, plus the sum of s (1 -
    s).

    Examples
    --------
    >>> (
    ...     round(brier_score([1], [[0.2, 0.8]]), 6),
    ...     round(brier_score([1], [0.8], scale_by_half=True), 6),
    ... )
    (0.08, 0.04)
    """

    scale_by_half: bool = False

    def _losses(self, record: Any) -> np.ndarray:
        # Squares of the other classes plus (1 - own)^2, without a one-hot matrix or cancellation.
        return self._of_parts(
            record, lambda squares, own, rest: np.maximum(squares - own * own, 0.0) + rest * rest
        )

    def _unseen(self, record: Any) -> list[np.ndarray]:
        others = max(record.n_classes - 1.0, 1.0)
        return [
            self._of_parts(
                record,
                lambda squares, own, rest: np.maximum(squares + 1.0 - 2.0 * rest / others, 0.0),
            )
        ]

    def _of_parts(
        self, record: Any, loss: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        out = np.concatenate([loss(*_block_parts(block)) for block in record.blocks()])
        return 0.5 * out if self.scale_by_half else out


def _block_parts(block: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum of the squared probabilities, the probability of the true class, and the sum of the
    others, (n,) each.
    """
    if block.kind == "probability":
        own, rest = block.true_and_rest
        total, columns = own + rest, block.by_class
        return np.einsum("kn,kn->n", columns, columns) / (total * total), own / total, rest / total
    P = block.probabilities
    own = P[np.arange(len(block)), block.labels]
    return np.einsum("nk,nk->n", P, P), own, 1.0 - own


brier_score: BrierScore = BrierScore()


#: Above this value, rest / own cannot overflow.
SAFE_DIVISOR = 1e-300


class LogLoss(
    MeanMetric,
    name="log loss",
    key="log_loss",
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    soft_labels=True,
    selects=True,
):
    r"""Mean negative log probability of the true class, in nats (negative log-likelihood).

    .. math:: -\frac{1}{n} \sum_i \log P_{i, y_i}

    A probability of 0 for the true class counts as 1e-12 (or as the row's smallest positive entry,
    if smaller), so the value is finite: 27.6 nats. scikit-learn, which clips at the resolution of
    float64, has 36.0. For :class:`SoftLabels` with shares s it is
    :math:`-\frac{1}{n} \sum_i \sum_k s_{ik} \log P_{ik}`.

    See Also
    --------
    log_loss_decomposition : the part that is miscalibration.
    brier_score : a bounded score, milder on confident errors.

    Notes
    -----
    It is a proper score: use it to select models and calibrators. It penalises confident errors
    without bound.

    Examples
    --------
    >>> round(log_loss([0, 1], [[0.9, 0.1], [0.5, 0.5]]), 6)
    0.399254
    """

    def _losses(self, record: Any) -> np.ndarray:
        return np.concatenate([_block_losses(block) for block in record.blocks()])

    def _unseen(self, record: Any) -> list[np.ndarray]:
        return [np.concatenate([_block_unseen(block) for block in record.blocks()])]


def _block_losses(block: Any) -> np.ndarray:
    if block.kind == "logit":
        return -block.log_probabilities[np.arange(len(block)), block.labels]
    own, rest = block.true_and_rest
    tiny = own < SAFE_DIVISOR
    if not tiny.any():
        return np.log1p(rest / own)
    out = np.log1p(np.divide(rest, own, out=np.zeros_like(own), where=~tiny))
    impossible = own <= 0.0
    subnormal = tiny & ~impossible
    out[subnormal] = np.log(rest[subnormal]) - np.log(own[subnormal])
    if not impossible.any():
        return out
    columns = block.by_class[:, impossible]
    smallest = np.where(columns > 0.0, columns, np.inf).min(axis=0) / rest[impossible]
    out[impossible] = -np.log(np.minimum(ZERO_FLOOR, smallest))
    return out


def _block_unseen(block: Any) -> np.ndarray:
    """Loss of each row with another label, if the others share the remaining probability evenly."""
    others = np.log(max(block.n_classes - 1.0, 1.0))
    if block.kind == "logit":
        rest = block.log_probabilities.copy()
        rest[np.arange(len(block)), block.labels] = -np.inf
        most = rest.max(axis=1)
        return others - most - np.log(np.exp(rest - most[:, None]).sum(axis=1))
    own, rest = block.true_and_rest
    return others + np.log1p(own / np.where(rest > 0.0, np.maximum(rest, SAFE_DIVISOR), ZERO_FLOOR))


log_loss: LogLoss = LogLoss()


class RankedProbabilityScore(
    MeanMetric,
    name="RPS",
    key="rps",
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    soft_labels=True,
    selects=True,
):
    r"""Squared gaps between the cumulative probabilities of ordered classes and the observed class
    (RPS).

    .. math:: \frac1n \sum_i \sum_{k=1}^{K-1} \Big( \sum_{j \le k} P_{ij} - [y_i \le k] \Big)^2

    See Also
    --------
    brier_score : the score for unordered classes.
    continuous_ranked_probability_score : the score for numeric outcomes.

    Notes
    -----
    Use it for grades, stages and other ordered classes: an error of one class costs less than one
    of two. The columns must be in that order. It is not divided by K - 1, as in scoringrules; for
    two classes it is mean((p - y)^2), half of ``brier_score``.

    References
    ----------
    Epstein, "A scoring system for probability forecasts of ranked categories", Journal of Applied
    Meteorology 1969.

    Examples
    --------
    >>> round(ranked_probability_score([2], [[0.1, 0.2, 0.3, 0.4]]), 4)
    0.26
    """

    def _losses(self, record: Any) -> np.ndarray:
        return np.concatenate([_ranked_losses(block) for block in record.blocks()])

    def _unseen(self, record: Any) -> list[np.ndarray]:
        return [np.concatenate([_ranked_unseen(block) for block in record.blocks()])]


def _ranked_losses(block: Any) -> np.ndarray:
    rates = block.probabilities[:, :-1].cumsum(axis=1)
    steps = np.less_equal(block.labels[:, None], range(rates.shape[1]))
    gap = np.subtract(rates, steps)
    return np.einsum("nk,nk->n", gap, gap)


def _ranked_unseen(block: Any) -> np.ndarray:
    """Mean loss of each row over its other possible labels."""
    below = np.cumsum(block.probabilities[:, :-1], axis=1)
    others = float(below.shape[1])
    whole = (others + 1.0) * (
        np.einsum("nk,nk->n", below, below) + 0.5 * others
    ) - 2.0 * below @ np.arange(1.0, others + 1.0)
    return np.maximum(whole - _ranked_losses(block), 0.0) / max(others, 1.0)


ranked_probability_score: RankedProbabilityScore = RankedProbabilityScore()


class SphericalScore(
    MeanMetric,
    name="spherical score",
    key="spherical_score",
    direction="maximize",
    range=(0.0, 1.0),
    proper=True,
    soft_labels=True,
    selects=True,
):
    r"""Mean probability of the true class divided by the norm of the probability vector; higher is
    better.

    .. math:: \frac{1}{n} \sum_i \frac{P_{i, y_i}}{\sqrt{\sum_k P_{ik}^2}}

    See Also
    --------
    log_loss, brier_score : other proper scores.

    Notes
    -----
    It is a proper score in [0, 1] and may select models. It is bounded like the Brier score, and
    flatter for confident errors.

    References
    ----------
    Gneiting and Raftery, "Strictly proper scoring rules, prediction, and estimation", JASA 2007,
    section 4.1.

    Examples
    --------
    >>> round(spherical_score([1], [[0.2, 0.8]]), 4), spherical_score([0], [[1.0, 0.0]])
    (0.9701, 1.0)
    """

    def _losses(self, record: Any) -> np.ndarray:
        return np.concatenate([_block_scores(block)[0] for block in record.blocks()])

    def _unseen(self, record: Any) -> list[np.ndarray]:
        return [np.concatenate([_block_scores(block)[1] for block in record.blocks()])]


def _block_scores(block: Any) -> tuple[np.ndarray, np.ndarray]:
    """Score of each row, and its score with another label, all others being equally likely."""
    P = block.probabilities
    own, length = P[np.arange(len(block)), block.labels], np.sqrt(np.einsum("nk,nk->n", P, P))
    return own / length, np.maximum(1.0 - own, 0.0) / max(block.n_classes - 1.0, 1.0) / length


spherical_score: SphericalScore = SphericalScore()


ALIKE = "nan: all labels are equal, so the class rates have no loss"


class D2OfClasses(
    WholeMetric,
    name="D² of all classes",
    key="d2_of_classes",
    direction="maximize",
    estimand=("reduction of the population class rates' loss on new rows, as a share of it"),
    range=(float("-inf"), 1.0),
    selects=True,
    exceptions={"one_row": ALIKE, "one_class_only": ALIKE},
    examples=({"score": "brier"},),
):
    r"""Relative reduction of the class rates' log loss, or Brier score, by the probabilities of all
    classes (D²).

    .. math:: D^2 = 1 - \frac{\frac1n \sum_i S(P_i, y_i)}{\frac1n \sum_i S(\pi, y_i)}, \qquad \pi_k
        = \frac1n \sum_i [y_i = k]

    Parameters
    ----------
    score : {"log_loss", "brier"}

    See Also
    --------
    d2_log_loss, d2_brier : the skill for one event, with states.

    Notes
    -----
    1 is perfect, 0 is no better than predicting the class rates of these rows for every row, and
    values below 0 are worse. It is nan where all labels are equal. It equals scikit-learn's
    ``d2_log_loss_score`` and ``d2_brier_score``. The interval is that of a mean loss, corrected in
    each row for its influence on the class rates, with one unseen row that has another label.

    Examples
    --------
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]
    >>> round(d2_of_classes([0, 1, 2], P), 4)
    0.6691
    """

    score: Literal["log_loss", "brier"] = "log_loss"

    def _check(self) -> None:
        require_option("score", self.score, ("log_loss", "brier"))

    def _value(self, record: Any) -> float:
        base, _ = self._base(_rates(record))
        return 1.0 - self._metric().of(record) / base if base > 0.0 else float("nan")

    def _metric(self) -> Any:
        return log_loss if self.score == "log_loss" else brier_score

    def _base(self, rates: np.ndarray) -> tuple[float, np.ndarray]:
        """(mean loss of predicting the rates for every row, its derivative by each rate)."""
        if self.score == "log_loss":
            entropy = float(cast(Any, special).entr(rates).sum())
            return entropy, -np.log(np.where(rates > 0.0, rates, 1.0)) - 1.0
        return float(1.0 - rates @ rates), -2.0 * rates

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        value, rates = self._value(record), _rates(record)
        if method not in ("auto", "analytic") or not np.isfinite(value):
            return super()._interval(record, level, method, n_resamples, random_state)
        base, slope = self._base(rates)
        loss, *_, unseen = self._metric().columns_of(record)
        pull = (1.0 - value) * (slope - rates @ slope)
        adjusted = loss - pull[record.labels]
        # A label other than the row's own, drawn by the rates of the others.
        own = rates[record.labels]
        others = (rates @ pull - own * pull[record.labels]) / np.maximum(1.0 - own, 1e-300)
        weight = record.weights
        n = float(weight.sum())
        far = np.asarray(weight @ (unseen - others) / n)
        sums = np.array([weight @ adjusted**power for power in (1, 2, 3)])
        low, high = mean_limits(np.asarray(n), sums, far, far, level)
        low, high = (
            (1.0 - float(high) / base, min(1.0 - float(low) / base, 1.0)) if n > 1.0 else self.range
        )
        return Interval.holding(value, (low, high), level, "analytic", n)


def _rates(record: Any) -> np.ndarray:
    # Divided by their own sum, so that the rate of a single class is exactly 1.
    total = np.bincount(record.labels, weights=record.weights, minlength=record.n_classes)
    return total / total.sum()


d2_of_classes: D2OfClasses = D2OfClasses()


ONE_OUTCOME = "nan: all outcomes are equal, so the base rate has no loss"


class SkillScore(
    Targeted,
    SumMetric,
    direction="maximize",
    estimand=("reduction of the population base rate's loss on new rows, as a share of it"),
    range=(float("-inf"), 1.0),
    selects=True,
):
    """Template of 1 - loss / (loss of predicting the base rate); a subclass defines
    ``_losses(pair)`` and ``_base(rate)``.

    The interval is that of a mean loss, corrected in each row for its influence on the base rate,
    with one unseen row of the other outcome.
    """

    def _exceptions(self) -> Mapping[str, str]:
        """nan where all outcomes are equal; for the answer, also where all are right or all
        wrong.
        """
        of_answers = ("exact_zero_and_one", "perfect_is_best")
        return dict.fromkeys(
            ("one_row", *(("one_class_only",) if self.target == "event" else of_answers)),
            ONE_OUTCOME,
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    @abstractmethod
    def _losses(self, pair: Any) -> np.ndarray:
        """Loss of each row of a binary record, (n,)."""

    @abstractmethod
    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean loss, its derivative by the rate) of predicting the event rate, strictly between 0
        and 1, for every row.
        """

    def _columns(self, record: Any) -> list[np.ndarray]:
        pair = record.as_pair(self.target)
        loss, hit = self._losses(pair), pair.correct
        square = loss * loss
        return [
            loss,
            hit,
            square,
            loss * hit,
            square * loss,
            square * hit,
            self._losses(replace(pair, labels=1 - pair.labels)),
        ]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        mean, rate = _means(totals)[:2]
        base = self._base(_inner(rate))[0]
        return np.where((rate > 0.0) & (rate < 1.0), 1.0 - mean / base, np.nan)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        n, value = totals[..., 0], self._finalise(totals)
        mean, rate, square, joint, cube, squared_joint, other = _means(totals)
        base, slope = self._base(_inner(rate))
        # Loss of each row minus its influence on the base rate's loss.
        pull = np.where(np.isnan(value), 0.0, (1.0 - value) * slope)
        spread, lean = rate * (1.0 - rate), 1.0 - 2.0 * rate
        second = square - 2.0 * pull * (joint - mean * rate) + pull**2 * spread
        third = (
            cube
            - 3.0 * pull * (squared_joint - rate * square)
            + 3.0 * pull**2 * (lean * joint + rate**2 * mean)
            - pull**3 * spread * lean
        )
        unseen = other - pull * lean
        low, high = mean_limits(
            n, np.stack([mean, second, third], axis=-1) * n[..., None], unseen, unseen, level
        )
        low, high = (
            np.where(n > 1.0, 1.0 - end / base, side)
            for end, side in ((high, -np.inf), (low, np.inf))
        )
        # The base rate alone may move the value further, asymmetrically, where one outcome is rare
        # or the scores do not vary.
        at = partial(self._at_rate, mean, rate, joint)
        least, most = over_rates(at, intervals.rate_interval(n * rate, n, level))
        low = np.where(least < low, value - np.hypot(value - low, value - least), low)
        high = np.where(most > high, value + np.hypot(high - value, most - value), high)
        low, high = intervals.inside(self.range, (low, high))
        return np.where(np.isnan(value), np.nan, low), np.where(np.isnan(value), np.nan, high)

    def _at_rate(
        self, mean: np.ndarray, rate: np.ndarray, joint: np.ndarray, other: np.ndarray
    ) -> np.ndarray | float:
        """Value at another share of events, with the rows of each outcome unchanged."""
        safe = _inner(rate)
        loss = other * joint / safe + (1.0 - other) * (mean - joint) / (1.0 - safe)
        return 1.0 - loss / self._base(_inner(other))[0]


def _means(totals: np.ndarray) -> list[np.ndarray]:
    return [quotient(totals[..., j], totals[..., 0]) for j in range(1, 8)]


def _inner(rate: np.ndarray) -> np.ndarray:
    return np.where((rate > 0.0) & (rate < 1.0), rate, 0.5)


class D2Brier(SkillScore, name="D² (Brier)", key="d2_brier"):
    r"""Relative reduction of the base rate's Brier score by the probabilities (Brier skill score,
    scaled Brier score).

    .. math:: D^2 = 1 - \frac{\sum_i (p_i - y_i)^2}{\sum_i (\bar y - y_i)^2}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    d2_log_loss : the same for the log loss.

    Notes
    -----
    1 is perfect, 0 is no better than predicting the share of events for every row, and values below
    0 are worse. Meteorology calls it BSS; clinical reports call it "scaled Brier" or index of
    prediction accuracy (IPA). The base rate is that of the rows themselves. It is nan where all
    outcomes are equal. For two classes scikit-learn's ``d2_brier_score`` is this number.

    Examples
    --------
    >>> round(d2_brier([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.8
    """

    def _losses(self, pair: Any) -> np.ndarray:
        return event_brier_score.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rate * (1.0 - rate), 1.0 - 2.0 * rate


d2_brier: D2Brier = D2Brier()


class D2LogLoss(SkillScore, name="D² (log loss)", key="d2_log_loss"):
    r"""Relative reduction of the base rate's log loss by the probabilities (D², McFadden's R²).

    .. math:: D^2 = 1 - \frac{-\frac1n \sum_i y_i \log p_i + (1 - y_i) \log(1 - p_i)}{-\bar y \log
        \bar y - (1 - \bar y) \log(1 - \bar y)}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    d2_brier : the same for the Brier score.

    Notes
    -----
    1 is perfect, 0 is no better than predicting the share of events for every row, and values below
    0 are worse. It ranks models on the same rows as the log loss does, and shows the value of a log
    loss of 0.05 where events are rare. The base rate is that of the rows themselves. It is nan
    where all outcomes are equal. For two classes scikit-learn's ``d2_log_loss_score`` is this
    number.

    Examples
    --------
    >>> round(d2_log_loss([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.6485
    """

    def _losses(self, pair: Any) -> np.ndarray:
        return log_loss.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        entr = cast(Any, special).entr
        return entr(rate) + entr(1.0 - rate), np.log1p(-rate) - np.log(rate)


d2_log_loss: D2LogLoss = D2LogLoss()
