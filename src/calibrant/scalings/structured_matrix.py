"""Structured matrix scaling: temperature first, then a full matrix and shift, each part held back by how many numbers it has."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.multinomial import matrix_logits, matrix_objective
from calibrant._kernels.softmax import log_softmax_mixed, softmax
from calibrant._support.options import require_matrix_size, require_not_negative
from calibrant._support.solving import solve
from calibrant._support.status import warn_unless_converged
from calibrant._support.tempered import tempered_scores, tolerance_for
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.predictions import Inputs

__all__ = ["StructuredMatrixScaling"]


class StructuredMatrixScaling(Calibrator):
    r"""Structured matrix scaling (SMS): after temperature scaling, a full matrix and a shift, shrunk towards none.

    .. math:: Q = \mathrm{softmax}((I + \Delta) z + b), \qquad
        z = \log\left(\tfrac{n}{n + 1}\, \mathrm{softmax}(\log P / T) + \tfrac{1}{(n + 1) K}\right)

    with T of least log loss, and :math:`\Delta`, b minimising :math:`\mathrm{mean\ log\ loss} + \lambda \left[\frac{K}{n}
    (|\mathrm{diag}\, \Delta|^2 + |b|^2) + \frac{K (K - 1)}{n} |\mathrm{offdiag}\, \Delta|^2\right]`. The problem is convex; Newton's method
    (with conjugate gradients where K > 19) ends where the largest entry of its gradient is below 1e-8.

    Parameters
    ----------
    ridge : float >= 0, default 1.0
        :math:`\lambda`, a multiple of the published penalty.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float, of the first step.
    matrix_ : (K, K), I + Delta.
    shift_ : (K,), b.
    mixing_ : float, the share 1 / (n + 1) of the uniform distribution in z; n is the sum of the weights.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    StructuredVectorScaling : without the terms between classes.
    EnsembleMatrixScaling : the mean of two of them, usually better.

    Notes
    -----
    The best single choice for many classes and a few hundred rows or more: it repairs confusions between classes, and the penalty
    leaves temperature scaling where the data are few. It may change the predicted class, usually for the better.
    Fitting needs memory and time for K² numbers; beyond a thousand classes use structured vector scaling, which it then
    hardly differs from.

    References
    ----------
    Berta, Holzmüller, Jordan and Bach, "Structured matrix scaling for multi-class calibration", 2025 (arXiv:2511.03685).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 500)
    >>> y = np.where(rng.random(500) < 0.3, 0, P.argmax(1))
    >>> cal = StructuredMatrixScaling().fit(P, y)
    >>> cal.status_, cal.matrix_.shape
    ('converged', (3, 3))
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="structured matrix scaling (SMS)")
    temperature_: float
    mixing_: float
    gradient_: float
    matrix_: np.ndarray
    shift_: np.ndarray
    status_: str

    def __init__(self, *, ridge: float = 1.0, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        self.ridge: float = ridge
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _fit(self, record):
        require_matrix_size("StructuredMatrixScaling", record.n_classes)
        require_not_negative("ridge", self.ridge)
        n, n_classes = float(record.weights.sum()), record.n_classes
        z, self.temperature_, self.mixing_ = tempered_scores(record)
        identity = np.eye(n_classes, n_classes + 1)
        objective = matrix_objective(z, record.labels, record.weights, self._penalty(n, n_classes), identity)
        theta, self.status_, self.gradient_ = solve(objective, identity, record.memory_of("structured matrix"), tolerance_for(z))
        self.matrix_, self.shift_ = theta[:, :-1], theta[:, -1]
        warn_unless_converged("structured matrix scaling", self.status_, self.gradient_, "raise ridge or look at the data")

    def _penalty(self, n, n_classes):
        ridge = np.full((n_classes, n_classes + 1), n_classes * (n_classes - 1.0))
        ridge[np.arange(n_classes), np.arange(n_classes)] = n_classes
        ridge[:, -1] = n_classes
        return self.ridge / n * ridge

    def _predict_proba(self, record):
        z = log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.temperature_)
        return softmax(matrix_logits(np.column_stack([self.matrix_, self.shift_]), z))

    def _expression(self, record):
        return record.tempered(self.temperature_, self.mixing_).matrix(self.matrix_, self.shift_).softmax()
