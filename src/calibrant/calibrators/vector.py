"""Vector scaling (plain and structured): one scale and one shift for the log-probability of each
class.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.logistic import log_softmax_mixed, softmax
from calibrant._numerics.multinomial import vector_logits, vector_objective
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.estimators import require_not_negative
from calibrant.core.given import Inputs
from calibrant.core.solving import (
    scores_at,
    solve,
    tempered_scores,
    tempering,
    tolerance_for,
    warn_unless_converged,
)

__all__ = ["StructuredVectorScaling", "VectorScaling"]


class _Vector(Calibrator):
    """Fitting and expression that both vector scalings share."""

    temperature_: float
    mixing_: float
    gradient_: float
    scale_: np.ndarray
    shift_: np.ndarray
    status_: str

    def _learn(
        self,
        name: str,
        record: Any,
        tempered: tuple[np.ndarray, float, float],
        ridge: float,
        search: Any = None,
        tolerance: float = 1e-8,
    ) -> None:
        """Learn scale and shift, shrunk towards none, from ``tempered``: (z (n, K), temperature,
        mixing).
        """
        z, self.temperature_, self.mixing_ = tempered
        identity = np.array([[1.0], [0.0]])
        objective = vector_objective(z, record.labels, record.weights, ridge, identity)
        start = np.repeat(identity, record.n_classes, axis=1)
        theta, self.status_, self.gradient_ = solve(objective, start, search, tolerance)
        self.scale_, self.shift_ = theta
        warn_unless_converged(name, self.status_, self.gradient_, "raise ridge or look at the data")

    def _expression(self, record: Any) -> Any:
        return (
            record.tempered(self.temperature_, self.mixing_) * self.scale_ + self.shift_
        ).softmax()


class VectorScaling(
    _Vector,
    examples=[{"smooth": False}, {"inputs": "logit"}],
    family="vectors and matrices",
    use="A scale and a shift for each class; many rows",
):
    r"""Vector scaling: one scale and one shift for each class.

    .. math:: Q = \mathrm{softmax}(a \circ z + b), \qquad
        z = \log\left(\tfrac{n}{n + 1}\, \mathrm{softmax}(\log P / T) + \tfrac{1}{(n + 1) K}\right)

    where T minimises the log loss, and a, b then minimise
    :math:`\mathrm{mean\ log\ loss} + \frac{\lambda}{n} (|a - 1|^2 + |b|^2)`.

    Parameters
    ----------
    ridge : float >= 0, default 10.0
        :math:`\lambda`, in pseudo-rows; 0 is the textbook method, where a class absent from the
        calibration set has almost no probability.
    smooth : bool, default True
        Mix the uniform distribution into z as above, so that a probability of exactly 0 has no
        leverage. False is the textbook method.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float, of the first step.
    mixing_ : float, the share 1 / (n + 1) of the uniform distribution in z (0 without ``smooth``).
    scale_, shift_ : (K,), a and b.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    TemperatureScaling : one scale for all classes.
    StructuredVectorScaling : a stronger penalty, for few rows.

    Notes
    -----
    Use it with a few hundred rows a class or more. Logits have a free constant in each row, on
    which the method depends. Here z are log-probabilities after temperature scaling, so neither a
    shift nor the temperature of the input changes the result. Structured vector scaling has a
    penalty that grows with the number of classes, and is safer on small calibration sets.

    References
    ----------
    Guo et al., "On calibration of modern neural networks", ICML 2017, section 4.2.

    Examples
    --------
    >>> P = [[0.7, 0.3], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8], [0.55, 0.45], [0.3, 0.7]]
    >>> cal = VectorScaling().fit(P, [0, 1, 1, 1, 1, 0])
    >>> cal.status_, cal.scale_.shape
    ('converged', (2,))
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="vector scaling")

    def __init__(
        self,
        *,
        ridge: float = 10.0,
        smooth: bool = True,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.ridge: float = ridge
        self.smooth: bool = smooth

    def _fit(self, record: Any) -> None:
        require_not_negative("ridge", self.ridge)
        at = tempering(record, self.smooth)
        ridge = self.ridge / float(record.weights.sum())
        self._learn("vector scaling", record, (scores_at(record, *at), *at), ridge)

    def _predict_proba(self, record: Any) -> np.ndarray:
        return softmax(
            vector_logits(
                np.stack([self.scale_, self.shift_]),
                scores_at(record, self.temperature_, self.mixing_),
            )
        )


class StructuredVectorScaling(
    _Vector,
    examples=[{"inputs": "logit"}],
    family="vectors and matrices",
    use="A scale and a shift, shrunken; many classes",
):
    r"""Structured vector scaling (SVS): temperature scaling, then a scale and a shift for each
    class, shrunk towards none.

    .. math:: Q = \mathrm{softmax}((1 + v) \circ z + b), \qquad
        z = \log\left(\tfrac{n}{n + 1}\, \mathrm{softmax}(\log P / T) + \tfrac{1}{(n + 1) K}\right)

    where T minimises the log loss, and v, b minimise :math:`\mathrm{mean\ log\ loss} + \lambda
    \frac{K}{n} (|v|^2 + |b|^2)`. The problem is convex; Newton's method ends where the largest
    entry of its gradient is below 1e-8.

    Parameters
    ----------
    ridge : float >= 0, default 1.0
        :math:`\lambda`, a multiple of the published penalty.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float, of the first step.
    scale_, shift_ : (K,), 1 + v and b.
    mixing_ : float, the share 1 / (n + 1) of the uniform distribution in z; n is the sum of the
        weights.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    VectorScaling : without the penalty.
    StructuredMatrixScaling : with terms between classes.

    Notes
    -----
    A safe choice from K = 2 to K = 1000: it is close to temperature scaling with few rows, and with
    many it corrects each class. A class absent from the calibration set keeps about its prior
    share. With more rows than classes squared, see structured matrix scaling.

    References
    ----------
    Berta, Holzmüller, Jordan and Bach, "Structured matrix scaling for multi-class calibration",
    2025 (arXiv:2511.03685).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 500)
    >>> y = (
    ...     (P * [3, 1, 1] / (P * [3, 1, 1]).sum(1, keepdims=True))
    ...     .cumsum(1)
    ...     .__gt__(rng.random((500, 1)))
    ...     .argmax(1)
    ... )
    >>> cal = StructuredVectorScaling().fit(P, y)
    >>> cal.status_, bool(cal.shift_[0] > cal.shift_[1])
    ('converged', True)
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="structured vector scaling (SVS)")

    def __init__(
        self,
        *,
        ridge: float = 1.0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.ridge: float = ridge

    def _fit(self, record: Any) -> None:
        require_not_negative("ridge", self.ridge)
        found = tempered_scores(record)
        ridge = self.ridge * record.n_classes / float(record.weights.sum())
        near, tolerance = record.work.vector, tolerance_for(found[0])
        self._learn("structured vector scaling", record, found, ridge, near, tolerance)

    def _predict_proba(self, record: Any) -> np.ndarray:
        z = log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.temperature_)
        return softmax(vector_logits(np.stack([self.scale_, self.shift_]), z))
