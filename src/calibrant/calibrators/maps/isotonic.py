"""Isotonic regression of the outcome on the score, its centred form and near-isotonic form."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import xlog1py, xlogy

from calibrant._numerics.bins import flat_knots
from calibrant._numerics.isotonic import (
    between_knots,
    near_isotonic_path,
    pool_ties,
    pooled_blocks,
    smooth_ends,
)
from calibrant.core.calibrator import MapTags
from calibrant.core.map import Map

__all__ = ["CenteredIsotonic", "Isotonic", "NearIsotonic"]


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
