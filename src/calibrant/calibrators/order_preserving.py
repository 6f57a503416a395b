"""Monotone scalings of all classes, which preserve the order of each row (or nearly so)."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.bins import flat_knots
from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.gap_slopes import order_preserving_logits, slope_objective, slope_rows
from calibrant._numerics.isotonic import between_knots, pool_ties, pooled_blocks, smooth_ends
from calibrant._numerics.logistic import log_softmax_mixed, normalise_rows, softmax
from calibrant._numerics.newton import projected_newton
from calibrant._numerics.temperature import inverse_temperature
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.estimators import require_not_negative
from calibrant.core.expression import ABOVE_ONE, LOWEST, join
from calibrant.core.given import Inputs
from calibrant.core.solving import tempered_scores, warn_unless_converged

__all__ = ["IntraOrderPreserving", "IsotonicOneVsRest", "IsotonicPreserving"]

#: Knots where the slope may change, as log-probabilities after temperature scaling; dense where
#: predictions are confident.
KNOTS = np.array([-10.0, -7.0, -5.0, -3.5, -2.0, -1.0, -0.4, -0.1])
SMALLEST_SLOPE = 0.01


class IntraOrderPreserving(
    Calibrator,
    examples=[{"inputs": "logit"}],
    family="one curve for all classes",
    use="Flexible; keeps the order of the classes in a row",
):
    r"""Intra-order-preserving scaling: maps that keep the order of the classes in every row.

    .. math:: Q = \mathrm{softmax}(u), \qquad u_j = G(z_j)\ (j \ne \mathrm{top}), \qquad
        u_\mathrm{top} = G(z_{(2)}) + H(z_{(1)}) - H(z_{(2)})

    where z are the log-probabilities after temperature scaling, mixed with the uniform distribution
    at weight 1 / (n + 1), :math:`z_{(1)} \ge z_{(2)}` the two largest, and G, H increasing and
    piecewise linear with slopes s that minimise
    :math:`\mathrm{mean\ log\ loss} + \frac{\lambda}{n} \sum (s - 1)^2` over :math:`s \ge 0.01`: a
    convex problem with 18 unknowns.

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
    It is a temperature that depends on the confidence of the prediction, and on whether the class
    is the top one. The predicted class and the ranking of the classes never change. It needs few
    rows for any number of classes, and cannot repair errors that differ between classes. The paper
    trains networks for the same family of maps (its theorem 1); the two functions here have one
    optimum, found without a network.

    References
    ----------
    Rahimi et al., "Intra order-preserving functions for calibration of multi-class neural
    networks", NeurIPS 2020.

    Examples
    --------
    >>> cal = IntraOrderPreserving().fit(
    ...     [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [0, 1, 1, 1]
    ... )
    >>> cal.predict([[0.9, 0.1], [0.2, 0.8]]).tolist()
    [0, 1]
    """

    tags: ClassVar[Tags] = Tags(
        keeps_argmax=True, soft_labels=True, label="intra-order-preserving scaling (IOP)"
    )
    temperature_: float
    mixing_: float

    def __init__(
        self,
        *,
        ridge: float = 3.0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.ridge: float = ridge

    def _fit(self, record: Any) -> None:
        require_not_negative("ridge", self.ridge)
        n = float(record.weights.sum())
        z, self.temperature_, self.mixing_ = tempered_scores(record)
        # A penalty of a millionth of a row determines slopes that no row depends on.
        objective = slope_objective(self._rows(z, record), KNOTS, max(self.ridge, 1e-6) / n)
        start = record.work.slopes.get(self.ridge)

        def above_least(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            return objective(x + SMALLEST_SLOPE)

        begin = np.full(2 * (len(KNOTS) + 1), 1.0 - SMALLEST_SLOPE) if start is None else start
        end, status = projected_newton(
            above_least, [begin], np.ones(len(begin), dtype=bool), loose=start is not None
        )
        record.work.slopes.setdefault(self.ridge, end)
        self.slopes_: np.ndarray = (end + SMALLEST_SLOPE).reshape(2, -1)
        gradient = above_least(end)[1] if start is None else np.zeros(1)
        self.gradient_: float = float(
            np.abs(np.where((end <= 0.0) & (gradient > 0.0), 0.0, gradient)).max()
        )
        self.status_ = "converged" if self.gradient_ <= 1e-7 else status
        warn_unless_converged(
            "intra-order-preserving scaling",
            self.status_,
            self.gradient_,
            "raise ridge or look at the data",
        )

    def _rows(self, z: np.ndarray, record: Any) -> list[Any]:
        """Return the rows laid out for the search, once for all fits that share the record's
        derived values.
        """
        if record.derived.tempered is not z:
            return slope_rows(z, record.labels, record.weights, KNOTS)
        if record.derived.slope_rows is None:
            record.derived.slope_rows = slope_rows(z, record.labels, record.weights, KNOTS)
        return record.derived.slope_rows

    def _predict_proba(self, record: Any) -> np.ndarray:
        z = log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.temperature_)
        return softmax(order_preserving_logits(self.slopes_, KNOTS, z))

    def _expression(self, record: Any) -> Any:
        z = record.tempered(self.temperature_, self.mixing_)
        top = z.argmax().gather(np.eye(record.n_classes))
        second = top.where(LOWEST, z).max()
        lead = _rising(z.max(), self.slopes_[0]) - _rising(second, self.slopes_[0])
        return (_rising(top.where(second, z), self.slopes_[1]) + top * lead).softmax()


def _rising(x: Any, slopes: np.ndarray) -> Any:
    """Return the expression of the function with these slopes between the knots, 0 at the first."""
    values = np.concatenate([[0.0], np.cumsum(slopes[1:-1] * np.diff(KNOTS))])
    return x.interpolate(KNOTS, values, slopes[0], slopes[-1])


#: Added slope that keeps the map strictly increasing inside the blocks of the isotonic fit.
TIE_BREAK = 1e-9


class IsotonicPreserving(
    Calibrator,
    examples=[{"inputs": "logit"}],
    family="one curve for all classes",
    use="One increasing map for all; keeps every label",
):
    r"""Accuracy-preserving isotonic regression (IRM): one increasing map for the probabilities of
    all classes.

    .. math:: Q_{ik} \propto g(P_{ik}), \qquad g = \arg\min_{g\ \mathrm{increasing}} \sum_i w_i
        \sum_k (1[y_i = k] - g(P_{ik}))^2

    plus :math:`10^{-9} p`, so that different probabilities of a row stay different.

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
    IsotonicOneVsRest : one map for each class, which may change labels.
    IntraOrderPreserving : keeps the order too, and is smooth.

    Notes
    -----
    The predicted class never changes. All classes share the data, so it needs fewer rows than one
    isotonic map a class; it cannot repair errors that differ between classes. A first block of 0
    and a last block of 1 receive Laplace smoothing, so that the log loss stays finite. The
    published code leaves the rows unnormalised; here they sum to 1.

    References
    ----------
    Zhang, Kailkhura and Han, "Mix-n-Match: ensemble and compositional methods for uncertainty
    calibration", ICML 2020, section 4.2.

    Examples
    --------
    >>> cal = IsotonicPreserving().fit(
    ...     [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [0, 1, 1, 1]
    ... )
    >>> cal.predict([[0.9, 0.1], [0.2, 0.8]]).tolist()
    [0, 1]
    """

    tags: ClassVar[Tags] = Tags(
        keeps_argmax=True, soft_labels=True, label="accuracy-preserving isotonic regression (IRM)"
    )

    def _fit(self, record: Any) -> None:
        weight = np.repeat(record.weights, record.n_classes)
        unique, mass, mean = pool_ties(record.probabilities.ravel(), record.one_hot.ravel(), weight)
        first, last, value, block_mass = pooled_blocks(mean, mass)
        self.score_: np.ndarray = flat_knots(unique[first], unique[last])
        self.value_: np.ndarray = np.repeat(smooth_ends(value, block_mass), 2)

    def _predict_proba(self, record: Any) -> np.ndarray:
        P = record.probabilities
        out = between_knots(P, self.score_, self.value_)
        out += TIE_BREAK * P
        out /= sum_rows(out)[:, None]
        # Entries closer than the rounding error may tie; the model's own label stays on top.
        rows = np.flatnonzero(out.argmax(axis=1) != record.predicted)
        out[rows, record.predicted[rows]] = np.nextafter(out[rows].max(axis=1), 2.0)
        return out

    def _expression(self, record: Any) -> Any:
        P = record.probabilities
        out = (P.interpolate(self.score_, self.value_) + P * TIE_BREAK).normalised()
        return record.is_predicted.where(out.max() * ABOVE_ONE, out)


class IsotonicOneVsRest(
    Calibrator,
    examples=[{"temperature": False}],
    family="one curve per class",
    use="Isotonic for each class after a temperature",
):
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
    It needs about a thousand rows a class. First blocks of 0 and last blocks of 1 receive Laplace
    smoothing, so no row is all zeros and the log loss is finite. The predicted class may change.
    The published code leaves the rows unnormalised.

    References
    ----------
    Zhang, Kailkhura and Han, "Mix-n-Match: ensemble and compositional methods for uncertainty
    calibration", ICML 2020, section 4.3; Zadrozny and Elkan, KDD 2002.

    Examples
    --------
    >>> cal = IsotonicOneVsRest().fit(
    ...     [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [0, 1, 1, 1]
    ... )
    >>> cal.predict([[0.9, 0.1], [0.2, 0.8]]).tolist()
    [0, 1]
    """

    tags: ClassVar[Tags] = Tags(
        soft_labels=True, label="one-vs-rest isotonic regression after temperature (IROvA-TS)"
    )
    score_: list[np.ndarray]
    value_: list[np.ndarray]

    def __init__(
        self,
        *,
        temperature: bool = True,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.temperature: bool = temperature

    def _fit(self, record: Any) -> None:
        self.temperature_: float = 1.0
        ordered, place = _rising_rows(record)
        if self.temperature:
            beta, _ = inverse_temperature(ordered.logits, ordered.labels, ordered.weights)
            self.temperature_ = 1.0 / beta
        Z = self._tempered(ordered, place)
        self.score_, self.value_ = [], []
        for k in range(record.n_classes):
            unique, mass, mean = pool_ties(
                Z[:, k], (record.labels == k).astype(np.float64), record.weights
            )
            first, last, value, block_mass = pooled_blocks(mean, mass)
            self.score_.append(flat_knots(unique[first], unique[last]))
            self.value_.append(np.repeat(smooth_ends(value, block_mass), 2))

    def _tempered(self, ordered: Any, place: np.ndarray) -> np.ndarray:
        Z = (
            softmax(ordered.logits * (1.0 / self.temperature_))
            if self.temperature
            else ordered.probabilities.copy()
        )
        for j in range(1, ordered.n_classes):
            same = ordered.values[:, j] == ordered.values[:, j - 1]
            Z[same, j] = Z[same, j - 1]
        return np.take_along_axis(Z, place, axis=1)

    def _predict_proba(self, record: Any) -> np.ndarray:
        Z = self._tempered(*_rising_rows(record))
        columns = [
            between_knots(Z[:, k], score, value)
            for k, (score, value) in enumerate(zip(self.score_, self.value_, strict=True))
        ]
        return normalise_rows(np.column_stack(columns))

    def _expression(self, record: Any) -> Any:
        Z = (
            (record.logits * (1.0 / self.temperature_)).softmax()
            if self.temperature
            else record.probabilities
        )
        tables = zip(self.score_, self.value_, strict=True)
        return join(
            [Z.column(k).interpolate(score, value) for k, (score, value) in enumerate(tables)]
        ).normalised()


def _rising_rows(record: Any) -> tuple[Any, np.ndarray]:
    """Return the record with the entries of each row in ascending order, and the place of each
    class in it, (n, K).

    Row sums are then rounded independently of the class order, so that equal probabilities stay
    equal and are pooled.
    """
    order = np.argsort(record.values, axis=1, kind="stable")
    place = np.argsort(order, axis=1)
    labels = None if record.labels is None else place[np.arange(len(record)), record.labels]
    return (
        replace(record, values=np.take_along_axis(record.values, order, axis=1), labels=labels),
        place,
    )
