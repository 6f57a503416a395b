"""Baselines of a comparison: the uncalibrated model, the class frequencies, and both together."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.logistic import normalise_rows
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.given import Inputs

__all__ = ["ClassOffsets", "ClassRates", "Identity"]


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
    :class:`~calibrant.calibrators.maps.platt.Platt` and the scalings correct the slope too.

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

    def __init__(self, *, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        super().__init__(inputs=inputs, classes=classes)

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
