"""Venn-Abers prediction: two isotonic fits, one for each possible outcome of the new row."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import just_above, just_below
from calibrant._numerics.isotonic import added_ones, added_zeros, pool_ties
from calibrant.core.arrays import scores
from calibrant.core.calibrator import MapTags, require_fitted
from calibrant.core.map import Map
from calibrant.errors import InputError

__all__ = ["VennAbers"]


class VennAbers(
    Map,
    examples=[{"objective": "brier"}, {"n_splits": 5}, {"n_splits": 3, "random_state": 0}],
    family="isotonic regression",
    use="Two probabilities, whose gap is the uncertainty",
):
    r"""Venn-Abers prediction: isotonic regression with the new row added as wrong (p₀) and as right
    (p₁).

    .. math:: p_0 \le p \le p_1, \qquad p = \frac{p_1}{1 - p_0 + p_1} \;\text{(log)} \quad
        \text{or} \quad
              p = p_1 + \tfrac{1}{2}(p_0^2 - p_1^2) \;\text{(Brier)}

    The fit computes both for every possible position of a new score, in O(n log n); a prediction is
    a look-up, O(log n).

    Parameters
    ----------
    objective : {"log_loss", "brier"}
        The loss for which p is the minimax choice between p₀ and p₁.
    n_splits : int or None, default None
        Number of parts of the cross version. The distinct scores are split into parts, and each
        part gives (p₀, p₁). The prediction is GM(p₁) / (GM(1 - p₀) + GM(p₁)) with geometric means
        GM (for "brier", the mean of the parts' values). None is the inductive version, which uses
        all rows at once.
    random_state : int or None
        Seed of a random split of the scores; None assigns them in turn, lowest first, which is
        deterministic.

    Attributes
    ----------
    parts_ : list of (scores (m,), p₀ (m + 1,), p₁ (m + 1,)), one for each part.

    See Also
    --------
    CenteredIsotonic : one isotonic fit with one probability.

    Notes
    -----
    One of (p₀, p₁) is perfectly calibrated for any data, and the width p₁ - p₀ shows the
    uncertainty at this score; see :meth:`predict_interval`. It never predicts exactly 0 or 1. It is
    a good default with a few hundred rows or more. The parts of the cross version share one score,
    so it gains nothing from refitting a model; it only averages smaller predictors.

    References
    ----------
    Vovk and Petej, "Venn-Abers predictors", UAI 2014. Vovk, Petej and Fedorova, "Large-scale
    probabilistic predictors with and without guarantees of validity", NeurIPS 2015 (sections 4 and
    5).

    Examples
    --------
    >>> m = VennAbers().fit([1, 2, 3, 4], [0, 0, 1, 1])
    >>> p0, p1 = m.predict_interval([2.5])
    >>> p0.round(3).tolist(), p1.round(3).tolist(), m.predict([2.5]).round(3).tolist()
    ([0.0], [1.0], [0.5])
    """

    def __init__(
        self,
        *,
        objective: Literal["log_loss", "brier"] = "log_loss",
        n_splits: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.objective: Literal["log_loss", "brier"] = objective
        self.n_splits: int | None = n_splits
        self.random_state: int | None = random_state

    tags: ClassVar[MapTags] = MapTags(domain="real", monotone=True, label="Venn-Abers")

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        self._option("objective", "log_loss", "brier")
        if self.n_splits is not None and not self.n_splits >= 2:
            raise InputError(f"n_splits must be None or at least 2; got {self.n_splits!r}.")
        unique, mass, mean = pool_ties(score, correct, weight)
        self.parts_: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for part in self._deal(len(unique)):
            self.parts_.append(
                (
                    unique[part],
                    added_zeros(mass[part], mean[part]),
                    added_ones(mass[part], mean[part]),
                )
            )

    def _deal(self, m: int) -> list[np.ndarray]:
        """Positions of each part, ascending; tied scores stay together, so that a weight equals
        repeated rows.
        """
        if self.n_splits is None:
            return [np.arange(m)]
        order = (
            np.arange(m)
            if self.random_state is None
            else np.random.default_rng(self.random_state).permutation(m)
        )
        parts = min(self.n_splits, m)
        return [np.sort(order[k::parts]) for k in range(parts)]

    def _pairs(self, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(p₀, p₁), each (parts, n)."""
        low = [
            p0[np.searchsorted(just_below(knots), score, side="right")]
            for knots, p0, _ in self.parts_
        ]
        high = [
            p1[np.searchsorted(just_above(knots), score, side="left")]
            for knots, _, p1 in self.parts_
        ]
        return np.array(low), np.array(high)

    def _predict(self, score: np.ndarray) -> np.ndarray:
        p0, p1 = self._pairs(score)
        if self.objective == "brier":
            return np.clip(p1 + 0.5 * (p0**2 - p1**2), p0, p1).mean(axis=0)
        if len(p0) == 1:
            return np.clip(p1[0] / (1.0 - p0[0] + p1[0]), p0[0], p1[0])
        # p1 is never 0 and p0 never 1, because each fit contains a row of its own outcome.
        yes, no = np.exp(np.log(p1).mean(axis=0)), np.exp(np.log1p(-p0).mean(axis=0))
        return yes / (no + yes)

    def _expression(self, score: Any) -> Any:
        low = [score.step(just_below(knots), p0) for knots, p0, _ in self.parts_]
        high = [score.step(just_above(knots), p1, closed=False) for knots, _, p1 in self.parts_]
        if self.objective == "brier":
            each = [b + (a * a - b * b) * 0.5 for a, b in zip(low, high, strict=True)]
            return sum(each[1:], each[0]) * (1.0 / len(each))
        share = 1.0 / len(low)
        yes = sum([b.log() for b in high[1:]], high[0].log()) * share
        no = sum([(1.0 - a).log() for a in low[1:]], (1.0 - low[0]).log()) * share
        odds: Any = yes - no
        return odds.sigmoid()

    def predict_interval(self, score: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return (p₀, p₁), each (n,), with p₀ <= p <= p₁; for the cross version, the lowest p₀ and
        the highest p₁ of the parts.
        """
        require_fitted(self, "n_fit_")
        p0, p1 = self._pairs(scores(score))
        return p0.min(axis=0), p1.max(axis=0)
