"""Temperature scaling with one temperature, with one for each category, and with awards; and the
baselines of a comparison: the uncalibrated model, the class frequencies, and both together.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._numerics.logistic import normalise_rows, softmax
from calibrant._numerics.temperature import (
    TopLabels,
    fit_top_label,
    inverse_temperature,
    other_logits,
    refine_brier,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.estimators import require_not_negative
from calibrant.core.given import Inputs
from calibrant.core.solving import least_nll
from calibrant.errors import FitWarning, warn

__all__ = [
    "AwardTemperature",
    "CategoryTemperature",
    "ClassOffsets",
    "ClassRates",
    "Identity",
    "TemperatureScaling",
]


TEMPERATURE_BOUNDS = (1e-3, 1e3)
#: The optimiser works in 1/T, so its lower bound is the upper bound of the temperature.
BOUND_OF_TEMPERATURE = {"at lower bound": "at upper bound", "at upper bound": "at lower bound"}


class TemperatureScaling(
    Calibrator,
    examples=[{"inputs": "logit"}, {"objective": "top_label"}],
    family="temperatures",
    use="One temperature; few rows; keeps every label",
    common=True,
):
    r"""Divide the logits by the one temperature that minimises the log loss.

    .. math:: Q = \mathrm{softmax}(\log P / T), \qquad T = \arg\min_{T > 0} -\sum_i w_i \log Q_{i,
        y_i}

    The log loss is convex in 1/T; its root is found by a safeguarded Newton iteration to 1e-12
    relative.

    With ``objective="top_label"`` the temperature minimises :math:`-\sum_{TP} w \log Q_k -
    \sum_{FP} w \log(1 - Q_k)` with k the predicted class. This loss is not convex: a grid of 25
    brackets the minimum, which is refined to 1e-10.

    Parameters
    ----------
    objective : {"log_loss", "top_label"}, default "log_loss"
        Target of the calibration: the whole vector, or the correctness of the predicted label.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float in [1e-3, 1e3]
    status_ : "converged"; "flat" (all logits of a row equal: T = 1); "separable" (every row right,
        so the log loss has no finite optimum:
        fitted to targets smoothed by 1 / (n + 1), which bounds the confidence); "at lower bound" (T
        = 1e-3), "at upper bound" (T = 1e3).

    See Also
    --------
    VectorScaling, StructuredVectorScaling : a scale and a shift for each class.
    AutoCalibrator : chooses among these and no calibration.

    Notes
    -----
    The first method to try on a neural network: it has one parameter, never changes the predicted
    class, and cannot overfit. It cannot repair errors that differ between classes; structured
    matrix scaling can.

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
        self,
        *,
        objective: Literal["log_loss", "top_label"] = "log_loss",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.objective: Literal["log_loss", "top_label"] = objective

    def _fit(self, record: Any) -> None:
        objective = self._option("objective", "log_loss", "top_label")
        beta, status = _least_nll(record) if objective == "log_loss" else _least_top_label(record)
        self.temperature_: float = 1.0 / beta
        self.status_ = BOUND_OF_TEMPERATURE.get(status, status)
        if self.status_ in ("at lower bound", "at upper bound", "max steps"):
            warn(
                f"temperature scaling ended {self.status_}: T = {self.temperature_:g}; look at the"
                " data.",
                FitWarning,
            )

    def _predict_proba(self, record: Any) -> np.ndarray:
        return softmax(record.logits * (1.0 / self.temperature_))

    def _expression(self, record: Any) -> Any:
        return (record.logits * (1.0 / self.temperature_)).softmax()


def _least_nll(record: Any) -> tuple[float, str]:
    """Return (1 / T, status) of minimum log loss."""
    low, high = TEMPERATURE_BOUNDS
    beta, status = least_nll(record)
    if 1.0 / high <= beta <= 1.0 / low and status in ("converged", "separable", "flat"):
        return beta, status
    return inverse_temperature(record.logits, record.labels, record.weights, 1.0 / high, 1.0 / low)


def _least_top_label(record: Any) -> tuple[float, str]:
    """Return (1 / T, status) of minimum top-label loss; if all rows are right or all wrong, targets
    are smoothed by 1 / (n + 1).
    """
    correct = record.correct
    alike = bool((correct == correct[0]).all())
    if alike:
        correct = np.abs(correct - 1.0 / (record.weights.sum() + 1.0))
    others = other_logits(record.logits, record.predicted)
    one = np.zeros(len(record), dtype=np.intp)
    beta, _, bound = fit_top_label(TopLabels(others, correct, record.weights, one, 1))
    if bound[0]:
        return float(beta[0]), "at lower bound" if beta[0] < 1.0 else "at upper bound"
    return float(beta[0]), "separable" if alike else "converged"


class CategoryTemperature(
    Calibrator,
    examples=[{"ridge": 0.0}, {"inputs": "logit"}, {"objective": "brier"}],
    family="temperatures",
    use="One temperature for each predicted class",
):
    r"""Class-specific temperature scaling (CSTS): one temperature for each predicted class, fitted
    to the correctness of that prediction.

    .. math:: Q = \mathrm{softmax}(\log P / T_k), \quad k = \arg\max P, \qquad
        T_k = \arg\min_T -\sum_{TP_k} w_i \log Q_{ik} - \sum_{FP_k} w_i \log(1 - Q_{ik}) + \lambda
        K (\ln T - \ln T_0)^2

    where T\ :sub:`0` is the single temperature of minimum top-label loss over all classes. The loss
    is not convex in T: a grid of 25 temperatures brackets the minimum, and a root of the gradient
    refines it to 1e-10.

    Parameters
    ----------
    objective : {"log_loss", "brier"}, default "log_loss"
        "brier" minimises :math:`\sum w (c - Q_k)^2` plus the same ridge by descent from the optimum
        of "log_loss"; it reacts less to a few confident errors.
    ridge : float, default 1
        λ, which shrinks the temperature of a class with few rows towards the common one, and keeps
        it finite where a class has no wrong (or no right) prediction. 0 is the paper's.
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
    Use it when classes differ in quality and only the predicted class matters: some classes are
    overconfident and others underconfident, and one shared temperature cannot correct both. The
    predicted class never changes. It is not meant for the other entries of the vector, which have
    the temperature of the predicted class.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    section 10. The ridge is ours.

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
        self,
        *,
        objective: Literal["log_loss", "brier"] = "log_loss",
        ridge: float = 1.0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.objective: Literal["log_loss", "brier"] = objective
        self.ridge: float = ridge

    def _fit(self, record: Any) -> None:
        objective = self._option("objective", "log_loss", "brier")
        require_not_negative("ridge", self.ridge)
        n_classes = record.n_classes
        rows = other_logits(record.logits, record.predicted), record.correct, record.weights
        common, _, _ = fit_top_label(TopLabels(*rows, np.zeros(len(record), dtype=np.intp), 1))
        penalty = {"ridge": self.ridge * n_classes, "centre": float(np.log(common[0]))}
        by_label = TopLabels(*rows, record.predicted, n_classes, **penalty)
        beta, award, bound = fit_top_label(by_label)
        if objective == "brier":
            beta, _ = refine_brier(beta, award, by_label)
        self.common_temperature_: float = float(1.0 / common[0])
        self.temperature_: np.ndarray = 1.0 / beta
        self.status_ = "at bound" if bound.any() else "converged"
        if bound.any():
            warn(
                f"the temperature of {int(bound.sum())} classes ended at its bound (no wrong or no"
                " right predictions?); use ridge > 0.",
                FitWarning,
            )

    def _predict_proba(self, record: Any) -> np.ndarray:
        return softmax(record.logits / self.temperature_[record.predicted, None])

    def _expression(self, record: Any) -> Any:
        return (record.logits / record.predicted.gather(self.temperature_[:, None])).softmax()


class AwardTemperature(
    Calibrator,
    examples=[
        {"per_class_temperature": True},
        {"ridge": 0.0, "inputs": "logit"},
        {"objective": "brier"},
    ],
    family="temperatures",
    use="An award for the predicted class, one temperature",
):
    r"""Temperature scaling with awards (TSwA): an award for the predicted class, then one
    temperature.

    .. math:: Q = \mathrm{softmax}\big((\log P + A_k e_k) / T\big), \quad k = \arg\max P

    The K awards and T minimise the top-label loss :math:`-\sum_{TP} w \log Q_k - \sum_{FP} w \log(1
    - Q_k)` plus :math:`\lambda K (\sum_k (A_k / T)^2 + (\ln T - \ln T_0)^2)`, where T\ :sub:`0` is
    the single temperature of minimum top-label loss without awards. At each T the loss is convex in
    the awards, which are solved exactly; a grid of 25 brackets T, which is refined to 1e-10.

    Parameters
    ----------
    per_class_temperature : bool, default False
        A temperature for each predicted class as well (CSTSwA), 2 K parameters.
    objective : {"log_loss", "brier"}, default "log_loss"
        "brier" minimises :math:`\sum w (c - Q_k)^2` plus the same ridge by descent from the optimum
        of "log_loss"; it reacts less to a few confident errors.
    ridge : float, default 1
        λ, which keeps the awards of classes without wrong (or right) predictions finite. 0 is the
        paper's.
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
    Use it when classes differ in quality: K + 1 parameters set the confidence of each predicted
    class. A negative award may make another class the largest in Q: ``predict`` then follows Q,
    while ``predict_confidence`` always refers to the model's own label.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    section 11. The ridge is ours.

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
        self,
        *,
        per_class_temperature: bool = False,
        objective: Literal["log_loss", "brier"] = "log_loss",
        ridge: float = 1.0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.per_class_temperature: bool = per_class_temperature
        self.objective: Literal["log_loss", "brier"] = objective
        self.ridge: float = ridge

    def _fit(self, record: Any) -> None:
        objective = self._option("objective", "log_loss", "brier")
        require_not_negative("ridge", self.ridge)
        n_classes, one = record.n_classes, np.zeros(len(record), dtype=np.intp)
        rows = other_logits(record.logits, record.predicted), record.correct, record.weights
        common, _, _ = fit_top_label(TopLabels(*rows, one, 1))
        of, count = (record.predicted, n_classes) if self.per_class_temperature else (one, 1)
        penalty = {"ridge": self.ridge * n_classes, "centre": float(np.log(common[0]))}
        awarded = TopLabels(*rows, of, count, record.predicted, n_classes, **penalty)
        beta, award, bound = fit_top_label(awarded)
        if objective == "brier":
            beta, award = refine_brier(beta, award, awarded)
        self.common_temperature_: float = float(1.0 / common[0])
        self.temperature_: float | np.ndarray = (
            1.0 / beta if self.per_class_temperature else float(1.0 / beta[0])
        )
        self.award_: np.ndarray = award / beta
        right = np.bincount(
            record.predicted, weights=record.weights * record.correct, minlength=n_classes
        )
        wrong = np.bincount(
            record.predicted, weights=record.weights * (1.0 - record.correct), minlength=n_classes
        )
        lone = (
            (right + wrong > 0.0) & ((right == 0.0) | (wrong == 0.0))
            if self.ridge == 0.0
            else np.zeros(n_classes, dtype=bool)
        )
        self.status_ = "at bound" if bound.any() or lone.any() else "converged"
        if self.status_ == "at bound":
            warn(
                f"the awards or temperatures of {int(max(bound.sum(), lone.sum()))} classes ended"
                " at a bound (no wrong or no right predictions?); use ridge > 0.",
                FitWarning,
            )

    def _predict_proba(self, record: Any) -> np.ndarray:
        logits = np.array(record.logits, dtype=np.float64)
        logits[np.arange(len(record)), record.predicted] += self.award_[record.predicted]
        temperature = (
            np.asarray(self.temperature_)[record.predicted, None]
            if self.per_class_temperature
            else self.temperature_
        )
        return softmax(logits / temperature)

    def _expression(self, record: Any) -> Any:
        awarded = record.logits + record.predicted.gather(np.diag(self.award_))
        if self.per_class_temperature:
            return (
                awarded / record.predicted.gather(np.asarray(self.temperature_)[:, None])
            ).softmax()
        return (awarded / float(self.temperature_)).softmax()


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

    def _fit(self, record: Any) -> None:
        counts = (
            np.bincount(record.labels, weights=record.weights, minlength=record.n_classes) + 0.5
        )
        self.rates_: np.ndarray = counts / counts.sum()

    def _predict_proba(self, record: Any) -> np.ndarray:
        return np.tile(self.rates_, (len(record), 1))

    def _expression(self, record: Any) -> Any:
        return record.probabilities * 0.0 + self.rates_


#: Rows expected of a class, by which its count is shrunk towards the expected one.
PRIOR_ROWS = 1.0
#: Steps to the factors, and the largest step in nats.
MOST_STEPS, LONGEST_STEP = 100, 2.0


class ClassOffsets(
    Calibrator,
    family="baselines",
    use="One factor for each class; very few events",
):
    r"""Multiply the probability of each class by a factor, so that the mean predictions meet the
    class frequencies, shrunk towards the model's.

    .. math:: Q_{ik} \propto P_{ik} f_k, \qquad \overline{Q}_k = t_k \propto
        \overline{P}_k\, \frac{n_k + 1}{n \overline{P}_k + 1}

    Here :math:`n_k` are the rows of class k and :math:`n \overline{P}_k` those that the model
    expects. The ratio is the posterior mean of the factor of a Poisson count under a gamma prior
    of mean 1 and variance :math:`1 / (n \overline{P}_k)` for one expected row; so a class
    without rows keeps part of its probability, and one that is well observed meets its frequency.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    factors_ : (K,), with a mean logarithm of 0.

    See Also
    --------
    ClassRates : the frequencies without the model.
    LabelShift : moves predictions to class rates that are known or estimated without labels.

    Notes
    -----
    Use it where there are too few events for a slope: at most about ten of them. It corrects the
    overall rate and nothing else, and keeps the ranking of the rows. With more rows of each class,
    :class:`~calibrant.calibrators.maps.sigmoids.Platt` and the scalings correct the slope too.

    References
    ----------
    An update of the intercept alone: Steyerberg et al., "Validation and updating of predictive
    logistic regression models", Statistics in Medicine 23, 2004. The shrinkage is ours.

    Examples
    --------
    >>> P = [[0.9, 0.1]] * 40
    >>> cal = ClassOffsets().fit(P, [0] * 40)
    >>> cal.predict_proba(P[:1]).round(3).tolist()
    [[0.98, 0.02]]
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="class offsets")

    def _fit(self, record: Any) -> None:
        P, share = record.probabilities, record.weights / record.weights.sum()
        n, mean = float(record.weights.sum()), share @ P
        counts = n * (share @ record.one_hot)
        target = mean * (counts + PRIOR_ROWS) / (n * mean + PRIOR_ROWS)
        target = target / target.sum()
        there = target > 0.0
        factors = np.ones(len(mean))
        for _ in range(MOST_STEPS):
            Q = normalise_rows(P * factors)
            met = share @ Q
            gap = np.log(target[there] / met[there])
            # The mean of Q (1 - Q) is the slope of the mean prediction in the logarithm.
            slope = np.maximum((share @ (Q * (1.0 - Q)))[there] / met[there], 1e-3)
            step = np.clip(gap / np.sqrt(slope), -LONGEST_STEP, LONGEST_STEP)
            factors[there] *= np.exp(step - step.mean())
            if np.abs(gap).max() < 1e-10:
                break
        self.factors_: np.ndarray = factors / np.exp(np.log(factors).mean())

    def _predict_proba(self, record: Any) -> np.ndarray:
        return normalise_rows(record.probabilities * self.factors_)

    def _expression(self, record: Any) -> Any:
        return (record.probabilities * self.factors_).normalised()
