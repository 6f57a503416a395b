"""Cumulative confidence: the share of correct predictions among all with at least this score."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import xlog1py, xlogy

from calibrant._numerics.bins import distinct_scores, just_above, just_below
from calibrant.core.calibrator import MapTags
from calibrant.core.estimators import require_option
from calibrant.core.map import Map

__all__ = ["CumulativeConfidence"]


class CumulativeConfidence(
    Map,
    examples=[
        {"cutoff": "median"},
        {"cutoff": "optimal"},
        {"cutoff": "optimal", "prior_weight": 0.0},
    ],
    family="bins",
    use="The share right among rows that score as high",
):
    r"""Share of correct predictions among those with at least this score; below a cutoff, a single
    bin.

    .. math:: \mathrm{Cum}(S) = \frac{\sum_{s_i \ge S} w_i c_i + m\, \mathrm{Conf}_1}{\sum_{s_i \ge
        S} w_i + m}, \qquad
        \mathrm{Cum}^+(S) = \begin{cases} \mathrm{Cum}(S) & S \ge \theta \\ \mathrm{Hist}[0,
        \theta) & S < \theta \end{cases}

    Parameters
    ----------
    cutoff : None, "median" or "optimal", default None
        The cutoff θ: none, the (lower) median score, or the score of lowest in-sample log loss,
        found with prefix sums.
    prior_weight : float, default 1
        The weight m, in rows, of Conf\ :sub:`1` = (TP + 1/2) / (n + 1). 0 is the paper's choice,
        which gives exact 0 and 1.

    Attributes
    ----------
    cutoff_ : float, θ, or -inf without a cutoff.
    score_, value_ : (m,) distinct scores of the fit and Cum at each.
    below_ : float, the confidence below the cutoff.

    See Also
    --------
    KernelDensity : the share among rows of similar score.
    HistogramBinning : the share in a bin of the score.

    Notes
    -----
    It is robust on very few rows, but estimates another quantity ("this score or better") and is
    far too confident for low scores. Without a cutoff, use it only for that quantity. The optimal
    cutoff makes it competitive: for scores close to 1 it is better than :class:`KernelDensity` on
    the same scores, but not on the log odds.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    equations 11-13.

    Examples
    --------
    >>> m = CumulativeConfidence(cutoff="median", prior_weight=0).fit(
    ...     [0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1]
    ... )
    >>> m.predict([0.1, 0.2, 0.7]).round(3).tolist()
    [0.0, 0.667, 1.0]
    """

    tags: ClassVar[MapTags] = MapTags(domain="real", label="cumulative confidence")

    def __init__(self, *, cutoff: float | str | None = None, prior_weight: float = 1.0) -> None:
        self.cutoff: float | str | None = cutoff
        self.prior_weight: float = prior_weight

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        require_option("cutoff", self.cutoff, (None, "median", "optimal"))
        unique, inverse = distinct_scores(score)
        right = np.bincount(inverse, weights=weight * correct)
        total = np.bincount(inverse, weights=weight)
        rate = (right.sum() + 0.5) / (total.sum() + 1.0)
        self.score_: np.ndarray = unique
        self.value_: np.ndarray = self._share(
            np.cumsum(right[::-1])[::-1], np.cumsum(total[::-1])[::-1], rate
        )
        below = self._share(np.cumsum(right) - right, np.cumsum(total) - total, rate)
        start = self._start(right, total, below)
        self.cutoff_: float = float(unique[start]) if start > 0 else -np.inf
        self.below_: float = float(below[start] if start > 0 else self.value_[0])

    def _share(self, right: np.ndarray, total: np.ndarray, rate: float) -> np.ndarray:
        total = total + self.prior_weight
        share = np.divide(
            right + self.prior_weight * rate,
            total,
            out=np.full(len(total), rate),
            where=total > 0.0,
        )
        return np.clip(share, 0.0, 1.0)

    def _start(self, right: np.ndarray, total: np.ndarray, below: np.ndarray) -> int:
        """Position of the cutoff among the distinct scores; 0 means none."""
        if self.cutoff is None:
            return 0
        if self.cutoff == "median":
            mass = np.cumsum(total)
            return int(np.searchsorted(mass, 0.5 * mass[-1]))
        wrong = np.maximum(total - right, 0.0)
        above = np.cumsum(_loss(right, wrong, self.value_)[::-1])[::-1]
        under = _loss(np.cumsum(right) - right, np.maximum(np.cumsum(wrong) - wrong, 0.0), below)
        return int(np.argmin(above + under))

    def _predict(self, score: np.ndarray) -> np.ndarray:
        rising = self.value_[np.searchsorted(just_above(self.score_[:-1]), score)]
        return np.where(score >= just_below(self.cutoff_), rising, self.below_)

    def _expression(self, score: Any) -> Any:
        rising = score.step(just_above(self.score_[:-1]), self.value_, closed=False)
        return (
            score.step(just_below(np.array([self.cutoff_])), [0.0, 1.0]).where(rising, self.below_)
            if np.isfinite(self.cutoff_)
            else rising
        )


def _loss(right: np.ndarray, wrong: np.ndarray, p: np.ndarray) -> np.ndarray:
    return -(xlogy(right, p) + xlog1py(wrong, -p))
