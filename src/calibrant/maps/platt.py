"""Platt scaling: a sigmoid of the score."""

from typing import Literal

import numpy as np

from calibrant._kernels.logistic import fit_sigmoid, sigmoid, smoothed_targets
from calibrant._kernels.softmax import clipped_log_odds, inner_limits
from calibrant.contracts.map import Map
from calibrant.contracts.tags import MapTags

__all__ = ["Platt"]


class Platt(Map):
    r"""Platt scaling: logistic regression of correctness on the score.

    .. math:: g(s) = \frac{1}{1 + e^{-(a\,t(s) + b)}}, \qquad a \ge 0, \quad t(s) = \log\frac{s}{1-s} \text{ or } s

    fitted by Newton's method to Platt's smoothed targets, (N₁ + 1)/(N₁ + 2) for the N₁ right rows and 1/(N₀ + 2) for the N₀ wrong ones.

    Parameters
    ----------
    scale : {"logit", "probability"}
        What enters the sigmoid: the log-odds of a score in [0, 1], or the score itself (any real number).
    smoothing : bool, default True
        Platt's targets, which keep the fit finite on separable data. False is plain logistic regression; separable data are then
        smoothed all the same, with status "separable".

    Attributes
    ----------
    slope_, intercept_ : float
        a and b.
    limits_ : (lowest score, smallest gap from 1) that the logit is taken of: where the scores hold exact 0 (or 1), half the smallest other
        score (or gap), not below 1 / (2 n²), else 1e-12; None for ``scale="probability"``.
    status_ : "converged", "separable", "max steps" or "stalled".

    See Also
    --------
    Beta : one parameter more, for scores in [0, 1].
    OneVsRest : makes it calibrate class probabilities.

    Notes
    -----
    Two parameters: use it on small calibration sets. On the logit the identity is among its maps, so a calibrated model stays
    calibrated. ``scale="probability"`` cannot leave a calibrated model alone, yet it is the better one on forests, whose scores are
    averages of votes and often exactly 0 or 1. A score that ranks backwards gets slope 0, not a reversed map.
    Smoothed targets punish certainty even where it is right, so a few huge raw scores flatten the whole sigmoid: turn smoothing off then.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", 1999. Lin, Lin and Weng, "A note on Platt's probabilistic outputs for
    support vector machines", Machine Learning 68, 2007.

    Examples
    --------
    >>> m = Platt().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    >>> m.predict([0.2, 0.8]).round(2).tolist()
    [0.34, 0.66]
    """

    slope_: float
    intercept_: float

    def __init__(self, *, scale: Literal["logit", "probability"] = "logit", smoothing: bool = True) -> None:
        self.scale: Literal["logit", "probability"] = scale
        self.smoothing: bool = smoothing

    @property
    def tags(self) -> MapTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The logit asks for scores in [0, 1]; the score itself may be any real number."""
        return MapTags(
            domain="real" if self.scale == "probability" else "unit", monotone=True, smooth=True, soft_labels=True, label="Platt scaling"
        )

    @classmethod
    def _examples(cls):
        return [cls(), cls(scale="probability"), cls(smoothing=False)]

    def _fit(self, score, correct, weight):
        self._option("scale", "logit", "probability")
        self.limits_: tuple[float, float] | None = inner_limits(score, weight.sum()) if self.scale == "logit" else None
        x = self._transformed(score)
        separable = x[correct == 0.0].max(initial=-np.inf) <= x[correct == 1.0].min(initial=np.inf)
        target = smoothed_targets(correct, weight) if self.smoothing or separable else correct
        theta, self.status_ = fit_sigmoid(
            x[:, None], target, weight, identity=[float(self.scale == "logit")], memory=self._memory_of("sigmoid")
        )
        self.slope_, self.intercept_ = theta
        if separable and not self.smoothing:
            self.status_ = "separable"

    def _transformed(self, score):
        return score if self.scale == "probability" else clipped_log_odds(score, self.limits_)

    def _predict(self, score):
        return sigmoid(self.slope_ * self._transformed(score) + self.intercept_)

    def _expression(self, score):
        inside = score if self.limits_ is None else score.log_odds(*self.limits_)
        return (inside * self.slope_ + self.intercept_).sigmoid()
