"""Matrix scaling: a full matrix and a shift of the log-probabilities."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.multinomial import matrix_logits, matrix_objective
from calibrant._kernels.softmax import softmax
from calibrant._support.options import require_matrix_size, require_not_negative
from calibrant._support.solving import solve
from calibrant._support.status import warn_unless_converged
from calibrant._support.tempered import scores_at, tempering
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.predictions import Inputs

__all__ = ["MatrixScaling"]


class MatrixScaling(Calibrator):
    r"""Matrix scaling: any linear map of the log-probabilities, and a shift.

    .. math:: Q = \mathrm{softmax}(A z + b), \qquad
        z = \log\left(\tfrac{n}{n + 1}\, \mathrm{softmax}(\log P / T) + \tfrac{1}{(n + 1) K}\right)

    with T of least log loss, then A, b minimising :math:`\mathrm{mean\ log\ loss} + \frac{\lambda}{n} (|\mathrm{diag}\, A - 1|^2 + |b|^2) +
    \frac{\lambda_o}{n} |\mathrm{offdiag}\, A|^2`.

    Parameters
    ----------
    ridge : float >= 0, default 10.0
        :math:`\lambda`, in pseudo-rows.
    off_diagonal : float >= 0 or None
        :math:`\lambda_o`, in pseudo-rows; None is K², the number of entries it holds back.
    smooth : bool, default True
        Mix the uniform distribution into z as above, so that a probability of exactly 0 has no leverage.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float, of the first step.
    mixing_ : float, the share 1 / (n + 1) of the uniform distribution in z (0 without ``smooth``).
    matrix_ : (K, K), A.
    shift_ : (K,), b.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    StructuredMatrixScaling, DirichletCalibration : held back, for few rows.
    VectorScaling : a scale and a shift for each class.

    Notes
    -----
    ``MatrixScaling(ridge=0, off_diagonal=0, smooth=False)`` is the textbook method, which overfits badly from a hundred classes on: on
    5,000 rows of a CIFAR-100 network it multiplies the log loss by ten. With the default penalties it is close to structured matrix
    scaling, which is the one to use unless you want to set the penalties yourself.

    References
    ----------
    Guo et al., "On calibration of modern neural networks", ICML 2017, section 4.2.

    Examples
    --------
    >>> P = [[0.7, 0.3], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8], [0.55, 0.45], [0.3, 0.7]]
    >>> cal = MatrixScaling().fit(P, [0, 1, 1, 1, 1, 0])
    >>> cal.status_, cal.matrix_.shape
    ('converged', (2, 2))
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="matrix scaling")
    temperature_: float
    mixing_: float
    gradient_: float
    matrix_: np.ndarray
    shift_: np.ndarray
    status_: str

    def __init__(
        self, *, ridge: float = 10.0, off_diagonal: float | None = None, smooth: bool = True, inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.ridge: float = ridge
        self.off_diagonal: float | None = off_diagonal
        self.smooth: bool = smooth
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(smooth=False), cls(inputs="logit")]

    def _fit(self, record):
        require_matrix_size("MatrixScaling", record.n_classes)
        n, n_classes = float(record.weights.sum()), record.n_classes
        off_diagonal = float(n_classes**2) if self.off_diagonal is None else self.off_diagonal
        require_not_negative("ridge", self.ridge)
        require_not_negative("off_diagonal", off_diagonal)
        self.temperature_, self.mixing_ = tempering(record, self.smooth)
        identity = np.eye(n_classes, n_classes + 1)
        ridge = np.full(identity.shape, off_diagonal)
        ridge[identity > 0] = self.ridge
        ridge[:, -1] = self.ridge
        objective = matrix_objective(scores_at(record, self.temperature_, self.mixing_), record.labels, record.weights, ridge / n, identity)
        theta, self.status_, self.gradient_ = solve(objective, identity)
        self.matrix_, self.shift_ = theta[:, :-1], theta[:, -1]
        warn_unless_converged("matrix scaling", self.status_, self.gradient_, "raise ridge or off_diagonal")

    def _predict_proba(self, record):
        return softmax(matrix_logits(np.column_stack([self.matrix_, self.shift_]), scores_at(record, self.temperature_, self.mixing_)))

    def _expression(self, record):
        return record.tempered(self.temperature_, self.mixing_).matrix(self.matrix_, self.shift_).softmax()
