"""The true radius in which the nearest training point stays on one side."""

import numpy as np

from calibrant._kernels.separation import zone_radius
from calibrant.neighbors.brute import BruteIndex, split
from calibrant.signals.pairwise_separation import signed
from calibrant.signals.separation import Separation

__all__ = ["MaximalZone"]


class MaximalZone(Separation):
    r"""The largest ball around x in which the nearest training point stays of the predicted class
    (safe), or of another (dangerous).

    .. math:: Z(x) = \min_{x'' \in \bar F} \operatorname{dist}\big(x, \{y : |y - x''| \le |y - x'|
        \; \forall x' \in F\}\big)

    for safe x; minus the same with F and :math:`\bar F` exchanged for dangerous x. Euclidean
    distance.

    Parameters
    ----------
    features, points, scale, progress, inputs, classes
        As in :class:`FastSeparation`.

    Attributes
    ----------
    space_, index_, nbytes_ : as in :class:`FastSeparation`.

    Raises
    ------
    InputError
        As :class:`FastSeparation`.

    See Also
    --------
    FastSeparation : smoother, half a difference of distances.
    PairwiseSeparation : by the bisectors between points.

    Notes
    -----
    Each distance is a projection on the Voronoi cell of x'' among F, found by cutting planes:
    non-negative least squares on the nearest bisectors, adding those the solution violates. Cells
    that :class:`FastSeparation` or :class:`PairwiseSeparation` show to be farther are never
    visited. Use it to certify how far an input may move; for calibration FastSeparation, far
    cheaper, does as well. A point of the predicted class that lies on one of another is never
    strictly nearest, but no zone reaches beyond it either. In magnitude fast separation <= pairwise
    separation <= this <= the distance to the nearest point of the other side. Where all or none of
    the training points have the predicted class, there is no bisector and the score is plus or
    minus the radius of the training set about its mean, as in :class:`FastSeparation`; here that is
    a convention and no bound: other scores, above all of rows far from the training set, lie beyond
    it.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    definitions 2 and 3. Lawson and Hanson, "Solving least squares problems", 1974, chapter 23.

    Examples
    --------
    >>> X_train, y_train = [[1.0, 1.5], [1.0, -1.5], [4.0, 0.0]], [0, 0, 1]
    >>> signal = MaximalZone().fit([[0.9, 0.1]], [0], X=[[0.0, 0.0]], reference=(X_train, y_train))
    >>> signal.score([[0.9, 0.1]], X=[[0.0, 0.0]]).round(4).tolist()
    [2.125]
    """

    def _make_index(self):
        return BruteIndex()

    def _separation(self, queries, group):
        out = np.empty(len(queries))

        def one(i, query, low, start, stop):
            out[i] = signed(
                query,
                *split(low, start, stop),
                self.index_.points_,
                self.index_.radius_,
                _safe,
                _dangerous,
            )

        self.index_.each(queries, group, one, self.progress)
        return out


def _safe(query, same, other, points):
    return zone_radius(query, other, same, points, -np.inf)


def _dangerous(query, same, other, points):
    return zone_radius(query, same, other, points, np.inf)
