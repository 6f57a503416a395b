"""What every score of prediction sets can be asked."""

from typing import ClassVar, Literal, Protocol

import numpy as np

__all__ = ["ScoreName", "SetScore"]

ScoreName = Literal["lac", "aps", "raps", "margin", "top_k"]


class SetScore(Protocol):
    """A score of a class, given the probabilities P (n, K) of its row and the row's draw u (n,); larger is stranger."""

    #: Whether the score uses the draw.
    draws: ClassVar[bool]

    def span(self, n_classes: int) -> tuple[float, float]:
        """The least and the largest score of a class."""
        ...

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n,) scores of one class a row, to the bit those of ``of_all``."""
        ...

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, K) scores."""
        ...

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """(n, K), whether the score is at most the limit, (n, 1), (1, 1) or (1, K)."""
        ...
