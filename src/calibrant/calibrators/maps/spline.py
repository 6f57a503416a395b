"""Smooth curve on the log-odds, with data-driven curvature."""

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.fixed_order import multiply_rows
from calibrant._numerics.logistic import (
    clipped_log_odds,
    fit_logistic,
    fit_sigmoid,
    inner_limits,
    logistic_derivatives,
    sigmoid,
    smoothed_targets,
)
from calibrant._numerics.smoothing import cube_weights, curved_basis, penalty_root
from calibrant.core.calibrator import MapTags
from calibrant.core.estimators import require_count
from calibrant.core.expression import join
from calibrant.core.map import Map

__all__ = ["Spline"]

#: Candidate penalties, from almost straight to almost unpenalised, in units of the standardised
#: log-odds.
PENALTIES = 10.0 ** np.arange(5.0, -4.0, -1.0)


class Spline(
    Map,
    family="smooth curves",
    use="A smooth curve; 1,000 rows and more",
    common=True,
):
    r"""Logistic regression on a natural cubic spline of the log-odds, with a roughness penalty
    chosen by marginal likelihood.

    .. math:: g(s) = \sigma(f(\operatorname{logit} s)), \qquad
              \min_f -\sum_i w_i \log p(t_i \mid f) + \tfrac{\lambda}{2} \int f''(x)^2 dx

    Here t are Platt's smoothed targets. λ has the largest Laplace marginal likelihood on a grid
    that ends with a straight line (Platt scaling).

    Parameters
    ----------
    n_knots : int, default 10
        Number of knots, at quantiles of the log-odds; the curve is linear beyond the outer ones.

    Attributes
    ----------
    knots_, coefficients_ : the curve, on standardised log-odds.
    penalty_ : λ, infinite for a straight line.
    freedom_ : effective number of parameters, 2 for a straight line.
    status_ : "converged", "max steps" or "stalled".

    See Also
    --------
    Platt, Beta : maps with fewer parameters, for few rows.
    CenteredIsotonic : a map of any increasing shape.

    Notes
    -----
    Use this smooth map with a thousand rows or more when two or three parameters are not flexible
    enough; it is straight if the data do not support more. It may decrease where the data suggest
    it. Outputs are a sigmoid, hence always inside (0, 1). The published spline calibrations differ:
    Gupta et al. differentiate a spline of the cumulative accuracy, which can leave [0, 1] and must
    be clipped; Lucena fits unpenalised spline logistic regressions of P itself.

    References
    ----------
    Lucena, "Spline-based probability calibration", arXiv:1809.07751, 2018. Gupta et al.,
    "Calibration of neural networks using splines", ICLR 2021. Wood, "Fast stable restricted maximum
    likelihood and marginal likelihood estimation of semiparametric generalized linear models", JRSS
    B 73, 2011.

    Examples
    --------
    >>> m = Spline().fit([0.2, 0.4, 0.6, 0.8] * 10, [0, 1, 0, 1] * 10)
    >>> bool(0 < m.predict([0.0])[0] < m.predict([1.0])[0] < 1)
    True
    """

    tags: ClassVar[MapTags] = MapTags(domain="unit", smooth=True, soft_labels=True, label="spline")
    penalty_: float
    freedom_: float
    knots_: np.ndarray | None
    root_: np.ndarray

    def __init__(self, *, n_knots: int = 10) -> None:
        self.n_knots: int = n_knots

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        require_count("n_knots", self.n_knots, 3)
        self.limits_: tuple[float, float] = inner_limits(score, weight.sum())
        x, target = clipped_log_odds(score, self.limits_), smoothed_targets(correct, weight)
        (slope, level), self.status_ = fit_sigmoid(
            x[:, None], target, weight, identity=[1.0], begin=self._workspace.line
        )
        self.centre_: float = float(weight @ x / weight.sum())
        spread = float(np.sqrt(weight @ (x - self.centre_) ** 2 / weight.sum()))
        self.spread_: float = spread if spread > 1e-9 else 1.0
        self.coefficients_: np.ndarray = np.array(
            [slope * self.spread_, level + slope * self.centre_]
        )
        self.penalty_, self.freedom_, self.knots_ = np.inf, 2.0, None
        z = (x - self.centre_) / self.spread_
        knots = _knots(z, weight, self.n_knots)
        if len(knots) >= 4:
            self._bend(z, target, weight, knots)

    def _bend(
        self, z: np.ndarray, target: np.ndarray, weight: np.ndarray, knots: np.ndarray
    ) -> None:
        """Replace the straight line by the curve of the best penalty, if it is better."""
        root, work = penalty_root(knots), self._workspace
        near, ends = work.penalty is not None, work.splines
        design = np.column_stack([np.ones_like(z), z, curved_basis(z, knots, root)])
        straight = self.coefficients_[::-1]
        if not straight[1] > 0.0:
            straight, _ = fit_logistic(design[:, :2], target, weight, [straight], loose=near)
        loss, _, hessian = logistic_derivatives(straight, design[:, :2], target, weight)
        best = loss + 0.5 * np.linalg.slogdet(hessian)[1]
        theta = np.append(straight, np.zeros(root.shape[1]))
        waiting, tried = self._first_penalties(), set()
        while waiting:
            j = waiting.pop(0)
            tried.add(j)
            ridge = np.append([0.0, 0.0], np.full(root.shape[1], PENALTIES[j]))
            # With the same number of knots at nearly the same places, the curve from nearly the
            # same rows is a better start than that of another penalty.
            start = ends.get((j, len(theta)), theta)
            theta, status = fit_logistic(
                design, target, weight, [start], ridge=ridge, loose=work.shared
            )
            ends.setdefault((j, len(theta)), theta)
            evidence, freedom = _negative_evidence(theta, design, target, weight, ridge)
            if evidence < best - 1e-9:
                best, self.penalty_, self.freedom_, self.status_ = (
                    evidence,
                    float(PENALTIES[j]),
                    freedom,
                    status,
                )
                self.knots_, self.root_, self.coefficients_ = (
                    knots,
                    root,
                    np.append(theta[1::-1], theta[2:]),
                )
                waiting += [
                    i
                    for i in (j - 1, j + 1)
                    if near and 0 <= i < len(PENALTIES) and i not in {*tried, *waiting}
                ]
        if not near:
            work.penalty = self.penalty_

    def _first_penalties(self) -> list[int]:
        """Positions of the penalties to try: all, or those around the choice from nearly the same
        rows; the search continues while they improve.
        """
        chosen = self._workspace.penalty
        if chosen is None:
            return list(range(len(PENALTIES)))
        about = int(np.abs(np.log10(PENALTIES / min(chosen, PENALTIES[0]))).argmin())
        return list(range(max(about - 1, 0), min(about + 2, len(PENALTIES))))

    def _predict(self, score: np.ndarray) -> np.ndarray:
        z = (clipped_log_odds(score, self.limits_) - self.centre_) / self.spread_
        f = self.coefficients_[0] * z + self.coefficients_[1]
        if self.knots_ is not None:
            f = f + multiply_rows(curved_basis(z, self.knots_, self.root_), self.coefficients_[2:])
        return sigmoid(f)

    def _expression(self, score: Any) -> Any:
        z = (score.log_odds(*self.limits_) - self.centre_) / self.spread_
        f = z * self.coefficients_[0] + self.coefficients_[1]
        if self.knots_ is not None:
            above = join([(z - knot).clip(0.0, np.inf) for knot in self.knots_])
            weights = cube_weights(self.knots_, self.root_) @ self.coefficients_[2:]
            f = f + (above * above * above).matrix(weights[None, :], [0.0])
        return f.sigmoid()


def _knots(z: np.ndarray, weight: np.ndarray, n_knots: int) -> np.ndarray:
    """Distinct weighted quantiles; the outer ones are inside the data so that the linear ends are
    well determined.
    """
    unique, inverse = np.unique(z, return_inverse=True)
    mass = np.bincount(inverse, weights=weight)
    position = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    knots = np.unique(np.interp(np.linspace(0.02, 0.98, n_knots), position, unique))
    return knots[np.append(True, np.diff(knots) > 1e-3)]


def _negative_evidence(
    theta: np.ndarray, design: np.ndarray, target: np.ndarray, weight: np.ndarray, ridge: np.ndarray
) -> tuple[float, float]:
    """Return minus the Laplace approximation of the log marginal likelihood, up to a constant
    shared by all penalties, and the degrees of freedom.
    """
    loss, _, hessian = logistic_derivatives(theta, design, target, weight)
    free, penalised = ridge > 0.0, hessian + np.diag(ridge)
    evidence = (
        loss
        + 0.5 * ridge @ theta**2
        - 0.5 * np.log(ridge[free]).sum()
        + 0.5 * np.linalg.slogdet(penalised)[1]
    )
    return evidence, float(np.trace(np.linalg.lstsq(penalised, hessian, rcond=None)[0]))
