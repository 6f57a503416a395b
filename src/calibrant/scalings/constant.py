"""Two baselines of a comparison: the uncalibrated model, and the class frequencies."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.predictions import Inputs

__all__ = ["ClassRates", "Identity"]


class Identity(
    Calibrator,
    family="baselines",
    use="Leaves the predictions as they are",
):
    """Return the probabilities unchanged (the softmax of logits).

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    ForecastIdentity : the same for forecasts of numbers.
    AutoCalibrator : returns it where no method is significantly better.

    Notes
    -----
    Every comparison needs it: on a small calibration set many calibrators make good predictions
    worse.

    Examples
    --------
    >>> Identity().fit([[0.9, 0.1], [0.3, 0.7]], [0, 1]).predict_proba([[0.6, 0.4]]).tolist()
    [[0.6, 0.4]]
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="uncalibrated")

    def _fit(self, record: Any) -> None:
        """Learn nothing."""

    def _predict_proba(self, record: Any) -> np.ndarray:
        return record.probabilities

    def _expression(self, record: Any) -> Any:
        return record.probabilities


class ClassRates(
    Calibrator,
    family="baselines",
    use="The class frequencies, for every row",
):
    r"""Predict the class frequencies of the calibration set for every row, shrunk towards equal
    ones.

    .. math:: Q_{ik} = \frac{n_k + 1/2}{n + K/2}

    which is the posterior mean under Jeffreys' prior, so a class without rows keeps a probability.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    rates_ : (K,)

    See Also
    --------
    Identity : keeps the model's predictions instead of the frequencies.
    ClassRate : the rate of correct predictions for each predicted class.

    Notes
    -----
    The other baseline of a comparison: a model that does not beat it is uninformative about single
    rows. It is one of the candidates of ``AutoCalibrator``, which helps where the calibration set
    has only one class, or nearly so. Never use it alone for decisions about rows: it does not rank
    them.

    Examples
    --------
    >>> ClassRates().fit([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]], [0, 0, 0]).predict_proba(
    ...     [[0.1, 0.9]]
    ... ).tolist()
    [[0.875, 0.125]]
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="class rates")

    def __init__(self, *, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        super().__init__(inputs=inputs, classes=classes)

    def _fit(self, record: Any) -> None:
        counts = (
            np.bincount(record.labels, weights=record.weights, minlength=record.n_classes) + 0.5
        )
        self.rates_: np.ndarray = counts / counts.sum()

    def _predict_proba(self, record: Any) -> np.ndarray:
        return np.tile(self.rates_, (len(record), 1))

    def _expression(self, record: Any) -> Any:
        return record.probabilities * 0.0 + self.rates_
