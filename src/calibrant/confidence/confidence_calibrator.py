"""A signal, then a map: the general calibrator of the top label's confidence."""

import numpy as np
from sklearn.base import clone

from calibrant._base.calibrator import Calibrator
from calibrant._base.class_rates import ClassRates
from calibrant._base.signal import fitted_signal
from calibrant._base.tags import Tags
from calibrant._kernels.groups import rows_by_group
from calibrant.errors import InputError
from calibrant.maps.histogram_binning import HistogramBinning
from calibrant.maps.isotonic import Isotonic
from calibrant.maps.kernel_density import KernelDensity
from calibrant.signals.top_probability import TopProbability

__all__ = ["ConfidenceCalibrator"]


class ConfidenceCalibrator(Calibrator):
    """Calibrated confidence of the predicted label: any signal, then any map, for all classes together or per predicted class.

    Parameters
    ----------
    signal : Signal, optional
        Default :class:`TopProbability`.
    map : Map, optional
        Default :class:`Isotonic`.
    per_class : bool, default False
        One map for each predicted class ("top-label" calibration). A class with fewer than 5 right or 5 wrong rows gets its own rate
        (right + 1/2) / (n + 1) as a constant confidence, with a warning that says how few; one never predicted gets the rate of all rows.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    signal_, map_ : the fitted parts; ``map_`` is None with ``per_class=True``.
    maps_ : dict from the position of a class to its fitted map; empty without ``per_class``.
    rate_ : (K,) constant confidence of the classes without a map, or None.

    Notes
    -----
    Use it when the question is "how far can I trust this answer?". For all class probabilities use a scaling. The whole vector it
    offers gives the predicted class its confidence and shares the rest in proportion. Overall numbers can hide a class whose confidences
    mean little: ``per_class=True`` repairs it where there are some hundred rows of that class.

    References
    ----------
    Gupta and Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022.

    Examples
    --------
    >>> P = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]]
    >>> cal = ConfidenceCalibrator(map=HistogramBinning(n_bins=1, prior_weight=0)).fit(P, [0, 1, 1, 1])
    >>> cal.predict_confidence([[0.9, 0.1]]).tolist()
    [0.75]
    """

    def __init__(self, *, signal=None, map=None, per_class=False, inputs="probability", classes=None):
        self.signal = signal
        self.map = map
        self.per_class = per_class
        self.inputs = inputs
        self.classes = classes

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The signal decides what is needed beside P."""
        needs = (self.signal or TopProbability()).tags
        return Tags(
            output="confidence",
            random=needs.random or (self.map or Isotonic()).tags.random,
            uses_features=needs.uses_features,
            needs_reference=needs.needs_reference,
            label="top-label confidence",
        )

    @classmethod
    def _examples(cls):
        return [cls(), cls(map=HistogramBinning()), cls(per_class=True), cls(map=KernelDensity(), per_class=True)]

    def _fit(self, record):
        signal = TopProbability() if self.signal is None else self.signal
        _check_domains(signal, Isotonic() if self.map is None else self.map)
        self.signal_ = fitted_signal(signal, record)
        self._fit_map(record, self.signal_._score(record))

    def _fit_map(self, record, score):
        """What comes after the signal, from its scores of the record."""
        template = Isotonic() if self.map is None else self.map
        self.map_, self.maps_, self.rate_ = None, {}, None
        if self.per_class:
            self._fit_classes(template, record, score)
        else:
            self.map_ = clone(template).fit(score, record.correct, sample_weight=record.weight)
            self.status_ = self.map_.status_

    def _fit_classes(self, template, record, score):
        rates = ClassRates.count(record)
        rates.warn(record.classes)
        self.rate_ = rates.shrunk
        enough = np.flatnonzero(rates.enough)
        if len(enough):
            place = np.full(record.n_classes, -1)
            place[enough] = np.arange(len(enough))
            group = place[record.predicted]
            own = group >= 0
            rows = score[own], record.correct[own], record.weights[own], group[own]
            self.maps_ = dict(zip(enough.tolist(), template._fit_groups(*rows, len(enough)), strict=True))

    def _predict_confidence(self, record):
        score = self.signal_._score(record)
        if self.map_ is not None:
            return self.map_.predict(score)
        out = self.rate_[record.predicted]
        rows = rows_by_group(record.predicted, record.n_classes)
        for k, fitted in self.maps_.items():
            if len(rows[k]):
                out[rows[k]] = fitted.predict(score[rows[k]])
        return out


def _check_domains(signal, map):
    if map.tags.domain == "unit" and signal.tags.domain == "real":
        raise InputError(
            f"{type(map).__name__} takes scores in [0, 1] and {type(signal).__name__} gives any real score; "
            "use a map for real scores, such as Isotonic()."
        )
