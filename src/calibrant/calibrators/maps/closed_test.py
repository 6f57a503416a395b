"""Closed test for the simplest recalibration that the data require."""

from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.logistic import inner_limits, intercept_at_unit_slope, sigmoid
from calibrant._numerics.smoothing import (
    cube_weights,
    fit_restricted_spline,
    spline_design,
    spline_knots,
)
from calibrant.core.calibrator import MapTags
from calibrant.core.map import Map
from calibrant.errors import InputError

__all__ = ["ClosedTest"]

KNOTS = 4
#: Upper bound of the distance between log-odds within the limits.
FARTHEST = 100.0
#: Updates in the order of their number of parameters; the flexible one is last.
UPDATES = ("nothing", "intercept", "intercept and slope", "flexible")


# At a high level the flexible curve is almost always chosen.
class ClosedTest(
    Map,
    examples=[{"alpha": 0.999}],
    family="sigmoids",
    use="The simplest update that a test does not reject",
):
    r"""Closed test among no update, a new intercept, a new intercept and slope, and a flexible
    curve.

    .. math:: \mathrm{logit}\, g(s) = l, \quad a + l, \quad a + b\, l, \quad a + b\, l + \sum_j c_j
        h_j(l), \qquad l = \log\frac{s}{1 - s}

    Here :math:`h_j` is the curved part of a restricted cubic spline with 4 knots. The likelihood
    ratio of the flexible curve to no update is tested first; if it is not significant, nothing is
    changed. Then the curve is tested against the intercept, and against intercept and slope, each
    only if the previous test was significant. The first update that is not rejected is chosen, else
    the flexible curve.

    Parameters
    ----------
    alpha : float, default 0.05
        The level of each test, and so the probability of changing a calibrated model.

    Attributes
    ----------
    chosen_ : "nothing", "intercept", "intercept and slope" or "flexible".
    p_values_ : dict of the p-values, by the simpler update.
    knots_, coefficients_ : knots of the spline; intercept, slope and curvature of the chosen
    update.
    limits_ : (lowest score, smallest gap from 1) to which scores are clipped before the logit.
    status_ : "exact".

    See Also
    --------
    AutoCalibrator : an average of many maps by their out-of-fold scores.
    metrics.updating_size : the number of rows that an update needs.
    Platt : a fit of intercept and slope without a test.

    Notes
    -----
    Use it to update a risk model at a new site, where a change must be justified: it selects the
    update that the data support. It changes a calibrated model in at most ``alpha`` of samples, as
    far as the likelihood ratio's chi-squared distribution holds (about 20 rows of the rarer
    outcome). Do not use it to get the best score: below a few hundred rows it often keeps a
    miscalibrated model, because its power is low; :class:`AutoCalibrator` is then better. It
    assumes independent rows.

    References
    ----------
    Vergouwe et al., "A closed testing procedure to select an appropriate method for updating
    prediction models", Statistics in Medicine 36, 2017. There the last update refits all
    coefficients of the model; here only the scores are known, so it is the spline.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> s = rng.uniform(0.05, 0.95, 500)
    >>> ClosedTest().fit(s, rng.random(500) < s).chosen_
    'nothing'
    >>> ClosedTest().fit(s, rng.random(500) < s / (s + 2 * (1 - s))).chosen_
    'intercept'
    """

    chosen_: str

    def __init__(self, *, alpha: float = 0.05) -> None:
        self.alpha: float = alpha

    @property
    def tags(self) -> MapTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the map; a flexible curve may be non-monotone."""
        return MapTags(domain="unit", monotone=False, smooth=True, label="closed test")

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        if not 0.0 < self.alpha < 1.0:
            raise InputError(f"alpha must be between 0 and 1; got {self.alpha!r}; 0.05 is usual.")
        self.limits_: tuple[float, float] = inner_limits(score, weight.sum())
        # Sorted, equal scores pooled, so that neither repetition nor the order of rows changes the
        # result by a bit.
        values, place = np.unique(self._inner(score), return_inverse=True)
        mass = np.bincount(place, weights=weight)
        mean = np.clip(np.bincount(place, weights=weight * correct) / mass, 0.0, 1.0)
        self.knots_: np.ndarray = spline_knots(values, mass, KNOTS)
        self.coefficients_: np.ndarray = np.array([0.0, 1.0])
        self.chosen_ = UPDATES[0]
        self.p_values_: dict[str, float] = {}
        full, likelihood = self._updates(values, mean, mass)
        for parameters, update in enumerate(UPDATES[:-1]):
            if update not in likelihood:
                continue
            freedom = len(full["flexible"]) - parameters
            gain = 2.0 * (likelihood["flexible"] - likelihood[update])
            self.p_values_[update] = (
                float(special.chdtrc(freedom, max(gain, 0.0))) if freedom > 0 else 1.0
            )
            if self.p_values_[update] > self.alpha:
                self.chosen_, self.coefficients_ = update, full[update]
                return
        self.chosen_, self.coefficients_ = "flexible", full["flexible"]

    def _updates(
        self, values: np.ndarray, mean: np.ndarray, mass: np.ndarray
    ) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """(coefficients of each update, their log-likelihoods), by name; without the intercept
        where none is finite.
        """
        design = spline_design(values, self.knots_)
        outcomes = np.concatenate([np.zeros(len(values)), np.ones(len(values))])
        masses = np.concatenate([mass * (1.0 - mean), mass * mean])
        counted = masses > 0.0
        shift = intercept_at_unit_slope(
            np.tile(values, 2)[counted], outcomes[counted], masses[counted]
        )
        full = {
            "nothing": np.array([0.0, 1.0]),
            "flexible": fit_restricted_spline(design, mean, mass)[0],
        }
        full["intercept and slope"] = fit_restricted_spline(design[:, :2], mean, mass)[0]
        if shift is not None:
            full["intercept"] = np.array([shift[0], 1.0])
        return full, {
            name: _log_likelihood(design[:, : len(theta)] @ theta, mean, mass)
            for name, theta in full.items()
        }

    def _inner(self, score: np.ndarray) -> np.ndarray:
        return np.clip(score, self.limits_[0], 1.0 - self.limits_[1])

    def _predict(self, score: np.ndarray) -> np.ndarray:
        if self.chosen_ == "nothing":
            return score
        return sigmoid(
            spline_design(self._inner(score), self.knots_)[:, : len(self.coefficients_)]
            @ self.coefficients_
        )

    def _expression(self, score: Any) -> Any:
        if self.chosen_ == "nothing":
            return score
        odds = score.log_odds(*self.limits_)
        out = odds * float(self.coefficients_[1]) + float(self.coefficients_[0])
        if len(self.coefficients_) > 2:
            width = self.knots_[-1] - self.knots_[0]
            cubes = (
                cube_weights(self.knots_, np.eye(len(self.knots_) - 2) / width**2)
                @ self.coefficients_[2:]
            )
            for knot, weight in zip(self.knots_, cubes, strict=True):
                above = (odds - float(knot)).clip(0.0, FARTHEST)
                out = out + above * above * above * float(weight)
        return out.sigmoid()


def _log_likelihood(z: np.ndarray, mean: np.ndarray, mass: np.ndarray) -> float:
    return float(-(mass @ (np.logaddexp(0.0, z) - mean * z)))
