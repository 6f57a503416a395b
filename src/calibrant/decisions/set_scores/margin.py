"""Margin sets: the classes that come near the most likely one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

__all__ = ["Margin"]


@dataclass(frozen=True)
class Margin:
    r"""By how much another class is more likely, :math:`s = \max_{k \ne y} p_k - p_y`.

    References
    ----------
    Johansson, Linusson, Lofstrom and Bostrom, "Model-agnostic nonconformity functions for conformal classification", IJCNN 2017.
    """

    draws: ClassVar[bool] = False

    def span(self, n_classes: int) -> tuple[float, float]:
        """The least and the largest score of a class."""
        return -1.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n,) scores of one class a row."""
        own = P[np.arange(len(P)), labels]
        second, first = _two_largest(P)
        return np.where(own == first, second, first) - own

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, K) scores."""
        second, first = _two_largest(P)
        return np.where(first[:, None] == P, second[:, None], first[:, None]) - P

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """(n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return self.of_all(P, u) <= limit


def _two_largest(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(second, first), (n,) each; of two equal ones both are the largest."""
    last = np.partition(P, P.shape[1] - 2, axis=1)[:, -2:]
    return last[:, 0], last[:, 1]
