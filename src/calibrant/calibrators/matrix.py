"""Matrix scaling (plain, structured and Dirichlet) and vector scaling (plain and structured) of the
log-probabilities.

Matrix scaling applies a full matrix and a shift, vector scaling one scale and one shift for each
class.
"""

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.logistic import log_softmax_mixed, softmax
from calibrant._numerics.multinomial import (
    matrix_logits,
    matrix_objective,
    vector_logits,
    vector_objective,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.estimators import require_matrix_size, require_not_negative
from calibrant.core.given import Inputs
from calibrant.core.solving import (
    scores_at,
    solve,
    tempered_scores,
    tempering,
    tolerance_for,
    warn_unless_converged,
)

__all__ = [
    "DirichletCalibration",
    "MatrixScaling",
    "StructuredMatrixScaling",
    "StructuredVectorScaling",
    "VectorScaling",
]


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


class _Matrix(Calibrator):
    """Fitting and expression that all matrix scalings share."""

    temperature_: float
    mixing_: float
    gradient_: float
    matrix_: np.ndarray
    shift_: np.ndarray
    status_: str

    def _learn(
        self,
        name: str,
        record: Any,
        tempered: tuple[np.ndarray, float, float],
        ridge: np.ndarray,
        advice: str,
        search: Any = None,
        tolerance: float = 1e-8,
    ) -> None:
        """Learn matrix and shift, shrunk towards none, from ``tempered``: (z (n, K), temperature,
        mixing).
        """
        z, self.temperature_, self.mixing_ = tempered
        identity = np.eye(record.n_classes, record.n_classes + 1)
        objective = matrix_objective(z, record.labels, record.weights, ridge, identity)
        theta, self.status_, self.gradient_ = solve(objective, identity, search, tolerance)
        self.matrix_, self.shift_ = theta[:, :-1], theta[:, -1]
        warn_unless_converged(name, self.status_, self.gradient_, advice)

    def _expression(self, record: Any) -> Any:
        return (
            record.tempered(self.temperature_, self.mixing_)
            .matrix(self.matrix_, self.shift_)
            .softmax()
        )


class MatrixScaling(
    _Matrix,
    examples=[{"smooth": False}, {"inputs": "logit"}],
    family="vectors and matrices",
    use="Any linear map of the logits; very many rows",
):
    r"""Matrix scaling: any linear map of the log-probabilities, plus a shift.

    .. math:: Q = \mathrm{softmax}(A z + b), \qquad
        z = \log\left(\tfrac{n}{n + 1}\, \mathrm{softmax}(\log P / T) + \tfrac{1}{(n + 1) K}\right)

    where T minimises the log loss, and A, b then minimise
    :math:`\mathrm{mean\ log\ loss} + \frac{\lambda}{n} (|\mathrm{diag}\, A - 1|^2 + |b|^2) +
    \frac{\lambda_o}{n} |\mathrm{offdiag}\, A|^2`.

    Parameters
    ----------
    ridge : float >= 0, default 10.0
        :math:`\lambda`, in pseudo-rows.
    off_diagonal : float >= 0 or None
        :math:`\lambda_o`, in pseudo-rows; None means K², the number of penalised entries.
    smooth : bool, default True
        Mix the uniform distribution into z as above, so that a probability of exactly 0 has no
        leverage.
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
    StructuredMatrixScaling, DirichletCalibration : stronger penalties, for few rows.
    VectorScaling : a scale and a shift for each class.

    Notes
    -----
    ``MatrixScaling(ridge=0, off_diagonal=0, smooth=False)`` is the textbook method. It overfits
    badly from a hundred classes on: on 5,000 rows of a CIFAR-100 network it multiplies the log loss
    by ten. With the default penalties it is close to structured matrix scaling, which is preferable
    unless you want to set the penalties yourself.

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

    def __init__(
        self,
        *,
        ridge: float = 10.0,
        off_diagonal: float | None = None,
        smooth: bool = True,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.ridge: float = ridge
        self.off_diagonal: float | None = off_diagonal
        self.smooth: bool = smooth

    def _fit(self, record: Any) -> None:
        require_matrix_size("MatrixScaling", record.n_classes)
        n, n_classes = float(record.weights.sum()), record.n_classes
        off_diagonal = float(n_classes**2) if self.off_diagonal is None else self.off_diagonal
        require_not_negative("ridge", self.ridge)
        require_not_negative("off_diagonal", off_diagonal)
        at = tempering(record, self.smooth)
        ridge = _penalty(n_classes, self.ridge, off_diagonal, self.ridge) / n
        found = scores_at(record, *at), *at
        self._learn("matrix scaling", record, found, ridge, "raise ridge or off_diagonal")

    def _predict_proba(self, record: Any) -> np.ndarray:
        return softmax(
            matrix_logits(
                np.column_stack([self.matrix_, self.shift_]),
                scores_at(record, self.temperature_, self.mixing_),
            )
        )


class StructuredMatrixScaling(
    _Matrix,
    examples=[{"inputs": "logit"}],
    family="vectors and matrices",
    use="A shrunken matrix; 250 rows and more",
):
    r"""Structured matrix scaling (SMS): temperature scaling, then a full matrix and a shift, shrunk
    towards none.

    .. math:: Q = \mathrm{softmax}((I + \Delta) z + b), \qquad
        z = \log\left(\tfrac{n}{n + 1}\, \mathrm{softmax}(\log P / T) + \tfrac{1}{(n + 1) K}\right)

    where T minimises the log loss, and :math:`\Delta`, b minimise
    :math:`\mathrm{mean\ log\ loss} + \lambda \left[\frac{K}{n} (|\mathrm{diag}\, \Delta|^2 +
    |b|^2) + \frac{K (K - 1)}{n} |\mathrm{offdiag}\, \Delta|^2\right]`.
    The problem is convex; Newton's method (with conjugate gradients where K > 19) ends where the
    largest entry of its gradient is below 1e-8.

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
    mixing_ : float, the share 1 / (n + 1) of the uniform distribution in z; n is the sum of the
        weights.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    StructuredVectorScaling : without the terms between classes.
    EnsembleMatrixScaling : the mean of two of them, usually better.

    Notes
    -----
    The best single choice for many classes and a few hundred rows or more: it repairs confusions
    between classes, and the penalty reduces it to temperature scaling where data are few. It may
    change the predicted class, usually for the better. Fitting needs memory and time for K²
    numbers; beyond a thousand classes use structured vector scaling, which then gives nearly the
    same result.

    References
    ----------
    Berta, Holzmüller, Jordan and Bach, "Structured matrix scaling for multi-class calibration",
    2025 (arXiv:2511.03685).

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
        require_matrix_size("StructuredMatrixScaling", record.n_classes)
        require_not_negative("ridge", self.ridge)
        n, n_classes = float(record.weights.sum()), record.n_classes
        found = tempered_scores(record)
        penalty = _penalty(n_classes, n_classes, n_classes * (n_classes - 1.0), n_classes)
        self._learn(
            "structured matrix scaling",
            record,
            found,
            self.ridge / n * penalty,
            "raise ridge or look at the data",
            record.work.matrix,
            tolerance_for(found[0]),
        )

    def _predict_proba(self, record: Any) -> np.ndarray:
        z = log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.temperature_)
        return softmax(matrix_logits(np.column_stack([self.matrix_, self.shift_]), z))


class DirichletCalibration(
    _Matrix,
    examples=[{"smooth": False}],
    family="vectors and matrices",
    use="A matrix with a penalty off its diagonal",
):
    r"""Dirichlet calibration with off-diagonal and intercept regularisation (ODIR).

    .. math:: Q = \mathrm{softmax}(W \log P + b)

    which is correct if the predictions of each class follow a Dirichlet distribution. W and b
    minimise
    :math:`\mathrm{mean\ log\ loss} + \lambda \sum_{i \ne j} (T W_{ij})^2 + \mu |b|^2 +
    \frac{\delta}{n} \sum_i (T W_{ii} - 1)^2`.
    T is the optimum of temperature scaling, which makes the penalties independent of over- and
    underconfidence.

    Parameters
    ----------
    off_diagonal : float >= 0 or None
        :math:`\lambda`; None is K (K - 1) / n.
    intercept : float >= 0 or None
        :math:`\mu`; None is K / n.
    diagonal : float >= 0, default 10.0
        :math:`\delta`, in pseudo-rows. 0 is the published method with a free diagonal: a class that
        is absent from the calibration set, or perfectly separated, then has no finite optimum.
    smooth : bool, default True
        Mix P with the uniform distribution, at weight 1 / (n + 1), after the temperature, so that
        an exact 0 has no leverage. False uses log P itself, as in the paper.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_ : float, T; 1 without ``smooth``.
    mixing_ : float, 1 / (n + 1), or 0 without ``smooth``.
    matrix_ : (K, K), T W: the factor of log P / T; W itself without ``smooth``.
    shift_ : (K,), b.
    gradient_ : float, the largest entry of the gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    MatrixScaling : without the penalty.
    StructuredMatrixScaling : penalised too, after temperature scaling.

    Notes
    -----
    The default penalties follow a fixed rule, that of structured matrix scaling, and the two are
    then close. The paper searches a grid of penalties by cross-validation, which works here with
    scikit-learn's ``GridSearchCV``. Use it where you want to choose the penalties.

    References
    ----------
    Kull et al., "Beyond temperature scaling: obtaining well-calibrated multi-class probabilities
    with Dirichlet calibration", NeurIPS 2019, section 4.

    Examples
    --------
    >>> P = [[0.7, 0.3], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8], [0.55, 0.45], [0.3, 0.7]]
    >>> cal = DirichletCalibration().fit(P, [0, 1, 1, 1, 1, 0])
    >>> cal.status_, cal.matrix_.shape
    ('converged', (2, 2))
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="Dirichlet calibration (ODIR)")

    def __init__(
        self,
        *,
        off_diagonal: float | None = None,
        intercept: float | None = None,
        diagonal: float = 10.0,
        smooth: bool = True,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.off_diagonal: float | None = off_diagonal
        self.intercept: float | None = intercept
        self.diagonal: float = diagonal
        self.smooth: bool = smooth

    def _fit(self, record: Any) -> None:
        require_matrix_size("DirichletCalibration", record.n_classes)
        n, n_classes = float(record.weights.sum()), record.n_classes
        at = tempering(record, self.smooth)
        found, ridge = (self._scores(record, *at), *at), self._ridge(n, n_classes)
        advice = "raise diagonal, off_diagonal or intercept"
        self._learn("Dirichlet calibration", record, found, ridge, advice)
        if not self.smooth:
            # The expression uses log P, which sums to 1. Divided by a temperature it would not, and
            # a user's formula would differ.
            self.matrix_: np.ndarray = self.matrix_ / self.temperature_
            self.temperature_: float = 1.0

    def _ridge(self, n: float, n_classes: int) -> np.ndarray:
        off_diagonal = (
            n_classes * (n_classes - 1.0) / n if self.off_diagonal is None else self.off_diagonal
        )
        intercept = n_classes / n if self.intercept is None else self.intercept
        for name, value in (
            ("off_diagonal", off_diagonal),
            ("intercept", intercept),
            ("diagonal", self.diagonal),
        ):
            require_not_negative(name, value)
        return _penalty(n_classes, self.diagonal / n, off_diagonal, intercept)

    def _scores(self, record: Any, temperature: float, mixing: float) -> np.ndarray:
        if not mixing:
            return record.log_probabilities * (1.0 / temperature)
        return log_softmax_mixed(record.logits, mixing, 1.0 / temperature)

    def _predict_proba(self, record: Any) -> np.ndarray:
        z = self._scores(record, self.temperature_, self.mixing_)
        return softmax(matrix_logits(np.column_stack([self.matrix_, self.shift_]), z))

    def _expression(self, record: Any) -> Any:
        if self.mixing_:
            return (
                record.tempered(self.temperature_, self.mixing_)
                .matrix(self.matrix_, self.shift_)
                .softmax()
            )
        return (
            (record.log_probabilities * (1.0 / self.temperature_))
            .matrix(self.matrix_, self.shift_)
            .softmax()
        )


def _penalty(n_classes: int, diagonal: float, off_diagonal: float, shift: float) -> np.ndarray:
    """Return (K, K + 1) penalties of the entries of the matrix, and of the shift in the last
    column.
    """
    out = np.full((n_classes, n_classes + 1), float(off_diagonal))
    out[np.diag_indices(n_classes)] = diagonal
    out[:, -1] = shift
    return out
