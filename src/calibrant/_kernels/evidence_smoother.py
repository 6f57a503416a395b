"""A function of one number, smoothed as far as the data ask for: the mean over many Gaussian processes, each weighed by its evidence.

The function lies on a few grid points, a straight line between them and constant beyond them, so any number of rows becomes one small
matrix. Its prior is a constant, N(0, c^2), plus a process, GP(0, a^2 k), for every c, a and length of a small table; the first of them is
the function that is 0 everywhere. What few rows cannot tell from 0 stays near 0.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

__all__ = ["Grid", "Smoothed", "constant_only", "make_grid", "posterior"]

POINTS = 16
#: The grid ends this many standard deviations from the centre, or at the outermost rows.
REACH = 2.5
#: Eigenvectors of a prior covariance that are kept: the next has less than 1e-5 of the first's.
RANK = 9
#: Standard deviations of the constant, and amplitudes and lengths (in standard deviations of the input) of the process.
CONSTANTS = (0.0, 0.1, 0.4, 2.0)
PROCESSES = ((0.0, 1.0), (0.1, 1.0), (0.1, 3.0), (0.3, 1.0), (0.3, 3.0), (1.0, 1.0), (1.0, 3.0))
#: Prior weight of no constant among the constants, and of no process among the processes.
NONE = 0.5


@dataclass(frozen=True)
class Grid:
    """Where each row lies: ``share`` of it at the point ``low + 1``, the rest at ``low``; ``points`` are in the units of the input."""

    points: np.ndarray
    low: np.ndarray
    share: np.ndarray
    size: float

    def at_rows(self, values):
        """(n,) the function with these values at the points, at the rows."""
        return values[self.low] + self.share * (values[np.minimum(self.low + 1, len(values) - 1)] - values[self.low])

    def variance_at_rows(self, covariance):
        """(n,) the variance at the rows of a function with this covariance at the points."""
        high, left = np.minimum(self.low + 1, len(self.points) - 1), 1.0 - self.share
        own = np.diag(covariance)
        return left * left * own[self.low] + 2.0 * left * self.share * covariance[self.low, high] + self.share * self.share * own[high]

    def gram(self, weight):
        """(M, M) sum over rows of weight times the products of their shares."""
        m, high = len(self.points), np.minimum(self.low + 1, len(self.points) - 1)
        out = np.zeros((m, m))
        left = 1.0 - self.share
        out.flat[:: m + 1] = np.bincount(self.low, weight * left * left, m) + np.bincount(high, weight * self.share * self.share, m)
        between = np.bincount(self.low, weight * left * self.share, m)
        for i, j in ((np.arange(m - 1), np.arange(1, m)), (np.arange(1, m), np.arange(m - 1))):
            out[i, j] += between[: m - 1]
        return out

    def sums(self, values):
        """(M,) sum over rows of their values times their shares."""
        m = len(self.points)
        return np.bincount(self.low, values * (1.0 - self.share), m) + np.bincount(np.minimum(self.low + 1, m - 1), values * self.share, m)


def make_grid(x, weight, least_spread=0.0):
    """The grid of an input (n,); a single point where the input is one number.

    Lengths are in units of the input's spread, or of ``least_spread`` where that is more: smaller differences are then hardly told apart.
    """
    centre = np.average(x, weights=weight)
    spread = np.sqrt(np.average(np.square(x - centre), weights=weight))
    first, last = max(x.min(), centre - REACH * spread), min(x.max(), centre + REACH * spread)
    if not last - first > 1e-9 * max(abs(centre), spread, np.finfo(np.float64).tiny):
        return Grid(np.array([centre]), np.zeros(len(x), dtype=np.intp), np.zeros(len(x)), 0.0)
    points = np.linspace(first, last, POINTS)
    place = np.clip((x - first) / (last - first), 0.0, 1.0) * (POINTS - 1)
    low = np.minimum(place.astype(np.intp), POINTS - 2)
    return Grid(points, low, place - low, (last - first) / max(spread, least_spread))


@cache
def _roots(m, size, smooth, shrunk):
    """(J, M, R) roots of the prior covariances, which are each its root times its transpose, and (J,) log prior weights."""
    constants = CONSTANTS if shrunk else CONSTANTS[-1:]
    processes = PROCESSES if smooth and m > 1 else PROCESSES[:1]
    place = np.linspace(0.0, size, m)
    gap = place[:, None] - place
    roots, logs = [], []
    for c in constants:
        for amplitude, length in processes:
            values, vectors = np.linalg.eigh(c * c + amplitude**2 * np.exp(-0.5 * (gap / length) ** 2))
            roots.append((vectors * np.sqrt(np.maximum(values, 0.0)))[:, -RANK:])
            logs.append(np.log(_prior(c, constants) * _prior(amplitude, processes)))
    return np.array(roots), np.array(logs)


def _prior(size, among):
    """Prior weight of one size of several, the first of which is none."""
    if len(among) == 1:
        return 1.0
    return NONE if size == 0.0 else (1.0 - NONE) / (len(among) - 1)


@dataclass(frozen=True)
class Smoothed:
    """Values (M,) of a function at its grid points with their covariance (M, M), and the log of the evidence in all."""

    values: np.ndarray
    covariance: np.ndarray
    evidence: float


def posterior(grid, weight, pull, *, smooth=True, shrunk=True):
    """The function: mean and covariance over all priors, each weighed by its evidence.

    ``weight`` (n,) is the curvature of each row's loss in the function at that row, and ``pull`` (n,) the weight times the value that the
    row asks for.
    """
    A, b = grid.gram(weight), grid.sums(pull)
    roots, prior = _roots(len(grid.points), round(grid.size, 6), smooth, shrunk)
    across = roots.transpose(0, 2, 1)
    inner = across @ A @ roots
    inner[:, range(inner.shape[1]), range(inner.shape[1])] += 1.0
    factor = np.linalg.cholesky(inner)
    # Half of each covariance: a root whose product with its transpose it is.
    half = np.linalg.solve(factor, across)
    means = (half.transpose(0, 2, 1) @ (half @ b)[..., None])[..., 0]
    determinant = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    evidence = prior - determinant + 0.5 * (means @ b)
    most = evidence.max()
    share = np.exp(evidence - most)
    total = share.sum()
    share /= total
    mean = share @ means
    apart = means - mean
    flat = (half * np.sqrt(share)[:, None, None]).reshape(-1, len(b))
    covariance = flat.T @ flat + (apart.T * share) @ apart
    return Smoothed(mean, covariance, float(most + np.log(total)))


def constant_only(grid, weight, pull):
    """The constant that the rows ask for, without a prior."""
    total, m = weight.sum(), len(grid.points)
    value = pull.sum() / total if total > 0.0 else 0.0
    return Smoothed(np.full(m, value), np.full((m, m), 1.0 / total if total > 0.0 else 0.0), 0.5 * value * pull.sum())
