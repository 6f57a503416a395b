"""Sigmoid of a quadratic function of the log-odds."""

from typing import Any

import numpy as np

from calibrant._numerics.logistic import (
    clipped_log_odds,
    fit_logistic,
    inner_limits,
    sigmoid,
    smoothed_targets,
)
from calibrant.core.calibrator import MapTags
from calibrant.core.estimators import require_not_negative
from calibrant.core.map import Map
from calibrant.errors import FitWarning, warn

__all__ = ["QuadraticScaling"]


class QuadraticScaling(
    Map,
    examples=[{"ridge": 0.0, "smoothing": False}],
    family="sigmoids",
    use="A sigmoid of a parabola; 1,000 rows and more",
    common=True,
):
    r"""Quadratic scaling: logistic regression on the log-odds and their square.

    .. math:: g(s) = \sigma(b + w_1 l + w_2 l^2), \qquad l = \log\frac{s}{1 - s}

    It is fitted by Newton's method to Platt's smoothed targets. Constant scores keep w₁ = 1 and w₂
    = 0. In binary problems, pass P(class 1) and the labels; for more classes, wrap it one-vs-rest.
    With a large ``ridge`` it is the affine map, :class:`Platt` on the logit.

    Parameters
    ----------
    monotone : bool, default True
        Whether to keep the slope at least 0 between the smallest and largest score of the fit;
        outside, the curve follows its tangent. False allows a turning point, with a FitWarning
        where it lies within the data.
    ridge : float >= 0, default 1.0
        Penalty on the quadratic part, in pseudo-rows: (ridge / 2) times its squared coefficient,
        for log-odds of unit spread.
    smoothing : bool, default True
        Whether to use Platt's targets, which keep the fit finite on separable data. False, with
        ``ridge=0``, is maximum likelihood (among non-decreasing curves with ``monotone``);
        separable data are still smoothed, with status "separable".

    Attributes
    ----------
    intercept_, linear_, quadratic_ : float, b, w1 and w2.
    range_ : (float, float), the range of log-odds in the fit.
    limits_ : (lowest score, smallest gap from 1) that the logit is taken of.
    status_ : "converged", "separable", "max steps" or "stalled".

    See Also
    --------
    Platt : the map without the square.
    Spline : a map with as many bends as the data support.

    Notes
    -----
    It has one more bend than Platt scaling, for a few hundred rows or more, and corrects models
    that are overconfident on one side only.

    References
    ----------
    Berta, Holzmüller, Jordan and Bach, "Structured matrix scaling for multi-class calibration",
    2025 (arXiv:2511.03685).

    Examples
    --------
    >>> m = QuadraticScaling().fit([0.1, 0.2, 0.4, 0.6, 0.8, 0.9], [0, 1, 0, 1, 0, 1])
    >>> bool(m.predict([0.9])[0] > m.predict([0.1])[0])
    True
    """

    status_: str

    def __init__(
        self, *, monotone: bool = True, ridge: float = 1.0, smoothing: bool = True
    ) -> None:
        self.monotone: bool = monotone
        self.ridge: float = ridge
        self.smoothing: bool = smoothing

    @property
    def tags(self) -> MapTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the map; an unconstrained quadratic may be non-monotone."""
        return MapTags(
            domain="unit",
            monotone=self.monotone,
            smooth=True,
            soft_labels=True,
            label="quadratic scaling",
        )

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        require_not_negative("ridge", self.ridge)
        self.limits_: tuple[float, float] = inner_limits(score, weight.sum())
        logit = clipped_log_odds(score, self.limits_)
        self.range_: tuple[float, float] = (float(logit.min()), float(logit.max()))
        centre = weight @ logit / weight.sum()
        spread = float(np.sqrt(weight @ (logit - centre) ** 2 / weight.sum()))
        # A spread that is only rounding error does not determine a slope, so the slope stays 1.
        flat = spread <= 1e-12 * max(1.0, abs(centre))
        spread, t = (1.0, np.zeros(len(logit))) if flat else (spread, (logit - centre) / spread)
        separable = score[correct == 0.0].max(initial=-np.inf) <= score[correct == 1.0].min(
            initial=np.inf
        )
        target = smoothed_targets(correct, weight) if self.smoothing or separable else correct
        (b, w1, w2), self.status_ = self._coefficients(t, target, weight, flat)
        if (
            self.monotone
            and not flat
            and min(w1 + 2.0 * w2 * t.min(), w1 + 2.0 * w2 * t.max()) < 0.0
        ):
            (b, w1, w2), self.status_ = _rising(t, target, weight, self._workspace.rising_curve)
        if separable and not self.smoothing:
            self.status_ = "separable"
        self.quadratic_: float = float(w2 / spread**2)
        self.linear_: float = float(w1 / spread - 2.0 * self.quadratic_ * centre)
        self.intercept_: float = float(b - w1 * centre / spread + self.quadratic_ * centre**2)
        if not self.monotone:
            self._warn_of_a_turn()

    def _coefficients(
        self, t: np.ndarray, target: np.ndarray, weight: np.ndarray, flat: bool
    ) -> tuple[np.ndarray, str]:
        design, identity = np.column_stack([np.ones(len(t)), t, t * t]), np.array([0.0, 1.0, 0.0])
        starts = [identity] if flat else [np.zeros(3), identity]
        ridge = np.array([0.0, 0.0, self.ridge])
        return _begun(
            self._workspace.curve,
            starts,
            lambda s, loose: fit_logistic(design, target, weight, s, ridge=ridge, loose=loose),
        )

    def _warn_of_a_turn(self) -> None:
        low, high = self.range_
        slopes = self.linear_ + 2.0 * self.quadratic_ * np.array([low, high])
        if slopes.min() < 0.0 < slopes.max():
            turn = -0.5 * self.linear_ / self.quadratic_
            message = (
                f"the quadratic map has a turning point at log-odds {turn:.3g}, within the data"
                f" ({low:.3g} to {high:.3g}); pass monotone=True."
            )
            warn(message, FitWarning)

    def _predict(self, score: np.ndarray) -> np.ndarray:
        logit = clipped_log_odds(score, self.limits_)
        inside = np.clip(logit, *self.range_)
        value = self.intercept_ + self.linear_ * inside + self.quadratic_ * inside**2
        return sigmoid(value + (self.linear_ + 2.0 * self.quadratic_ * inside) * (logit - inside))

    def _expression(self, score: Any) -> Any:
        logit = score.log_odds(*self.limits_)
        inside = logit.clip(*self.range_)
        value = inside * inside * self.quadratic_ + inside * self.linear_ + self.intercept_
        return (
            value + (inside * (2.0 * self.quadratic_) + self.linear_) * (logit - inside)
        ).sigmoid()


def _begun(begin: Any, starts: list[np.ndarray], fit: Any) -> tuple[np.ndarray, str]:
    """Return (coefficients, status) of ``fit(starts, loose)``; ``begin`` may hold the result of the
    last fit on nearly the same rows.
    """
    if begin.end is not None:
        return fit([begin.end], True)
    found = fit(starts, False)
    begin.end = found[0]
    return found


def _rising(
    t: np.ndarray, target: np.ndarray, weight: np.ndarray, begin: Any
) -> tuple[tuple[float, float, float], str]:
    """Return ((b, w1, w2), status) with slopes of at least 0 at both ends of t; those slopes are
    the unknowns.
    """
    low, width = t.min(), t.max() - t.min()
    late = (t - low) ** 2 / (2.0 * width)
    design = np.column_stack([np.ones(len(t)), (t - low) - late, late])
    bounded = np.array([False, True, True])
    starts = [np.zeros(3), np.array([0.0, 1.0, 1.0])]
    (b, first, last), status = _begun(
        begin,
        starts,
        lambda s, loose: fit_logistic(design, target, weight, s, nonnegative=bounded, loose=loose),
    )
    w2 = (last - first) / (2.0 * width)
    return (b - first * low + w2 * low**2, first - 2.0 * w2 * low, w2), status
