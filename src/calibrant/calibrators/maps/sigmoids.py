"""Sigmoids of the score: Platt scaling; beta calibration, which has one more coefficient; and the
sigmoid of a quadratic function of the log-odds.
"""

from typing import Any, Literal

import numpy as np

from calibrant._numerics.logistic import (
    clipped_log_odds,
    clipped_logs,
    fit_logistic,
    fit_sigmoid,
    inner_limits,
    sigmoid,
    smoothed_targets,
)
from calibrant.core.calibrator import MapTags
from calibrant.core.estimators import require_not_negative
from calibrant.core.map import Map
from calibrant.errors import FitWarning, warn

__all__ = ["Beta", "Platt", "QuadraticScaling"]


class Platt(
    Map,
    examples=[{"scale": "probability"}, {"smoothing": False}],
    family="sigmoids",
    use="A sigmoid of the log-odds; few rows",
    common=True,
):
    r"""Platt scaling: logistic regression of correctness on the score.

    .. math:: g(s) = \frac{1}{1 + e^{-(a\,t(s) + b)}}, \qquad a \ge 0, \quad t(s) =
        \log\frac{s}{1-s} \text{ or } s

    It is fitted by Newton's method to Platt's smoothed targets, (N₁ + 1)/(N₁ + 2) for the N₁ right
    rows and 1/(N₀ + 2) for the N₀ wrong ones.

    Parameters
    ----------
    scale : {"logit", "probability"}
        The input of the sigmoid: the log-odds of a score in [0, 1], or the score itself (any real
        number).
    smoothing : bool, default True
        Whether to use Platt's targets, which keep the fit finite on separable data. False is plain
        logistic regression; separable data are still smoothed, with status "separable".

    Attributes
    ----------
    slope_, intercept_ : float
        a and b.
    limits_ : (lowest score, smallest gap from 1) to which scores are clipped before the logit: if
    the scores contain exact 0 (or 1), half the smallest other score (or gap), not below 1 / (2 n²),
    else 1e-12; None for ``scale="probability"``.
    status_ : "converged", "separable", "max steps" or "stalled".

    See Also
    --------
    Beta : a map with one more parameter, for scores in [0, 1].
    OneVsRest : a wrapper that calibrates class probabilities with it.

    Notes
    -----
    It has two parameters: use it on small calibration sets. On the logit it includes the identity,
    so a calibrated model stays calibrated. ``scale="probability"`` always changes a calibrated
    model, but is better for forests, whose scores are averages of votes and often exactly 0 or 1. A
    score that ranks in reverse gets slope 0, not a reversed map. Smoothed targets penalise
    certainty even where it is right, so a few huge raw scores flatten the whole sigmoid: turn
    smoothing off then.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", 1999. Lin, Lin and Weng, "A note on
    Platt's probabilistic outputs for support vector machines", Machine Learning 68, 2007.

    Examples
    --------
    >>> m = Platt().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    >>> m.predict([0.2, 0.8]).round(2).tolist()
    [0.34, 0.66]
    """

    slope_: float
    intercept_: float

    def __init__(
        self, *, scale: Literal["logit", "probability"] = "logit", smoothing: bool = True
    ) -> None:
        self.scale: Literal["logit", "probability"] = scale
        self.smoothing: bool = smoothing

    @property
    def tags(self) -> MapTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the map; the logit requires scores in [0, 1], the score itself may be any real
        number.
        """
        return MapTags(
            domain="real" if self.scale == "probability" else "unit",
            monotone=True,
            smooth=True,
            soft_labels=True,
            label="Platt scaling",
        )

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        self._option("scale", "logit", "probability")
        self.limits_: tuple[float, float] | None = (
            inner_limits(score, weight.sum()) if self.scale == "logit" else None
        )
        x = self._transformed(score)
        separable = x[correct == 0.0].max(initial=-np.inf) <= x[correct == 1.0].min(initial=np.inf)
        target = smoothed_targets(correct, weight) if self.smoothing or separable else correct
        theta, self.status_ = fit_sigmoid(
            x[:, None],
            target,
            weight,
            identity=[float(self.scale == "logit")],
            begin=self._workspace.line,
        )
        self.slope_, self.intercept_ = theta
        if separable and not self.smoothing:
            self.status_ = "separable"

    def _transformed(self, score: np.ndarray) -> np.ndarray:
        return score if self.scale == "probability" else clipped_log_odds(score, self.limits_)

    def _predict(self, score: np.ndarray) -> np.ndarray:
        return sigmoid(self.slope_ * self._transformed(score) + self.intercept_)

    def _expression(self, score: Any) -> Any:
        inside = score if self.limits_ is None else score.log_odds(*self.limits_)
        return (inside * self.slope_ + self.intercept_).sigmoid()


PARAMETERS = ("abm", "am", "ab")
LOG2 = float(np.log(2.0))


class Beta(
    Map,
    examples=[{"parameters": "am"}, {"parameters": "ab"}],
    family="sigmoids",
    use="Three coefficients; 1,000 rows and more",
    common=True,
):
    r"""Beta calibration: the correct map when the scores of right and wrong rows follow beta
    distributions.

    .. math:: g(s) = \frac{1}{1 + e^{-(a \log s - b \log(1 - s) + c)}}, \qquad a, b \ge 0

    It minimises the log loss under both constraints exactly (projected Newton on a convex
    function).

    Parameters
    ----------
    parameters : {"abm", "am", "ab"}
        The free parameters: all three; a = b (Platt scaling on the logit); or no shift, g(1/2) =
        1/2, so that c = (a - b) log 2.

    Attributes
    ----------
    a_, b_, c_ : float
    limits_ : (lowest score, smallest gap from 1) to which scores are clipped before logarithms: if
    the scores contain exact 0 (or 1), half the smallest other score (or gap), not below 1 / (2 n²)
    or 1 / (2 n), whichever has the lower log loss on
        the calibration rows; else 1e-12.
    status_ : "converged"; "separable" (every right row scores at least as high as every wrong one,
    or only one kind occurs; the log loss then has no finite optimum, and Platt's smoothed targets
    are used); "max steps" or
        "stalled".

    See Also
    --------
    Platt : a map with one parameter less, for few rows.
    Spline : a map with as many bends as the data support.

    Notes
    -----
    Its three parameters bend both ends of the scale separately; it includes the identity. It is a
    good first choice for binary models with a few hundred rows or more.

    References
    ----------
    Kull, Silva Filho and Flach, "Beta calibration: a well-founded and easily implemented
    improvement on logistic calibration for binary classifiers", AISTATS 2017.

    Examples
    --------
    >>> m = Beta().fit([0.2, 0.4, 0.6, 0.8, 0.9], [0, 1, 0, 1, 1])
    >>> bool(m.a_ >= 0 and m.b_ >= 0)
    True
    """

    limits_: tuple[float, float]
    a_: float
    b_: float
    c_: float

    def __init__(self, *, parameters: Literal["abm", "am", "ab"] = "abm") -> None:
        self.parameters: Literal["abm", "am", "ab"] = parameters

    @property
    def tags(self) -> MapTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Exceptions to the contract: without a shift, no map of the family moves scores across
        1/2.
        """
        fixed = {
            "constant_scores": (
                "g(1/2) = 1/2, so no map of the family raises a constant score of 0 above 1/2"
            ),
            "one_outcome_only": (
                "g(1/2) = 1/2, so scores above 1/2 never map below 1/2, whatever the outcomes"
            ),
        }
        return MapTags(
            domain="unit",
            monotone=True,
            smooth=True,
            soft_labels=True,
            label="beta calibration",
            exceptions=fixed if self.parameters == "ab" else {},
        )

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        self._option("parameters", *PARAMETERS)
        separable = _separable(score, correct, self.parameters)
        target = smoothed_targets(correct, weight) if separable else correct
        # Without exact 0 and 1 both limits are equal; otherwise the first is kept unless the second
        # fits better.
        tried = dict.fromkeys(inner_limits(score, weight.sum(), power) for power in (2.0, 1.0))
        begins = self._workspace.line, self._workspace.wider_line
        fits = [
            (*self._fitted(score, target, weight, limits, begin), limits)
            for limits, begin in zip(tried, begins, strict=False)
        ]
        _, (self.a_, self.b_, self.c_), status, self.limits_ = min(fits, key=lambda fit: fit[0])
        self.status_ = "separable" if separable else status

    def _fitted(
        self,
        score: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray,
        limits: tuple[float, float],
        begin: Any,
    ) -> tuple[float, tuple[float, float, float], str]:
        """Return (log loss, (a, b, c), status) with scores clipped to the limits."""
        low, high = _logs(score, limits)
        if self.parameters == "ab":
            (a, b), status = fit_sigmoid(
                np.column_stack([low + LOG2, high - LOG2]),
                target,
                weight,
                identity=[1.0, 1.0],
                intercept=False,
            )
            c = (a - b) * LOG2
        else:
            columns = (
                (low + high)[:, None] if self.parameters == "am" else np.column_stack([low, high])
            )
            theta, status = fit_sigmoid(
                columns, target, weight, identity=[1.0] * columns.shape[1], begin=begin
            )
            a, b, c = theta[0], theta[-2], theta[-1]
        z = a * low + b * high + c
        return float(weight @ (np.logaddexp(0.0, z) - target * z)), (a, b, c), status

    def _predict(self, score: np.ndarray) -> np.ndarray:
        low, high = _logs(score, self.limits_)
        return sigmoid(self.a_ * low + self.b_ * high + self.c_)

    def _expression(self, score: Any) -> Any:
        inside = score.clip(self.limits_[0], 1.0 - self.limits_[1])
        return (inside.log() * self.a_ - (1.0 - inside).log() * self.b_ + self.c_).sigmoid()


def _logs(score: np.ndarray, limits: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    low, high = clipped_logs(score, limits)
    return low, -high


def _separable(score: np.ndarray, correct: np.ndarray, parameters: str) -> bool:
    """Whether some increasing map of the family separates the right rows from the wrong ones, also
    with ties at the border.
    """
    wrong, right = (
        score[correct == 0.0].max(initial=-np.inf),
        score[correct == 1.0].min(initial=np.inf),
    )
    return wrong <= 0.5 <= right if parameters == "ab" else wrong <= right


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
