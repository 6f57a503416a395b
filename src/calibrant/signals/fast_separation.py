"""How much nearer the training points of the predicted class are than all others."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant.errors import InputError
from calibrant.neighbors.brute import NeighborIndex
from calibrant.neighbors.exact import ExactIndex
from calibrant.predictions import Inputs
from calibrant.signals.separation import Separation

__all__ = ["FastSeparation"]


class FastSeparation(
    Separation, examples=[{"metric": "l1"}, {"metric": "linf"}, {"scale": "standard"}]
):
    r"""Fast separation: half the difference of two nearest-neighbour distances.

    .. math:: \underline{S}(x) = \tfrac12 \big(D(x, \bar F) - D(x, F)\big)

    with F the training points labelled with the class predicted for x, :math:`\bar F` all others,
    and D the distance to the nearest. Positive means safe: x is nearer to its own class, and stays
    so within that radius.

    Parameters
    ----------
    metric : {"l2", "l1", "linf"}
    features : callable or transformer, optional
        Applied to X first: a network's hidden layer, or a reduction of
        ``calibrant.neighbors.reductions``. A transformer is fitted on the training points.
    points : object with ``reduce(X, y)``, optional
        A reduction of the training set, such as
        :class:`~calibrant.neighbors.reductions.RandomSubset`.
    scale : {"auto", "standard", "none"}
        "auto" leaves images (8-bit integers, more than two dimensions) and columns of similar span
        as they are and divides the columns of other tables by their standard deviations, with a
        warning where those differ by orders of magnitude.
    index : NeighborIndex, optional
        Default ``ExactIndex(metric)``.
    progress : callable, optional
        ``progress(done, total)``, called while many rows are scored.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    space_ : the features and scale used.
    index_ : the fitted index; it holds the training points, which are saved with it.
    nbytes_ : int, bytes of the training set as kept.

    Raises
    ------
    InputError
        Without ``reference`` at fit or ``X``, for features that are not finite numbers, or an
        option out of range.

    See Also
    --------
    PairwiseSeparation : the exact, slow definition.
    GeometricCalibrator : the calibrator that is built on it.

    Notes
    -----
    Use it where distances between inputs mean something: small images, standardised tables, a
    network's hidden layer. The training set is part of the fitted state, in memory and in saved
    files. Pass ``reference=(X_train, model.predict(X_train))`` to define F by the model's own
    labels, as the paper writes, instead of the true ones, as its code does. Where all or none of
    the training points have the predicted class, one of the distances does not exist and the score
    is plus or minus the radius of the training set about its mean, beyond which no other score
    lies.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    definition 5.

    Examples
    --------
    >>> X_train, y_train = [[0.0], [1.0], [4.0]], [0, 0, 1]
    >>> signal = FastSeparation().fit([[0.9, 0.1]], [0], X=[[0.0]], reference=(X_train, y_train))
    >>> signal.score([[0.9, 0.1], [0.2, 0.8]], X=[[2.0], [2.0]]).tolist()
    [0.5, -0.5]
    """

    def __init__(
        self,
        metric: Literal["l2", "l1", "linf"] = "l2",
        *,
        features: Any = None,
        points: Any = None,
        scale: Literal["auto", "standard", "none"] = "auto",
        index: "NeighborIndex | None" = None,
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
        self.metric: Literal["l2", "l1", "linf"] = metric
        self.index: NeighborIndex | None = index

    def _make_index(self):
        if not (self.index is None or isinstance(self.index, NeighborIndex)):
            raise InputError(
                f"index must be a NeighborIndex, such as ExactIndex(); got {self.index!r}."
            )
        index = (
            ExactIndex(self.metric)
            if self.index is None
            else type(self.index)(**self.index.get_params(deep=False))
        )
        if index.metric != self.metric:
            raise InputError(
                f"metric must be that of the index; got {self.metric!r} and an index for"
                f" {index.metric!r}."
            )
        return index

    def _separation(self, queries, group):
        near = self.index_.nearest(queries, group, self.progress)
        lonely, alone = np.isinf(near.same), np.isinf(near.other)
        score = 0.5 * (np.where(alone, 0.0, near.other) - np.where(lonely, 0.0, near.same))
        return np.where(lonely, -self.index_.radius_, np.where(alone, self.index_.radius_, score))
