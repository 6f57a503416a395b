"""The mean softmax of a row's latent values under the posterior: by draws, to second order, or at the latent mean.

Two laws of a row's values: their marginals taken as independent, or the joint posterior of one function at all of them.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.fixed_order import sum_rows
from calibrant._kernels.gaussian_process import JITTER, Hyper, Posterior, cholesky, latent, projection
from calibrant._kernels.radial_lattice import PERIOD, WIDTH, function_values, row_products
from calibrant._kernels.softmax import softmax

__all__ = ["Independent", "Joint", "at_mean", "by_draws", "to_second_order"]

#: Values worked on at a time, which stay in the cache.
CACHED_VALUES = 65_536


def at_mean(law, prior, scores):
    """Softmax of the latent mean, (n, K)."""
    return softmax(prior + _moments(law, scores)[0])


def by_draws(law, prior, scores, draws, n_draws):
    """Mean softmax over ``draws`` and their negatives, ``n_draws`` in all, (n, K)."""
    shift, variance = _moments(law, scores)
    n, K = scores.shape
    out, step = np.empty((n, K)), max(1, CACHED_VALUES // (K * max(n_draws, 1)))
    for rows in (slice(i, i + step) for i in range(0, n, step)):
        out[rows] = _mean_softmax((prior + shift)[rows], law.deviations(scores[rows], variance[rows], draws), n_draws)
    return out


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _mean_softmax(mean, half, n_draws):
    """Mean over draws (n, K, D) around the mean (n, K) and their negatives, (n, K): one exponential serves both."""
    if n_draws % 2 == 0:
        top, moved = np.exp(mean - mean.max(axis=1, keepdims=True)), np.exp(half)
        total = _shares(top, moved)
        total += _shares(top, np.reciprocal(moved, out=moved))
        if np.isfinite(total).all():
            return top * total / n_draws
    # An odd number, or draws so wide that their exponentials are no numbers.
    half = half.transpose(0, 2, 1)
    return softmax(mean[:, None, :] + np.concatenate([half, -half], axis=1)[:, :n_draws]).mean(axis=1)


def _shares(top, moved):
    """Sums over the draws of ``moved`` (n, K, D) over its sum with the weights ``top`` (n, K), (n, K)."""
    whole = top[:, None, :] @ moved
    return (moved @ np.reciprocal(whole, out=whole).transpose(0, 2, 1))[:, :, 0]


def to_second_order(law, prior, scores):
    """E[softmax_j] = Q_j (1 + a_j / 2), a_j the Hessian of softmax_j contracted with the covariance; exp(a_j / 2) stays positive."""
    shift, variance = _moments(law, scores)
    mean = prior + shift
    return softmax(mean + 0.5 * law.curvature(scores, variance, softmax(mean)))


def _moments(law, scores):
    """Mean of f - prior mean and variance at every component, (n, K) each."""
    shift, variance = latent(scores.ravel(), law.inducing, law.hyper, law.posterior)
    return shift.reshape(scores.shape), variance.reshape(scores.shape)


@dataclass(frozen=True)
class Independent:
    """Every component by its own marginal, the same standard normal numbers for every row."""

    inducing: np.ndarray
    hyper: Hyper
    posterior: Posterior

    def draw(self, rng, n_draws, n_classes):
        return np.ascontiguousarray(rng.standard_normal((n_draws, n_classes)).T)

    def deviations(self, scores, variance, draws):
        """Draws of f less its mean, (n, K, D)."""
        return np.sqrt(variance)[:, :, None] * draws

    def curvature(self, scores, variance, Q):
        return variance * (1.0 - 2.0 * Q) + sum_rows(variance * Q * (2.0 * Q - 1.0))[:, None]

    @staticmethod
    def values_a_row(n_classes, n_draws):
        """How many numbers a row takes while it is predicted."""
        return n_classes * max(n_draws, 1)


@dataclass(frozen=True)
class Functions:
    """D functions drawn around the latent mean: white noise on the lattice (PERIOD, D), what the data make of it, whitened at the
    inducing points (M, D), and the noise of each component (D, K)."""

    lattice: np.ndarray
    pull: np.ndarray
    noise: np.ndarray


@dataclass(frozen=True)
class Joint:
    """One function at all components, so that what shifts them together cancels in the softmax; the same functions for every row."""

    inducing: np.ndarray
    hyper: Hyper
    posterior: Posterior

    def draw(self, rng, n_draws, n_classes):
        """Matheron's rule: draws from the prior, moved by what they lack of draws from the posterior at the inducing points."""
        lattice = rng.standard_normal((PERIOD, n_draws))
        own, wanted = rng.standard_normal((2, len(self.inducing), n_draws))
        prior = self._prior(self.inducing, lattice) + np.sqrt(self.hyper.noise + JITTER) * own
        pull = self.posterior.root @ wanted - np.linalg.solve(cholesky(self.inducing, self.hyper), prior)
        return Functions(lattice, pull, np.sqrt(self.hyper.noise) * rng.standard_normal((n_draws, n_classes)))

    def deviations(self, scores, variance, draws):
        points = scores.ravel()
        smooth = self._prior(points, draws.lattice) + self._projection(points).T @ draws.pull
        return smooth.reshape(*scores.shape, -1) + draws.noise.T

    def curvature(self, scores, variance, Q):
        """a_j = C_jj - 2 (C Q)_j + 2 Q^T C Q - diag(C)^T Q: 0 where C is the same for all pairs."""
        B, root = self._projection(scores.ravel()).reshape(-1, *scores.shape), self.posterior.root
        prior = np.einsum("mnk,nk->mn", B, Q)
        gained = np.einsum("mnk,mn->nk", B, root @ (root.T @ prior) - prior)
        CQ = self.hyper.variance * row_products(scores, Q, self.hyper.length) + self.hyper.noise * Q + gained
        return variance - 2.0 * CQ + sum_rows((2.0 * CQ - variance) * Q)[:, None]

    @staticmethod
    def values_a_row(n_classes, n_draws):
        return max(PERIOD, n_classes * max(n_draws, WIDTH))

    def _projection(self, points):
        return projection(points, self.inducing, self.hyper, cholesky(self.inducing, self.hyper))[0]

    def _prior(self, points, lattice):
        return np.sqrt(self.hyper.variance) * function_values(points, self.hyper.length, lattice)
