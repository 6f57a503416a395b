"""Isotonic regression of correctness on the score."""

from typing import ClassVar

import numpy as np

from calibrant._kernels.bins import flat_knots
from calibrant._kernels.isotonic import between_knots, pool_ties, pooled_blocks, smooth_ends
from calibrant.contracts.map import Map
from calibrant.contracts.tags import MapTags

__all__ = ["Isotonic"]


class Isotonic(Map):
    r"""Isotonic regression: the non-decreasing map of least squared error.

    .. math:: \min_g \sum_i w_i (c_i - g(s_i))^2 \quad \text{over non-decreasing } g

    fitted by pooling adjacent violators, on the distinct scores with their summed weights; linear between blocks, constant outside.

    Parameters
    ----------
    smooth_ends : bool, default True
        Where the first block is 0 or the last is 1, use Laplace's (k + 1) / (w + 2) for it (never past its neighbour), so that no
        probability is exactly 0 or 1 and the log loss of any test set is finite. False is the textbook fit.

    Attributes
    ----------
    score_, value_ : (m,) knots of the map.
    status_ : "exact".

    See Also
    --------
    CenteredIsotonic : without steps, usually better.
    metrics.isotonic_curve : the same fit with a band, to look at.

    Notes
    -----
    Use it with a thousand rows or more, when the shape of the map is unknown. With fewer rows it overfits; it makes ties, which
    costs a little ranking.

    References
    ----------
    Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.

    Examples
    --------
    >>> m = Isotonic(smooth_ends=False).fit([0, 1, 1, 2, 3], [0, 0, 1, 0, 1])
    >>> m.predict([0, 1, 2, 3]).round(3).tolist()
    [0.0, 0.333, 0.333, 1.0]
    """

    tags: ClassVar[MapTags] = MapTags(domain="real", monotone=True, soft_labels=True, label="isotonic regression")

    def __init__(self, *, smooth_ends: bool = True) -> None:
        self.smooth_ends: bool = smooth_ends

    @classmethod
    def _examples(cls):
        return [cls(), cls(smooth_ends=False)]

    def _fit(self, score, correct, weight):
        unique, mass, mean = pool_ties(score, correct, weight)
        first, last, value, block_mass = pooled_blocks(mean, mass)
        if self.smooth_ends:
            value = smooth_ends(value, block_mass)
        self.score_: np.ndarray = flat_knots(unique[first], unique[last])
        self.value_: np.ndarray = np.repeat(value, 2)

    def _predict(self, score):
        return between_knots(score, self.score_, self.value_)

    def _expression(self, score):
        return score.interpolate(self.score_, self.value_)
