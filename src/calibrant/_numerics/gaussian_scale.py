"""A smooth factor on standard deviations: its logarithm a constant plus one Gaussian process of
each input.

For rows that share their inputs only their weight m and the mean q of their squared standardised
errors count: the normal log likelihood of a log factor g is -m (g + q e^(-2g) / 2), concave in g.
So rows are pooled in small cells, a process is a sum over the eigenvectors of its kernel at a few
points, and the mode is found by Newton's method. Kernels are compared by Laplace's evidence.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from calibrant._numerics.bins import equal_mass_groups, grouped_sums
from calibrant._numerics.newton import cholesky_solver, minimise

__all__ = ["Basis", "Cells", "Mode", "mode", "pool", "process_basis", "radial", "search"]

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
    kept = values > LEAST_EIGENVALUE * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
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

    def found(kernels: list[tuple[float, float]]) -> Mode:
        used = [
            a * own[length].features
            for (a, length), own in zip(kernels, bases, strict=True)
            if a > 0.0
        ]
        return mode(cells, np.column_stack([np.empty((len(cells.weight), 0)), *used]))

    best = found(chosen)
    # Two inputs may explain the same variation: the first is refitted given the second.
    for j in [0, 1, 0][: 2 * len(points) - 1]:
        options = [(0.0, max(bases[j])), *product(AMPLITUDES, bases[j])]
        tried = [found([*chosen[:j], option, *chosen[j + 1 :]]) for option in options]
        leader = int(np.argmax([each.evidence for each in tried]))
        taken = leader if tried[leader].evidence > tried[0].evidence + LEAST_GAIN else 0
        chosen[j], best = options[taken], tried[taken]
    left, weights = best.coefficients[1:], []
    for (amplitude, length), own in zip(chosen, bases, strict=True):
        root = amplitude * own[length].root
        size = root.shape[1] if amplitude else 0
        weights.append(root[:, :size] @ left[:size])
        left = left[size:]
    return chosen, weights, best


def _lengths(points: np.ndarray) -> list[float]:
    """Length scales of at least the distance between the points."""
    apart = float(points[1] - points[0])
    return sorted({max(length, apart) for length in LENGTHS})
