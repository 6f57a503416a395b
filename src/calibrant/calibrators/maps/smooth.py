"""Smooth curves of the score: a spline on the log-odds with data-driven curvature, and a ratio of
two kernel densities with the smallest bandwidth that gives a smooth curve.
"""

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics import kernel_sums
from calibrant._numerics.fixed_order import multiply_rows
from calibrant._numerics.intervals import beta_interval
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
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import MapTags, require_fitted
from calibrant.core.estimators import clone, require_count, require_option
from calibrant.core.expression import join
from calibrant.core.map import Map
from calibrant.core.solving import MIN_ROWS
from calibrant.errors import FitWarning, InputError, SparseDataWarning, warn

__all__ = ["KernelDensity", "Spline"]


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


#: Largest number of sign changes of the slope under each rule.
RULES = {"b_mon": 0, "b_mon2": 2, "b_mon4": 4}
GRID = 2048

GROUPS_AT_ONCE = 200


class KernelDensity(
    Map,
    examples=[
        {"bandwidth": "b_mon", "boundary": "reflect"},
        {"bandwidth": "b_opt"},
        {"bandwidth": 0.05, "prior_weight": 0.0},
    ],
    family="smooth curves",
    use="Densities of the right and of the wrong rows",
):
    r"""Ratio of kernel densities: the share of correct predictions among those of similar score.

    .. math:: \mathrm{Conf}(S) = \frac{\sum_{TP} w_i\, \varphi_b(S - s_i) + c\,
        \mathrm{Conf}_1}{\sum_{TP, FP} w_i\, \varphi_b(S - s_i) + c}

    Here :math:`\varphi_b(t) = e^{-t^2 / 2 b^2}`, one bandwidth b is used for both sums, and
    :math:`\mathrm{Conf}_1 = (TP + 1/2) / (n + 1)`. Beyond the smallest and largest score of the
    fit, the curve is constant.

    Parameters
    ----------
    bandwidth : {"b_mon", "b_mon2", "b_mon4", "b_opt"} or float, default "b_mon2"
        The "b_mon" rules take the first bandwidth at which the slope of the curve changes sign at
        most 0, 2 or 4 times. They count between the smallest and the largest score, and ignore
        steps of the curve below 1e-6. The search increases by 5 % from max(2 steps of the grid, 0.2
        times Silverman's rule on all scores). "b_opt" has the lowest leave-one-out log loss. A
        number is in units of the score.
    boundary : None or "reflect"
        "reflect" mirrors the scores at the smallest and the largest of them.
    prior_weight : float, default 1
        The weight c, in rows, of Conf\ :sub:`1`, to which the curve shrinks where there are no
        scores. 0 is the paper's choice.

    Attributes
    ----------
    bandwidth_ : float, nan where the class rate was used.
    sign_changes_ : int, number of sign changes of the curve's slope.
    method_ : the rule used, or "class rate" with fewer than 5 right or 5 wrong predictions, or a
    single score.
    search_ : (m, 2) bandwidths tried, each with its sign changes (or its leave-one-out log loss).
    grid_, curve_ : (2048,) scores and confidences.
    error_bound_ : float, upper bound of the effect of binning on the curve: the step of the grid is
    h bandwidths, and the error of each sum at most h^2 / 4 per point (with ``prior_weight=0`` and
    no scores nearby, the curve is exact only at the nodes).
    true_positives_, false_positives_, rate_ : the counts and Conf\ :sub:`1`.
    status_ : "exact", "class rate", or "not calm" (no bandwidth qualified, so the largest was
    used).

    See Also
    --------
    CumulativeConfidence : the share at this score or better.
    Spline : a smooth map by a penalised curve.

    Notes
    -----
    Use it per predicted class (``ConfidenceCalibrator(map=KernelDensity(), per_class=True)``) when
    classes differ in size and quality. Compare the curve with the histogram before use. Taken
    literally, the paper's rule accepts the smallest bandwidth whenever there is a single wrong
    prediction (one spike is one minimum). The start of the search and the smallest counts are
    therefore our choices. "b_opt" follows noise in the data, as the paper warns. One bandwidth does
    not suit scores concentrated at an end, as top probabilities of ensembles and large networks are
    at 1: use the log odds then (``signal=LogOdds()``). Compare it with no calibration on other
    rows: per class, on ten stored outputs (25 rows per class), it was worse on three with the top
    probability, and on one with the log odds. A fit takes O(n + G log G) for each bandwidth.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    equations 7 to 9, section 12.

    Examples
    --------
    >>> score = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> m = KernelDensity(bandwidth=0.2, prior_weight=0).fit(score, [0, 0, 0, 1, 0, 1, 0, 1, 1, 1])
    >>> m.predict([0.2, 0.9]).round(3).tolist()
    [0.194, 0.806]
    """

    tags: ClassVar[MapTags] = MapTags(domain="real", label="kernel density")
    true_positives_: float
    false_positives_: float
    bandwidth_: float
    sign_changes_: int
    error_bound_: float
    method_: str
    grid_: np.ndarray
    right_: np.ndarray
    all_: np.ndarray
    n_fit_: float

    def __init__(
        self, *, bandwidth: str | float = "b_mon2", boundary: Any = None, prior_weight: float = 1.0
    ) -> None:
        self.bandwidth: str | float = bandwidth
        self.boundary: Any = boundary
        self.prior_weight: float = prior_weight

    @property
    def curve_(self) -> np.ndarray:
        return np.clip(self.right_ / self.all_, 0.0, 1.0)

    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None:
        one = np.zeros(len(score), dtype=np.intp)
        vars(self).update(vars(self.fit_groups(score, correct, weight, one, 1)[0]))

    def fit_groups(
        self,
        score: np.ndarray,
        correct: np.ndarray,
        weight: np.ndarray,
        group: np.ndarray,
        n_groups: int,
    ) -> list["KernelDensity"] | None:
        """Fit one map for each of the groups (e.g. predicted classes) 0..n_groups-1, with a joint
        search.
        """
        self._check()
        low, step, mass = kernel_sums.deposit(score, correct, weight, group, n_groups, GRID)
        maps: list[KernelDensity] = [clone(self) for _ in range(n_groups)]
        for m, out in enumerate(maps):
            out._set_rate(low[m], mass[m].sum(axis=1))
        sparse = [
            m
            for m, out in enumerate(maps)
            if min(out.true_positives_, out.false_positives_) < MIN_ROWS - 1e-9
        ]
        rest = np.setdiff1d(np.flatnonzero(step > 0.0), sparse)
        for start in range(0, len(rest), GROUPS_AT_ONCE):
            chunk = rest[start : start + GROUPS_AT_ONCE]
            self._fit_chunk([maps[m] for m in chunk], low[chunk], step[chunk], mass[chunk])
        _warn_sparse(maps, sparse)
        calm = [m.status_ != "not calm" for m in maps]
        if not all(calm):
            warn(
                f"no bandwidth made the curve smooth enough in {calm.count(False)} fits; the"
                " largest was used.",
                FitWarning,
            )
        return maps

    def _check(self) -> None:
        width = self.bandwidth
        if isinstance(width, str):
            if width not in (*RULES, "b_opt"):
                raise InputError(
                    'bandwidth must be "b_mon", "b_mon2", "b_mon4", "b_opt" or a number; got'
                    f" {width!r}."
                )
        elif not (np.isfinite(width) and width > 0.0):
            raise InputError(
                f"bandwidth must be a positive number, in units of the score; got {width!r}."
            )
        require_option("boundary", self.boundary, (None, "reflect"))
        if not (np.isfinite(self.prior_weight) and self.prior_weight >= 0.0):
            raise InputError(
                f"prior_weight must be finite and not negative; got {self.prior_weight!r}."
            )

    def _set_rate(self, low: float, counts: np.ndarray) -> None:
        """Make the map constant at Conf_1."""
        wrong, right = counts.tolist()
        self.true_positives_, self.false_positives_, self.n_fit_ = right, wrong, right + wrong
        self.rate_: float = (right + 0.5) / (right + wrong + 1.0)
        self.bandwidth_, self.sign_changes_, self.error_bound_ = float("nan"), 0, 0.0
        self.method_ = self.status_ = "class rate"
        self.search_: np.ndarray = np.empty((0, 2))
        self.grid_, self.right_, self.all_ = (
            np.array([low]),
            np.array([right + 0.5]),
            np.array([right + wrong + 1.0]),
        )
        self.effective_: np.ndarray = np.array([right + wrong])

    def _fit_chunk(
        self, maps: "list[KernelDensity]", low: np.ndarray, step: np.ndarray, mass: np.ndarray
    ) -> None:
        reflect, prior = self.boundary == "reflect", float(self.prior_weight)
        rate = np.array([m.rate_ for m in maps])
        transform = kernel_sums.spectrum(mass, reflect)
        width, calm, tried = self._widths(mass, transform, step, prior, rate, reflect)
        sums = kernel_sums.gaussian_sums(transform, width, GRID, reflect)
        own = sums.sum(axis=1)
        squares = kernel_sums.gaussian_sums(transform, width * 0.5**0.5, GRID, reflect).sum(axis=1)
        bound = kernel_sums.cell_error(transform, width, GRID, reflect)
        if prior == 0.0:
            kernel_sums.fill_gaps(sums, mass, width, reflect)
        right, total = sums[:, 1] + prior * rate[:, None], sums.sum(axis=1) + prior
        changes = kernel_sums.sign_changes(right / total)
        for m, out in enumerate(maps):
            out.method_ = self.bandwidth if isinstance(self.bandwidth, str) else "given"
            out.status_ = "exact" if calm[m] else "not calm"
            out.bandwidth_, out.sign_changes_ = float(width[m] * step[m]), int(changes[m])
            out.search_ = np.array(tried[m]).reshape(-1, 2) * [step[m], 1.0]
            out.grid_ = low[m] + step[m] * np.arange(GRID)
            out.right_, out.all_ = right[m], total[m]
            out.effective_ = own[m] ** 2 / np.maximum(squares[m], 1e-300)
            near = own[m] > kernel_sums.NOISE * out.n_fit_ if prior == 0.0 else slice(None)
            wrong = (bound[m, 1] * (total[m] - right[m]) + bound[m, 0] * right[m]) / total[m] ** 2
            out.error_bound_ = float(np.max(wrong[near], initial=0.0))

    def _widths(
        self,
        mass: np.ndarray,
        transform: np.ndarray,
        step: np.ndarray,
        prior: float,
        rate: np.ndarray,
        reflect: bool,
    ) -> tuple[np.ndarray, np.ndarray, list[list[Any]]]:
        calm = np.ones(len(mass), dtype=bool)
        if not isinstance(self.bandwidth, str):
            width = self.bandwidth / step
            if (width < kernel_sums.SMALLEST_WIDTH).any():
                warn(
                    f"bandwidth={self.bandwidth:g} is finer than the grid of {GRID} scores; two"
                    " steps of the grid are used instead.",
                    FitWarning,
                )
            return np.maximum(width, kernel_sums.SMALLEST_WIDTH), calm, [[] for _ in mass]
        if self.bandwidth == "b_opt":
            width, tried = kernel_sums.least_loss_width(mass, transform, prior, rate, reflect)
            return width, calm, tried
        return kernel_sums.first_calm_width(
            mass, transform, RULES[self.bandwidth], prior, rate, reflect
        )

    def _predict(self, score: np.ndarray) -> np.ndarray:
        right, total = (
            np.interp(score, self.grid_, self.right_),
            np.interp(score, self.grid_, self.all_),
        )
        return np.clip(right / total, 0.0, 1.0)

    def _expression(self, score: Any) -> Any:
        return (
            score.interpolate(self.grid_, self.right_) / score.interpolate(self.grid_, self.all_)
        ).clip(0.0, 1.0)

    def interval(self, score: ArrayLike, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the credible band of the curve at each score, (low (n,), high (n,)).

        It is a Beta interval with the effective number of points in the kernel, (sum phi)^2 / sum
        phi^2, plus one at the value itself. It covers the sampling error of the curve, not its
        smoothing bias.
        """
        require_fitted(self, "n_fit_")
        score = arrays.scores(score)
        n = np.interp(score, self.grid_, self.effective_) + 1.0
        value = np.clip(self._predict(score), 0.5 / n, 1.0 - 0.5 / n)
        return beta_interval(n * value, n * (1.0 - value), level)


def _warn_sparse(maps: list[KernelDensity], sparse: Any) -> None:
    if not sparse:
        return
    told = [
        f"{maps[m].true_positives_:g} right and {maps[m].false_positives_:g} wrong" for m in sparse
    ]
    if len(maps) > 1:
        told = [f"class {m} has {what}" for m, what in zip(sparse, told, strict=True)]
    more = f" and {len(told) - 5} more" if len(told) > 5 else ""
    warn(
        f"fewer than {MIN_ROWS} right or {MIN_ROWS} wrong predictions"
        f" ({'; '.join(told[:5])}{more}): their confidence is the class rate, the same for every"
        " score.",
        SparseDataWarning,
    )
