"""Adaptive sets: the most likely classes, until their probabilities add up to enough."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.decisions.set_scores.raps import Raps

__all__ = ["Aps"]


@dataclass(frozen=True)
class Aps:
    r"""The mass of the classes that are more likely, and a drawn part of its own: :math:`\sum_{p_k > p_y} p_k + U \sum_{p_k = p_y} p_k`.

    Without the draw, U = 1, sets are larger.

    References
    ----------
    Romano, Sesia and Candes, "Classification with valid and adaptive coverage", NeurIPS 2020.
    """

    draws: ClassVar[bool] = True

    def span(self, n_classes: int) -> tuple[float, float]:
        """The least and the largest score of a class."""
        return 0.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n,) scores of one class a row."""
        return Raps(0.0, 0).of_labels(P, labels, u)

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, K) scores."""
        return Raps(0.0, 0).of_all(P, u)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """(n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return Raps(0.0, 0).within(P, u, limit)
