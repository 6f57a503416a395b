"""Doing nothing: the baseline of every comparison."""

from typing import ClassVar

from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags

__all__ = ["Identity"]


class Identity(Calibrator):
    """Return the probabilities as they came (the softmax of logits).

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    ForecastIdentity : the same for forecasts of numbers.
    AutoCalibrator : takes it where nothing is surely better.

    Notes
    -----
    Every comparison needs it: many calibrators make good predictions worse when the calibration set is small.

    Examples
    --------
    >>> Identity().fit([[0.9, 0.1], [0.3, 0.7]], [0, 1]).predict_proba([[0.6, 0.4]]).tolist()
    [[0.6, 0.4]]
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="uncalibrated")

    def _fit(self, record):
        """There is nothing to learn."""

    def _predict_proba(self, record):
        return record.probabilities

    def _expression(self, record):
        return record.probabilities
