"""Temperature first, then one isotonic map for each class against the rest."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.interpolation import between_knots
from calibrant._kernels.pava import pool_ties, pooled_blocks, smooth_ends
from calibrant._kernels.softmax import normalise_rows, softmax
from calibrant._kernels.temperature import inverse_temperature
from calibrant._kernels.ties import flat_knots
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.expression import join
from calibrant.contracts.tags import Tags
from calibrant.predictions import Inputs

__all__ = ["IsotonicOneVsRest"]


class IsotonicOneVsRest(Calibrator):
    r"""Isotonic regression one-vs-rest on temperature-scaled probabilities (IROvA-TS).

    .. math:: Q_{ik} \propto g_k(Z_{ik}), \qquad Z = \mathrm{softmax}(\log P / T)

    with each increasing :math:`g_k` of least squared error to the indicator of class k.

    Parameters
    ----------
    temperature : bool, default True
        Scale the temperature first; False is plain one-vs-rest isotonic regression (IROvA).
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float, 1 without ``temperature``.
    score_, value_ : lists of K arrays, the knots of each class's map.
    status_ : "exact".

    See Also
    --------
    OneVsRest : any map for each class against the rest.
    IsotonicPreserving : one map for all classes, which keeps the labels.

    Notes
    -----
    It needs about a thousand rows a class. First blocks of 0 and last blocks of 1 are smoothed as Laplace would, so no row is all
    zeros and no log loss infinite. The predicted class may change. The published code leaves the rows unnormalised.

    References
    ----------
    Zhang, Kailkhura and Han, "Mix-n-Match: ensemble and compositional methods for uncertainty calibration", ICML 2020, section 4.3;
    Zadrozny and Elkan, KDD 2002.

    Examples
    --------
    >>> cal = IsotonicOneVsRest().fit([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [0, 1, 1, 1])
    >>> cal.predict([[0.9, 0.1], [0.2, 0.8]]).tolist()
    [0, 1]
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="one-vs-rest isotonic regression after temperature (IROvA-TS)")
    score_: list[np.ndarray]
    value_: list[np.ndarray]

    def __init__(self, *, temperature: bool = True, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        self.temperature: bool = temperature
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(temperature=False)]

    def _fit(self, record):
        self.temperature_: float = 1.0
        ordered, place = _rising_rows(record)
        if self.temperature:
            beta, _ = inverse_temperature(ordered.logits, ordered.labels, ordered.weights)
            self.temperature_ = 1.0 / beta
        Z = self._tempered(ordered, place)
        self.score_, self.value_ = [], []
        for k in range(record.n_classes):
            unique, mass, mean = pool_ties(Z[:, k], (record.labels == k).astype(np.float64), record.weights)
            first, last, value, block_mass = pooled_blocks(mean, mass)
            self.score_.append(flat_knots(unique[first], unique[last]))
            self.value_.append(np.repeat(smooth_ends(value, block_mass), 2))

    def _tempered(self, ordered, place):
        Z = softmax(ordered.logits * (1.0 / self.temperature_)) if self.temperature else ordered.probabilities.copy()
        for j in range(1, ordered.n_classes):
            same = ordered.values[:, j] == ordered.values[:, j - 1]
            Z[same, j] = Z[same, j - 1]
        return np.take_along_axis(Z, place, axis=1)

    def _predict_proba(self, record):
        Z = self._tempered(*_rising_rows(record))
        columns = [between_knots(Z[:, k], score, value) for k, (score, value) in enumerate(zip(self.score_, self.value_, strict=True))]
        return normalise_rows(np.column_stack(columns))

    def _expression(self, record):
        Z = (record.logits * (1.0 / self.temperature_)).softmax() if self.temperature else record.probabilities
        tables = zip(self.score_, self.value_, strict=True)
        return join([Z.column(k).interpolate(score, value) for k, (score, value) in enumerate(tables)]).normalised()


def _rising_rows(record):
    """The record with the entries of each row in rising order, and the place of each class in it, (n, K).

    Sums over a row then round alike whatever the order of the classes, so that equal probabilities stay equal and are pooled.
    """
    order = np.argsort(record.values, axis=1, kind="stable")
    place = np.argsort(order, axis=1)
    labels = None if record.labels is None else place[np.arange(len(record)), record.labels]
    return replace(record, values=np.take_along_axis(record.values, order, axis=1), labels=labels), place
