"""One isotonic map for all entries of the vector: order within a row is kept, and so is accuracy."""

from typing import ClassVar

import numpy as np

from calibrant._kernels.fixed_order import sum_rows
from calibrant._kernels.interpolation import between_knots
from calibrant._kernels.pava import pool_ties, pooled_blocks, smooth_ends
from calibrant._kernels.ties import flat_knots
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.expression import ABOVE_ONE
from calibrant.contracts.tags import Tags

__all__ = ["IsotonicPreserving"]

#: Added slope that keeps the map strictly increasing inside the blocks of the isotonic fit.
TIE_BREAK = 1e-9


class IsotonicPreserving(Calibrator):
    r"""Accuracy-preserving isotonic regression (IRM): one increasing map for every probability of every class.

    .. math:: Q_{ik} \propto g(P_{ik}), \qquad g = \arg\min_{g\ \mathrm{increasing}} \sum_i w_i \sum_k (1[y_i = k] - g(P_{ik}))^2

    plus :math:`10^{-9} p` so that no two probabilities of a row become equal.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    score_, value_ : (m,) knots of the map.
    status_ : "exact".

    See Also
    --------
    IsotonicOneVsRest : a map for each class, which may change labels.
    IntraOrderPreserving : keeps the order too, and is smooth.

    Notes
    -----
    The predicted class never changes. The data of all classes are shared, so it needs fewer rows than one isotonic map a class; it cannot
    repair errors that differ between classes. A first block of 0 and a last block of 1 are smoothed as Laplace would, so that the log
    loss stays finite. The published code leaves the rows unnormalised; here they sum to 1.

    References
    ----------
    Zhang, Kailkhura and Han, "Mix-n-Match: ensemble and compositional methods for uncertainty calibration", ICML 2020, section 4.2.

    Examples
    --------
    >>> cal = IsotonicPreserving().fit([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [0, 1, 1, 1])
    >>> cal.predict([[0.9, 0.1], [0.2, 0.8]]).tolist()
    [0, 1]
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="accuracy-preserving isotonic regression (IRM)")

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _fit(self, record):
        weight = np.repeat(record.weights, record.n_classes)
        unique, mass, mean = pool_ties(record.probabilities.ravel(), record.one_hot.ravel(), weight)
        first, last, value, block_mass = pooled_blocks(mean, mass)
        self.score_: np.ndarray = flat_knots(unique[first], unique[last])
        self.value_: np.ndarray = np.repeat(smooth_ends(value, block_mass), 2)

    def _predict_proba(self, record):
        P = record.probabilities
        out = between_knots(P, self.score_, self.value_)
        out += TIE_BREAK * P
        out /= sum_rows(out)[:, None]
        # Entries nearer to each other than rounding resolves may tie: the model's own label stays on top.
        rows = np.flatnonzero(out.argmax(axis=1) != record.predicted)
        out[rows, record.predicted[rows]] = np.nextafter(out[rows].max(axis=1), 2.0)
        return out

    def _expression(self, record):
        P = record.probabilities
        out = (P.interpolate(self.score_, self.value_) + P * TIE_BREAK).normalised()
        return record.is_predicted.where(out.max() * ABOVE_ONE, out)
