"""Increasing maps of the log-probabilities that keep the order of the classes in every row."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.gap_slopes import order_preserving_logits, slope_objective, slope_rows
from calibrant._kernels.projected_newton import projected_newton
from calibrant._kernels.softmax import log_softmax_mixed, softmax
from calibrant._support.options import require_not_negative
from calibrant._support.status import warn_unless_converged
from calibrant._support.tempered import tempered_scores
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.expression import LOWEST
from calibrant.contracts.tags import Tags
from calibrant.predictions import Inputs

__all__ = ["IntraOrderPreserving"]

#: Where the slope may change, as log-probabilities after temperature scaling: dense where predictions are confident.
KNOTS = np.array([-10.0, -7.0, -5.0, -3.5, -2.0, -1.0, -0.4, -0.1])
SMALLEST_SLOPE = 0.01


class IntraOrderPreserving(Calibrator):
    r"""Intra-order-preserving scaling: the order of the classes within every row stays as it is.

    .. math:: Q = \mathrm{softmax}(u), \qquad u_j = G(z_j)\ (j \ne \mathrm{top}), \qquad
        u_\mathrm{top} = G(z_{(2)}) + H(z_{(1)}) - H(z_{(2)})

    where z are the log-probabilities after temperature scaling, mixed with the uniform distribution at weight 1 / (n + 1),
    :math:`z_{(1)} \ge z_{(2)}` the two largest, and G, H increasing and piecewise linear with slopes s that minimise
    :math:`\mathrm{mean\ log\ loss} + \frac{\lambda}{n} \sum (s - 1)^2` over :math:`s \ge 0.01`: a convex problem with 18 unknowns.

    Parameters
    ----------
    ridge : float >= 0, default 3.0
        :math:`\lambda`, in pseudo-rows.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    temperature_, mixing_ : float, of the first step.
    slopes_ : (2, 9), of H and of G between the knots.
    gradient_ : float, the largest entry of the projected gradient at the end.
    status_ : "converged", "stalled" (rounding allows no further descent) or "max steps".

    See Also
    --------
    TemperatureScaling : keeps the order too, with one parameter.
    IsotonicPreserving : keeps the order too, with one map for all.

    Notes
    -----
    A temperature that depends on how confident the prediction is, and on whether the class leads. The predicted class and the ranking of
    the classes never change. It needs few rows for any number of classes, and cannot repair errors that differ between classes. The
    paper trains networks for the same family of maps (its theorem 1); the two functions here have one optimum, found without a network.

    References
    ----------
    Rahimi et al., "Intra order-preserving functions for calibration of multi-class neural networks", NeurIPS 2020.

    Examples
    --------
    >>> cal = IntraOrderPreserving().fit([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [0, 1, 1, 1])
    >>> cal.predict([[0.9, 0.1], [0.2, 0.8]]).tolist()
    [0, 1]
    """

    tags: ClassVar[Tags] = Tags(keeps_argmax=True, soft_labels=True, label="intra-order-preserving scaling (IOP)")
    temperature_: float
    mixing_: float

    def __init__(self, *, ridge: float = 3.0, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        self.ridge: float = ridge
        self.inputs: Inputs = inputs
        self.classes = classes

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _fit(self, record):
        require_not_negative("ridge", self.ridge)
        n = float(record.weights.sum())
        z, self.temperature_, self.mixing_ = tempered_scores(record)
        # A hold of a millionth of a row settles slopes that no row depends on.
        objective = slope_objective(self._rows(z, record), KNOTS, max(self.ridge, 1e-6) / n)
        kept = record.memory_of(("slopes", self.ridge))
        start = None if kept is None else kept.get("end")

        def above_least(x):
            return objective(x + SMALLEST_SLOPE)

        begin = np.full(2 * (len(KNOTS) + 1), 1.0 - SMALLEST_SLOPE) if start is None else start
        end, status = projected_newton(above_least, [begin], np.ones(len(begin), dtype=bool), loose=start is not None)
        if kept is not None and start is None:
            kept["end"] = end
        self.slopes_: np.ndarray = (end + SMALLEST_SLOPE).reshape(2, -1)
        gradient = above_least(end)[1] if start is None else np.zeros(1)
        self.gradient_: float = float(np.abs(np.where((end <= 0.0) & (gradient > 0.0), 0.0, gradient)).max())
        self.status_ = "converged" if self.gradient_ <= 1e-7 else status
        warn_unless_converged("intra-order-preserving scaling", self.status_, self.gradient_, "raise ridge or look at the data")

    def _rows(self, z, record):
        """The rows laid out for the search: once for all fits on the record where these share what they derive."""
        if record.derived.get("tempered") is not z:
            return slope_rows(z, record.labels, record.weights, KNOTS)
        if "slope rows" not in record.derived:
            record.derived["slope rows"] = slope_rows(z, record.labels, record.weights, KNOTS)
        return record.derived["slope rows"]

    def _predict_proba(self, record):
        z = log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.temperature_)
        return softmax(order_preserving_logits(self.slopes_, KNOTS, z))

    def _expression(self, record):
        z = record.tempered(self.temperature_, self.mixing_)
        top = z.argmax().gather(np.eye(record.n_classes))
        second = top.where(LOWEST, z).max()
        lead = _rising(z.max(), self.slopes_[0]) - _rising(second, self.slopes_[0])
        return (_rising(top.where(second, z), self.slopes_[1]) + top * lead).softmax()


def _rising(x, slopes):
    """The expression of the function with these slopes between the knots, 0 at the first."""
    values = np.concatenate([[0.0], np.cumsum(slopes[1:-1] * np.diff(KNOTS))])
    return x.interpolate(KNOTS, values, slopes[0], slopes[-1])
