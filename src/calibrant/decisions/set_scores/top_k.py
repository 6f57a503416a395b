"""Top-k sets: as many classes in every row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.ranked_mass import mass_of_all

__all__ = ["TopK"]


@dataclass(frozen=True)
class TopK:
    """The rank of the class, 1 for the most likely; of equals the last rank of them all, so that no set has more than k classes."""

    draws: ClassVar[bool] = False

    def span(self, n_classes: int) -> tuple[float, float]:
        """The least and the largest score of a class."""
        return 0.0, float(n_classes)

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n,) scores of one class a row."""
        own = P[np.arange(len(P)), labels]
        return np.count_nonzero(own[:, None] <= P, axis=1).astype(np.float64)

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, K) scores."""
        return mass_of_all(P)[2].astype(np.float64)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """(n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        if limit.size != 1:
            return self.of_all(P, u) <= limit
        k = int(np.clip(limit.item(), 0, P.shape[1]))
        if k == P.shape[1]:
            return np.ones(P.shape, dtype=bool)
        # The k + 1st largest: what is larger are k classes, or fewer where equals cross the border.
        place = P.shape[1] - 1 - k
        return np.partition(P, place, axis=1)[:, [place]] < P
