"""Mergeable CORP: the isotonic curve and the decomposition of a score, from hits summed by distinct score."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bins import Distinct
from calibrant._kernels.bootstrap import hit_drawer
from calibrant._kernels.isotonic import pool_ties
from calibrant._support.options import require_option
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.metrics.curves.isotonic_curve import IsotonicCurve, isotonic_band, isotonic_curve_of
from calibrant.metrics.decomposition import ScoreDecomposition, corp_of
from calibrant.predictions import Inputs, Predictions

__all__ = ["CorpState", "corp_state"]


@dataclass(frozen=True, eq=False)
class CorpState:
    """Weight and hits of each distinct score: states of parts add up to that of the whole, exactly but for the order of summation.

    Attributes
    ----------
    target : {"answer", "event"} or a class label
    by_score : Distinct
        ``values`` (m,), the distinct scores, ascending, and ``sums`` (m, 2) of their weights and the weights of their hits.

    See Also
    --------
    corp_state : makes it.
    """

    target: Any
    by_score: Distinct

    def __add__(self, other: Any) -> "CorpState":
        if not isinstance(other, CorpState):
            return NotImplemented
        if self.target != other.target:
            raise InputError(f"only states of one target add up; got {self.target!r} and {other.target!r}.")
        return CorpState(self.target, self.by_score + other.by_score)

    def __radd__(self, other: Any) -> "CorpState":
        return self if other == 0 else NotImplemented

    def curve(self, *, level: float = 0.95, n_draws: int = 200, random_state: int = 0) -> IsotonicCurve:
        """``isotonic_curve`` of all rows; its band is drawn by score in place of by row."""
        score, n, mean = self._pooled()
        draw = hit_drawer(score, mean, n, None)
        band = isotonic_band(score, n, draw, level, n_draws, random_state) if n_draws else np.full((2, len(n)), np.nan)
        return isotonic_curve_of(score, n, mean, band)

    def decomposition(self, score: Literal["brier", "log_loss"] = "brier") -> ScoreDecomposition:
        """``brier_decomposition`` or ``log_loss_decomposition`` of all rows."""
        require_option("score", score, ("brier", "log_loss"))
        return ScoreDecomposition(*corp_of(*self._pooled(), score))

    def _pooled(self):
        n, hits = self.by_score.sums.T
        return pool_ties(self.by_score.values, hits / n, n)


def _of(record: Predictions, *, target: Any = "answer") -> CorpState:
    score, hit = record.pair(target)
    return CorpState(target, Distinct.of(score, [hit], record.weight))


@on_record(_of)
def corp_state(
    y_true: ArrayLike, P: ArrayLike, *, target: Any = "answer", sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CorpState:  # fmt: skip
    """What the isotonic curve and the CORP decomposition need of a part of the rows: hits by distinct score.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CorpState
        ``sum(states)``, then ``.curve()`` and ``.decomposition()``.

    Raises
    ------
    InputError
        When the predictions cannot be read or the target is unknown.

    See Also
    --------
    isotonic_curve, brier_decomposition, log_loss_decomposition : of rows at hand.

    Notes
    -----
    Use it for rows in files, or on machines, of their own. Its size is the number of distinct scores, not fixed: 24 bytes each, so 10
    million distinct ones take 240 MB, and scores rounded to 4 digits at most 240 kB.

    Examples
    --------
    >>> parts = [corp_state([0, 1], [0.1, 0.4], target="event"), corp_state([0, 1], [0.6, 0.9], target="event")]
    >>> sum(parts).curve().recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    return _of(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), target=target)
