"""Gaussian-process calibration: one latent function for every component, shared by all classes."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy

from calibrant._numerics import gaussian_process as gp
from calibrant._numerics.fixed_order import merge_rows
from calibrant._numerics.gaussian_process import Direct, Grid, Interpolated
from calibrant._numerics.gaussian_process_fit import (
    Fit,
    Independent,
    Joint,
    at_mean,
    best_of,
    by_draws,
    maximise,
    starts,
    to_second_order,
    trial_steps,
)
from calibrant._numerics.intervals import normal_quantile
from calibrant._numerics.logistic import ZERO_FLOOR, log_softmax, softmax
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.estimators import require_count
from calibrant.core.expression import ABOVE_ONE
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.predictions import read
from calibrant.errors import FitWarning, InputError, warn

__all__ = ["GaussianProcessCalibration", "LatentFunction"]

#: Layouts of the fit's sums, with the maximum number of components (rows times classes) of each.
LAYOUTS: dict[str, float] = {"direct": 3_000, "interpolated": 40_000, "grid": float("inf")}
BLOCK_VALUES = 2_000_000
#: Start of the kernel, and bounds of (variance, length, noise), by kind of input.
START = {"probability": gp.Hyper(1.0, 0.5, 0.01), "logit": gp.Hyper(1.0, 10.0, 0.01)}
LIMITS = {
    "probability": [(1e-3, 5.0), (1e-3, 10.0), (1e-6, 1.0)],
    "logit": [(1e-3, 1e3), (1e-2, 1e3), (1e-6, 10.0)],
}
#: Rate of the exponential prior on the kernel's standard deviation, where no row is wrong.
STD_RATE = 1.0
#: Minimum slope of the monotone latent function, as a share of the prior mean's.
LEAST_SLOPE = 0.05


@dataclass(frozen=True)
class LatentFunction(Record):
    """Latent function at some scores: its prior mean, posterior mean, and a pointwise posterior
    band.
    """

    score: np.ndarray
    prior: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


class GaussianProcessCalibration(
    Calibrator,
    family="one curve for all classes",
    use="A smooth latent function; AdaBoost, naive Bayes",
):
    r"""Pass every component through one latent function with a Gaussian-process prior centred on
    "already calibrated".

    .. math:: Q_j = E\left[\frac{e^{f(z_j)}}{\sum_i e^{f(z_i)}}\right], \quad f \sim GP(\mu, k),
        \quad \mu(z) = \log z \text{ or } z

    for probabilities or logits, k an RBF kernel with white noise. The posterior is sparse and
    variational: inducing points, kernel and posterior maximise the evidence bound with a
    second-order expansion of the log softmax, by L-BFGS with an analytic gradient.

    Parameters
    ----------
    n_inducing : int, default 10
    covariance : {"diagonal", "full"}
        Part of a row's K x K latent covariance in the bound and in the predictions. "full" is the
        paper's equation 7, "diagonal" its faster assumption, with which its results agree.
    expectation : {"monte_carlo", "taylor", "mean"}
        Method of prediction: the expectation over the latent posterior by ``n_draws`` draws
        (antithetic, the same for every row), its second-order expansion (deterministic), or the
        softmax of the latent mean.
    monotone : bool, default False
        Make the latent mean strictly increasing (isotonic projection with at least 5 % of the
        prior's slope) and predict with its softmax: the predicted class then never changes.
        ``expectation`` is not used.
    n_draws : int, default 100
    random_state : int, default 0
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    inducing_, mean_, root_ : inducing scores (M,), and the mean (M,) and lower root (M, M) of the
        whitened posterior.
    kernel_ : (variance, length, noise).
    evidence_ : the bound, in nats.
    layout_ : "direct" (the latent function at every component: up to 3,000 of them), "interpolated"
        (on 2,048 scores, with linear interpolation: to 40,000) or "grid" (rows deposited on 512
        scores: the same bound to about 3 decimals, at a cost that does not grow with K).
    status_ : "converged", "max steps" or "line search ended".

    See Also
    --------
    LatentFunctionDisplay : draws the learned function.
    TemperatureScaling : a straight line instead.

    Notes
    -----
    Use it with a few hundred to a few thousand rows, when one temperature is not flexible enough:
    it learns any smooth shape and falls back to the identity where there are no data. It treats all
    classes alike; where classes err differently use structured matrix scaling. Without ``monotone``
    the predicted class may change. An exact 0 counts as the smallest probability of the fit. The
    full covariance accounts for the invariance of softmax to the function's level; it mostly has
    the lower log loss, and takes one to five times as long to fit. Where no row of the fit is
    wrong, any steeper function is more probable, and the bound alone would make the kernel as large
    as it may be: its standard deviation then has an exponential prior with mean 1.

    References
    ----------
    Wenger, Kjellstrom and Triebel, "Non-parametric calibration for classification", AISTATS 2020,
    equations 3 to 7.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=300)
    >>> y = rng.uniform(size=300) < 1 / (1 + np.sqrt((1 - p) / p))
    >>> cal = GaussianProcessCalibration(expectation="taylor").fit(p, y)
    >>> bool(abs(cal.predict_proba([0.9])[0, 1] - 0.75) < 0.05)
    True
    """

    inducing_: np.ndarray
    mean_: np.ndarray
    root_: np.ndarray
    evidence_: float
    knots_: np.ndarray
    values_: np.ndarray
    status_: str

    def __init__(
        self,
        *,
        n_inducing: int = 10,
        covariance: Literal["diagonal", "full"] = "diagonal",
        expectation: Literal["monte_carlo", "taylor", "mean"] = "monte_carlo",
        monotone: bool = False,
        n_draws: int = 100,
        random_state: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.n_inducing: int = n_inducing
        self.covariance: Literal["diagonal", "full"] = covariance
        self.expectation: Literal["monte_carlo", "taylor", "mean"] = expectation
        self.monotone: bool = monotone
        self.n_draws: int = n_draws
        self.random_state: int = random_state

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """A monotone function keeps the argmax; only draws are random."""
        return Tags(
            keeps_argmax=self.monotone,
            random=self.expectation == "monte_carlo" and not self.monotone,
            label="Gaussian-process calibration" + (", monotone" if self.monotone else ""),
            row_tolerance=1e-9,
            exceptions={
                "logit_route": (
                    "the kernel measures distance on the input's own scale, so the two routes are"
                    " two priors"
                )
            },
        )

    @classmethod
    def _examples(cls) -> "list[GaussianProcessCalibration]":
        return [
            cls(n_inducing=2, n_draws=20),
            cls(n_inducing=2, n_draws=20, covariance="full"),
            cls(n_inducing=2, covariance="full", expectation="taylor", inputs="logit"),
            cls(n_inducing=2, monotone=True),
        ]

    def _fit(self, record: Any) -> None:
        self._check()
        scores, labels, weight = _merged(record)
        begins = starts(
            float(scores.min()), float(scores.max()), self.n_inducing, START[self.inputs]
        )
        self._learn(scores, labels, weight, begins, learn_kernel=True)

    def partial_fit(
        self, P: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Update the posterior with new rows and the old posterior as the prior; the kernel and the
        inducing points stay.
        """
        if not hasattr(self, "kernel_"):
            return self.fit(P, y, sample_weight=sample_weight)
        record = read(P, y, inputs=self.inputs, classes=self.classes_, sample_weight=sample_weight)
        scores, labels, weight = _merged(record)
        begin = Fit(
            self.inducing_,
            gp.Hyper(*self.kernel_),
            gp.Posterior(self.mean_, self.root_),
            self.evidence_,
            "start",
        )
        self._learn(scores, labels, weight, [begin], learn_kernel=False)
        return self

    def latent(self, score: ArrayLike, *, level: float = 0.95) -> LatentFunction:
        """Return the latent function at scores (m,), on the scale of the input, with a pointwise
        band at ``level``.

        With ``covariance="full"`` the band includes the function's level, which softmax ignores and
        labels cannot identify.
        """
        require_fitted(self, "kernel_")
        score = np.asarray(score, dtype=np.float64)
        prior = _prior_mean(score, self.inputs)
        shift, variance = self._moments(score)
        half = normal_quantile(level) * np.sqrt(variance)
        mean = _through(prior, self.knots_, self.values_) if self.monotone else prior + shift
        return LatentFunction(score, prior, mean, mean - half, mean + half)

    def _check(self) -> None:
        self._option("covariance", "diagonal", "full")
        self._option("expectation", "monte_carlo", "taylor", "mean")
        require_count("n_inducing", self.n_inducing)
        require_count("n_draws", self.n_draws)

    def _learn(
        self,
        scores: np.ndarray,
        labels: np.ndarray,
        weight: np.ndarray,
        begins: list[Fit],
        learn_kernel: bool,
    ) -> None:
        log_prior = log_softmax(_prior_mean(scores, self.inputs))
        own, mass = log_prior[np.arange(len(labels)), labels], np.exp(log_prior)
        self.layout_: str = next(name for name, most in LAYOUTS.items() if scores.size <= most)
        layout = {"direct": Direct, "interpolated": Interpolated, "grid": Grid}[self.layout_](
            scores, mass, labels
        )
        full, prior, limits = self.covariance == "full", begins[0].posterior, self._limits(layout)
        trial = trial_steps(scores.size)
        # Without a wrong row a steeper function is always more probable: the bound has no maximum.
        rate = STD_RATE if (own >= log_prior.max(axis=1)).all() else 0.0
        fit = best_of(
            begins,
            lambda begin, steps: maximise(
                layout, own, weight, begin, prior, full, limits, steps, learn_kernel, rate
            ),
            trial,
        )
        self.inducing_, self.mean_, self.root_ = (
            fit.inducing,
            fit.posterior.mean,
            fit.posterior.root,
        )
        self.kernel_: tuple[float, float, float] = (
            fit.hyper.variance,
            fit.hyper.length,
            fit.hyper.noise,
        )
        self.evidence_, self.status_ = fit.value + rate * fit.hyper.variance**0.5, fit.status
        if not np.isfinite(fit.value):
            warn("the Gaussian process's bound is not finite; look at the scores.", FitWarning)
        if self.monotone:
            self._project(scores, mass * weight[:, None])

    def _limits(self, layout: Any) -> list[tuple[float, float]]:
        """Return bounds of the kernel; length scales are at least two cells of a grid."""
        variance, (shortest, longest), noise = LIMITS[self.inputs]
        cell = layout.points[1] - layout.points[0] if self.layout_ != "direct" else 0.0
        return [variance, (max(shortest, min(2.0 * cell, 0.5 * longest)), longest), noise]

    def _posterior(self) -> tuple[np.ndarray, Any, Any]:
        return self.inducing_, gp.Hyper(*self.kernel_), gp.Posterior(self.mean_, self.root_)

    def _moments(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return gp.latent(points, *self._posterior())

    def _project(self, scores: np.ndarray, mass: np.ndarray) -> None:
        """Return the knots of the increasing latent mean, relative to the prior mean."""
        knots, inverse = np.unique(scores, return_inverse=True)
        density = np.bincount(inverse.ravel(), weights=mass.ravel())
        prior = _prior_mean(knots, self.inputs)
        weight = density + 1e-3 * density.mean()
        self.knots_, self.values_ = (
            prior,
            _increasing(prior, prior + self._moments(knots)[0], weight),
        )

    def _predict_proba(self, record: Any) -> np.ndarray:
        self._check()
        scores = _scores(record)
        n, K = scores.shape
        out = np.empty((n, K))
        n_draws = self.n_draws if self.tags.random else 0
        law = {"diagonal": Independent, "full": Joint}[self.covariance](*self._posterior())
        draws = (
            law.draw(np.random.default_rng(self.random_state), (n_draws + 1) // 2, K)
            if n_draws
            else None
        )
        step = max(1, BLOCK_VALUES // law.values_a_row(K, n_draws))
        for i in range(0, n, step):
            out[i : i + step] = self._predict_block(scores[i : i + step], law, draws)
        return _keep_argmax(out, record.predicted) if self.monotone else out

    def _expression(self, record: Any) -> Any:
        if not self.monotone:
            raise InputError(
                "GaussianProcessCalibration is an expression only with monotone=True, because it"
                " averages over draws otherwise; fit it with monotone=True."
            )
        out = record.logits.interpolate(self.knots_, self.values_, 1.0, 1.0).softmax()
        return record.is_predicted.where(out.max() * ABOVE_ONE, out)

    def _predict_block(self, scores: np.ndarray, law: Any, draws: Any) -> np.ndarray:
        prior = _prior_mean(scores, self.inputs)
        if self.monotone:
            return softmax(_through(prior, self.knots_, self.values_))
        if self.expectation == "monte_carlo":
            return by_draws(law, prior, scores, draws, self.n_draws)
        return (to_second_order if self.expectation == "taylor" else at_mean)(law, prior, scores)


def _scores(record: Any) -> np.ndarray:
    """Return the inputs of the latent function: logits, or probabilities with exact zeros
    raised.
    """
    return (
        np.exp(record.log_probabilities)
        if record.kind == "probability"
        else record.values.astype(np.float64)
    )


def _prior_mean(scores: np.ndarray, inputs: str) -> np.ndarray:
    return np.log(np.maximum(scores, ZERO_FLOOR * 1e-280)) if inputs == "probability" else scores


def _merged(record: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (scores, labels, weight) of the distinct rows, sorted, so that repetition and row
    order do not affect the search.
    """
    first, weight = merge_rows(record.logits, record.labels, record.weights)
    return _scores(record)[first], record.labels[first], weight


def _keep_argmax(Q: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return Q with the predicted class strictly first where rounding tied it; an increasing
    function can only produce a tie.
    """
    moved = np.flatnonzero(Q.argmax(axis=1) != predicted)
    Q[moved, predicted[moved]] = np.nextafter(Q[moved].max(axis=1), 2.0)
    return Q


def _increasing(x: np.ndarray, value: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return values at increasing x (m,) with every slope at least ``LEAST_SLOPE``, closest in
    weighted squares.
    """
    tilt = LEAST_SLOPE * x
    return scipy.optimize.isotonic_regression(value - tilt, weights=weight).x + tilt


def _through(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the function through (knots, values) at x of any shape: linear between them, with
    slope 1 outside.
    """
    return (
        np.interp(x, knots, values) + np.minimum(x - knots[0], 0.0) + np.maximum(x - knots[-1], 0.0)
    )
