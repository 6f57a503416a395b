"""Temperature scaling with awards: the predicted class gets a bonus of its own before the scaling."""

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

__all__ = ["AwardTemperature"]


class AwardTemperature(Calibrator):
    r"""Temperature scaling with awards (TSwA): an award for being the predicted class, then one temperature.

    .. math:: Q = \mathrm{softmax}\big((\log P + A_k e_k) / T\big), \quad k = \arg\max P

    The K awards and T have the least top-label loss :math:`-\sum_{TP} w \log Q_k - \sum_{FP} w \log(1 - Q_k)` plus
    :math:`\lambda K (\sum_k (A_k / T)^2 + (\ln T - \ln T_0)^2)`, T\ :sub:`0` being the one temperature of least top-label loss without
    awards. At each T the loss is convex in the awards, which are solved exactly; T is bracketed on a grid of 25 and finished to 1e-10.

    Parameters
    ----------
    per_class_temperature : bool, default False
        A temperature for each predicted class as well (CSTSwA), 2 K parameters.
    objective : {"log_loss", "brier"}, default "log_loss"
        "brier" minimises :math:`\sum w (c - Q_k)^2` plus the same ridge, downhill from the answer of "log_loss": gentler with a few
        confident errors.
    ridge : float, default 1
        λ, which keeps the awards of classes without wrong (or right) predictions finite. 0 is the paper's.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    award_ : (K,)
    temperature_ : float, or (K,) with ``per_class_temperature``; in [1e-3, 1e3]
    common_temperature_ : float, T\ :sub:`0`.
    status_ : "converged" or "at bound" (with a warning).

    See Also
    --------
    TemperatureScaling : without the award.
    CategoryTemperature : one temperature for each predicted class.

    Notes
    -----
    Use it when classes differ in quality: K + 1 parameters say how far each predicted class is to be trusted. A negative award may
    leave another class on top of Q: ``predict`` then follows Q, while ``predict_confidence`` always speaks of the model's own label.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023, section 11. The ridge is ours.

    Examples
    --------
    >>> P = [[0.9, 0.1]] * 10 + [[0.6, 0.4]] * 10 + [[0.1, 0.9]] * 10 + [[0.4, 0.6]] * 10
    >>> y = [0] * 9 + [1] + [0] * 7 + [1] * 3 + [1] * 6 + [0] * 4 + [1] * 3 + [0] * 7
    >>> cal = AwardTemperature(per_class_temperature=True, ridge=0).fit(P, y)
    >>> cal.predict_confidence([[0.9, 0.1], [0.6, 0.4], [0.1, 0.9], [0.4, 0.6]]).round(3).tolist()
    [0.9, 0.7, 0.6, 0.3]
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="temperature with awards")

    def __init__(
        self, *, per_class_temperature: bool = False, objective: Literal["log_loss", "brier"] = "log_loss", ridge: float = 1.0,
        inputs: Inputs = "probability", classes: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.per_class_temperature: bool = per_class_temperature
        self.objective: Literal["log_loss", "brier"] = objective
        self.ridge: float = ridge
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(per_class_temperature=True), cls(ridge=0.0, inputs="logit"), cls(objective="brier")]

    def _fit(self, record):
        objective = self._option("objective", "log_loss", "brier")
        require_not_negative("ridge", self.ridge)
        n_classes, one = record.n_classes, np.zeros(len(record), dtype=np.intp)
        rows = other_logits(record.logits, record.predicted), record.correct, record.weights
        common, _, _ = fit_top_label(*rows, one, 1)
        of, count = (record.predicted, n_classes) if self.per_class_temperature else (one, 1)
        options = {"award_of": record.predicted, "ridge": self.ridge * n_classes, "centre": float(np.log(common[0]))}
        beta, award, bound = fit_top_label(*rows, of, count, n_awards=n_classes, **options)
        if objective == "brier":
            beta, award = refine_brier(beta, award, *rows, of, **options)
        self.common_temperature_: float = float(1.0 / common[0])
        self.temperature_: float | np.ndarray = 1.0 / beta if self.per_class_temperature else float(1.0 / beta[0])
        self.award_: np.ndarray = award / beta
        right = np.bincount(record.predicted, weights=record.weights * record.correct, minlength=n_classes)
        wrong = np.bincount(record.predicted, weights=record.weights * (1.0 - record.correct), minlength=n_classes)
        lone = (right + wrong > 0.0) & ((right == 0.0) | (wrong == 0.0)) if self.ridge == 0.0 else np.zeros(n_classes, dtype=bool)
        self.status_ = "at bound" if bound.any() or lone.any() else "converged"
        if self.status_ == "at bound":
            warn(
                f"the awards or temperatures of {int(max(bound.sum(), lone.sum()))} classes ended at a bound (no wrong or no right "
                "predictions?); use ridge > 0.",
                FitWarning,
            )

    def _predict_proba(self, record):
        logits = np.array(record.logits, dtype=np.float64)
        logits[np.arange(len(record)), record.predicted] += self.award_[record.predicted]
        temperature = np.asarray(self.temperature_)[record.predicted, None] if self.per_class_temperature else self.temperature_
        return softmax(logits / temperature)

    def _expression(self, record):
        awarded = record.logits + record.predicted.gather(np.diag(self.award_))
        if self.per_class_temperature:
            return (awarded / record.predicted.gather(np.asarray(self.temperature_)[:, None])).softmax()
        return (awarded / float(self.temperature_)).softmax()
