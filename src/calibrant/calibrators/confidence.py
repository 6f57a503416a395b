"""Confidence of the top label: its general calibrator, a signal followed by a map; the accuracy of
predictions over a signal; and a table of the predicted classes.

The accuracy comes with the fits of two usual maps. The table has each class's count, its accuracy
and the method behind its confidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.bins import equal_mass_groups, group_ends, grouped_sums
from calibrant._numerics.clusters import group_worth, rows_by_group
from calibrant._numerics.intervals import beta_interval, wilson
from calibrant.calibrators.maps.binning import HistogramBinning
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.calibrators.maps.sigmoids import Platt
from calibrant.calibrators.maps.smooth import KernelDensity
from calibrant.calibrators.separation import TopProbability
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.estimators import clone, require_count
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.kinds import require_calibrator, require_map, require_signal
from calibrant.core.map import Map, Signal, fitted_signal
from calibrant.core.metric import require_level
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.core.solving import ClassRates
from calibrant.errors import InputError

__all__ = [
    "ClassReport",
    "ConfidenceCalibrator",
    "SignalAccuracy",
    "SignalBins",
    "SignalFits",
    "accuracy_over",
    "class_report",
    "signal_accuracy",
]


class ConfidenceCalibrator(
    Calibrator,
    examples=[
        {"map": HistogramBinning(), "per_class": False},
        {"per_class": True},
        {"map": KernelDensity(), "per_class": True},
    ],
    family="signal and map",
    use="Any signal, then any map, also for each class",
    common=True,
):
    """Calibrated confidence of the predicted label from any signal and any map, for all classes
    together or per predicted class.

    Parameters
    ----------
    signal : Signal, optional
        Default :class:`TopProbability`.
    map : Map, optional
        Default :class:`Isotonic`.
    per_class : bool, optional
        Whether each predicted class has its own map ("top-label" calibration). Default: only with
        two classes, so that confident positives and confident negatives are never pooled. A class
        with fewer than 5 right or 5 wrong rows gets its own rate (right + 1/2) / (n + 1) as a
        constant confidence, with a warning that names the counts; one that is never predicted gets
        the rate of all rows.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    signal_, map_ : the fitted parts; ``map_`` is None where each predicted class has a map of its
        own.
    maps_ : dict from the position of a class to its fitted map; empty if one map serves all.
    rate_ : (K,) constant confidence of the classes without a map, or None.

    See Also
    --------
    AutoCalibrator : chooses the method for you.
    OneVsRest : a probability for every class.

    Notes
    -----
    Use it when the question is "how reliable is this answer?". The probability of an event is
    another question: for all class probabilities use a scaling, or a map in :class:`OneVsRest`. In
    its probability vector the predicted class has its confidence, and the others share the rest in
    proportion. Overall numbers can hide a class with uninformative confidences; ``per_class=True``
    corrects it where that class has some hundred rows.

    References
    ----------
    Gupta and Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022.

    Examples
    --------
    >>> P = [[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.7, 0.0]]
    >>> cal = ConfidenceCalibrator(map=HistogramBinning(n_bins=1, prior_weight=0)).fit(
    ...     P, [0, 1, 1, 1]
    ... )
    >>> cal.predict_confidence([[0.9, 0.1, 0.0]]).tolist()
    [0.75]
    """

    status_: str

    def __init__(
        self,
        *,
        signal: Signal | None = None,
        map: Map | None = None,
        per_class: bool | None = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.signal: Signal | None = signal
        self.map: Map | None = map
        self.per_class: bool | None = per_class

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags; the signal determines the inputs beside P."""
        needs = self._unfitted_signal().tags
        return Tags(
            output="confidence",
            random=needs.random or self._template().tags.random,
            uses_features=needs.uses_features,
            needs_reference=needs.needs_reference,
            label=f"confidence by {self._template().tags.label or type(self._template()).__name__}"
            + (", by class" if self.per_class else ""),
        )

    def _template(self) -> Any:
        return Isotonic() if self.map is None else require_map(self.map)

    def _unfitted_signal(self) -> Any:
        return TopProbability() if self.signal is None else require_signal(self.signal)

    def _fit(self, record: Predictions) -> None:
        signal = self._unfitted_signal()
        _check_domains(signal, self._template())
        self.signal_: Signal = fitted_signal(signal, record)
        self.fit_scores(record, self.signal_.score_record(record))

    def fit_scores(self, record: Predictions, score: np.ndarray) -> None:
        """Fit the map, or one a class, to the signal's scores (n,) of the record."""
        template = self._template()
        self.map_, self.maps_, self.rate_ = None, {}, None
        per_class = record.n_classes == 2 if self.per_class is None else self.per_class
        if per_class:
            self._fit_classes(template, record, score)
        else:
            self.map_: Map | None = clone(template).fit_checked(
                score, record.correct, record.weight
            )
            self.status_ = self.map_.status_

    def _fit_classes(self, template: Any, record: Predictions, score: np.ndarray) -> None:
        rates = ClassRates.count(record)
        rates.warn(record.classes)
        self.rate_: np.ndarray | None = rates.shrunk
        enough = np.flatnonzero(rates.enough)
        if len(enough):
            place = np.full(record.n_classes, -1)
            place[enough] = np.arange(len(enough))
            group = place[record.predicted]
            own = group >= 0
            rows = score[own], record.correct[own], record.weights[own], group[own]
            self.maps_: dict[int, Map] = dict(
                zip(enough.tolist(), template.fit_groups(*rows, len(enough)), strict=True)
            )

    def map_of(self, k: int | None) -> Map | None:
        """Return the fitted map of the class at position k: its own or the shared one; None if it
        has a constant rate.
        """
        return self.maps_.get(k) if self.map_ is None else self.map_

    def _predict_confidence(self, record: Predictions) -> np.ndarray:
        score = self.signal_.score_record(record)
        if self.map_ is not None:
            return self.map_.predict(score)
        out = self.rate_[record.predicted]
        rows = rows_by_group(record.predicted, record.n_classes)
        for k, fitted in self.maps_.items():
            if len(rows[k]):
                out[rows[k]] = fitted.predict(score[rows[k]])
        return out

    def _expression(self, record: Any) -> Any:
        score = self.signal_.express(record)
        if self.map_ is not None:
            return self.map_.express(score)
        rates = record.predicted.gather(self.rate_[:, None])
        for k, fitted in self.maps_.items():
            rates = record.is_predicted.column(k).where(fitted.express(score), rates)
        return rates


def _check_domains(signal: TopProbability, map: Any) -> None:
    if map.tags.domain == "unit" and signal.tags.domain == "real":
        raise InputError(
            f"{type(map).__name__} needs scores in [0, 1] but {type(signal).__name__} returns any"
            " real score; use a map for real scores, such as Isotonic()."
        )


POINTS = 101


@dataclass(frozen=True)
class SignalBins(Record):
    """Range and mean score of each bin of equal weight, the weight of its rows, and the share right
    with Wilson's interval.
    """

    lower: np.ndarray
    upper: np.ndarray
    score: np.ndarray
    n: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class SignalFits(Record):
    """Isotonic regression and a sigmoid of the share right, fitted to all rows, over the range of
    the score.
    """

    score: np.ndarray
    isotonic: np.ndarray
    sigmoid: np.ndarray


@dataclass(frozen=True)
class SignalAccuracy:
    """Bins, fits, and the name of the signal; ``bins.frame()`` and ``fits.frame()``
    return tables.
    """

    name: str
    bins: SignalBins
    fits: SignalFits


def signal_accuracy(
    y_true: ArrayLike,
    P: ArrayLike,
    signal: Any,
    *,
    n_bins: int = 20,
    level: float = 0.95,
    X: Any = None,
    reference: Any = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> SignalAccuracy:
    """Compute the share of right predictions over a signal: separation from the training set, label
    stability, or any other.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    signal : Signal
        A fitted one is used as it is, an unfitted one is fitted on these rows (and ``reference``).
    n_bins : int, default 20
        Number of bins of equal weight; tied scores stay together, so there may be fewer.
    level : float, default 0.95
        Level of the intervals.
    X, reference : features of the rows, and (X_train, y_train), for signals that need them.
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    SignalAccuracy

    See Also
    --------
    SignalAccuracyDisplay : draws it.
    metrics.reliability_curve : the same for the confidence.

    Notes
    -----
    It shows whether a signal is informative, where accuracy changes, and which map fits. The fits
    use the rows shown, so their closeness to the bins proves nothing.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, figure 5.

    Examples
    --------
    >>> from calibrant.calibrators.separation import Margin
    >>> found = signal_accuracy(
    ...     [0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.45, 0.55], [0.6, 0.4]], Margin(), n_bins=2
    ... )
    >>> found.bins.n.tolist(), found.bins.accuracy.tolist()
    ([2.0, 2.0], [0.5, 1.0])
    """
    require_level(level)
    require_signal(signal)
    require_count("n_bins", n_bins)
    record = read_labelled(
        y_true,
        P,
        inputs=inputs,
        classes=classes,
        sample_weight=sample_weight,
        X=X,
        reference=reference,
    )
    if not hasattr(signal, "classes_"):
        signal = fitted_signal(signal, record)
    return accuracy_over(signal, record, n_bins, level)


def accuracy_over(
    signal: Signal,
    record: Predictions,
    n_bins: int = 20,
    level: float = 0.95,
    score: np.ndarray | None = None,
) -> SignalAccuracy:
    """Return the accuracy over a fitted signal for a record with labels; ``score`` are its scores
    if they are known.
    """
    score = signal.score_record(record) if score is None else score
    rows = score, record.correct, record.weights
    return SignalAccuracy(
        type(signal).__name__, _bins(*rows, record.cluster, n_bins, level), _fits(*rows)
    )


def _bins(
    score: np.ndarray,
    correct: np.ndarray,
    weight: np.ndarray,
    cluster: Any,
    n_bins: int,
    level: float,
) -> SignalBins:
    index = equal_mass_groups(score, n_bins, weight)
    count = int(index.max()) + 1
    lower, upper = group_ends(score, index, count)
    n, right, total = grouped_sums(index, count, [correct, score], weight).T
    worth = 1.0 if cluster is None else group_worth(correct, weight, cluster, index, count, level)
    return SignalBins(
        lower, upper, total / n, n, right / n, *wilson(right * worth, n * worth, level)
    )


def _fits(score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> SignalFits:
    at = np.linspace(score.min(), score.max(), POINTS)
    return SignalFits(
        at,
        *(
            map.fit_checked(score, correct, weight).predict(at)
            for map in (Isotonic(), Platt(scale="probability"))
        ),
    )


@dataclass(frozen=True)
class ClassReport(Record):
    r"""Table with one row for each predicted class.

    Attributes
    ----------
    name : (K,) the class.
    n, right, wrong : (K,) rows predicted as the class (sums of weights), and the right and wrong
        ones.
    rate, low, high : (K,) Conf\ :sub:`1` = (right + 1/2) / (n + 1) and its credible interval.
    method : (K,) the calibrator's method for the class; "" without a calibrator.
    bandwidth : (K,) of its kernel density, nan where there is none.
    """

    name: np.ndarray
    n: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: np.ndarray
    bandwidth: np.ndarray


def class_report(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    calibrator: Calibrator | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ClassReport:
    r"""Tabulate counts, Conf\ :sub:`1` with its interval, and the method, for each predicted class.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    calibrator : fitted Calibrator, optional
        Its method and bandwidth are listed for each class.
    level : float, default 0.95
        Level of the equal-tailed interval of the Beta(right + 1/2, wrong + 1/2) posterior.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ClassReport
        ``.frame()`` returns it as a data frame.

    See Also
    --------
    confidence_curve : shows one of these classes over its scores.
    worst_slices : finds miscalibrated slices of a table.

    Notes
    -----
    Read it before any overall number: an accuracy of 0.9 can hide a class with confidence 0.07. A
    class that is never predicted has rate 1/2 and an uninformative interval.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    equation 1.

    Examples
    --------
    >>> report = class_report([0, 0, 1, 1], [0.2, 0.4, 0.7, 0.3])
    >>> report.n.tolist(), report.wrong.tolist(), report.rate.round(3).tolist()
    ([3.0, 1.0], [1.0, 0.0], [0.625, 0.75])
    """
    require_level(level)
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    counts = ClassRates.count(record)
    right, wrong = counts.right, np.maximum(counts.wrong, 0.0)
    low, high = beta_interval(right + 0.5, wrong + 0.5, level)
    method, bandwidth = _methods(calibrator, record.n_classes)
    rate = (right + 0.5) / (right + wrong + 1.0)
    return ClassReport(
        record.classes, right + wrong, right, wrong, rate, low, high, method, bandwidth
    )


def _methods(calibrator: Any, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the method for each class: the map of a ConfidenceCalibrator, its fallback, or the
    calibrator's own name.
    """
    method, bandwidth = np.full(n_classes, "", dtype=object), np.full(n_classes, np.nan)
    if calibrator is None:
        return method, bandwidth
    require_fitted(require_calibrator(calibrator), "classes_")
    if len(calibrator.classes_) != n_classes:
        raise InputError(
            f"calibrator was fitted on {len(calibrator.classes_)} classes but P has {n_classes};"
            " pass the P that it was fitted for."
        )
    if not isinstance(calibrator, ConfidenceCalibrator):
        method[:] = calibrator.tags.label or type(calibrator).__name__
        return method, bandwidth
    for k in range(n_classes):
        fitted = calibrator.map_of(k)
        method[k] = (
            "class rate" if fitted is None else getattr(fitted, "method_", fitted.tags.label)
        )
        bandwidth[k] = getattr(fitted, "bandwidth_", np.nan)
    return method, bandwidth
