"""Separate calibrators for each predicted class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.logistic import share_rest
from calibrant.calibrators.one_vs_rest import as_calibrator
from calibrant.calibrators.pool import LikelihoodPool
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.folds import fit_clone
from calibrant.core.given import Inputs
from calibrant.core.solving import ClassRates

__all__ = ["PerClass"]


class PerClass(
    Calibrator,
    family="one curve per class",
    use="A calibrator for each predicted class",
):
    """Separate calibrators for each predicted class, each fitted on the rows with that prediction.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        Cloned for each class. Default :class:`LikelihoodPool`, whose intercept makes each predicted
        class unbiased overall; a map is applied one-vs-rest (:class:`OneVsRest`).
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrators_ : dict from the position of a class to its fitted calibrator.
    rate_ : (K,) confidence of the classes without one.

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
    map.

    References
    ----------
    Gupta and Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022.

    Examples
    --------
    >>> P = [[0.9, 0.1], [0.8, 0.2]] * 10 + [[0.2, 0.8], [0.4, 0.6]] * 10
    >>> y = [0, 1] * 10 + [1, 1, 1, 0] * 5
    >>> PerClass().fit(P, y).predict_proba([[0.9, 0.1], [0.2, 0.8]]).argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(
        self,
        calibrator: Calibrator | None = None,
        *,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Calibrator | None = calibrator

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the wrapped calibrator."""
        own = self._template().tags
        return Tags(
            random=own.random,
            uses_features=own.uses_features,
            needs_reference=own.needs_reference,
            binary_only=own.binary_only,
            soft_labels=own.soft_labels,
            label=f"{own.label}, per class",
        )

    def _template(self) -> Any:
        return LikelihoodPool() if self.calibrator is None else as_calibrator(self.calibrator)

    def _fit(self, record: Any) -> None:
        rates = ClassRates.count(record)
        rates.warn(record.classes)
        self.rate_: np.ndarray = rates.shrunk
        self.calibrators_: dict[int, Calibrator] = {
            k: fit_clone(self._template(), record.take(record.predicted == k))
            for k in np.flatnonzero(rates.enough).tolist()
        }

    def _predict_proba(self, record: Any) -> np.ndarray:
        out = share_rest(record.probabilities, record.predicted, self.rate_[record.predicted])
        for k in np.unique(record.predicted).tolist():
            if k in self.calibrators_:
                own = record.predicted == k
                out[own] = self.calibrators_[k].predict_record(record.take(own))
        return out

    def _expression(self, record: Any) -> Any:
        out = record.with_confidence(record.predicted.gather(self.rate_[:, None]))
        for k, calibrator in self.calibrators_.items():
            out = record.is_predicted.column(k).where(calibrator.express(record), out)
        return out
