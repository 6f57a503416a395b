"""Difference of a metric between two predictions of the same rows, with its interval and test."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.clusters import side_shares, variance_of_sum
from calibrant._numerics.intervals import (
    mean_limits,
    mean_tail,
    normal_interval,
    normal_quantile,
    powers,
)
from calibrant.core.estimators import seeded
from calibrant.core.groups import codes_of
from calibrant.core.metric_kinds import MeanMetric, Metric, RootMeanMetric

__all__ = ["PairedDifference", "is_mean", "meaning", "paired_difference"]

#: scipy's distribution functions, which have no types.
LAWS = cast(Any, special)


@dataclass(frozen=True)
class PairedDifference:
    """Difference, second minus first, on the same rows or resamples, so that shared variation
    cancels.

    Attributes
    ----------
    value : float
    method : {"paired, analytic", "paired, bootstrap"}
    mean, variance : float
        For a mean: the mean of the rows' differences, and its variance.
    freedom : float
        Degrees of freedom of the variance: rows minus one, or Satterthwaite's for clusters.
    sums : (4,) or None
        For a mean over rows with labels: the effective number of rows, and this number times the
        means of the differences, their squares and their cubes.
    unseen : (least, most)
        The range of differences of an unseen row: those of these rows with another label.
    draws : (n_resamples,) or None
        For any other metric: the difference on resamples.
    """

    value: float
    method: str
    mean: float = float("nan")
    variance: float = float("nan")
    freedom: float = float("inf")
    sums: np.ndarray | None = None
    unseen: tuple[float, float] = (0.0, 0.0)
    draws: np.ndarray | None = None

    def limits(self, level: float) -> tuple[float, float]:
        """Compute (low, high) of the difference."""
        if self.sums is not None:
            # Widened to Student's t for few rows or clusters.
            wide = 2.0 * float(LAWS.ndtr(normal_quantile(level, self.freedom))) - 1.0
            low, high = mean_limits(self.sums[0], self.sums[1:], *self.unseen, wide)
            return float(low), float(high)
        if self.draws is None:
            return normal_interval(self.mean, self.variance, level, self.freedom)
        # Resampling biases calibration errors upward, and unequally before and after; reflected
        # quantiles remove the bias.
        low, high = (
            2.0 * self.value - np.quantile(self.draws, [0.5 + 0.5 * level, 0.5 - 0.5 * level])
        ).tolist()
        return low, high

    @property
    def degenerate(self) -> bool:
        """Whether nothing varies, so that the difference has no standard error."""
        if self.draws is not None:
            return not np.ptp(self.draws) > 0.0
        return not self.variance > (1e-12 * self.mean) ** 2

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference: 1 minus the level at which ``limits`` begin to
        contain 0.
        """
        if self.sums is not None:
            tail = mean_tail(self.sums[0], self.sums[1:], *self.unseen)
            return float(2.0 * LAWS.stdtr(self.freedom, LAWS.ndtri(tail)))
        if self.draws is None:
            return float(2.0 * LAWS.stdtr(self.freedom, -abs(self.mean) / np.sqrt(self.variance)))
        reflected = 2.0 * self.value - self.draws
        tails = [1.0 + np.count_nonzero(side) for side in (reflected <= 0.0, reflected >= 0.0)]
        return min(2.0 * min(tails) / (len(reflected) + 1.0), 1.0)


def is_mean(metric: Metric) -> bool:
    """Whether the metric is a plain mean of one loss per row."""
    return isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric)


# Conformal intervals of few rows are infinite; such means have no difference.
@np.errstate(invalid="ignore")
@seeded
def paired_difference(
    metric: Any, first: Any, second: Any, *, n_resamples: int, random_state: int
) -> PairedDifference:
    """Compare two records of the same rows, weights and clusters, each of one output.

    For a mean, the result follows from the rows' differences or, with clusters, from their sums
    over clusters. Any other metric is computed on resamples of the rows or clusters.
    """
    value = metric.of(second) - metric.of(first)
    if is_mean(metric):
        return _of_mean(metric, value, first, second)
    moves = [metric.moves_of(record) for record in (first, second)]
    if all(one is not None for one in moves):
        sides = [metric.sides_of(record) for record in (first, second)]
        if sides[0] is None:
            _, variance, freedom = _mean(moves[1] - moves[0], first.weights, first.cluster)
        else:
            variance, freedom = _of_sides(moves, sides, first.weights, first.cluster)
        return PairedDifference(value, "paired, analytic", value, variance, freedom)
    # One order for both, because they share their resamples.
    order = np.argsort(codes_of(first) + codes_of(second), kind="stable")
    first, second = first.take(order), second.take(order)
    draws = metric.resampled_of(second, n_resamples, random_state) - metric.resampled_of(
        first, n_resamples, random_state
    )
    return PairedDifference(value, "paired, bootstrap", draws=draws)


def _of_mean(metric: Any, value: float, first: Any, second: Any) -> PairedDifference:
    difference, weight = metric.losses_of(second) - metric.losses_of(first), first.weights
    found = PairedDifference(value, "paired, analytic", *_mean(difference, weight, first.cluster))
    others = first.other_labels(second)
    if not (others and np.isfinite(found.variance)):
        return found
    if_other = [
        metric.losses_of(second.with_labels(one)) - metric.losses_of(first.with_labels(one))
        for one in others
    ]
    # Outcomes that are impossible under both predictions have no difference.
    least, most = np.nanmin(if_other), np.nanmax(if_other)
    worth = weight.sum()
    if first.cluster is not None and found.variance > 0.0:
        # Number of independent rows whose mean has this variance.
        worth = min(worth, 1.0 + (weight @ (difference - found.mean) ** 2) / worth / found.variance)
    sums = np.array([weight.sum(), *(weight @ power for power in powers(difference))]) * (
        worth / weight.sum()
    )
    return replace(found, sums=sums, unseen=(float(least), float(most)))


def _of_sides(moves: Any, sides: Any, weight: np.ndarray, cluster: Any) -> tuple[float, float]:
    """(variance of second minus first, degrees of freedom), for metrics that compare two kinds of
    rows.

    Influences are relative to the mean of their own few rows, which shrinks them. Each is rescaled
    by the share of its row, or cluster, in its side (CR2). This gives DeLong's variance for rows
    and Obuchowski's for equal clusters. The rarer side sets the degrees of freedom.
    """
    shares = [side_shares(side, weight, cluster) for side in sides]
    freedom = min(worth for _, worth in shares) - 1.0
    if not freedom > 0.0:
        # One row, or one cluster, carries no information about others.
        return float("nan"), 0.0
    stretched = [
        move / np.sqrt(np.maximum(1.0 - share, 1e-300))
        for move, (share, _) in zip(moves, shares, strict=True)
    ]
    difference = weight * (stretched[1] - stretched[0])
    if cluster is None:
        return difference @ (stretched[1] - stretched[0]) / weight.sum() ** 2, freedom
    sums = np.bincount(cluster, weights=difference)
    return sums @ sums / weight.sum() ** 2, freedom


def _mean(difference: Any, weight: np.ndarray, cluster: Any) -> tuple[float, float, float]:
    """(mean, its variance, degrees of freedom)."""
    n = weight.sum()
    mean = weight @ difference / n
    if cluster is None:
        return mean, weight @ (difference - mean) ** 2 / n / max(n - 1.0, 1.0), max(n - 1.0, 1.0)
    variance, freedom = variance_of_sum(weight * (difference - mean), cluster, weight)
    return mean, variance / n**2, freedom


def meaning(low: float, high: float, direction: str) -> str:
    """Describe the second from an interval of second minus first: "better", "worse", "larger",
    "smaller", "no clear change".
    """
    if not (low > 0.0 or high < 0.0):
        return "no clear change"
    if direction == "none":
        return "larger" if low > 0.0 else "smaller"
    return "better" if (high < 0.0) == (direction == "minimize") else "worse"
