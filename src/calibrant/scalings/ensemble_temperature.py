"""Ensemble temperature scaling: a mixture of tempered, unchanged and uniform probabilities."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.newton import cholesky_solver
from calibrant._kernels.softmax import normalise_rows, softmax
from calibrant._support.options import require_not_negative
from calibrant._support.solving import solve
from calibrant._support.status import warn_unless_converged
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.predictions import Inputs

__all__ = ["EnsembleTemperature"]

#: Directions that keep the sum of three weights: an orthonormal basis.
ZERO_SUM = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])


class EnsembleTemperature(Calibrator):
    r"""Ensemble temperature scaling (ETS): tempered, unchanged and uniform probabilities, mixed.

    .. math:: Q = w_1\, \mathrm{softmax}(\log P / T) + w_2 P + w_3 / K, \qquad w \ge 0,\ w_1 + w_2 + w_3 = 1

    T has the least log loss; then w minimises :math:`\mathrm{mean\ log\ loss} - \frac{\alpha}{n} \sum_j \log w_j`, a convex problem.

    Parameters
    ----------
    prior_weight : float >= 0, default 0.1
        :math:`\alpha`, pseudo-rows for each part; keeps every weight, and so every probability, above 0. Below 0.001 it counts as 0.001.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float.
    weights_ : (3,), of the tempered, unchanged and uniform parts.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    TemperatureScaling : its first part alone.
    IntraOrderPreserving : keeps the labels too, with more freedom.

    Notes
    -----
    The predicted class never changes. Use it like temperature scaling; it gains where a few predictions are confident and wrong, which
    the uniform part allows for.

    References
    ----------
    Zhang, Kailkhura and Han, "Mix-n-Match: ensemble and compositional methods for uncertainty calibration", ICML 2020. The paper fits
    T and w to the squared error; the log loss did as well or better on every network output we measured.

    Examples
    --------
    >>> P = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]]
    >>> cal = EnsembleTemperature().fit(P, [0, 1, 1, 1])
    >>> round(float(cal.weights_.sum()), 9)
    1.0
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="ensemble temperature scaling (ETS)")
    gradient_: float
    status_: str

    def __init__(self, *, prior_weight: float = 0.1, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        self.prior_weight: float = prior_weight
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _fit(self, record):
        require_not_negative("prior_weight", self.prior_weight)
        weight = record.weights
        beta, _ = record.inverse_temperature
        self.temperature_: float = 1.0 / beta
        uniform = np.full(len(record), 1.0 / record.n_classes)
        parts = np.column_stack([record.own_tempered, record.own_probability, uniform])
        objective = _mixture_objective(parts, weight, max(self.prior_weight, 1e-3) / weight.sum())
        step, self.status_, self.gradient_ = solve(objective, np.zeros(2), record.memory_of("mixture"))
        self.weights_: np.ndarray = 1.0 / 3.0 + step @ ZERO_SUM
        warn_unless_converged("ensemble temperature scaling", self.status_, self.gradient_, "look at the data")

    def _predict_proba(self, record):
        w1, w2, w3 = self.weights_
        out = w1 * softmax(record.logits * (1.0 / self.temperature_)) + w2 * record.probabilities
        out += w3 / record.n_classes
        return normalise_rows(out)

    def _expression(self, record):
        w1, w2, w3 = self.weights_
        tempered = (record.logits * (1.0 / self.temperature_)).softmax()
        return (tempered * w1 + record.probabilities * w2 + w3 / record.n_classes).normalised()


def _mixture_objective(parts, weight, prior):
    """``evaluate(step)`` of the weights 1/3 + step @ ZERO_SUM; infinite where a weight is not positive."""
    share = weight / weight.sum()

    def evaluate(step):
        w = 1.0 / 3.0 + step @ ZERO_SUM
        if w.min() <= 0.0:
            return np.inf, np.zeros(2), None
        mixed = parts @ w
        ratio = parts / mixed[:, None]
        value = -share @ np.log(mixed) - prior * np.log(w).sum()
        gradient = -share @ ratio - prior / w
        hessian = ratio.T @ (ratio * share[:, None]) + np.diag(prior / (w * w))
        return value, ZERO_SUM @ gradient, cholesky_solver(ZERO_SUM @ hessian @ ZERO_SUM.T)

    return evaluate
