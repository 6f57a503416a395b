"""Least ambiguous sets: the classes of enough probability."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

__all__ = ["Lac"]


@dataclass(frozen=True)
class Lac:
    r"""One less the probability of the class, :math:`s = 1 - p_y`: where the probabilities are right, no sets are smaller on average.

    References
    ----------
    Sadinle, Lei and Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA 2019.
    """

    draws: ClassVar[bool] = False

    def span(self, n_classes: int) -> tuple[float, float]:
        """The least and the largest score of a class."""
        return 0.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n,) scores of one class a row."""
        return 1.0 - P[np.arange(len(P)), labels]

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, K) scores."""
        return 1.0 - P

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """(n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return self.of_all(P, u) <= limit
