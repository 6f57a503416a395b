"""The mean of several forecasts of the same rows, quantile by quantile."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.core.forecast import Forecast
from calibrant.core.normal import NormalForecast

__all__ = ["AveragedForecast", "averaged"]

MAX_STEPS, TOLERANCE = 80, 1e-12
#: Limit of normal scores, which is beyond a probability of 1e-300; slopes with a larger logarithm
#: count as infinite.
FARTHEST, LARGEST_LOG = 37.0, 300.0


class AveragedForecast(Forecast):
    r"""Forecast with quantiles :math:`\sum_j w_j F_j^{-1}(q)`, where weights sum to 1: the average
    of several forecasts, no wider than they are.

    A linear pool of the distributions would be wider than each. Means are averaged likewise;
    densities follow from the quantiles.
    """

    members: list[Forecast]
    weights: np.ndarray

    def __init__(self, members: Sequence[Forecast], weights: np.ndarray) -> None:
        self.members, self.weights = list(members), np.asarray(weights, dtype=np.float64)
        self.shape: tuple[int, ...] = self.members[0].shape

    def _mix(self, each: Any) -> np.ndarray:
        return np.add.reduce(
            [weight * values for weight, values in zip(self.weights, each, strict=True)]
        )

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution: that of the members' means."""
        return self._mix(m.mean for m in self.members)

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self._mix(m.at(z) for m in self.members)

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the average origin and the values less it."""
        origins, values = zip(*(m.about(z) for m in self.members), strict=True)
        return self._mix(origins), self._mix(values)

    def _score(self, y: np.ndarray) -> np.ndarray:
        # The members' scores of y enclose that of their average.
        scores = np.clip(np.stack([m.score_at(y) for m in self.members]), -FARTHEST, FARTHEST)
        low, high = scores.min(axis=0), scores.max(axis=0)
        slopes = self.weights.reshape(-1, *[1] * y.ndim) * np.stack(
            [_slope(m, y) for m in self.members]
        )
        # For normal members this is exact.
        z = np.clip((slopes * scores).sum(axis=0) / slopes.sum(axis=0), low, high)
        done = np.zeros(z.shape, dtype=bool)
        for _ in range(MAX_STEPS):
            values = [m.at(z[..., None])[..., 0] for m in self.members]
            gap = self._mix(values) - y
            low, high = np.where(gap <= 0.0, z, low), np.where(gap >= 0.0, z, high)
            step = z - gap / self._mix(
                _slope(m, v) for m, v in zip(self.members, values, strict=True)
            )
            step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            # A converged row stays, so that it does not depend on the iterations of the others.
            step = np.where(done, z, step)
            done = np.abs(step - z) <= TOLERANCE * np.maximum(1.0, np.abs(z))
            z = step
            if done.all():
                break
        return z

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        z = self._score(y)[..., None]
        return np.log(self._mix(_slope(m, m.at(z)[..., 0]) for m in self.members))

    def _pick(self, key: Any) -> "AveragedForecast":
        return AveragedForecast([m.select(key) for m in self.members], self.weights)


def _slope(member: Any, y: np.ndarray) -> np.ndarray:
    """Return dy/dz, or 1 where the member has no density."""
    log_slope = member.log_slope(y)
    return np.exp(np.where(np.abs(log_slope) < LARGEST_LOG, log_slope, 0.0))


def averaged(members: Sequence[Forecast], weights: np.ndarray) -> Forecast:
    """Return one member itself; for normal ones, the normal with their mean mean and mean std; else
    an :class:`AveragedForecast`.

    Examples
    --------
    >>> from calibrant.core.normal import NormalForecast
    >>> averaged(
    ...     [NormalForecast([0.0], [1.0]), NormalForecast([2.0], [3.0])], np.array([0.5, 0.5])
    ... ).std.tolist()
    [2.0]
    """
    if len(members) == 1:
        return members[0]
    normal = [m for m in members if isinstance(m, NormalForecast)]
    if len(normal) == len(members):
        return normal[0].averaged(normal[1:], weights)
    return AveragedForecast(members, weights)
