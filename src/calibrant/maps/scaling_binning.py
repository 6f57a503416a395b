"""The scaling-binning calibrator: a sigmoid, then bins that output their mean fitted value."""

from typing import ClassVar

import numpy as np

from calibrant._kernels import bins
from calibrant._support.options import require_count
from calibrant.contracts.map import Map
from calibrant.contracts.tags import MapTags
from calibrant.maps.platt import Platt

__all__ = ["ScalingBinning"]


class ScalingBinning(Map):
    r"""Platt scaling, discretised: each of B equal-mass bins of the scores outputs the mean of its fitted values.

    .. math:: h(s) = \frac{\sum_{i \in b(s)} w_i\, g(s_i)}{\sum_{i \in b(s)} w_i}, \qquad g = \text{Platt}

    The mean of the *fitted* values, not of the outcomes: that is what makes its variance so much smaller than histogram binning's.

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
    Use it when calibration itself must be measured or promised: only a map with finitely many values has a calibration error that can be
    estimated from data. It loses the ranking inside a bin; for the best probabilities use :class:`Platt` itself.

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

    def _fit(self, score, correct, weight):
        require_count("n_bins", self.n_bins)
        self.platt_: Platt = Platt().fit_checked(score, correct, weight)
        self.status_ = self.platt_.status_
        fitted = self.platt_.predict(score)
        group = bins.equal_mass_groups(score, self.n_bins, weight)
        sums = bins.grouped_sums(group, int(group.max()) + 1, [fitted], weight)
        # Edges on the scores themselves: a sigmoid is rounded in another way elsewhere.
        low, high = bins.group_ends(score, group, len(sums))
        self.edges_: np.ndarray = 0.5 * (high[:-1] + low[1:])
        self.value_: np.ndarray = np.clip(sums[:, 1] / sums[:, 0], *bins.group_ends(fitted, group, len(sums)))

    def _predict(self, score):
        return self.value_[np.searchsorted(self.edges_, score, side="right")]

    def _expression(self, score):
        return score.step(self.edges_, self.value_)
