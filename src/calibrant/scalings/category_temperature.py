"""Category-specific temperature scaling: one temperature for each predicted class."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.softmax import softmax
from calibrant._kernels.top_label import fit_top_label, other_logits, refine_brier
from calibrant._support.options import require_not_negative
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import FitWarning, warn
from calibrant.predictions import Inputs

__all__ = ["CategoryTemperature"]


class CategoryTemperature(Calibrator):
    r"""One temperature for each predicted class, fitted to whether that prediction is right (CSTS).

    .. math:: Q = \mathrm{softmax}(\log P / T_k), \quad k = \arg\max P, \qquad
        T_k = \arg\min_T -\sum_{TP_k} w_i \log Q_{ik} - \sum_{FP_k} w_i \log(1 - Q_{ik}) + \lambda K (\ln T - \ln T_0)^2

    with T\ :sub:`0` the one temperature of least top-label loss over all classes. The loss is not convex in T: a grid of 25 temperatures
    brackets the least, a root of the gradient finishes it to 1e-10.

    Parameters
    ----------
    objective : {"log_loss", "brier"}, default "log_loss"
        "brier" minimises :math:`\sum w (c - Q_k)^2` plus the same ridge, downhill from the answer of "log_loss": gentler with a few
        confident errors.
    ridge : float, default 1
        λ, which holds the temperature of a class with few rows near the common one, and finite where a class has no wrong (or no
        right) prediction. 0 is the paper's.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : (K,) in [1e-3, 1e3]
    common_temperature_ : float, T\ :sub:`0`.
    status_ : "converged" or "at bound" (with a warning).

    See Also
    --------
    TemperatureScaling : one temperature for all.
    PerClass : any calibrator for each predicted class.

    Notes
    -----
    Use it when classes differ in quality and the question is how far to trust the predicted one: some need softening, others
    sharpening, and one shared temperature can only do one. The class predicted never changes. Not meant for the other entries of
    the vector, whose temperature is that of the predicted class.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023, section 10. The ridge is ours.

    Examples
    --------
    >>> P = [[0.9, 0.1]] * 10 + [[0.1, 0.9]] * 10
    >>> y = [0] * 9 + [1] + [1] * 6 + [0] * 4
    >>> cal = CategoryTemperature(ridge=0).fit(P, y)
    >>> cal.predict_confidence([[0.9, 0.1], [0.1, 0.9]]).round(3).tolist()
    [0.9, 0.6]
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="category temperature")

    def __init__(
        self, *, objective: Literal["log_loss", "brier"] = "log_loss", ridge: float = 1.0, inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.objective: Literal["log_loss", "brier"] = objective
        self.ridge: float = ridge
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(ridge=0.0), cls(inputs="logit"), cls(objective="brier")]

    def _fit(self, record):
        objective = self._option("objective", "log_loss", "brier")
        require_not_negative("ridge", self.ridge)
        n_classes = record.n_classes
        rows = other_logits(record.logits, record.predicted), record.correct, record.weights
        common, _, _ = fit_top_label(*rows, np.zeros(len(record), dtype=np.intp), 1)
        centre = float(np.log(common[0]))
        penalty = {"ridge": self.ridge * n_classes, "centre": centre}
        beta, award, bound = fit_top_label(*rows, record.predicted, n_classes, **penalty)
        if objective == "brier":
            beta, _ = refine_brier(beta, award, *rows, record.predicted, **penalty)
        self.common_temperature_: float = float(1.0 / common[0])
        self.temperature_: np.ndarray = 1.0 / beta
        self.status_ = "at bound" if bound.any() else "converged"
        if bound.any():
            warn(
                f"the temperature of {int(bound.sum())} classes ended at its bound (no wrong or no right predictions?); use ridge > 0.",
                FitWarning,
            )

    def _predict_proba(self, record):
        return softmax(record.logits / self.temperature_[record.predicted, None])

    def _expression(self, record):
        return (record.logits / record.predicted.gather(self.temperature_[:, None])).softmax()
