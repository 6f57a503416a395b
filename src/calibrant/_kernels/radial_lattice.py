"""A radial kernel as sums over an even lattice, so that joint draws and products with it cost a few nodes a point.

exp(-(z - z')^2 / (2 l^2)) is sum_t b(z - t) b(z' - t) over the lattice points t, with b(t) proportional to exp(-t^2 / l^2): the
trapezoidal rule for the integral over t, whose error falls like exp(-(pi l / spacing)^2 / 2). White noise on the lattice, read through b,
then is a draw of the Gaussian process as a whole function.
"""

import numpy as np
from scipy.sparse import csr_array

__all__ = ["PERIOD", "WIDTH", "function_values", "lattice_features", "row_products"]

#: Lattice spacing in length scales, and nodes a point touches: the kernel is right to 1e-10.
SPACING, WIDTH = 0.45, 22
#: b(0), which makes the kernel 1 at 0.
HEIGHT = np.sqrt(SPACING * np.sqrt(2.0 / np.pi))
#: Nodes after which the lattice repeats: points it confuses lie 1,800 length scales apart.
PERIOD = 4096
#: No point is placed further out than this many nodes: float64 would soon have no digits left for the place between two. The third of a
#: period keeps the two ends apart from each other and from 0.
FAR = 2.0**40 + PERIOD // 3


def lattice_features(points, length):
    """F (P, r), the kernel between even, increasing points being F F^T, and its slope in log length (P, r), the nodes held in place.

    A length below a sixth of a cell makes the kernel the identity to 1e-8, and is read as that sixth.
    """
    length = max(length, (points[1] - points[0]) / 6.0)
    first, last = (int(np.floor(z / (SPACING * length))) for z in (points[0], points[-1]))
    gap = points[:, None] / length - SPACING * np.arange(first + 1 - WIDTH // 2, last + 1 + WIDTH // 2)
    features = HEIGHT * np.exp(-gap * gap)
    return features, features * (2.0 * gap * gap - 0.5)


def _bumps(points, length):
    """The nodes that each point touches, (P, WIDTH), and b there."""
    place = np.clip(points / (SPACING * length), -FAR, FAR)
    nodes = np.floor(place).astype(np.int64)[:, None] + np.arange(1 - WIDTH // 2, 1 + WIDTH // 2)
    gap = SPACING * (place[:, None] - nodes)
    return nodes, HEIGHT * np.exp(-gap * gap)


def function_values(points, length, noise):
    """Functions given by white noise on the lattice (PERIOD, D), at points (P,): (P, D), draws from the process of unit variance."""
    nodes, heights = _bumps(points, length)
    row_starts = np.arange(len(points) + 1) * WIDTH
    return csr_array((heights.ravel(), (nodes % PERIOD).ravel(), row_starts), shape=(len(points), PERIOD)) @ noise


def row_products(scores, values, length):
    """Each row's kernel matrix (K, K) times its values, (n, K): the values are deposited on the lattice and read back."""
    n, K = scores.shape
    nodes, heights = (a.reshape(n, K * WIDTH) for a in _bumps(scores.ravel(), length))
    size = min(int(nodes.max() - nodes.min()) + 1, PERIOD)
    cell = nodes % size + size * np.arange(n)[:, None]
    held = np.bincount(cell.ravel(), weights=(heights * np.repeat(values, WIDTH, axis=1)).ravel(), minlength=n * size)
    return np.sum((held[cell] * heights).reshape(n, K, WIDTH), axis=2)
