"""Bayesian binning into quantiles (BBQ): an average over numbers of equal-mass bins, weighted by
evidence.
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from calibrant._numerics.isotonic import pool_ties
from calibrant.core.calibrator import MapTags
from calibrant.core.map import Map

__all__ = ["BayesianBinning"]

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
