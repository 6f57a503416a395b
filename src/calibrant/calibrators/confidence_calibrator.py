"""General calibrator of the top label's confidence, as a signal followed by a map."""

from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._numerics.clusters import rows_by_group
from calibrant.calibrators.from_probabilities import TopProbability
from calibrant.calibrators.maps.binning import HistogramBinning
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.calibrators.maps.kernel_density import KernelDensity
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.given import Inputs
from calibrant.core.kinds import require_map, require_signal
from calibrant.core.map import Map, Signal, fitted_signal
from calibrant.core.predictions import Predictions
from calibrant.core.solving import ClassRates
from calibrant.errors import InputError

__all__ = ["ConfidenceCalibrator"]


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
