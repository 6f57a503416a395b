"""Metrics of one event's probability that are means over rows: risk, bias, squared error,
threshold-weighted scores; and templates of metrics of one probability against one outcome.

The outcome is that of the predicted label, the event or any class.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics import bins
from calibrant._numerics.bins import shrunken_gaps
from calibrant._numerics.bootstrap import each_of, hit_drawer, null_generator, simulated_limits
from calibrant._numerics.intervals import limits_within, quotient, unseen_share
from calibrant._numerics.logistic import ZERO_FLOOR
from calibrant.core.groups import in_order
from calibrant.core.metric import by_options, require_level, require_resamples
from calibrant.core.metric_kinds import Interval, MeanMetric, WholeMetric
from calibrant.errors import InputError, warn

__all__ = [
    "CalibrationBias",
    "EventBrierScore",
    "MeanRisk",
    "PairMetric",
    "Targeted",
    "ThresholdWeightedBrierScore",
    "ThresholdWeightedLogLoss",
    "ThresholdWeightedScore",
    "beta_parts",
    "calibration_bias",
    "event_brier_score",
    "mean_risk",
    "threshold_weighted_brier_score",
    "threshold_weighted_log_loss",
]


@dataclass(frozen=True, repr=False)
class Targeted:
    """Mixin of metrics of one probability against one outcome: the option ``target``."""

    target: Any = "event"

    examples: ClassVar[Sequence[Mapping[str, Any]]] = ({"target": "answer"},)

    def _binary_only(self) -> bool:
        return self.target == "event"

    binary_only: ClassVar[bool] = by_options(_binary_only)


class PairMetric(
    Targeted,
    WholeMetric,
    estimand=(
        "error with these scores as the number of rows grows, without the sampling noise in the"
        " value"
    ),
    clustered=False,
    examples=({"target": "event"},),
):
    """Template of metrics of (score, hit) pairs; a subclass defines
    ``_pair_value(score, hit, weight)``, which also accepts hits between 0 and 1.

    The interval inverts a test. Outcomes are simulated from recalibrations of the data, shrunk
    towards the diagonal or moved away from it. The interval contains the errors under which the
    observed value is plausible.
    """

    target: Any = "answer"

    #: Whether the interval inverts a test; otherwise it is a bootstrap interval.
    inverted: ClassVar[bool] = True

    @abstractmethod
    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float: ...

    def _prepared(self, score: np.ndarray, weight: np.ndarray) -> Any:
        """Return the metric as a function of the hits."""
        return partial(self._pair_value, score, weight=weight)

    def _prepared_of(self, record: Any):
        """The same for a record, which may cache what depends on its scores."""
        return self._prepared(record.pair(self.target)[0], record.weights)

    def null_of(
        self, record: Any, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0
    ) -> Interval:
        """Compute the null distribution: mean and range of the metric over outcomes drawn from
        these scores.

        Parameters
        ----------
        record : Predictions
            Labels are used only with clusters: outcomes are drawn with the correlation of the
            labels.
        level : float, default 0.95
            Share of the simulated values between ``low`` and ``high``.
        n_draws : int, default 1000
        random_state : int, default 0

        Returns
        -------
        Interval
            ``value`` is the mean. A metric above ``high`` is more than expected by chance. Do not
            subtract the mean as a bias.
        """
        require_level(level)
        require_resamples(n_draws)
        record = in_order(record)
        drawn = self._drawn(record, n_draws, null_generator(random_state))
        low, high = np.quantile(drawn, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        total = float(record.weights.sum())
        return Interval(float(np.mean(drawn)), float(low), float(high), level, "null", total)

    def _drawn(self, record: Any, n_draws: int, rng: np.random.Generator) -> list[float]:
        """The metric over outcomes drawn from the scores, one value a draw."""
        score, hit = record.pair(self.target)
        prepared, draw = (
            self._prepared_of(record),
            hit_drawer(score, hit, record.weights, record.cluster),
        )
        return each_of(prepared, (draw(rng) for _ in range(n_draws)))

    def _value(self, record: Any) -> float:
        score, hit = record.pair(self.target)
        return float(self._pair_value(score, hit, record.weights))

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if not self.inverted or method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        warn(
            f"the interval of {self.name} is approximate: in simulations it covered the truth 86"
            " to 99 times of 100, depending on the number of rows; see the documentation's table"
            " of coverage, or use expected_calibration_error.",
        )
        score, hit = record.pair(self.target)
        weight, plain = record.weights, self._value(record)
        value, low, high = simulated_limits(
            self._prepared_of(record),
            score,
            _recalibrated(score, hit, weight),
            weight,
            plain,
            level,
            max(n_resamples // 5, 20),
            np.random.default_rng(random_state),
        )
        # Some outcomes are flipped, as many as these rows may fail to show.
        unseen = self._pair_value(
            score, hit + unseen_share(weight.sum(), level) * (1.0 - 2.0 * hit), weight
        )
        return Interval.holding(
            value,
            (low, min(max(high, unseen), self.range[1])),
            level,
            "debiased",
            float(weight.sum()),
            plain,
        )


def _recalibrated(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Scores shifted by the mean gap of their group, (n,): about n^(1/3) groups of equal weight, so
    that noise adds little shape.
    """
    group = bins.equal_mass_groups(score, max(round(float(weight.sum()) ** (1.0 / 3.0)), 3), weight)
    mass, total, hits = bins.grouped_sums(group, group.max() + 1, [score, hit], weight).T
    share = (hits + total / mass) / (mass + 1.0)
    return np.clip(
        score + shrunken_gaps(hits - total, mass, mass * share * (1.0 - share))[group], 0.0, 1.0
    )


class EventBrierScore(
    Targeted,
    MeanMetric,
    name="Brier score of the event",
    key="event_brier_score",
    direction="minimize",
    range=(0.0, 1.0),
    proper=True,
    soft_labels=True,
    selects=True,
    examples=(),
):
    r"""Mean squared distance between the probability of the event and whether it happened.

    .. math:: \frac{1}{n} \sum_i (p_i - y_i)^2

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    brier_score : the score summed over all classes.

    Notes
    -----
    It is a proper score. For two classes it is half of ``brier_score``, which sums over both, and
    equals scikit-learn's ``brier_score_loss``. Where events are rare it is small for every model:
    report ``d2_brier`` with it. For :class:`SoftLabels`, it is the mean over the raters' labels, (p
    - s)^2 + s (1 - s) for a share s.

    Examples
    --------
    >>> round(event_brier_score([1, 0], [0.8, 0.4]), 6)
    0.1
    """

    def _losses(self, record: Any) -> np.ndarray:
        score, hit = record.pair(self.target)
        return np.square(score - hit)

    def _unseen(self, record: Any) -> list[np.ndarray]:
        score, hit = record.pair(self.target)
        return [np.square(score - (1.0 - hit))]


event_brier_score: EventBrierScore = EventBrierScore()


class MeanRisk(
    Targeted,
    MeanMetric,
    name="mean risk",
    key="mean_risk",
    estimand="mean risk of new rows",
    direction="none",
    range=(0.0, 1.0),
    soft_labels=True,
    unseen="double",
):
    r"""Mean probability of the event: the share of rows in which the model expects it.

    .. math:: \bar p = \frac1n \sum_i p_i

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's, or the named class's.

    See Also
    --------
    calibration_bias : its difference from the share of events.

    Notes
    -----
    It depends on the predictions alone, so it is no score; compare it with the share of events, by
    group or by month.

    Examples
    --------
    >>> round(mean_risk([0, 0, 1], [0.1, 0.2, 0.6]), 4)
    0.3
    """

    def _losses(self, record: Any) -> np.ndarray:
        return record.pair(self.target)[0]


mean_risk: MeanRisk = MeanRisk()


class CalibrationBias(
    Targeted,
    MeanMetric,
    name="calibration bias",
    key="calibration_bias",
    estimand="mean risk minus event rate on new rows",
    direction="none",
    range=(-1.0, 1.0),
    soft_labels=True,
):
    r"""Mean probability of the event minus the share of rows with the event.

    .. math:: \bar p - \bar y = \frac1n \sum_i (p_i - y_i)

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    observed_expected_ratio : the same comparison as a ratio, for rare events.
    calibration_in_the_large : the same on the scale of the log-odds.

    Notes
    -----
    0 is calibrated; above 0 the risks are too high on average. Use it to compare groups, whose
    errors may cancel in the overall mean. A group without events has an interval too: that with one
    more row of the other outcome. It is no score, so never select a model by it. For
    :class:`SoftLabels`, y is the share of the event.

    Examples
    --------
    >>> round(calibration_bias([0, 0, 1], [0.2, 0.4, 0.6]), 4)
    0.0667
    """

    def _losses(self, record: Any) -> np.ndarray:
        score, hit = record.pair(self.target)
        return score - hit

    def _unseen(self, record: Any) -> list[np.ndarray]:
        score = record.pair(self.target)[0]
        return [score, score * score]

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        # The unseen row is a failure; each predicted risk counts in proportion to its effect on the
        # mean.
        n, said, squares = totals[..., 0], totals[..., 4], totals[..., 5]
        ends = -quotient(n - 2.0 * said + squares, n - said), quotient(squares, said)
        return limits_within(self.range, n, totals[..., 1:4], ends, level)


calibration_bias: CalibrationBias = CalibrationBias()


class ThresholdWeightedScore(
    Targeted,
    MeanMetric,
    direction="minimize",
    proper=True,
    selects=True,
    examples=({"low": 0.05, "high": 0.4}, {"beta": (2.0, 5.0)}),
):
    """Template of scores that integrate the elementary score over thresholds: evenly from ``low``
    to ``high``, or by a beta density.
    """

    low: float = 0.0
    high: float = 1.0
    beta: tuple[float, float] | None = None

    #: Lower bound of both density parameters; below it, the score or its bound is infinite.
    _least: ClassVar[float] = 0.0

    def _check(self) -> None:
        if not 0.0 <= self.low < self.high <= 1.0:
            raise InputError(
                f"low and high must satisfy 0 <= low < high <= 1; got {self.low!r} and"
                f" {self.high!r}."
            )
        if self.beta is None:
            return
        if (self.low, self.high) != (0.0, 1.0):
            raise InputError("beta weights all thresholds; leave low and high at their defaults.")
        if not (
            isinstance(cast(object, self.beta), tuple)
            and len(self.beta) == 2
            and min(self.beta) > self._least
        ):
            raise InputError(
                f"beta must be a pair of numbers above {self._least:g}; got {self.beta!r}."
            )

    def _losses(self, record: Any) -> np.ndarray:
        label, happened, not_ = self._both(record)
        return np.where(label == 1, happened, not_)

    def _unseen(self, record: Any) -> list[np.ndarray]:
        label, happened, not_ = self._both(record)
        return [np.where(label == 1, not_, happened)]

    def _both(self, record: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pair = record.as_pair(self.target)
        return pair.labels, *(
            self._even(pair) if self.beta is None else self._by_density(pair, *self.beta)
        )

    @abstractmethod
    def _even(self, pair: Any) -> tuple[np.ndarray, np.ndarray]:
        """(loss with the event, loss without), (n,) each, with equal weight from ``low`` to
        ``high``.
        """

    @abstractmethod
    def _by_density(self, pair: Any, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        """The same with thresholds weighted by the density of Beta(a, b)."""


def beta_parts(pair: Any, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Pair :math:`(a + b) \int_p^1 (1 - t) w(t)\, dt` and :math:`(a + b) \int_0^p t\, w(t)\, dt`,
    (n,) each, w the density of Beta(a, b).
    """
    p, betainc = pair.probabilities, cast(Any, special).betainc
    return b * betainc(b + 1.0, a, p[:, 0]), a * betainc(a + 1.0, b, p[:, 1])


class ThresholdWeightedBrierScore(
    ThresholdWeightedScore,
    name="threshold-weighted Brier score",
    key="threshold_weighted_brier_score",
    range=(0.0, 2.0),
):
    r"""Threshold-weighted Brier score of the event: the elementary score integrated over some
    thresholds.

    .. math:: \frac1n \sum_i \int_0^1 2 |y_i - \theta| \, 1\{\min(p_i, y_i) \le \theta < \max(p_i,
        y_i)\} \, w(\theta) \, d\theta

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    low, high : float, default 0 and 1
        The range of thresholds that count: w is 1 between them and 0 elsewhere.
    beta : (a, b), optional
        Instead, w is the density of the beta distribution: (2, 18) emphasises risks near 0.1; (1,
        1) is the Brier score.

    See Also
    --------
    threshold_weighted_log_loss : more weight on the smallest and largest thresholds.
    murphy_curve : the elementary score at every threshold.
    net_benefit : the benefit at one threshold, in true positives.

    Notes
    -----
    It is a proper score. Use it where decisions are made between two risks, for example at 5 to 20
    %. It does not distinguish models that differ only elsewhere. Choose the thresholds by the costs
    of errors, before looking at the data. Over all thresholds it is ``event_brier_score``.

    References
    ----------
    Gneiting and Ranjan, "Comparing density forecasts using threshold- and quantile-weighted scoring
    rules", JBES 2011; Buja, Stuetzle and Shen, "Loss functions for binary class probability
    estimation and classification", 2005.

    Examples
    --------
    >>> y, p = [0, 1], [0.3, 0.6]
    >>> (
    ...     round(threshold_weighted_brier_score(y, p), 4),
    ...     round(threshold_weighted_brier_score(y, p, low=0.1, high=0.2), 4),
    ... )
    (0.125, 0.015)
    """

    def _even(self, pair: Any) -> tuple[np.ndarray, np.ndarray]:
        p = np.clip(pair.probabilities[:, 1], self.low, self.high)
        return np.square(1.0 - p) - (1.0 - self.high) ** 2, np.square(p) - self.low**2

    def _by_density(self, pair: Any, a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
        return tuple(2.0 / (a + b) * part for part in beta_parts(pair, a, b))


threshold_weighted_brier_score: ThresholdWeightedBrierScore = ThresholdWeightedBrierScore()


class ThresholdWeightedLogLoss(
    ThresholdWeightedScore,
    name="threshold-weighted log loss",
    key="threshold_weighted_log_loss",
    range=(0.0, float("inf")),
):
    r"""Threshold-weighted log loss of the event: the elementary score integrated over some
    thresholds.

    .. math:: \frac1n \sum_i \int_0^1 \frac{|y_i - \theta|}{\theta (1 - \theta)} \,
        1\{\min(p_i, y_i) \le \theta < \max(p_i, y_i)\} \, w(\theta) \, d\theta

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    low, high : float, default 0 and 1
        The range of thresholds that count: w is 1 between them and 0 elsewhere.
    beta : (a, b), both above 1, optional
        Instead, w is the density of the beta distribution.

    See Also
    --------
    threshold_weighted_brier_score : equal weight on all thresholds in the range.
    log_loss : the score over all thresholds, for any number of classes.

    Notes
    -----
    It is a proper score, bounded where ``low`` is above 0 and ``high`` below 1. Use it where risks
    of 1 in 1,000 and 1 in 100 must be distinguished, but 1 in a million is as good as 0. Over all
    thresholds it is the log loss of the event.

    References
    ----------
    Buja, Stuetzle and Shen, "Loss functions for binary class probability estimation and
    classification", 2005.

    Examples
    --------
    >>> y, p = [0, 1], [0.3, 1e-9]
    >>> (
    ...     round(threshold_weighted_log_loss(y, p), 4),
    ...     round(threshold_weighted_log_loss(y, p, low=0.001, high=0.5), 4),
    ... )
    (10.54, 3.2851)
    """

    _least: ClassVar[float] = 1.0

    def _even(self, pair: Any) -> tuple[np.ndarray, np.ndarray]:
        # Logarithms of both ends; limits of 0 and 1 have no effect.
        below, above = (
            -np.inf if self.low == 0.0 else np.log(self.low),
            -np.inf if self.high == 1.0 else np.log1p(-self.high),
        )
        logs: np.ndarray = pair.log_probabilities
        if pair.kind == "probability":
            # Clipped as in the log loss.
            logs = np.where(np.asarray(pair.values) > 0.0, logs, np.log(ZERO_FLOOR))
        happened: np.ndarray = np.log(self.high) - np.clip(logs[:, 1], below, np.log(self.high))
        return happened, np.log1p(-self.low) - np.clip(logs[:, 0], above, np.log1p(-self.low))

    def _by_density(self, pair: Any, a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
        # Divided by t (1 - t), the density of Beta(a, b) is a multiple of that of Beta(a - 1, b -
        # 1).
        return tuple(
            (a + b - 1.0) / ((a - 1.0) * (b - 1.0)) * part
            for part in beta_parts(pair, a - 1.0, b - 1.0)
        )


threshold_weighted_log_loss: ThresholdWeightedLogLoss = ThresholdWeightedLogLoss()
