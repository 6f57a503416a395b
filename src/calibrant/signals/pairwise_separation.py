"""Separation by pairs of training points."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.separation import max_min, min_max, nearest_of
from calibrant.neighbors.brute import BruteIndex, split
from calibrant.neighbors.stored_points import StoredPoints
from calibrant.predictions import Inputs
from calibrant.signals.separation import Separation

__all__ = ["PairwiseSeparation", "signed"]


class PairwiseSeparation(Separation, examples=[{"dangerous": "max-min"}]):
    r"""Separation as the paper defines it: the least, over the other points, of the farthest
    bisector that a point of the class gives.

    .. math:: \overline{S}(x) = \min_{x'' \in \bar F} \max_{x' \in F} \frac{d^2(x, x'') - d^2(x,
        x')}{2\,d(x', x'')}

    with F the training points labelled with the class predicted for x and :math:`\bar F` all
    others; Euclidean distance.

    Parameters
    ----------
    dangerous : {"min-max", "max-min"}
        For points nearer to :math:`\bar F`: the formula as written, or with the roles of the two
        sides exchanged, :math:`\max_{x' \in F} \min_{x'' \in \bar F}`, which is what the paper's
        proof for safe points becomes and the larger zone.
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
    FastSeparation : its quick approximation.
    MaximalZone : the largest ball that stays safe or dangerous.

    Notes
    -----
    It bounds a zone around x in which the nearest training point stays of the same side: exact, but
    not the largest such zone, which is :class:`MaximalZone` (the paper's proposition 1 says
    otherwise; it lets one x' answer for the whole ball, where several may share it). For
    calibration it adds nothing to :class:`FastSeparation` on the data we tried, at several times
    the cost. Points equal to a point of the other side bound nothing, and no magnitude passes the
    distance to the nearest point of the side it points to. Where all or none of the training points
    have the predicted class, there is no bisector and the score is plus or minus the radius of the
    training set about its mean, as in :class:`FastSeparation`; here that is a convention and no
    bound: other scores, above all of rows far from the training set, lie beyond it.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    definition 4.

    Examples
    --------
    >>> X_train, y_train = [[1.0, 1.5], [1.0, -1.5], [4.0, 0.0]], [0, 0, 1]
    >>> signal = PairwiseSeparation().fit(
    ...     [[0.9, 0.1]], [0], X=[[0.0, 0.0]], reference=(X_train, y_train)
    ... )
    >>> signal.score([[0.9, 0.1]], X=[[0.0, 0.0]]).round(4).tolist()
    [1.9007]
    """

    def __init__(
        self,
        dangerous: Literal["min-max", "max-min"] = "min-max",
        *,
        features: Any = None,
        points: Any = None,
        scale: str = "auto",
        progress: Callable[..., Any] | None = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            features=features,
            points=points,
            scale=scale,
            progress=progress,
            inputs=inputs,
            classes=classes,
        )
        self.dangerous: Literal["min-max", "max-min"] = dangerous

    def _make_index(self):
        self._option("dangerous", "min-max", "max-min")
        return BruteIndex()

    def _separation(self, queries, group):
        out = np.empty(len(queries))

        def one(i, query, low, start, stop):
            out[i] = signed(
                query,
                *split(low, start, stop),
                self.index_.points_,
                self.index_.radius_,
                self._safe,
                self._dangerous,
            )

        self.index_.each(queries, group, one, self.progress)
        return out

    @staticmethod
    def _safe(query, same, other, points):
        return min_max(query, other, same, points, -np.inf)[0]

    def _dangerous(self, query, same, other, points):
        if self.dangerous == "max-min":
            return min_max(query, same, other, points, np.inf)[0]
        return max_min(query, same, other, points, np.inf)


def signed(
    query: np.ndarray,
    same: np.ndarray,
    other: np.ndarray,
    points: StoredPoints,
    radius: float,
    safe: Callable[..., Any],
    dangerous: Callable[..., Any],
) -> float:
    """The signed zone of one query: plus or minus ``radius`` where a side has no points, at most
    the distance to the nearest point.
    """
    _, _, own = nearest_of(query, same, points)
    _, _, others = nearest_of(query, other, points)
    if not len(own):
        return -radius
    if not len(others):
        return radius
    own, others = np.sqrt(own[0]), np.sqrt(others[0])
    if own < others:
        return max(min(safe(query, same, other, points), others), 0.5 * (others - own))
    return -max(min(dangerous(query, same, other, points), own), 0.5 * (own - others))
