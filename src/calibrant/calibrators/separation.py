"""Signals from distances to training points (separation: fast, pairwise, largest ball) or from a
row of probabilities alone, and evidence for the confidence of each row.

The signals of probabilities are the largest entry, the margin, the log odds and the entropy. The
evidence is the row's zone and its nearest training rows.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import entr

from calibrant._numerics.bins import settled
from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.separation import max_min, min_max, nearest_of, zone_radius
from calibrant._numerics.temperature import log_rest, other_logits
from calibrant.calibrators.neighbors import BruteIndex, ExactIndex, Nearest, NeighborIndex, split
from calibrant.calibrators.reductions import FeatureSpace
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import SignalTags, require_fitted
from calibrant.core.expression import LOWEST
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.labels import encode_labels
from calibrant.core.map import Signal
from calibrant.errors import InputError

__all__ = [
    "Entropy",
    "FastSeparation",
    "LogOdds",
    "Margin",
    "MaximalZone",
    "NearestRows",
    "PairwiseSeparation",
    "Separation",
    "TopProbability",
]


@dataclass(frozen=True)
class NearestRows(Record):
    """Separation of each row, its zone, "safe" or "dangerous", and its nearest training rows: of
    the predicted class (``same``) and of any other (``other``, with its class).

    A row is the position of a training row in ``reference``, or of a point to which a reduction
    (``points``) reduced them. Without such a row the distance is infinite, the row -1 and the
    class None. ``confidence`` is that of the model, or of the calibrator that explains it.
    """

    separation: np.ndarray
    zone: np.ndarray
    same_distance: np.ndarray
    same_row: np.ndarray
    other_distance: np.ndarray
    other_row: np.ndarray
    other_class: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(cls, separation: np.ndarray, near: Any, signal: Any, record: Any) -> "NearestRows":
        """Make it from the nearest points of the index of a fitted ``signal``."""
        offsets = signal.index_.points_.offsets
        there = near.other_row >= 0
        group = np.searchsorted(offsets, near.other_row, side="right") - 1
        other = signal.classes_[np.where(there, group, 0)]
        return cls(
            separation,
            np.where(separation > 0.0, "safe", "dangerous"),
            near.same,
            np.where(near.same_row >= 0, signal.rows_[near.same_row], -1),
            near.other,
            np.where(there, signal.rows_[near.other_row], -1),
            other if there.all() else np.where(there, other.astype(object), None),
            record.confidence,
        )


class Entropy(Signal, examples=[{"inputs": "logit"}]):
    r"""One minus the normalised entropy of the row: 1 is certain, 0 is uniform.

    .. math:: 1 + \frac{1}{\log K} \sum_k P_k \log P_k

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability, Margin : signals from one or two classes.

    Notes
    -----
    It uses the whole row, where the top probability and the margin use one or two entries. The sign
    is reversed, so that a larger score means more evidence, as in every signal here.

    References
    ----------
    Shannon, "A mathematical theory of communication", Bell System Technical Journal 27, 1948.

    Examples
    --------
    >>> Entropy().score([[0.5, 0.5], [1.0, 0.0]]).tolist()
    [0.0, 1.0]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def _score(self, record: Any) -> np.ndarray:
        P = record.probabilities
        return settled(np.clip(1.0 - sum_rows(entr(P)) / np.log(P.shape[1]), 0.0, 1.0))

    def _expression(self, record: Any) -> Any:
        P = record.probabilities
        share = (P * P.clip(np.finfo(np.float64).tiny, 1.0).log()).sum() / np.log(record.n_classes)
        return (1.0 + share).clip(0.0, 1.0).settled()


class TopProbability(Signal):
    """Probability of the predicted class, ``max_k P_k``: the usual confidence.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    LogOdds : the same on an unbounded scale.
    Margin, Entropy : signals from other classes too.

    Notes
    -----
    Use it by default. It does not measure how far the row is from the training data.

    References
    ----------
    Hendrycks and Gimpel, "A baseline for detecting misclassified and out-of-distribution examples",
    ICLR 2017.

    Examples
    --------
    >>> TopProbability().score([[0.7, 0.3], [0.2, 0.8]]).tolist()
    [0.7, 0.8]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def _score(self, record: Any) -> np.ndarray:
        return record.confidence

    def _expression(self, record: Any) -> Any:
        return record.confidence


class Margin(Signal, examples=[{"scale": "logit"}, {"scale": "logit", "inputs": "logit"}]):
    r"""Margin of the predicted class over the second best.

    .. math:: P_{(1)} - P_{(2)} \qquad \text{or} \qquad \log P_{(1)} - \log P_{(2)}

    Parameters
    ----------
    scale : {"probability", "logit"}
        A difference of probabilities, in [0, 1], or of logits, from 0 up (use a map for real
        scores).
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability : the signal from the first class alone.
    Entropy : the signal from all classes.

    Notes
    -----
    It shows what the top probability hides: with many classes, .5 against .49 differs from .5
    against many tiny probabilities. On the logit scale it still separates rows whose top
    probability rounds to 1.

    References
    ----------
    Scheffer, Decomain and Wrobel, "Active hidden Markov models for information extraction", IDA
    2001.

    Examples
    --------
    >>> Margin().score([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]).tolist()
    [0.25, 0.0]
    """

    def __init__(
        self,
        *,
        scale: Literal["probability", "logit"] = "probability",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.scale: Literal["probability", "logit"] = scale

    @property
    def tags(self) -> SignalTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the signal; a difference of probabilities is in [0, 1]."""
        return SignalTags(domain="real" if self.scale == "logit" else "unit")

    def _score(self, record: Any) -> np.ndarray:
        self._option("scale", "probability", "logit")
        values = record.probabilities if self.scale == "probability" else record.logits
        first_two = np.partition(values, values.shape[1] - 2, axis=1)[:, -2:].astype(np.float64)
        return settled(first_two[:, 1] - first_two[:, 0])

    def _expression(self, record: Any) -> Any:
        values = record.probabilities if self.scale == "probability" else record.logits
        first = values.argmax().gather(np.eye(record.n_classes))
        return (values.max() - first.where(LOWEST, values).max()).settled()


class LogOdds(Signal, examples=[{"inputs": "logit"}]):
    r"""Log odds of the predicted class: the top probability on an unbounded scale.

    .. math:: \log \frac{P_k}{1 - P_k} = z_k - \log \sum_{j \ne k} e^{z_j}, \quad k = \arg\max P,
        \; z = \log P \text{ or the logits}

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability : the same as a probability.

    Notes
    -----
    It ranks rows as :class:`TopProbability` does. Use it with a map that depends on distances
    between scores (:class:`KernelDensity`, equal-width bins) when most top probabilities are close
    to 1, as in ensembles and large networks. There 0.999 and 0.999999 differ by a factor of a
    thousand in odds, but hardly on the scale of P. Exact zeros of P count as the smallest positive
    number; in a fitted calibrator, as the smallest probability of the fit (1e-12 at most).

    Examples
    --------
    >>> LogOdds().score([[0.75, 0.25, 0.0], [0.2, 0.8, 0.0]]).round(3).tolist()
    [1.099, 1.386]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="real")

    def _score(self, record: Any) -> np.ndarray:
        out = []
        for block in record.blocks():
            others = other_logits(np.asarray(block.logits, dtype=np.float64), block.predicted)
            out.append(-log_rest(others, np.ones(len(others)))[0])
        return settled(np.concatenate(out))

    def _expression(self, record: Any) -> Any:
        z = record.logits
        return (0.0 - record.is_predicted.where(0.0, (z - z.max()).exp()).sum().log()).settled()


class Separation(Signal):
    """Base class of the separation signals; a subclass defines ``_make_index()`` and
    ``_separation(queries, group)``.

    F(x) are the training points whose label, in ``reference``, is the label predicted for x.
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="real", uses_features=True, needs_reference=True)

    def __init__(
        self,
        *,
        features: Any = None,
        points: Any = None,
        scale: str = "auto",
        progress: Callable[..., Any] | None = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.features: Any = features
        self.points: Any = points
        self.scale: str = scale
        self.progress: Callable[..., Any] | None = progress

    def __sklearn_clone__(self) -> Self:
        """Return a clone that keeps the fitted model or transformer, which scikit-learn's own
        cloning would reset.
        """
        return type(self)(**self.get_params(deep=False))

    @abstractmethod
    def _make_index(self) -> Any: ...

    @abstractmethod
    def _separation(self, queries, group): ...

    def _fit(self, record: Any) -> None:
        if record.reference is None:
            raise InputError(
                f"{type(self).__name__} needs reference=(X_train, y_train), the model's own"
                " training data; got None."
            )
        X, labels = record.reference
        if len(labels) == 0:
            raise InputError("reference must hold at least one training row; got none.")
        if self.points is not None:
            if not hasattr(self.points, "reduce"):
                raise InputError(
                    "points must be a reduction of the training set, such as RandomSubset(2); got"
                    f" {self.points!r}."
                )
            X, labels = self.points.reduce(X, labels)
        self.space_: FeatureSpace = FeatureSpace(self.features, self.scale)
        rows = self.space_.fit(X, labels)
        self.index_: Any = self._make_index().fit(
            rows, labels, record.n_classes, self.space_.column_scale_
        )
        self.rows_: np.ndarray = np.argsort(labels, kind="stable")

    def add(self, X: Any, y: ArrayLike) -> Self:
        """Add training points to a fitted signal.

        Parameters
        ----------
        X : (n, ...) features
        y : (n,) their labels, of the classes known at fit
        """
        require_fitted(self, "index_")
        rows = self.space_.transform(X)
        labels, _ = encode_labels(y, self.classes_, len(rows), len(self.classes_))
        if len(rows):
            every = np.concatenate([self.index_.points_.groups, labels])
            self.index_.add(rows, labels)
            new = np.arange(len(self.rows_), len(every))
            self.rows_ = np.append(self.rows_, new)[np.argsort(every, kind="stable")]
        return self

    @property
    def nbytes_(self) -> int:
        """Bytes of the stored training set and a transformer's arrays, in memory or saved with the
        calibrator.
        """
        require_fitted(self, "index_")
        return self.index_.nbytes + self.space_.nbytes + self.rows_.nbytes

    def _queries(self, record: Any) -> np.ndarray:
        require_fitted(self, "index_")
        if record.X is None:
            name = type(self).__name__
            raise InputError(f"{name} needs X=, the features of the rows of P; got None.")
        return self.space_.transform(record.X)

    def _score(self, record: Any) -> Any:
        return self._separation(self._queries(record), record.predicted)

    def nearest_record(self, record: Any) -> Nearest:
        """Find the nearest training points of a record's rows; positions are of ``index_``."""
        return self.index_.nearest(self._queries(record), record.predicted)

    def explain_record(self, record: Any) -> NearestRows:
        """Explain the score of each row of a record by its nearest training rows."""
        near = self.nearest_record(record)
        return NearestRows.of(self._of_nearest(near, record), near, self, record)

    def _of_nearest(self, near: Nearest, record: Any) -> np.ndarray:
        return self._score(record)


class FastSeparation(
    Separation, examples=[{"metric": "l1"}, {"metric": "linf"}, {"scale": "standard"}]
):
    r"""Fast separation: half the difference of two nearest-neighbour distances.

    .. math:: \underline{S}(x) = \tfrac12 \big(D(x, \bar F) - D(x, F)\big)

    with F the training points labelled with the class predicted for x, :math:`\bar F` all others,
    and D the distance to the nearest point. Positive means safe: x is nearer to its own class, and
    remains so within that radius.

    Parameters
    ----------
    metric : {"l2", "l1", "linf"}
    features : callable or transformer, optional
        Transformation applied to X first: a network's hidden layer, or a reduction of
        ``calibrant.calibrators.reductions``. A transformer is fitted on the training points.
    points : object with ``reduce(X, y)``, optional
        A reduction of the training set, such as
        :class:`~calibrant.calibrators.reductions.RandomSubset`.
    scale : {"auto", "standard", "none"}
        "auto" keeps images (8-bit integers, more than two dimensions) and columns of similar span
        unchanged. It divides the columns of other tables by their standard deviations, with a
        warning if these differ by orders of magnitude.
    index : NeighborIndex, optional
        The index; by default ``ExactIndex(metric)``.
    progress : callable, optional
        ``progress(done, total)``, called while many rows are scored.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    space_ : the features and scale used.
    index_ : the fitted index; it holds the training points, which are saved with it.
    rows_ : (n,) the positions in ``reference`` of the points of the index.
    nbytes_ : int, bytes of the stored training set.

    Raises
    ------
    InputError
        Without ``reference`` at fit or ``X``, for features that are not finite numbers, or an
        option out of range.

    See Also
    --------
    PairwiseSeparation : the exact, slow definition.
    GeometricCalibrator : the calibrator that uses it.

    Notes
    -----
    Use it where distances between inputs are meaningful: small images, standardised tables, a
    network's hidden layer. The training set is part of the fitted state, in memory and in saved
    files. Pass ``reference=(X_train, model.predict(X_train))`` to define F by the model's labels,
    as in the paper, instead of the true ones, as in its code. Where all or none of the training
    points have the predicted class, one distance does not exist. The score is then plus or minus
    the radius of the training set about its mean, which bounds all other scores.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, definition 5.

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

    def _make_index(self) -> Any:
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

    def _separation(self, queries: np.ndarray, group: np.ndarray) -> np.ndarray:
        return self._of_nearest(self.index_.nearest(queries, group, self.progress), None)

    def _of_nearest(self, near: Nearest, record: Any) -> np.ndarray:
        lonely, alone = np.isinf(near.same), np.isinf(near.other)
        score = 0.5 * (np.where(alone, 0.0, near.other) - np.where(lonely, 0.0, near.same))
        return np.where(lonely, -self.index_.radius_, np.where(alone, self.index_.radius_, score))


class _Zones(Separation):
    """Template of signed zones by pairs of training points; a subclass defines ``_safe`` and
    ``_dangerous``.
    """

    @abstractmethod
    def _safe(self, query, same, other, points): ...

    @abstractmethod
    def _dangerous(self, query, same, other, points): ...

    def _make_index(self) -> BruteIndex:
        return BruteIndex()

    def _separation(self, queries: np.ndarray, group: np.ndarray) -> np.ndarray:
        out = np.empty(len(queries))

        def one(i: int, query: np.ndarray, low: np.ndarray, start: int, stop: int) -> None:
            out[i] = self._signed(query, *split(low, start, stop))

        self.index_.each(queries, group, one, self.progress)
        return out

    def _signed(self, query: np.ndarray, same: np.ndarray, other: np.ndarray) -> float:
        """Return the signed zone, at most the distance to the nearest point; without points on a
        side, plus or minus the radius of the training set.
        """
        points, radius = self.index_.points_, self.index_.radius_
        _, _, own = nearest_of(query, same, points)
        _, _, others = nearest_of(query, other, points)
        if not len(own):
            return -radius
        if not len(others):
            return radius
        own, others = np.sqrt(own[0]), np.sqrt(others[0])
        if own < others:
            return max(min(self._safe(query, same, other, points), others), 0.5 * (others - own))
        return -max(min(self._dangerous(query, same, other, points), own), 0.5 * (own - others))


class PairwiseSeparation(_Zones, examples=[{"dangerous": "max-min"}]):
    r"""Separation by the paper's formula: the minimum over other points of the farthest bisector
    with a point of the class.

    .. math:: \overline{S}(x) = \min_{x'' \in \bar F} \max_{x' \in F} \frac{d^2(x, x'') - d^2(x,
        x')}{2\,d(x', x'')}

    with F the training points labelled with the class predicted for x and :math:`\bar F` all
    others; Euclidean distance.

    Parameters
    ----------
    dangerous : {"min-max", "max-min"}
        For points nearer to :math:`\bar F`: the formula as written, or with the two sides
        exchanged, :math:`\max_{x' \in F} \min_{x'' \in \bar F}`, which follows from the paper's
        proof for safe points and is the larger zone.
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
    FastSeparation : its fast approximation.
    MaximalZone : the largest ball that is safe or dangerous throughout.

    Notes
    -----
    It bounds a zone around x in which the nearest training point stays on the same side. The zone
    is valid but not the largest, which is :class:`MaximalZone` (the paper's proposition 1 states
    otherwise; it lets one x' cover the whole ball, where several may share it). For calibration it
    adds nothing to :class:`FastSeparation` on the data we tried, at several times the cost. Points
    equal to a point of the other side impose no bound. No magnitude exceeds the distance to the
    nearest point of the other side. Where all or none of the training points have the predicted
    class, there is no bisector. The score is then plus or minus the radius of the training set
    about its mean, as in :class:`FastSeparation`. Here this is a convention, not a bound: other
    scores, especially of rows far from the training set, exceed it.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, definition 4.

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

    def _make_index(self) -> BruteIndex:
        self._option("dangerous", "min-max", "max-min")
        return super()._make_index()

    def _safe(self, query: np.ndarray, same: np.ndarray, other: np.ndarray, points: Any) -> float:
        return min_max(query, other, same, points, -np.inf)[0]

    def _dangerous(
        self, query: np.ndarray, same: np.ndarray, other: np.ndarray, points: Any
    ) -> float:
        if self.dangerous == "max-min":
            return min_max(query, same, other, points, np.inf)[0]
        return max_min(query, same, other, points, np.inf)


class MaximalZone(_Zones):
    r"""Radius of the largest ball around x in which the nearest training point has the predicted
    class (safe), or another (dangerous).

    .. math:: Z(x) = \min_{x'' \in \bar F} \operatorname{dist}\big(x, \{y : |y - x''| \le |y - x'|
        \; \forall x' \in F\}\big)

    This is for safe x; for dangerous x it is minus the same with F and :math:`\bar F` exchanged.
    Distances are Euclidean.

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
    FastSeparation : a smoother signal, half a difference of distances.
    PairwiseSeparation : the signal from bisectors between points.

    Notes
    -----
    Each distance is a projection on the Voronoi cell of x'' among F, found by cutting planes:
    non-negative least squares on the nearest bisectors, adding violated ones. Cells that
    :class:`FastSeparation` or :class:`PairwiseSeparation` prove to be farther are skipped. Use it
    to certify how far an input may move; for calibration, the much cheaper FastSeparation is as
    good. A point of the predicted class equal to one of another class is never strictly nearest,
    but no zone extends beyond it. In magnitude, fast separation <= pairwise separation <= this <=
    the distance to the nearest point of the other side. Where all or none of the training points
    have the predicted class, there is no bisector. The score is then plus or minus the radius of
    the training set about its mean, as in :class:`FastSeparation`. Here this is a convention, not a
    bound: other scores, especially of rows far from the training set, exceed it.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, definitions 2 and 3. Lawson and Hanson, "Solving least squares problems", 1974, chapter
    23.

    Examples
    --------
    >>> X_train, y_train = [[1.0, 1.5], [1.0, -1.5], [4.0, 0.0]], [0, 0, 1]
    >>> signal = MaximalZone().fit([[0.9, 0.1]], [0], X=[[0.0, 0.0]], reference=(X_train, y_train))
    >>> signal.score([[0.9, 0.1]], X=[[0.0, 0.0]]).round(4).tolist()
    [2.125]
    """

    def _safe(self, query: np.ndarray, same: np.ndarray, other: np.ndarray, points: Any) -> float:
        return zone_radius(query, other, same, points, -np.inf)

    def _dangerous(
        self, query: np.ndarray, same: np.ndarray, other: np.ndarray, points: Any
    ) -> float:
        return zone_radius(query, same, other, points, np.inf)
