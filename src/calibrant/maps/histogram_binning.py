"""Histogram binning: the share of correct predictions in each bin of the score."""

from typing import Literal

import numpy as np

from calibrant._kernels import bins
from calibrant._support.options import require_count
from calibrant.contracts.map import Map
from calibrant.contracts.tags import MapTags
from calibrant.errors import InputError

__all__ = ["HistogramBinning"]


class HistogramBinning(Map):
    r"""Histogram binning: one value a bin, the share of correct predictions that fell in it.

    .. math:: g(s) = \frac{\sum_{i \in b(s)} w_i c_i + m \bar c}{\sum_{i \in b(s)} w_i + m}

    with :math:`\bar c = (\sum w c + 1/2) / (\sum w + 1)` and the prior weight m; an empty bin is interpolated between its neighbours.

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1], or of equal weight (ties are never split, so there may be fewer; any real score).
    prior_weight : float, default 1
        m, the rows' worth of belief in the overall share. 0 is the textbook fit, which gives exact 0 and 1.

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
    Simple and checkable by eye; loses the ranking inside a bin. Smooth maps are more accurate on almost all data.

    References
    ----------
    Zadrozny and Elkan, "Obtaining calibrated probability estimates from decision trees and naive Bayesian classifiers", ICML 2001.

    Examples
    --------
    >>> m = HistogramBinning(n_bins=2, prior_weight=0).fit([0.1, 0.2, 0.8, 0.9], [0, 1, 1, 1])
    >>> m.predict([0.3, 0.7]).tolist()
    [0.5, 1.0]
    """

    edges_: np.ndarray

    def __init__(self, *, n_bins: int = 15, strategy: Literal["width", "mass"] = "width", prior_weight: float = 1.0) -> None:
        self.n_bins: int = n_bins
        self.strategy: Literal["width", "mass"] = strategy
        self.prior_weight: float = prior_weight

    @property
    def tags(self) -> MapTags:
        """Bins of equal width lie on [0, 1]; bins of equal weight take any score."""
        return MapTags(domain="real" if self.strategy == "mass" else "unit", soft_labels=True, label="histogram binning")

    @classmethod
    def _examples(cls):
        return [cls(), cls(strategy="mass", n_bins=10), cls(prior_weight=0.0)]

    def _fit(self, score, correct, weight):
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

    def _bins(self, score, weight):
        if self.strategy == "width":
            return bins.equal_width_edges(self.n_bins), bins.equal_width_index(score, self.n_bins)
        group = bins.equal_mass_groups(score, self.n_bins, weight)
        low, high = bins.group_ends(score, group, int(group.max()) + 1)
        edges = np.concatenate([[low[0]], 0.5 * (high[:-1] + low[1:]), [high[-1]]])
        return edges, group

    def _predict(self, score):
        if self.strategy == "width":
            return self.value_[bins.equal_width_index(score, self.n_bins)]
        return self.value_[np.searchsorted(self.edges_[1:-1], score, side="right")]

    def _expression(self, score):
        if self.strategy == "width":
            return score.step(bins.equal_width_starts(self.n_bins), self.value_)
        return score.step(self.edges_[1:-1], self.value_)
