"""Regularised adaptive sets: adaptive ones that a long tail of small probabilities does not make long."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.order_statistic import order_statistic
from calibrant._kernels.ranked_mass import mass_of_all, mass_of_labels, on_grid, within_mass

__all__ = ["Raps", "chosen_raps"]

#: Penalties tried; 0 is no penalty at all.
PENALTIES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
#: Numbers of free ranks tried, beside the one that follows from the level.
FREE = (1, 2, 5)


@dataclass(frozen=True)
class Raps:
    r"""The adaptive score with a penalty for each rank beyond ``free``: :math:`s_{APS} + \lambda \max(0, r_y - k)`.

    The rank of equals is the last of them all.

    References
    ----------
    Angelopoulos, Bates, Malik and Jordan, "Uncertainty sets for image classifiers using conformal prediction", ICLR 2021.
    """

    penalty: float
    free: int

    draws: ClassVar[bool] = True

    def span(self, n_classes: int) -> tuple[float, float]:
        """The least and the largest score of a class."""
        return 0.0, 1.0 + self.penalty * max(n_classes - self.free, 0)

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n,) scores of one class a row."""
        above, tied, rank = mass_of_labels(on_grid(P), labels)
        return self._score(above + u * tied, rank)

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, K) scores."""
        above, tied, rank = mass_of_all(on_grid(P))
        return self._score(above + u[:, None] * tied, rank)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """(n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        if limit.shape[1] > 1:
            return self.of_all(P, u) <= limit
        return within_mass(on_grid(P), u, np.broadcast_to(limit[:, 0], len(P)), self.penalty, self.free)

    def _score(self, mass: np.ndarray, rank: np.ndarray) -> np.ndarray:
        # No penalty must be the adaptive score to the bit.
        return mass + self.penalty * np.maximum(rank - self.free, 0) if self.penalty > 0.0 else mass


def chosen_raps(P: np.ndarray, labels: np.ndarray, weight: np.ndarray, u: np.ndarray, level: float) -> Raps:
    """The penalty, and the ranks free of it, of the smallest mean set on these rows; among them the rank of a share ``level`` of labels."""
    exact = on_grid(P)
    above, tied, rank = mass_of_labels(exact, labels)
    mass: np.ndarray = np.cumsum(np.bincount(rank, weights=weight))
    usual = int(np.count_nonzero(mass < level * mass[-1] * (1.0 - 1e-12)))
    own, ranked = above + u * tied, np.sort(exact, axis=1)[:, ::-1]
    place = np.asarray(range(1, P.shape[1] + 1))
    total: np.ndarray = np.cumsum(ranked, axis=1)
    every = np.asfortranarray(total - ranked + u[:, None] * ranked)
    least = every.min(axis=0)

    def mean_size(score: Raps) -> float:
        found = own + score.penalty * np.maximum(rank - score.free, 0)
        order = np.argsort(found, kind="stable")
        limit = order_statistic(found[order], np.cumsum(weight[order]), level)
        room = limit - score.penalty * np.maximum(place - score.free, 0)
        # Behind the last rank that some row has room for no row has any.
        last = int(np.count_nonzero(least <= room))
        return float(weight @ np.count_nonzero(every[:, :last] <= room[:last], axis=1))

    free = sorted({*FREE, usual})
    return min((Raps(penalty, k) for penalty in PENALTIES for k in (free if penalty > 0.0 else free[:1])), key=mean_size)
