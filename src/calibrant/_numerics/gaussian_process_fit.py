"""Gaussian processes fitted by their evidence: of latent values under a softmax, by its bound, and
of a smooth factor on standard deviations.

The logarithm of the factor is a constant plus one process of each input. For rows that share their
inputs only their weight m and the mean q of their squared standardised errors count: the normal log
likelihood of a log factor g is -m (g + q e^(-2g) / 2), concave in g. So rows are pooled in small
cells, a process is a sum over the eigenvectors of its kernel at a few points, and the mode is found
by Newton's method. Kernels are compared by Laplace's evidence.
"""

from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np
import scipy

from calibrant._numerics.bins import equal_mass_groups, grouped_sums
from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.gaussian_process import (
    JITTER,
    PERIOD,
    WIDTH,
    Hyper,
    Posterior,
    bound,
    cholesky,
    function_values,
    latent,
    projection,
    row_products,
)
from calibrant._numerics.logistic import softmax
from calibrant._numerics.newton import cholesky_solver, minimise

__all__ = [
    "Basis",
    "Cells",
    "Fit",
    "Independent",
    "Joint",
    "Mode",
    "at_mean",
    "best_of",
    "by_draws",
    "maximise",
    "mode",
    "pool",
    "process_basis",
    "radial",
    "search",
    "starts",
    "to_second_order",
    "trial_steps",
]


@dataclass(frozen=True)
class Fit:
    """Learned parameters, and the status of the search."""

    inducing: np.ndarray
    hyper: Hyper
    posterior: Posterior
    value: float
    status: str


def starts(low: float, high: float, n_inducing: int, hyper: Hyper) -> list[Fit]:
    """Starting points: inducing points evenly over the scores' range, the prior as the posterior, a
    long and a short length scale.

    The bound has several optima; crowded scores need the short one. (k-means centres, as in the
    authors' code, led to worse bounds on crowded scores.)
    """
    inducing = np.linspace(low, high, n_inducing) if high > low else np.array([low])
    short = min(hyper.length, 0.25 * (high - low))
    lengths = [hyper.length, short] if 0.0 < short < hyper.length else [hyper.length]
    blank = Posterior(np.zeros(len(inducing)), np.eye(len(inducing)))
    return [
        Fit(inducing, Hyper(hyper.variance, length, hyper.noise), blank, -np.inf, "start")
        for length in lengths
    ]


def trial_steps(n_components: int) -> int:
    """Number of steps to try each start: with few rows the starts differ at once."""
    return 15 if n_components <= 1_000 else 60


def best_of(begins: list[Fit], run: Any, steps: int) -> Fit:
    """Run each start for a few steps, the best one to the end; ``run(begin, max_steps)`` gives a
    Fit.
    """
    fits = [run(begin, steps) for begin in begins]
    leader = max(fits, key=lambda fit: fit.value)
    return leader if leader.status == "converged" else run(leader, 250)


class Packing:
    """Between one flat vector and (hyper, inducing, posterior): logs of positive things, the
    lower triangle of the root.
    """

    def __init__(self, begin: Fit, learn_kernel: bool) -> None:
        self.begin, self.learn_kernel, self.size = begin, learn_kernel, len(begin.inducing)
        self.lower = np.tril_indices(self.size)
        self.on_diagonal = self.lower[0] == self.lower[1]

    def pack(self) -> np.ndarray:
        h, q = self.begin.hyper, self.begin.posterior
        root = q.root[self.lower].copy()
        root[self.on_diagonal] = np.log(root[self.on_diagonal])
        kernel = (
            [np.log([h.variance, h.length, h.noise]), self.begin.inducing]
            if self.learn_kernel
            else []
        )
        return np.concatenate([*kernel, q.mean, root])

    def unpack(self, x: np.ndarray) -> tuple[Hyper, np.ndarray, Posterior]:
        hyper, inducing = self.begin.hyper, self.begin.inducing
        if self.learn_kernel:
            variance, length, noise = np.exp(x[:3]).tolist()
            hyper, inducing, x = (
                Hyper(variance, length, noise),
                x[3 : 3 + self.size],
                x[3 + self.size :],
            )
        packed = x[self.size :].copy()
        packed[self.on_diagonal] = np.exp(packed[self.on_diagonal])
        root = np.zeros((self.size, self.size))
        root[self.lower] = packed
        return hyper, inducing, Posterior(x[: self.size], root)

    def gradient(self, g: dict[str, Any], hyper: Hyper, posterior: Posterior) -> np.ndarray:
        root = g["root"][self.lower]
        root[self.on_diagonal] *= posterior.root.diagonal()
        kernel = [
            [g["variance"] * hyper.variance, g["length"] * hyper.length, g["noise"] * hyper.noise],
            g["inducing"],
        ]
        return np.concatenate([*(kernel if self.learn_kernel else []), g["mean"], root])

    def box(self, limits: list[tuple[float, float]], n: int) -> list[Any] | None:
        if not self.learn_kernel:
            return None
        return [(float(np.log(a)), float(np.log(b))) for a, b in limits] + [(None, None)] * (
            n - len(limits)
        )


def maximise(
    layout: Any,
    log_prior_label: np.ndarray,
    weight: np.ndarray,
    begin: Fit,
    prior: Posterior,
    full: bool,
    limits: list[tuple[float, float]],
    max_steps: int,
    learn_kernel: bool = True,
    std_rate: float = 0.0,
) -> Fit:
    """Maximise the bound per unit of weight from ``begin``; ``limits`` bounds (variance, length,
    noise).

    With ``learn_kernel`` False only the posterior moves, as an online update needs. The kernel's
    standard deviation has an exponential prior of rate ``std_rate``, which the value includes.
    """
    packing, total = Packing(begin, learn_kernel), weight.sum()
    x0 = packing.pack()
    best = (np.inf, x0)

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        hyper, inducing, posterior = packing.unpack(x)
        try:
            value, g = bound(
                layout, log_prior_label, weight, inducing, hyper, posterior, prior, full
            )
        except np.linalg.LinAlgError:
            return TOO_FAR, np.zeros_like(x)
        if not np.isfinite(value):
            return TOO_FAR, np.zeros_like(x)
        value -= std_rate * hyper.variance**0.5
        g["variance"] -= 0.5 * std_rate / hyper.variance**0.5
        best = min(best, (-float(value / total), x.copy()), key=itemgetter(0))
        return -value / total, -packing.gradient(g, hyper, posterior) / total

    options = {"maxiter": max_steps, "maxfun": 4 * max_steps, "ftol": 1e-8, "gtol": 1e-7}
    # A trial step may overflow far from the data; the line search then backs off from the huge
    # value it sees.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        result = scipy.optimize.minimize(
            objective,
            x0,
            jac=True,
            method="L-BFGS-B",
            bounds=packing.box(limits, len(x0)),
            options=options,
        )
    # Whether such a step is the last one depends on the last digits, so on the processor: then the
    # best point counts.
    diverged = not result.fun < TOO_FAR
    value, x = best if diverged else (float(result.fun), result.x)
    hyper, inducing, posterior = packing.unpack(x)
    names = {0: "converged", 1: "max steps"}
    status = names.get(2 if diverged else result.status, "line search ended")
    return Fit(inducing, hyper, posterior, -value * total, status)


#: The value of a point whose bound is not finite: above all others, and its cube is finite.
TOO_FAR = 1e100
#: Values in one block, which stays in the cache.
CACHED_VALUES = 65_536


def at_mean(law: Any, prior: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Softmax of the latent mean, (n, K)."""
    return softmax(prior + _moments(law, scores)[0])


def by_draws(
    law: Any, prior: np.ndarray, scores: np.ndarray, draws: Any, n_draws: int
) -> np.ndarray:
    """Mean softmax over ``draws`` and their negatives, ``n_draws`` in all, (n, K)."""
    shift, variance = _moments(law, scores)
    n, K = scores.shape
    out, step = np.empty((n, K)), max(1, CACHED_VALUES // (K * max(n_draws, 1)))
    for rows in (slice(i, i + step) for i in range(0, n, step)):
        out[rows] = _mean_softmax(
            (prior + shift)[rows], law.deviations(scores[rows], variance[rows], draws), n_draws
        )
    return out


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _mean_softmax(mean: np.ndarray, half: np.ndarray, n_draws: int) -> np.ndarray:
    """Mean over draws (n, K, D) around the mean (n, K) and their negatives, (n, K): one
    exponential serves both.
    """
    if n_draws % 2 == 0:
        top, moved = np.exp(mean - mean.max(axis=1, keepdims=True)), np.exp(half)
        total = _shares(top, moved)
        total += _shares(top, np.reciprocal(moved, out=moved))
        if np.isfinite(total).all():
            return top * total / n_draws
    # An odd number of draws, or draws whose exponentials overflow.
    half = half.transpose(0, 2, 1)
    return softmax(mean[:, None, :] + np.concatenate([half, -half], axis=1)[:, :n_draws]).mean(
        axis=1
    )


def _shares(top: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Sums over the draws of ``moved`` (n, K, D) over its sum with the weights ``top`` (n, K),
    (n, K).
    """
    whole = top[:, None, :] @ moved
    return (moved @ np.reciprocal(whole, out=whole).transpose(0, 2, 1))[:, :, 0]


def to_second_order(law: Any, prior: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """E[softmax_j] = Q_j (1 + a_j / 2), a_j the Hessian of softmax_j contracted with the
    covariance; exp(a_j / 2) stays positive.
    """
    shift, variance = _moments(law, scores)
    mean = prior + shift
    return softmax(mean + 0.5 * law.curvature(scores, variance, softmax(mean)))


def _moments(law: Any, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of f - prior mean and variance at every component, (n, K) each."""
    shift, variance = latent(scores.ravel(), law.inducing, law.hyper, law.posterior)
    return shift.reshape(scores.shape), variance.reshape(scores.shape)


@dataclass(frozen=True)
class Independent:
    """Every component by its own marginal, the same standard normal numbers for every row."""

    inducing: np.ndarray
    hyper: Hyper
    posterior: Posterior

    def draw(self, rng: Any, n_draws: int, n_classes: int) -> np.ndarray:
        return np.ascontiguousarray(rng.standard_normal((n_draws, n_classes)).T)

    def deviations(self, scores: np.ndarray, variance: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Draws of f less its mean, (n, K, D)."""
        return np.sqrt(variance)[:, :, None] * draws

    def curvature(self, scores: np.ndarray, variance: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return variance * (1.0 - 2.0 * Q) + sum_rows(variance * Q * (2.0 * Q - 1.0))[:, None]

    @staticmethod
    def values_a_row(n_classes: int, n_draws: int) -> int:
        """Numbers of memory per row during prediction."""
        return n_classes * max(n_draws, 1)


@dataclass(frozen=True)
class Functions:
    """D functions drawn around the latent mean: white noise on the lattice (PERIOD, D), its update
    by the data, whitened at the inducing points (M, D), and the noise of each component (D, K)."""

    lattice: np.ndarray
    pull: np.ndarray
    noise: np.ndarray


@dataclass(frozen=True)
class Joint:
    """One function at all components, so that common shifts cancel in the softmax; the same
    functions for every row.
    """

    inducing: np.ndarray
    hyper: Hyper
    posterior: Posterior

    def draw(self, rng: Any, n_draws: int, n_classes: int) -> Functions:
        """Matheron's rule: draws from the prior, corrected towards the posterior at the inducing
        points.
        """
        lattice = rng.standard_normal((PERIOD, n_draws))
        noise, posterior_draws = rng.standard_normal((2, len(self.inducing), n_draws))
        prior = self._prior(self.inducing, lattice) + np.sqrt(self.hyper.noise + JITTER) * noise
        pull = self.posterior.root @ posterior_draws - np.linalg.solve(
            cholesky(self.inducing, self.hyper), prior
        )
        return Functions(
            lattice, pull, np.sqrt(self.hyper.noise) * rng.standard_normal((n_draws, n_classes))
        )

    def deviations(self, scores: np.ndarray, variance: np.ndarray, draws: Functions) -> np.ndarray:
        points = scores.ravel()
        smooth = self._prior(points, draws.lattice) + self._projection(points).T @ draws.pull
        return smooth.reshape(*scores.shape, -1) + draws.noise.T

    def curvature(self, scores: np.ndarray, variance: np.ndarray, Q: np.ndarray) -> np.ndarray:
        """a_j = C_jj - 2 (C Q)_j + 2 Q^T C Q - diag(C)^T Q: 0 where C is the same for all pairs."""
        B, root = self._projection(scores.ravel()).reshape(-1, *scores.shape), self.posterior.root
        prior = np.einsum("mnk,nk->mn", B, Q)
        gained = np.einsum("mnk,mn->nk", B, root @ (root.T @ prior) - prior)
        CQ = (
            self.hyper.variance * row_products(scores, Q, self.hyper.length)
            + self.hyper.noise * Q
            + gained
        )
        return variance - 2.0 * CQ + sum_rows((2.0 * CQ - variance) * Q)[:, None]

    @staticmethod
    def values_a_row(n_classes: int, n_draws: int) -> int:
        return max(PERIOD, n_classes * max(n_draws, WIDTH))

    def _projection(self, points: np.ndarray) -> np.ndarray:
        return projection(points, self.inducing, self.hyper, cholesky(self.inducing, self.hyper))[0]

    def _prior(self, points: np.ndarray, lattice: np.ndarray) -> np.ndarray:
        return np.sqrt(self.hyper.variance) * function_values(points, self.hyper.length, lattice)


# -- A smooth factor on standard deviations --------------------------------------------------------

#: Eigenvectors of a kernel whose eigenvalue is below this share of the largest are left out.
LEAST_EIGENVALUE = 1e-10
#: Amplitudes of a process (in the log of the factor) and length scales (in std of the input) that
#: are compared.
AMPLITUDES = (0.1, 0.3, 1.0)
LENGTHS = (0.5, 1.0, 2.0, 4.0)
#: A process is included only if it makes the data this much more probable.
LEAST_GAIN = np.log(10.0)


@dataclass(frozen=True)
class Cells:
    """Pooled rows: weight (G,), mean squared standardised error (G,), and the mean inputs, one
    (G,) each.
    """

    weight: np.ndarray
    square: np.ndarray
    inputs: list[np.ndarray]


@dataclass(frozen=True)
class Basis:
    """A process of unit amplitude: features (G, r) = radial(x, points) @ root, whose
    coefficients are independent N(0, 1).
    """

    features: np.ndarray
    root: np.ndarray


@dataclass(frozen=True)
class Mode:
    """Coefficients at the mode (the constant first), Laplace's log evidence up to a constant, and
    the status of Newton's method.
    """

    coefficients: np.ndarray
    evidence: float
    status: str
    gradient: float


def pool(inputs: list[np.ndarray], square: np.ndarray, weight: np.ndarray, n_cells: int) -> Cells:
    """Rows pooled in cells of equal weight along each input (at most ``n_cells``), cut where
    wider than the range / ``n_cells``.
    """
    code = np.zeros(len(square), dtype=np.int64)
    for x in inputs:
        place = ((x - x.min()) / np.ptp(x) * n_cells).astype(np.int64)
        code = (code * n_cells + equal_mass_groups(x, n_cells, weight)) * (n_cells + 1) + place
    _, cell = np.unique(code, return_inverse=True)
    mass, *sums = grouped_sums(cell, int(cell.max()) + 1, [square, *inputs], weight).T
    square, *means = (column / mass for column in sums)
    return Cells(mass, square, means)


def radial(x: np.ndarray, points: np.ndarray, length: float) -> np.ndarray:
    """exp(-(x - point)^2 / (2 length^2)), (n, M)."""
    gap = (x[:, None] - points) / length
    return np.exp(-0.5 * gap * gap)


def process_basis(x: np.ndarray, points: np.ndarray, length: float) -> Basis:
    """The process's features at x and their root."""
    values, vectors = np.linalg.eigh(radial(points, points, length))
    mask = values > LEAST_EIGENVALUE * values[-1]
    root = vectors[:, mask] / np.sqrt(values[mask])
    return Basis(radial(x, points, length) @ root, root)


def mode(cells: Cells, features: np.ndarray) -> Mode:
    """The mode of the constant and the coefficients of the features (G, r), which have the prior
    N(0, 1).
    """
    design = np.column_stack([np.ones(len(cells.weight)), features])
    prior, total = np.append(0.0, np.ones(features.shape[1])), cells.weight.sum()

    def parts(x: np.ndarray) -> Any:
        g = design @ x
        ratio = cells.square * np.exp(-2.0 * g)
        value = cells.weight @ (g + 0.5 * ratio) + 0.5 * prior @ (x * x)
        gradient = (cells.weight * (1.0 - ratio)) @ design + prior * x
        hessian = (design * (2.0 * cells.weight * ratio)[:, None]).T @ design
        hessian.flat[:: len(x) + 1] += prior
        return value, gradient, hessian

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, Any]:
        # A first step may overshoot so far that the exponential overflows; the line search then
        # halves it.
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient, hessian = parts(x)
        if not np.isfinite(hessian).all():
            return np.inf, gradient, None
        return value / total, gradient / total, cholesky_solver(hessian / total)

    x, status, gradient = minimise(evaluate, np.zeros(design.shape[1]), tolerance=1e-10)
    value, _, hessian = parts(x)
    return Mode(x, float(-value - 0.5 * np.linalg.slogdet(hessian)[1]), status, gradient)


def search(
    cells: Cells, points: list[np.ndarray]
) -> tuple[list[tuple[Any, ...]], list[np.ndarray], Mode]:
    """(amplitude and length of each input, weights of its points, the mode) of maximal evidence,
    one input after the other.

    An input whose process does not make the data ten times more probable has amplitude 0.
    """
    bases = [
        {length: process_basis(x, p, length) for length in _lengths(p)}
        for x, p in zip(cells.inputs, points, strict=True)
    ]
    chosen = [(0.0, max(options)) for options in bases]

    def mode_of(kernels: list[tuple[float, float]]) -> Mode:
        used = [
            a * by_length[length].features
            for (a, length), by_length in zip(kernels, bases, strict=True)
            if a > 0.0
        ]
        return mode(cells, np.column_stack([np.empty((len(cells.weight), 0)), *used]))

    best = mode_of(chosen)
    # Two inputs may explain the same variation: the first is refitted given the second.
    for j in [0, 1, 0][: 2 * len(points) - 1]:
        options = [(0.0, max(bases[j])), *product(AMPLITUDES, bases[j])]
        modes = [mode_of([*chosen[:j], option, *chosen[j + 1 :]]) for option in options]
        leader = int(np.argmax([each.evidence for each in modes]))
        choice = leader if modes[leader].evidence > modes[0].evidence + LEAST_GAIN else 0
        chosen[j], best = options[choice], modes[choice]
    left, weights = best.coefficients[1:], []
    for (amplitude, length), by_length in zip(chosen, bases, strict=True):
        root = amplitude * by_length[length].root
        size = root.shape[1] if amplitude else 0
        weights.append(root[:, :size] @ left[:size])
        left = left[size:]
    return chosen, weights, best


def _lengths(points: np.ndarray) -> list[float]:
    """Length scales of at least the distance between the points."""
    apart = float(points[1] - points[0])
    return sorted({max(length, apart) for length in LENGTHS})
