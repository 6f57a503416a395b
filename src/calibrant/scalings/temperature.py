"""Temperature scaling: one number that softens or sharpens every prediction."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.softmax import softmax
from calibrant._kernels.temperature import inverse_temperature
from calibrant._kernels.top_label import fit_top_label, other_logits
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import FitWarning, warn
from calibrant.predictions import Inputs

__all__ = ["TemperatureScaling"]

TEMPERATURE_BOUNDS = (1e-3, 1e3)
#: The optimiser works in 1/T: its lower bound is the temperature's upper one.
BOUND_OF_TEMPERATURE = {"at lower bound": "at upper bound", "at upper bound": "at lower bound"}


class TemperatureScaling(Calibrator):
    r"""Divide the logits by one temperature, chosen for the least log loss.

    .. math:: Q = \mathrm{softmax}(\log P / T), \qquad T = \arg\min_{T > 0} -\sum_i w_i \log Q_{i, y_i}

    The log loss is convex in 1/T; its root is found by a safeguarded Newton iteration to 1e-12 relative.

    With ``objective="top_label"`` the temperature of least :math:`-\sum_{TP} w \log Q_k - \sum_{FP} w \log(1 - Q_k)`, k the predicted
    class, which is not convex: bracketed on a grid of 25, then finished to 1e-10.

    Parameters
    ----------
    objective : {"log_loss", "top_label"}, default "log_loss"
        What the temperature is to be good for: the whole vector, or whether the predicted label is right.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float in [1e-3, 1e3]
    status_ : "converged"; "flat" (all logits of a row equal: T = 1); "separable" (every row right, so the log loss has no finite optimum:
        fitted to targets smoothed by 1 / (n + 1), which bounds the confidence); "at lower bound" (T = 1e-3), "at upper bound" (T = 1e3).

    See Also
    --------
    VectorScaling, StructuredVectorScaling : a scale and a shift for each class.
    AutoCalibrator : chooses among these and doing nothing.

    Notes
    -----
    The first thing to try on a neural network: one parameter, the predicted class never changes, it cannot overfit. It cannot
    repair errors that differ between classes: see structured matrix scaling for that.

    References
    ----------
    Guo et al., "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> logits = [[4.0, 0.0], [3.0, 0.0], [0.0, 4.0], [4.0, 0.0]]
    >>> cal = TemperatureScaling(inputs="logit").fit(logits, [0, 1, 1, 0])
    >>> bool(cal.temperature_ > 1)
    True
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="temperature scaling")
    status_: str

    def __init__(
        self, *, objective: Literal["log_loss", "top_label"] = "log_loss", inputs: Inputs = "probability", classes: ArrayLike | None = None
    ) -> None:
        self.objective: Literal["log_loss", "top_label"] = objective
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit"), cls(objective="top_label")]

    def _fit(self, record):
        objective = self._option("objective", "log_loss", "top_label")
        beta, status = _least_nll(record) if objective == "log_loss" else _least_top_label(record)
        self.temperature_: float = 1.0 / beta
        self.status_ = BOUND_OF_TEMPERATURE.get(status, status)
        if self.status_ in ("at lower bound", "at upper bound", "max steps"):
            warn(f"temperature scaling ended {self.status_}: T = {self.temperature_:g}; look at the data.", FitWarning)

    def _predict_proba(self, record):
        return softmax(record.logits * (1.0 / self.temperature_))

    def _expression(self, record):
        return (record.logits * (1.0 / self.temperature_)).softmax()


def _least_nll(record):
    """(1 / T, status) of least log loss."""
    low, high = TEMPERATURE_BOUNDS
    beta, status = record.inverse_temperature
    if 1.0 / high <= beta <= 1.0 / low and status in ("converged", "separable", "flat"):
        return beta, status
    return inverse_temperature(record.logits, record.labels, record.weights, 1.0 / high, 1.0 / low)


def _least_top_label(record):
    """(1 / T, status) of least top-label loss; all right or all wrong is fitted to targets smoothed by 1 / (n + 1)."""
    correct = record.correct
    alike = bool((correct == correct[0]).all())
    if alike:
        correct = np.abs(correct - 1.0 / (record.weights.sum() + 1.0))
    others = other_logits(record.logits, record.predicted)
    beta, _, bound = fit_top_label(others, correct, record.weights, np.zeros(len(record), dtype=np.intp), 1)
    if bound[0]:
        return float(beta[0]), "at lower bound" if beta[0] < 1.0 else "at upper bound"
    return float(beta[0]), "separable" if alike else "converged"
