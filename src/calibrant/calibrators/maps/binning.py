"""Maps to rates of bins: of equal width or weight, of a fitted sigmoid, or one rate per class; and
Bayesian binning into quantiles (BBQ).

BBQ is an average over numbers of equal-mass bins, weighted by evidence.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import gammaln

from calibrant._numerics import bins
from calibrant._numerics.intervals import beta_interval
from calibrant._numerics.isotonic import pool_ties
from calibrant.calibrators.maps.sigmoids import Platt
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import MapTags, require_fitted
from calibrant.core.estimators import require_count
from calibrant.core.map import Map
from calibrant.errors import InputError

__all__ = ["BayesianBinning", "ClassRate", "HistogramBinning", "ScalingBinning"]


class HistogramBinning(
    Map,
    examples=[{"strategy": "mass", "n_bins": 10}, {"prior_weight": 0.0}],
    family="bins",
    use="One rate for each bin; merges rows, lowers the ECE",
):
    r"""Histogram binning: the value of each bin is its share of correct predictions.

    .. math:: g(s) = \frac{\sum_{i \in b(s)} w_i c_i + m \bar c}{\sum_{i \in b(s)} w_i + m}

    Here :math:`\bar c = (\sum w c + 1/2) / (\sum w + 1)`, and m is the prior weight. An empty bin
    is interpolated between its neighbours.

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1], or of equal weight (ties are never split, so there may be
        fewer; any real score).
    prior_weight : float, default 1
        The weight m, in rows, of the overall share. 0 is the textbook fit, which gives exact 0 and
        1.

    Attributes
    ----------
    edges_ : (B + 1,) bin edges.
    value_ : (B,) value of each bin.

    See Also
    --------
    BayesianBinning : an average over numbers of bins.
    ScalingBinning : bins of a fitted sigmoid, for fewer rows.

    Notes
    -----
    It is simple and easy to check, but loses the ranking within a bin. Smooth maps are more
    accurate on almost all data.

    References
    ----------
    Zadrozny and Elkan, "Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers", ICML 2001.

    Examples
    --------
    >>> m = HistogramBinning(n_bins=2, prior_weight=0).fit([0.1, 0.2, 0.8, 0.9], [0, 1, 1, 1])
    >>> m.predict([0.3, 0.7]).tolist()
    [0.5, 1.0]
    """

    edges_: np.ndarray

    def __init__(
        self,
        *,
        n_bins: int = 15,
        strategy: Literal["width", "mass"] = "width",
        prior_weight: float = 1.0,
    ) -> None:
        self.n_bins: int = n_bins
        self.strategy: Literal["width", "mass"] = strategy
        self.prior_weight: float = prior_weight

    @property
    def tags(self) -> MapTags:
        """Tags of the map; equal-width bins require scores in [0, 1], equal-weight bins take any
        score.
        """
        return MapTags(
            domain="real" if self.strategy == "mass" else "unit",
            soft_labels=True,
            label="histogram binning",
        )

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        self._option("strategy", "width", "mass")
        require_count("n_bins", self.n_bins)
        if not 0.0 <= self.prior_weight < np.inf:
            raise InputError(f"prior_weight must be 0 or more; got {self.prior_weight!r}.")
        self.edges_, index = self._bins(score, weight)
        sums = bins.grouped_sums(index, len(self.edges_) - 1, [correct], weight)
        base = (sums[:, 1].sum() + 0.5) / (sums[:, 0].sum() + 1.0)
        filled = sums[:, 0] > 0
        mass = sums[filled, 0] + self.prior_weight
        value = np.clip((sums[filled, 1] + self.prior_weight * base) / mass, 0.0, 1.0)
        self.value_: np.ndarray = np.interp(np.arange(len(sums)), np.flatnonzero(filled), value)

    def _bins(self, score: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.strategy == "width":
            return bins.equal_width_edges(self.n_bins), bins.equal_width_index(score, self.n_bins)
        group = bins.equal_mass_groups(score, self.n_bins, weight)
        low, high = bins.group_ends(score, group, int(group.max()) + 1)
        edges = np.concatenate([[low[0]], 0.5 * (high[:-1] + low[1:]), [high[-1]]])
        return edges, group

    def _predict(self, score: np.ndarray) -> np.ndarray:
        if self.strategy == "width":
            return self.value_[bins.equal_width_index(score, self.n_bins)]
        return self.value_[np.searchsorted(self.edges_[1:-1], score, side="right")]

    def _expression(self, score: Any) -> Any:
        if self.strategy == "width":
            return score.step(bins.equal_width_starts(self.n_bins), self.value_)
        return score.step(self.edges_[1:-1], self.value_)


class ScalingBinning(
    Map,
    family="bins",
    use="A sigmoid, rounded to the means of bins",
):
    r"""Platt scaling, discretised: each of B equal-mass bins of the scores outputs the mean of its
    fitted values.

    .. math:: h(s) = \frac{\sum_{i \in b(s)} w_i\, g(s_i)}{\sum_{i \in b(s)} w_i}, \qquad g =
        \text{Platt}

    It averages the *fitted* values, not the outcomes, so its variance is much smaller than that of
    histogram binning.

    Parameters
    ----------
    n_bins : int, default 10
        Tied scores stay in one bin, so there may be fewer.

    Attributes
    ----------
    platt_ : the fitted :class:`Platt`.
    edges_ : (B - 1,) inner edges, on the scale of the scores.
    value_ : (B,)

    See Also
    --------
    Platt : the sigmoid without bins.
    HistogramBinning : the bins without a sigmoid.

    Notes
    -----
    Use it when calibration itself must be measured or guaranteed: only a map with finitely many
    values has a calibration error that can be estimated from data. It loses the ranking within a
    bin; for the best probabilities use :class:`Platt`.

    References
    ----------
    Kumar, Liang and Ma, "Verified uncertainty calibration", NeurIPS 2019.

    Examples
    --------
    >>> m = ScalingBinning(n_bins=2).fit([0.1, 0.2, 0.3, 0.6, 0.8, 0.9], [0, 0, 1, 0, 1, 1])
    >>> len(np.unique(m.predict(np.linspace(0, 1, 50))))
    2
    """

    tags: ClassVar[MapTags] = MapTags(domain="unit", monotone=True, label="scaling-binning")
    status_: str

    def __init__(self, *, n_bins: int = 10) -> None:
        self.n_bins: int = n_bins

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        require_count("n_bins", self.n_bins)
        self.platt_: Platt = Platt().fit_checked(score, correct, weight)
        self.status_ = self.platt_.status_
        fitted = self.platt_.predict(score)
        group = bins.equal_mass_groups(score, self.n_bins, weight)
        sums = bins.grouped_sums(group, int(group.max()) + 1, [fitted], weight)
        # Edges are on the scores, because other platforms round a sigmoid differently.
        low, high = bins.group_ends(score, group, len(sums))
        self.edges_: np.ndarray = 0.5 * (high[:-1] + low[1:])
        self.value_: np.ndarray = np.clip(
            sums[:, 1] / sums[:, 0], *bins.group_ends(fitted, group, len(sums))
        )

    def _predict(self, score: np.ndarray) -> np.ndarray:
        return self.value_[np.searchsorted(self.edges_, score, side="right")]

    def _expression(self, score: Any) -> Any:
        return score.step(self.edges_, self.value_)


class ClassRate(
    Map,
    family="bins",
    use="One rate for all rows, or for each predicted class",
):
    r"""Constant map to the rate of correct predictions; fitted per predicted class, it is Conf\
    :sub:`1`.

    .. math:: \mathrm{Conf}_1 = \frac{TP + 1/2}{TP + FP + 1}

    This is the mean of the Beta(TP + 1/2, FP + 1/2) posterior under Jeffreys' prior. Its raw form,
    TP / (TP + FP), is the diagonal of the reverse confusion matrix (see
    :func:`calibrant.metrics.joint_distribution`).

    Attributes
    ----------
    rate_ : float
    true_positives_, false_positives_ : float, sums of weights.

    See Also
    --------
    ConfidenceCalibrator : a calibrator that fits it for each predicted class.
    class_report : these rates, with intervals.

    Notes
    -----
    Use it per class (``ConfidenceCalibrator(map=ClassRate(), per_class=True)``) where a class has
    too few rows to estimate how its confidence depends on the score. It does not separate certain
    from uncertain predictions of the same class.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    equation 1.

    Examples
    --------
    >>> m = ClassRate().fit([0.2, 0.7, 0.9], [0, 1, 1])
    >>> m.predict([0.5]).tolist(), m.interval([0.5], level=0.9)[0].round(3).tolist()
    ([0.625], [0.236])
    """

    tags: ClassVar[MapTags] = MapTags(
        domain="real", monotone=True, soft_labels=True, label="class rate"
    )

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        self.true_positives_: float = float(weight @ correct)
        self.false_positives_: float = float(weight @ (1.0 - correct))
        self.rate_: float = (self.true_positives_ + 0.5) / (
            self.true_positives_ + self.false_positives_ + 1.0
        )

    def _predict(self, score: np.ndarray) -> np.ndarray:
        return np.full(len(score), self.rate_)

    def _expression(self, score: Any) -> Any:
        return score * 0.0 + self.rate_

    def interval(self, score: ArrayLike, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the equal-tailed credible interval of the rate at each score, (low (n,), high
        (n,)).
        """
        require_fitted(self, "rate_")
        low, high = beta_interval(self.true_positives_ + 0.5, self.false_positives_ + 0.5, level)
        return np.full(len(score), float(low)), np.full(len(score), float(high))


#: The paper's C: bins from n^(1/3) / C to C n^(1/3).
RANGE = 10.0
#: The paper's N': the prior's weight, in rows, for a whole binning.
PRIOR_ROWS = 2.0
#: A bin of scores of exactly 0 or 1 must still allow a row of the other outcome.
EXTREME = 1e-6


class BayesianBinning(
    Map,
    family="bins",
    use="An average over numbers of bins (BBQ)",
):
    r"""Bayesian binning into quantiles: an average over equal-mass binnings, weighted by their
    marginal likelihoods.

    .. math::
        \mathrm{score}(B) = \prod_b \frac{\Gamma(N'/B)}{\Gamma(N_b + N'/B)} \frac{\Gamma(m_b +
        \alpha_b)}{\Gamma(\alpha_b)}
        \frac{\Gamma(n_b + \beta_b)}{\Gamma(\beta_b)}, \qquad
        g(s) \propto \sum_B \mathrm{score}(B)\, \frac{m_{b(s)} + \alpha_{b(s)}}{N_{b(s)} + N'/B}

    Here a bin has N rows, m of them right and n wrong, and p is the middle of its scores; N' = 2, α
    = (N'/B) p, β = (N'/B)(1 - p). B runs from n^(1/3)/10 to min(n/5, 10 n^(1/3)), with equal prior
    probabilities.

    Parameters
    ----------
    max_bins : int, optional
        A smaller upper limit of B.

    Attributes
    ----------
    edges_ : (J - 1,) inner edges of the steps of the average.
    value_ : (J,)
    n_bins_ : (models,) number of bins of each binning averaged.
    model_weight_ : (models,) their posterior weights, summing to 1.

    See Also
    --------
    HistogramBinning : a single binning, chosen by hand.

    Notes
    -----
    It chooses the number of bins automatically, and its values are never exactly 0 or 1. It is
    still a step function: smooth maps are better on most data. Ties are never split, so on coarse
    scores several B give the same bins; each binning counts once. netcal's BBQ, which differs in
    such choices, had the lower log loss on two outputs elsewhere (.6388 versus .6423, .4110 versus
    .4118).

    References
    ----------
    Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning",
    AAAI 2015.

    Examples
    --------
    >>> m = BayesianBinning().fit(
    ...     [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 5, [0, 0, 0, 0, 1, 1, 1, 1] * 5
    ... )
    >>> bool(m.predict([0.2])[0] < 0.1 and m.predict([0.8])[0] > 0.9)
    True
    """

    tags: ClassVar[MapTags] = MapTags(domain="unit", label="Bayesian binning")

    def __init__(self, *, max_bins: int | None = None) -> None:
        self.max_bins: int | None = max_bins

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        unique, mass, mean = pool_ties(score, correct, weight)
        binnings = list(self._binnings(mass))
        models = [_model(starts, unique, mass, mean) for starts in binnings]
        log_score = np.array([s for s, _ in models])
        self.model_weight_: np.ndarray = np.exp(log_score - log_score.max())
        self.model_weight_ /= self.model_weight_.sum()
        self.n_bins_: np.ndarray = np.array([len(s) for s in binnings])
        value, cut = np.zeros(len(unique)), np.zeros(len(unique), dtype=bool)
        for starts, (_, own), share in zip(binnings, models, self.model_weight_, strict=True):
            value += share * np.repeat(own, np.diff(np.append(starts, len(unique))))
            cut[starts] = True
        first = np.flatnonzero(cut)
        self.edges_: np.ndarray = 0.5 * (unique[first[1:] - 1] + unique[first[1:]])
        self.value_: np.ndarray = np.clip(value[first], 0.0, 1.0)

    def _binnings(self, mass: Any) -> Any:
        """Start positions of the bins of each distinct equal-mass binning of distinct scores."""
        total = mass.sum()
        root = np.cbrt(total)
        low = max(1, int(root / RANGE))
        high = max(low, min(int(total / 5.0), int(np.ceil(RANGE * root))))
        high = high if self.max_bins is None else max(1, min(high, int(self.max_bins)))
        middle = (np.cumsum(mass) - 0.5 * mass) / total
        seen = set()
        for n_bins in range(min(low, high), high + 1):
            part = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)
            starts = np.flatnonzero(np.diff(part, prepend=-1))
            if starts.tobytes() not in seen:
                seen.add(starts.tobytes())
                yield starts

    def _predict(self, score: np.ndarray) -> np.ndarray:
        return self.value_[np.searchsorted(self.edges_, score, side="right")]

    def _expression(self, score: Any) -> Any:
        return score.step(self.edges_, self.value_)


def _model(
    starts: np.ndarray, unique: np.ndarray, mass: np.ndarray, mean: np.ndarray
) -> tuple[float, np.ndarray]:
    """(log marginal likelihood, posterior mean of each bin) of one binning."""
    last = np.append(starts[1:], len(unique)) - 1
    share = PRIOR_ROWS / len(starts)
    middle = np.clip(0.5 * (unique[starts] + unique[last]), EXTREME, 1.0 - EXTREME)
    alpha, beta = share * middle, share * (1.0 - middle)
    rows = np.add.reduceat(mass, starts)
    right = np.add.reduceat(mass * mean, starts)
    wrong = np.maximum(rows - right, 0.0)
    evidence = gammaln(share) - gammaln(rows + share)
    evidence += gammaln(right + alpha) - gammaln(alpha) + gammaln(wrong + beta) - gammaln(beta)
    return float(evidence.sum()), (right + alpha) / (rows + share)
