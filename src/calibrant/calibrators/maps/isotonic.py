"""Isotonic regression of the outcome on the score, its centred form and near-isotonic form;
Venn-Abers prediction; and cumulative confidence.

Venn-Abers prediction makes two isotonic fits, one for each possible outcome of the new row.
Cumulative confidence is the share of correct predictions among all with at least this score.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import xlog1py, xlogy

from calibrant._numerics.bins import distinct_scores, flat_knots, just_above, just_below
from calibrant._numerics.isotonic import (
    added_ones,
    added_zeros,
    between_knots,
    near_isotonic_path,
    pool_ties,
    pooled_blocks,
    smooth_ends,
)
from calibrant.core.arrays import ArrayLike, scores
from calibrant.core.calibrator import MapTags, require_fitted
from calibrant.core.estimators import require_option
from calibrant.core.map import Map
from calibrant.errors import InputError

__all__ = ["CenteredIsotonic", "CumulativeConfidence", "Isotonic", "NearIsotonic", "VennAbers"]


class _Lines(Map):
    """Template of maps that are linear between fitted knots."""

    score_: np.ndarray
    value_: np.ndarray

    def _predict(self, score: np.ndarray) -> np.ndarray:
        return between_knots(score, self.score_, self.value_)

    def _expression(self, score: Any) -> Any:
        return score.interpolate(self.score_, self.value_)


class Isotonic(
    _Lines,
    examples=[{"smooth_ends": False}],
    family="isotonic regression",
    use="An increasing step function; thousands of rows",
):
    r"""Isotonic regression: the non-decreasing map of least squared error.

    .. math:: \min_g \sum_i w_i (c_i - g(s_i))^2 \quad \text{over non-decreasing } g

    It is fitted by pooling adjacent violators, on the distinct scores with their summed weights. It
    is linear between blocks and constant outside.

    Parameters
    ----------
    smooth_ends : bool, default True
        Whether to replace a first block of 0 or a last block of 1 by Laplace's (k + 1) / (w + 2),
        but never beyond its neighbour. No probability is then exactly 0 or 1, and the log loss of
        any test set is finite. False is the textbook fit.

    Attributes
    ----------
    score_, value_ : (m,) knots of the map.
    status_ : "exact".

    See Also
    --------
    CenteredIsotonic : a fit without steps, usually better.
    metrics.isotonic_curve : the same fit with a band, for plots.

    Notes
    -----
    Use it with a thousand rows or more, when the shape of the map is unknown. With fewer rows it
    overfits. It creates ties, which slightly worsens the ranking.

    References
    ----------
    Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    >>> m = Isotonic(smooth_ends=False).fit([0, 1, 1, 2, 3], [0, 0, 1, 0, 1])
    >>> m.predict([0, 1, 2, 3]).round(3).tolist()
    [0.0, 0.333, 0.333, 1.0]
    """

    tags: ClassVar[MapTags] = MapTags(
        domain="real", monotone=True, soft_labels=True, label="isotonic regression"
    )

    def __init__(self, *, smooth_ends: bool = True) -> None:
        self.smooth_ends: bool = smooth_ends

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        unique, mass, mean = pool_ties(score, correct, weight)
        first, last, value, block_mass = pooled_blocks(mean, mass)
        if self.smooth_ends:
            value = smooth_ends(value, block_mass)
        self.score_: np.ndarray = flat_knots(unique[first], unique[last])
        self.value_: np.ndarray = np.repeat(value, 2)


class CenteredIsotonic(
    _Lines,
    examples=[{"smooth_ends": False}],
    family="isotonic regression",
    use="Increasing line segments; 1,000 rows and more",
):
    r"""Centred isotonic regression: each block of the isotonic fit becomes a point at the weighted
    mean of its scores.

    .. math:: g\!\left(\frac{\sum_{i \in b} w_i s_i}{\sum_{i \in b} w_i}\right) = \frac{\sum_{i \in
        b} w_i c_i}{\sum_{i \in b} w_i}

    It is linear between the points, so it increases strictly from the first to the last, and
    constant outside.

    Parameters
    ----------
    smooth_ends : bool, default True
        Whether to use Laplace's estimate for a first block of 0 and a last block of 1, as in
        :class:`Isotonic`.

    Attributes
    ----------
    score_, value_ : (m,) knots of the map.

    See Also
    --------
    Isotonic : the textbook fit, with steps and ties.
    VennAbers : two fits, whose difference is the uncertainty.

    Notes
    -----
    It avoids the flat steps of isotonic regression: fewer ties preserve the ranking, and the error
    is usually smaller when the true map is smooth. With a few hundred rows, a parametric map is
    still better.

    References
    ----------
    Oron and Flournoy, "Centered isotonic regression: point and interval estimation for
    dose-response studies", Statistics in Biopharmaceutical Research 9, 2017.

    Examples
    --------
    >>> m = CenteredIsotonic(smooth_ends=False).fit([0, 1, 2, 3], [0, 1, 0, 1])
    >>> m.predict([0, 1.5, 2.25]).round(2).tolist()
    [0.0, 0.5, 0.75]
    """

    tags: ClassVar[MapTags] = MapTags(
        domain="real", monotone=True, soft_labels=True, label="centred isotonic regression"
    )

    def __init__(self, *, smooth_ends: bool = True) -> None:
        self.smooth_ends: bool = smooth_ends

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        unique, mass, mean = pool_ties(score, correct, weight)
        first, _, value, block_mass = pooled_blocks(mean, mass)
        centre = np.add.reduceat(mass * unique, first) / block_mass
        self.score_: np.ndarray = np.clip(centre, unique[0], unique[-1])
        self.value_: np.ndarray = smooth_ends(value, block_mass) if self.smooth_ends else value


#: Models whose BIC exceeds the best by more than this have weights below 1e-13 and are dropped.
NEGLIGIBLE = 60.0


class NearIsotonic(
    _Lines,
    examples=[{"prior_weight": 0.0}],
    family="isotonic regression",
    use="An average of curves that may decrease a little",
):
    r"""Ensemble of near-isotonic regressions: isotonic regression that may decrease where the data
    strongly suggest it.

    .. math:: \min_p \tfrac{1}{2} \sum_i w_i (c_i - p_i)^2 + \lambda \sum_i (p_i - p_{i+1})_+

    It is solved exactly at every breakpoint of λ. The solutions except the first (λ = 0, the data
    themselves) are averaged with weights exp(-BIC / 2). For J distinct values, BIC = -2 log L + J
    log n. The map is linear between the scores and constant outside.

    Parameters
    ----------
    prior_weight : float, default 1
        The weight, in rows, of the overall share, added to each block of each solution so that none
        is exactly 0 or 1. 0 is the textbook fit.

    Attributes
    ----------
    score_, value_ : (m,) knots of the map.
    n_values_ : (models,) number of distinct values of each solution averaged.
    model_weight_ : (models,) their weights, summing to 1.

    See Also
    --------
    Isotonic, CenteredIsotonic : maps that never decrease.

    Notes
    -----
    Use it for scores that do not rank perfectly: besides the spline, it is the only map here that
    may decrease. Where the ranking is right, it equals isotonic regression. In the worst case, the
    time of a fit grows with the square of the number of runs of equal outcomes.

    References
    ----------
    Naeini and Cooper, "Binary classifier calibration using an ensemble of near isotonic regression
    models", ICDM 2016. Tibshirani, Hoefling and Tibshirani, "Nearly-isotonic regression",
    Technometrics 53, 2011.

    Examples
    --------
    >>> m = NearIsotonic(prior_weight=0).fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> m.predict([1, 2.5, 4]).round(2).tolist()
    [0.0, 0.5, 1.0]
    """

    tags: ClassVar[MapTags] = MapTags(domain="real", label="near-isotonic regression")

    def __init__(self, *, prior_weight: float = 1.0) -> None:
        self.prior_weight: float = prior_weight

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        unique, mass, mean = pool_ties(score, correct, weight)
        models = _weighed(near_isotonic_path(mean, mass), float(mass.sum()))
        bic = np.array([b for b, _, _, _ in models])
        self.model_weight_: np.ndarray = np.exp(-0.5 * (bic - bic.min()))
        self.model_weight_ /= self.model_weight_.sum()
        self.n_values_: np.ndarray = np.array([len(starts) for _, starts, _, _ in models])
        base = (float(mass @ mean) + 0.5) / (float(mass.sum()) + 1.0)
        total, cut = np.zeros(len(unique)), np.zeros(len(unique), dtype=bool)
        for share, (_, starts, value, block) in zip(self.model_weight_, models, strict=True):
            shrunk = (block * value + self.prior_weight * base) / (block + self.prior_weight)
            total += share * np.repeat(shrunk, np.diff(np.append(starts, len(unique))))
            cut[starts] = True
        first = np.flatnonzero(cut)
        last = np.append(first[1:], len(unique)) - 1
        self.score_: np.ndarray = flat_knots(unique[first], unique[last])
        self.value_: np.ndarray = np.repeat(np.clip(total[first], 0.0, 1.0), 2)


def _weighed(path: Any, n: float) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """List of (BIC, starts, value, mass) of the solutions that count; the first of the path counts
    only if it is the only one.
    """
    kept, best = [], np.inf
    for k, (starts, value, centre, mass) in enumerate(path):
        p = np.clip(value, 0.0, 1.0)
        loss = -float(mass @ (xlogy(centre, p) + xlog1py(1.0 - centre, -p)))
        bic = 2.0 * loss + len(starts) * np.log(max(n, 1.0))
        if k == 1:
            kept, best = [], np.inf
        best = min(best, bic)
        kept = [m for m in kept if m[0] <= best + NEGLIGIBLE]
        if bic <= best + NEGLIGIBLE:
            kept.append((bic, starts, p, mass))
    return kept


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
    equations 11 to 13.

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
