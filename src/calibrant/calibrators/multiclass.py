"""One-vs-rest calibration, which makes whole probability vectors from any map; separate calibrators
for each predicted class; and offsets of unnamed regions of the features.

The regions are nested halves, each shrunk towards its parent.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.clusters import grow_regions, region_paths
from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.logistic import log_softmax_mixed, normalise_rows, share_rest
from calibrant.calibrators.maps.sigmoids import Beta, Platt
from calibrant.calibrators.offsets import CellCodes, PooledOffsets, counted
from calibrant.calibrators.pool import LikelihoodPool
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.calibrator import Calibrator, DomainCalibrator, MapTags, Tags
from calibrant.core.estimators import clone, require_count, require_valid, trial, trial_rows
from calibrant.core.expression import constant, join
from calibrant.core.folds import fit_clone
from calibrant.core.given import Inputs
from calibrant.core.kinds import require_calibrator, require_map
from calibrant.core.map import Map
from calibrant.core.solving import ClassRates, event_rows, tempered_scores
from calibrant.errors import InputError, SparseDataWarning, warn

__all__ = ["ClusteredCalibration", "OneVsRest", "PerClass", "as_calibrator"]


#: Among three or more classes, one with fewer rows has no map, because a map of so few rows does
#: more harm than good.
MIN_ROWS = 25


class OneVsRest(
    Calibrator,
    examples=[{"map": Platt(scale="probability")}],
    family="one curve per class",
    use="Any map, for each class against the rest",
):
    r"""Calibrate each class against the rest with a separate map, then renormalise.

    .. math:: Q_{ik} = \frac{g_k(P_{ik})}{\sum_j g_j(P_{ij})}

    With two classes there is one map of the event, P(second class), and its complement.

    Parameters
    ----------
    map : Map, optional
        Cloned for each class; it must read scores in [0, 1]. Default :class:`Beta`.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    maps_ : list of the fitted maps, one for each class (one in all for two classes); an identity
        map for a class of fewer than 25 rows, and None for a class absent from the labels.
    temperature_, mixing_ : the scaling of all columns before the maps, where one of three classes
        or more has fewer than 25 rows; otherwise 1 and 0.
    status_ : "converged" or the status of the maps, and the number of classes with fewer than 25
        rows.

    See Also
    --------
    PerClass : one calibrator for each predicted class.
    IsotonicOneVsRest : isotonic maps after temperature scaling.

    Notes
    -----
    It calibrates each class's own probability, at the price of K separate fits and of the
    renormalisation, which disturbs them slightly; with many classes and few rows of each a
    whole-vector scaling is better. Among three classes or more, a map of fewer than 25
    rows (by weight) does more harm than good. Where a class has fewer, the temperature of
    :class:`StructuredMatrixScaling` comes first on all columns, and that class keeps its tempered
    probability in the renormalisation: beside maps of the other classes the model's own would be
    on another scale (on 142 runs its log loss was 22 % higher). Two classes always have their
    map. A class absent from the labels keeps its tempered probability exactly, and the others
    share the rest. If all maps return 0, they share it in
    proportion to P (equally if that is 0 too). A map passed as a calibrator (to a report, to
    ``CalibratedClassifier``, by name on the command line) is put in this wrapper.

    References
    ----------
    Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    >>> P = [
    ...     [0.8, 0.1, 0.1],
    ...     [0.6, 0.3, 0.1],
    ...     [0.2, 0.7, 0.1],
    ...     [0.2, 0.2, 0.6],
    ...     [0.1, 0.3, 0.6],
    ...     [0.5, 0.4, 0.1],
    ... ] * 13
    >>> cal = OneVsRest(Platt()).fit(P, [0, 1, 1, 2, 2, 0] * 13)
    >>> cal.predict_proba(P[:1]).sum().round(12).tolist()
    1.0
    """

    status_: str

    def __init__(
        self,
        map: Map | None = None,
        *,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.map: Map | None = map

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the map."""
        own, name = self._template().tags, type(self._template()).__name__
        return Tags(
            random=own.random, soft_labels=own.soft_labels, label=f"one-vs-rest {own.label or name}"
        )

    def _template(self) -> Any:
        return Beta() if self.map is None else require_map(self.map)

    def _fit(self, record: Any) -> None:
        template = clone(self._template())
        columns, templates = [1], [template]
        self.temperature_: float = 1.0
        self.mixing_: float = 0.0
        if record.n_classes > 2:
            rows = np.bincount(record.labels, weights=record.weights, minlength=record.n_classes)
            columns = range(record.n_classes)
            templates = [
                template if n >= MIN_ROWS else _AsItIs() if n > 0.0 else None for n in rows
            ]
            if rows.min() < MIN_ROWS:
                z, self.temperature_, self.mixing_ = tempered_scores(record)
                record = replace(record, values=np.exp(z), kind="probability", least=None)
        self.maps_: list[Any] = [
            (
                None
                if map is None
                else _twin(map).fit_checked(
                    *event_rows(record, k, map.tags.smooth), record.work.of_map(template, k)
                )
            )
            for k, map in zip(columns, templates, strict=True)
        ]
        if all(m is None or isinstance(m, _AsItIs) for m in self.maps_):
            warn(
                f"none of the {record.n_classes} classes has {MIN_ROWS} rows (sums of weights), so"
                " all have one temperature and no map; use more rows, or a scaling such as"
                " TemperatureScaling().",
                SparseDataWarning,
            )
        failed = sorted({m.status_ for m in self.maps_ if m is not None} - {"exact", "converged"})
        few = sum(isinstance(m, _AsItIs) for m in self.maps_)
        self.status_ = ", ".join(failed or ["converged"]) + (
            f"; {few} of {len(templates)} classes with a temperature only" if few else ""
        )

    def _predict_proba(self, record: Any) -> np.ndarray:
        P = (
            np.exp(log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.temperature_))
            if self.mixing_
            else record.probabilities
        )
        if len(self.maps_) == 1:
            second = self.maps_[0].predict(P[:, 1])
            return np.column_stack([1.0 - second, second])
        present = np.array([m is not None for m in self.maps_])
        out = P.copy()
        for k in np.flatnonzero(present):
            out[:, k] = self.maps_[k].predict(P[:, k])
        kept = sum_rows(P[:, ~present])
        out[:, present] = _share(out[:, present], P[:, present], 1.0 - kept)
        return normalise_rows(out)

    def _expression(self, record: Any) -> Any:
        P = (
            record.tempered(self.temperature_, self.mixing_).exp()
            if self.mixing_
            else record.probabilities
        )
        if len(self.maps_) == 1:
            second = self.maps_[0].express(P.column(1))
            return join([1.0 - second, second])
        present = np.array([m is not None for m in self.maps_], dtype=np.float64)
        columns = [
            P.column(k) if m is None else m.express(P.column(k)) for k, m in enumerate(self.maps_)
        ]
        mapped, as_was = join(columns) * present, P * present
        total, before = mapped.sum(), as_was.sum()
        # Rows of zeros use P instead, or equal probabilities if that is 0 too.
        filled = total.where(mapped, before.where(as_was, constant(present)))
        room = (1.0 - (P * (1.0 - present)).sum()).clip(0.0, 1.0)
        return (filled * (room / filled.sum()) + P * (1.0 - present)).normalised()


def _twin(map: Any) -> Any:
    """Return a copy of an unfitted map; a clone would read its parameters again for each class."""
    out = object.__new__(type(map))
    vars(out).update(vars(map))
    return out


class _AsItIs(Map):
    """Identity map."""

    tags = MapTags(domain="unit", monotone=True, label="as it is")

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        pass

    def _predict(self, score: np.ndarray) -> np.ndarray:
        return score

    def _expression(self, score: Any) -> Any:
        return score


def _share(Q: np.ndarray, P: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return rows of Q scaled to sum to ``mass``; rows of zeros use P instead, or equal values if
    that is 0 too.
    """
    total = sum_rows(Q)[:, None]
    if not (total > 0.0).all():
        zero = total[:, 0] <= 0.0
        Q = Q.copy()
        Q[zero] = np.where(P[zero].sum(axis=1, keepdims=True) > 0.0, P[zero], 1.0)
        total = sum_rows(Q)[:, None]
    return Q / total * np.maximum(mass, 0.0)[:, None]


def as_calibrator(
    given: Any, *, default: Callable[[], Calibrator] | None = None, fitted: bool = False
) -> Calibrator:
    """Return the class-probability calibrator for a calibrator or a map.

    Parameters
    ----------
    given : Calibrator, Map, class of one of them, or None
        A calibrator is returned itself, and None means ``default()``. A map becomes
        ``OneVsRest(map)``: with two classes one map of the probability of the event, with more one
        for each class. For the confidence of the answer pass ``ConfidenceCalibrator(map=map)``.
    default : function of no arguments that makes a calibrator, optional
        Without it, None is refused.
    fitted : bool, default False
        Whether a fitted calibrator is used as it is; a fitted map, whose target is unknown, is then
        refused.

    Returns
    -------
    Calibrator

    Raises
    ------
    InputError
        For anything else: a name, a calibrator of forecasts, a signal.

    Examples
    --------
    >>> from calibrant.calibrators.maps.isotonic import Isotonic
    >>> as_calibrator(Isotonic())
    OneVsRest(map=Isotonic())
    """
    given = default if given is None else given
    one = (
        given()
        if (given is default and default is not None)
        or (isinstance(given, type) and issubclass(given, DomainCalibrator | Map))
        else given
    )
    if not isinstance(one, Map):
        return require_calibrator(one, or_map=True)
    if fitted and hasattr(one, "n_fit_"):
        name = type(one).__name__
        raise InputError(
            f"calibrator is a fitted {name}, a map with an unknown target; pass a fitted"
            f" calibrator, such as OneVsRest({name}()).fit(P, y), or the map unfitted."
        )
    return OneVsRest(one)


class PerClass(
    Calibrator,
    examples=[{"pooled": True}],
    family="one curve per class",
    use="Each predicted class alone, or pooled",
):
    r"""Separate calibrators for each predicted class, each fitted on the rows with that prediction;
    or one for all rows, shifted for each predicted class as far as the classes differ.

    With ``pooled`` the confidence q of a row predicted as class k is

    .. math:: \mathrm{logit}\, q = l + b_k + s_k (l - c_k), \qquad b_k \sim N(0, \tau^2), \quad s_k
        \sim N(0, \sigma^2)

    with l the log-odds of the calibrator's confidence and :math:`c_k` its mean in the class. Both
    variances maximise the likelihood: rare classes borrow from all, and 0 is possible.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        Cloned for each class. Default :class:`LikelihoodPool`, whose intercept makes each predicted
        class unbiased overall; a map is applied one-vs-rest (:class:`OneVsRest`).
    pooled : bool, default False
        Fit the calibrator once, on all rows, and shift the log-odds of its confidence.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrators_ : dict from the position of a class to its fitted calibrator; empty if pooled.
    rate_ : (K,) confidence of the classes without one.
    calibrator_, offsets_ : the calibrator of all rows and the fitted shifts, if pooled.

    See Also
    --------
    OneVsRest : calibrates each class's probability against the rest.
    ConfidenceCalibrator : has ``per_class=True`` for maps.

    Notes
    -----
    Use it when the model is calibrated for some of its predicted classes and not for others, and
    each has some hundred rows. A class with fewer than 5 right or 5 wrong rows gets its own rate,
    (right + 1/2) / (n + 1), as a constant confidence; the others share the rest in proportion, and
    one warning names the counts. A class that is never predicted gets the rate of all rows. For
    confidences alone ``ConfidenceCalibrator(per_class=True)`` does the same with any signal and
    map. With fewer rows, or many classes, use ``pooled=True``: a class that is rare or never
    predicted stays near the calibrator of all rows, and all do so unless the leave-one-out gain
    exceeds 1.5 standard errors of log loss.

    References
    ----------
    Gupta and Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022; the
    shrinkage is that of :class:`GroupCalibrator`.

    Examples
    --------
    >>> P = [[0.9, 0.1], [0.8, 0.2]] * 10 + [[0.2, 0.8], [0.4, 0.6]] * 10
    >>> y = [0, 1] * 10 + [1, 1, 1, 0] * 5
    >>> PerClass().fit(P, y).predict_proba([[0.9, 0.1], [0.2, 0.8]]).argmax(axis=1).tolist()
    [0, 1]
    """

    #: Older files lack this field.
    pooled: bool = False

    def __init__(
        self,
        calibrator: Calibrator | None = None,
        *,
        pooled: bool = False,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Calibrator | None = calibrator
        self.pooled = pooled

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the wrapped calibrator."""
        own = self._template().tags
        return Tags(
            random=own.random,
            uses_features=own.uses_features,
            needs_reference=own.needs_reference,
            binary_only=own.binary_only,
            soft_labels=own.soft_labels and not self.pooled,
            label=f"{own.label}, per class" + (", pooled" if self.pooled else ""),
        )

    def _template(self) -> Any:
        return LikelihoodPool() if self.calibrator is None else as_calibrator(self.calibrator)

    def _fit(self, record: Any) -> None:
        if self.pooled:
            self._fit_shifts(counted(record))
            return
        rates = ClassRates.count(record)
        rates.warn(record.classes)
        self.rate_: np.ndarray = rates.shrunk
        self.calibrators_: dict[int, Calibrator] = {
            k: fit_clone(self._template(), record.take(record.predicted == k))
            for k in np.flatnonzero(rates.enough).tolist()
        }

    def _fit_shifts(self, record: Any) -> None:
        self.calibrators_: dict[int, Calibrator] = {}
        self.calibrator_: Calibrator = fit_clone(self._template(), record)
        answer = self._after(record).as_pair("answer")
        self.offsets_: PooledOffsets = PooledOffsets().fit(
            answer.probabilities, answer, [CellCodes("class", record.predicted, sloped=True)]
        )
        self.status_ = (
            self.offsets_.status_ if self.offsets_.used else "base: no evidence that classes differ"
        )

    def _after(self, record: Any) -> Any:
        """Return the record after the calibrator of all rows, with the model's own labels."""
        return record.recalibrated(self.calibrator_.predict_record(record), "confidence")

    def _predict_proba(self, record: Any) -> np.ndarray:
        if self.pooled:
            after = self._after(record)
            pair = np.column_stack([1.0 - after.confidence, after.confidence])
            shifted = self.offsets_.added(pair, [record.predicted])[:, 1]
            return share_rest(after.probabilities, record.predicted, shifted)
        out = share_rest(record.probabilities, record.predicted, self.rate_[record.predicted])
        for k in np.unique(record.predicted).tolist():
            if k in self.calibrators_:
                own = record.predicted == k
                out[own] = self.calibrators_[k].predict_record(record.take(own))
        return out

    def _expression(self, record: Any) -> Any:
        if self.pooled:
            base = self.calibrator_.express(record)
            top = (base * record.is_predicted).sum()
            pair = join([1.0 - top, top])
            if self.offsets_.used:
                pair = self.offsets_.express(pair, [record.predicted])
            return record.with_confidence(pair.column(1), base)
        out = record.with_confidence(record.predicted.gather(self.rate_[:, None]))
        for k, calibrator in self.calibrators_.items():
            out = record.is_predicted.column(k).where(calibrator.express(record), out)
        return out


#: Minimum weight of a region.
LEAST_WEIGHT = 40.0


class ClusteredCalibration(
    Calibrator,
    family="with groups or features",
    use="Offsets by region of the features",
):
    r"""Calibrate all rows together, then shift each region of the features as far as the regions
    differ.

    .. math:: \mathrm{logit}\, q_i = l_i + \sum_{d=1}^{D} b_{d, r_d(i)}, \qquad b_{d, r} \sim N(0,
        \tau_d^2)

    where :math:`r_d(i)` is the region at depth d of row i: a region is halved at the median of the
    (standardised) feature that varies most in it. The variance at each depth maximises the
    likelihood, so the data determine how fine the regions are.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        The base, fitted on all rows first. Default :class:`LikelihoodPool`, which is unbiased
        overall, so that an error common to all rows does not appear as a difference between
        regions.
    depth : int from 1 to 12, default 5
        Number of times that regions are halved.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrator_ : the fitted base.
    offsets_ : the fitted offsets of each depth.
    status_ : "converged" or "max steps", or "base" if there is no evidence that regions differ.

    See Also
    --------
    GroupCalibrator : for groups that are known.
    StackedConfidence : uses nearby training rows.

    Notes
    -----
    Use it with up to about ten relevant features and no known groups. Regions are found without the
    labels, so the search does not bias their estimates; of many features most are never halved. It
    equals the base unless the leave-one-out gain exceeds 1.5 standard errors of log loss.

    References
    ----------
    Bentley, "Multidimensional binary search trees used for associative searching", CACM 18, 1975,
    for the halving; the shrinkage is that of :class:`GroupCalibrator`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, p = rng.normal(size=(4000, 2)), rng.uniform(0.1, 0.9, 4000)
    >>> y = rng.uniform(size=4000) < 1 / (1 + (1 - p) / p * np.exp(-np.sign(X[:, 0])))
    >>> cal = ClusteredCalibration().fit(p, y, X=X)
    >>> low, high = cal.predict_proba([0.5, 0.5], X=[[-1.0, 0.0], [1.0, 0.0]])[:, 1]
    >>> bool(low < 0.35 < 0.65 < high)
    True
    """

    tags: ClassVar[Tags] = Tags(uses_features=True, label="offsets by region")
    status_: str

    def __init__(
        self,
        calibrator: Any = None,
        *,
        depth: int = 5,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Any = calibrator
        self.depth: int = depth

    def _fit(self, record: Any) -> None:
        require_count("depth", self.depth, most=12)
        X, weight = _numbers(record.X), record.weights
        self.mean_: np.ndarray = weight @ X / weight.sum()
        spread = np.sqrt(weight @ (X - self.mean_) ** 2 / weight.sum())
        self.scale_: np.ndarray = np.where(spread > 0.0, spread, 1.0)
        points = self._points(X)
        self.nodes_: np.ndarray = grow_regions(points, weight, int(self.depth), LEAST_WEIGHT)
        self.calibrator_: Calibrator = fit_clone(
            as_calibrator(self.calibrator, default=LikelihoodPool), record.without_features()
        )
        paths = region_paths(self.nodes_, points)
        # A depth without a halved region has no family.
        self.n_depths_: int = int((paths >= 0).any(axis=0).sum())
        cells = [CellCodes(f"depth {d + 1}", paths[:, d]) for d in range(self.n_depths_)]
        self.offsets_: PooledOffsets = PooledOffsets().fit(
            self.calibrator_.predict_record(record.without_features()), record, cells
        )
        self.status_ = (
            self.offsets_.status_ if self.offsets_.used else "base: no evidence that regions differ"
        )

    def _points(self, X: np.ndarray) -> np.ndarray:
        if X.shape[1] != len(self.mean_):
            raise InputError(
                f"X must have {len(self.mean_)} features, as in fit; got {X.shape[1]}; pass the"
                " same columns."
            )
        return (X - self.mean_) / self.scale_

    def _predict_proba(self, record: Any) -> np.ndarray:
        points = self._points(_numbers(record.X))
        Q = self.calibrator_.predict_record(record.without_features())
        return self.offsets_.added(
            Q, list(region_paths(self.nodes_, points)[:, : self.n_depths_].T)
        )


def _numbers(X: Any) -> np.ndarray:
    """Return (n, d) float64 features; images and text rows are flattened."""
    X = to_array(X, "X").astype(np.float64)
    if not np.isfinite(X).all():
        raise InputError(
            "X must be finite; got a missing or infinite feature; fill or drop those rows."
        )
    return X.reshape(len(X), -1)


@trial.register
def _(calibrator: ClusteredCalibration) -> None:
    P = trial_rows(len(calibrator.classes_), calibrator.inputs)
    require_valid(
        calibrator.predict_proba(P, X=np.zeros((len(P), len(calibrator.mean_)))), P.shape, 0.0, 1.0
    )
