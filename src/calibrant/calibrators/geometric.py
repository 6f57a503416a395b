"""Confidence from the distances to the training set, alone or combined with the model's score."""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from calibrant._numerics.fixed_order import multiply_rows, sum_rows
from calibrant._numerics.logistic import (
    clipped_logs,
    fit_sigmoid,
    inner_limits,
    logistic_derivatives,
    sigmoid,
    smoothed_targets,
)
from calibrant.calibrators.confidence import ConfidenceCalibrator
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.calibrators.separation import FastSeparation, NearestRows, Separation
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.given import Inputs
from calibrant.core.kinds import require_map, require_signal
from calibrant.core.map import Map, Signal, fitted_signal
from calibrant.core.solving import ClassRates
from calibrant.errors import FitWarning, InputError, warn

__all__ = ["GeometricCalibrator"]

MODES = ("combined", "paper")
SAMPLE = 100


class GeometricCalibrator(
    Calibrator,
    examples=[{"per_class": True}, {"mode": "paper"}],
    family="signal and map",
    use="Distances to training rows and the score",
    common=True,
):
    r"""Confidence of the predicted label from geometric separation, with or without the model's own
    score.

    .. math:: P(\text{right}) = \sigma\Big(a \log p - b \log(1-p) + s\, S(x) + c\Big), \qquad a, b,
        s \ge 0

    where p is the top probability and S the separation of the row from the training set
    ("combined"). Here a = b (the shape of Platt scaling) unless different values (beta calibration)
    gain more than the BIC penalty of one parameter. The alternative is an isotonic map of S alone
    ("paper").

    Parameters
    ----------
    mode : {"combined", "paper"}
    signal : Signal, optional
        Default :class:`FastSeparation`; any signal works.
    map : Map, optional
        For "paper": default ``Isotonic()``; ``Platt(scale="probability")`` is the paper's sigmoid.
    unweighted : bool, default False
        For "paper": each distinct value of the signal counts once, as in the authors' code, however
        many rows have it. Weights then do not mean repetition.
    per_class : bool, default False
        Separate fits for each predicted class. Use it with two dissimilar classes, such as a rare
        event, whose confident positives and confident negatives would otherwise be pooled. A class
        with fewer than 5 right or 5 wrong rows gets its rate (right + 1/2) / (n + 1), with a
        warning.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    signal_ : the fitted signal; it holds the training set, which is saved with it.
    nbytes_ : int, bytes of the stored training set.
    coefficients_ : (4,) a, b, s, c; or (K, 4) per class with nan for a class that has its rate
        ("combined").
    limits_ : the limits near 0 and 1 to which the score is clipped, as in :class:`Platt`
        ("combined").
    rate_ : (K,) the constant confidences of classes without a fit, or None.
    calibrator_ : the fitted :class:`ConfidenceCalibrator` ("paper").

    Raises
    ------
    InputError
        Without ``X`` or ``reference``, or for an option out of range.

    See Also
    --------
    FastSeparation : the default signal.
    StackedConfidence : combines any signals.

    Notes
    -----
    Fit on validation rows outside the training set: a training point is at distance 0 from itself.
    Use it where distances between inputs are meaningful (small images, standardised tables, hidden
    layers). "combined" keeps the information of the score, and is better for ranking and log loss;
    "paper" shows the information of geometry alone.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, sections 3.3 and 4.2.2. "combined" is not in the paper.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def draw(n):
    ...     y = rng.integers(0, 2, n)
    ...     return rng.normal(2.0 * y[:, None] - 1.0, 1.0, (n, 2)), y
    >>> (X_train, y_train), (X, y) = draw(200), draw(200)
    >>> P = np.where(X[:, :1] > 0, [0.2, 0.8], [0.8, 0.2])
    >>> cal = GeometricCalibrator().fit(P, y, X=X, reference=(X_train, y_train))
    >>> safe, near_the_border = cal.predict_confidence(
    ...     P[:1].repeat(2, 0), X=np.sign(X[0, 0]) * np.array([[2.0, 2.0], [0.1, 0.0]])
    ... )
    >>> bool(safe > near_the_border)
    True
    """

    status_: str

    def __init__(
        self,
        mode: Literal["combined", "paper"] = "combined",
        *,
        signal: str | Signal | None = None,
        map: Map | None = None,
        unweighted: bool = False,
        per_class: bool = False,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.mode: Literal["combined", "paper"] = mode
        self.signal: str | Signal | None = signal
        self.map: Map | None = map
        self.unweighted: bool = unweighted
        self.per_class: bool = per_class

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags; the signal determines the inputs beside P."""
        needs = self._unfitted_signal().tags
        return Tags(
            output="confidence",
            random=needs.random or self._unfitted_map().tags.random,
            uses_features=needs.uses_features,
            needs_reference=needs.needs_reference,
            label="geometric separation",
        )

    def _unfitted_signal(self) -> Any:
        return FastSeparation() if self.signal is None else require_signal(self.signal)

    def _unfitted_map(self) -> Any:
        return Isotonic() if self.map is None else require_map(self.map)

    @property
    def nbytes_(self) -> int:
        """Number of bytes of the stored training set."""
        return self.signal_.nbytes_

    def add(self, X: Any, y: ArrayLike) -> Self:
        """Add training points to the fitted signal, in place; the parts fitted on the validation
        rows stay.

        Parameters
        ----------
        X, y : as in :meth:`FastSeparation.add`

        Returns
        -------
        self
        """
        require_fitted(self, "signal_")
        if not hasattr(self.signal_, "add"):
            raise InputError(
                f"only a separation signal stores points to add to; {type(self.signal_).__name__}"
                " does not; fit again."
            )
        self.signal_.add(X, y)
        return self

    def explain_rows(self, P: ArrayLike, *, X: Any) -> NearestRows:
        """Explain the confidence of each row by its nearest training rows.

        Parameters
        ----------
        P, X : as in ``predict_confidence``

        Returns
        -------
        NearestRows
            The separation and zone of each row, the distance and position of the nearest training
            row of the predicted class and of any other, and the confidence; ``frame()`` is a table.

        Examples
        --------
        >>> reference = [[0.0], [1.0], [4.0]], [0, 0, 1]
        >>> cal = GeometricCalibrator().fit(
        ...     [[0.9, 0.1], [0.2, 0.8]], [0, 0], X=[[0.0], [2.0]], reference=reference
        ... )
        >>> found = cal.explain_rows([[0.9, 0.1], [0.2, 0.8]], X=[[2.0], [2.0]])
        >>> found.zone.tolist(), found.other_row.tolist(), found.other_class.tolist()
        (['safe', 'dangerous'], [2, 1], [1, 0])
        """
        record = self._ready(self._read(P, X))
        if not isinstance(self.signal_, Separation):
            raise InputError(
                "only a separation signal has nearest training rows;"
                f" {type(self.signal_).__name__} has none; fit with FastSeparation()."
            )
        found = self.signal_.explain_record(record)
        return replace(found, confidence=self.confidence_record(record))

    def _fit(self, record: Any) -> None:
        self._option("mode", *MODES)
        if self.mode == "combined" and (self.map is not None or self.unweighted):
            raise InputError(
                'map and unweighted belong to mode="paper"; leave them out, or pass mode="paper".'
            )
        if self.mode == "paper":
            self._fit_paper(record)
        else:
            self._fit_combined(record)
        if _trained_on(self.signal_, record):
            warn(
                "X must hold rows outside the training set; got the training rows of reference,"
                " each at distance 0 from itself; pass predictions and features of rows that the"
                " model was not trained on.",
            )

    def _fit_paper(self, record: Any) -> None:
        parts = {"signal": self._unfitted_signal(), "map": self._unfitted_map()}
        self.calibrator_: ConfidenceCalibrator | None = ConfidenceCalibrator(
            **parts, per_class=self.per_class, inputs=record.kind, classes=record.classes
        )
        self.calibrator_.fit_record(record)
        if self.unweighted:
            score = self.calibrator_.signal_.score_record(record)
            _, value = np.unique(score, return_inverse=True)
            each = record.weights / np.bincount(value, weights=record.weights)[value]
            self.calibrator_.fit_scores(replace(record, weight=each), score)
        self.signal_, self.rate_ = self.calibrator_.signal_, self.calibrator_.rate_
        self.coefficients_ = self.limits_ = None
        self.status_ = getattr(self.calibrator_, "status_", "exact")

    def _fit_combined(self, record: Any) -> None:
        self.calibrator_ = self.rate_ = None
        self.signal_: Any = fitted_signal(self._unfitted_signal(), record)
        self.limits_: tuple[float, float] | None = inner_limits(
            record.confidence, record.weights.sum()
        )
        columns = self._columns(record)
        if not self.per_class:
            self.coefficients_, self.status_ = _fit_rows(columns, record.correct, record.weights)
            return
        rates = ClassRates.count(record)
        rates.warn(record.classes)
        self.rate_: np.ndarray | None = rates.shrunk
        self.coefficients_: np.ndarray | None = np.full((record.n_classes, 4), np.nan)
        for k in np.flatnonzero(rates.enough):
            own = record.predicted == k
            self.coefficients_[k], status = _fit_rows(
                columns[own], record.correct[own], record.weights[own]
            )
            self.status_ = status if status != "converged" else self.status_

    def _columns(self, record: Any) -> np.ndarray:
        """Return (n, 3): log p, -log(1 - p) and the signal."""
        low, high = clipped_logs(record.confidence, self.limits_)
        return np.column_stack([low, -high, self.signal_.score_record(record)])

    def _predict_confidence(self, record: Any) -> np.ndarray:
        if self.calibrator_ is not None:
            return self.calibrator_.confidence_record(record)
        columns = self._columns(record)
        if self.coefficients_.ndim == 1:
            return sigmoid(multiply_rows(columns, self.coefficients_[:3]) + self.coefficients_[3])
        own = self.coefficients_[record.predicted]
        z = sum_rows(columns * own[:, :3]) + own[:, 3]
        return np.where(np.isnan(z), self.rate_[record.predicted], sigmoid(np.nan_to_num(z)))


def _fit_rows(
    columns: np.ndarray, correct: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, str]:
    """Return (a, b, s, c) and the status of a fit to Platt's smoothed targets, which stays finite
    on separable rows.
    """
    target = smoothed_targets(correct, weight)
    logit = np.column_stack([columns[:, 0] + columns[:, 1], columns[:, 2]])
    (a, s, c), status = fit_sigmoid(logit, target, weight, identity=[1.0, 0.0])
    theta = np.array([a, a, s, c])
    bent, bent_status = fit_sigmoid(columns, target, weight, identity=[1.0, 1.0, 0.0])
    if bent_status == "converged" and _loss(bent, columns, target, weight) < _loss(
        theta, columns, target, weight
    ) - _price(weight):
        theta, status = np.array(bent), bent_status
    if status != "converged":
        warn(
            f"the logistic fit of GeometricCalibrator ended {status}; check the scale of the"
            " signal.",
            FitWarning,
        )
    return theta, status


def _trained_on(signal: Any, record: Any) -> bool:
    """Return whether the first rows to calibrate on are training rows: each is at distance 0 from
    one, and most are not copies of each other.
    """
    if not isinstance(signal, Separation):
        return False
    near = signal.nearest_record(record.take(slice(0, SAMPLE)))
    own = near.same <= near.other
    row = np.where(own, near.same_row, near.other_row)
    at_zero = not np.minimum(near.same, near.other).any()
    return len(record) > 1 and at_zero and 2 * len(np.unique(row)) > len(row)


def _loss(theta: Any, columns: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    return logistic_derivatives(
        np.asarray(theta), np.column_stack([columns, np.ones(len(columns))]), target, weight
    )[0]


def _price(weight: np.ndarray) -> float:
    """Return the BIC penalty of one parameter, in log loss."""
    return 0.5 * np.log(max(weight.sum(), 1.0))
