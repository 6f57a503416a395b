"""Metrics of one probability against one outcome: that of the predicted label, the event or any
class.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bins import shrunken_gaps
from calibrant._numerics.bootstrap import hit_drawer, null_generator, simulated_limits
from calibrant._numerics.intervals import unseen_share
from calibrant.core.groups import in_order
from calibrant.core.metric import by_options, require_level, require_resamples
from calibrant.core.metric_kinds import Interval, WholeMetric
from calibrant.errors import warn

__all__ = ["PairMetric", "Targeted"]


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
        return lambda hit: self._pair_value(score, hit, weight)

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
        (score, hit), weight, rng = (
            record.pair(self.target),
            record.weights,
            null_generator(random_state),
        )
        prepared, draw = self._prepared_of(record), hit_drawer(score, hit, weight, record.cluster)
        drawn = [prepared(draw(rng)) for _ in range(n_draws)]
        low, high = np.quantile(drawn, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        return Interval(
            float(np.mean(drawn)), float(low), float(high), level, "null", float(weight.sum())
        )

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
            self._prepared(score, weight),
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
