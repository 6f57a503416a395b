"""Exact probability that the predicted label survives independent noise on every logit, by
quadrature over the noise of the predicted class.

With gaps g_k = L_label - L_k in units of the noise width, the label is kept with probability
``E_z[prod_k F(g_k + z)]``, F the distribution function of the noise. The sum of log F over the
classes is computed by spreading the gaps of a row over a grid of knots once (cubic weights: a
function interpolated on the knots is then a small matrix product), so cost hardly grows with the
classes. Gaps are positive where the label is the largest logit; negative ones (a label that another
input gave) work too.
"""

from functools import cache
from typing import Any

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.fixed_order import multiply_rows

__all__ = ["runner_up_gap", "sampled_stability", "spread_sums", "stability", "standard_noise"]

REACH = {
    "gaussian": 10.0,
    "uniform": 1.0,
}  # gaps beyond it, in noise widths, change the probability by less than 1e-12 a class
# Up to here products are computed without a grid; more for a label that is not the largest, whose
# grid is twice as long.
FEW_CLASSES = {"gaussian": 6, "gaussian behind": 16, "uniform": 32}
# Up to here a row's knots are few enough for a sparse product.
SPARSE_CLASSES = 32
# Good to 1e-7 for Gaussian noise at 1,000 classes; for uniform to 1e-6, unless many gaps crowd into
# less than one cell (then 4e-5).
FINE_CELLS = {"gaussian": 320, "uniform": 256}
WIDE_KNOTS = (
    24.0  # knots per e-fold of the gap on the grid that serves all scales of a search: good to 1e-3
)
NEAREST = (
    4  # classes kept out of the grid where the log of a uniform's distribution function is singular
)
BLOCK_SIZE = 2**18
# Lagrange weights of the knots -1, 0, 1, 2 as polynomials in the place f in [0, 1) of the cell: row
# = knot, column = power of f.
CUBIC = np.array([[0, -2, 3, -1], [6, -3, -6, 3], [0, 6, 3, -3], [0, -1, 0, 1]]) / 6.0


def stability(logits: np.ndarray, predicted: np.ndarray, scale: float, noise: str) -> np.ndarray:
    """Probability that ``predicted`` stays the argmax of logits + noise of width ``scale``: (n,
    K), (n,) -> (n,).
    """
    out = np.empty(len(logits))
    exact = {"gaussian": _gaussian, "uniform": _uniform}[noise]
    for rows in _row_blocks(logits.shape, 2 * FINE_CELLS[noise]):
        gaps = _gaps(logits[rows], predicted[rows])
        with np.errstate(over="ignore"):
            gaps /= scale
        # The grid of a label that is not the largest is longer; each row has its own grid.
        behind, block = gaps.min(axis=1) < 0.0, out[rows]
        for kind in (behind, ~behind):
            if kind.any():
                block[kind] = exact(gaps[kind])
    return np.clip(out, 0.0, 1.0, out=out)


def spread_sums(
    logits: np.ndarray,
    predicted: np.ndarray,
    correct: np.ndarray,
    weight: np.ndarray,
    scales: Any,
    noise: str,
) -> np.ndarray:
    """Weighted sums of 1, c, s, s*s and c*s over the rows for the stability s at each of many
    scales, (S, 5); s good to 1e-3.
    """
    smallest, largest = min(scales), max(scales) * REACH[noise]
    base = smallest * (8.0 if noise == "gaussian" else 1.0)
    high = int(np.ceil(WIDE_KNOTS * np.arcsinh(largest / base)))
    out = np.zeros((len(scales), 5))
    tables: list = []
    for rows in _row_blocks(logits.shape, high):
        gaps = _gaps(logits[rows], predicted[rows])
        low = -high if gaps.min() < 0.0 else 0
        with np.errstate(over="ignore"):
            gaps /= base
        spread = _spread(WIDE_KNOTS * np.arcsinh(gaps, out=gaps), low, high)
        if low or not tables:
            knots = base * np.sinh(np.arange(low - 1, high + 3) / WIDE_KNOTS)
            tables = [_table(knots[knots <= 1.2 * REACH[noise] * s] / s, noise, 2) for s in scales]
        c, w = correct[rows], weight[rows]
        for sums, (values, quadrature) in zip(out, tables, strict=True):
            s = np.clip(np.exp(spread[:, : len(values)] @ values) @ quadrature, 0.0, 1.0)
            ws = w * s
            sums += [w.sum(), w @ c, ws.sum(), ws @ s, ws @ c]
        tables = [] if low else tables
    return out


def standard_noise(noise: str, n_draws: int, n_classes: int, seed: int) -> np.ndarray:
    """``n_draws`` noise vectors of width 1, (n_draws, K); the mean is 0, since shifting all
    logits alike changes no argmax.
    """
    rng = np.random.default_rng(seed)
    if noise == "gaussian":
        return rng.standard_normal((n_draws, n_classes))
    return rng.random((n_draws, n_classes)) - 0.5


def sampled_stability(logits: np.ndarray, predicted: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Share of the noise vectors (M, K) for which ``predicted`` stays the argmax: (n, K), (n,)
    -> (n,).
    """
    out = np.empty(len(logits))
    size = max(1, 2**15 // logits.shape[1])
    for start in range(0, len(logits), size):
        rows = slice(start, start + size)
        columns = np.ascontiguousarray(logits[rows].T, dtype=np.float64)
        label = predicted[rows]
        label_logit = columns[label, np.arange(len(label))]
        noisy, count = np.empty_like(columns), np.zeros(len(label))
        for draw in noise:
            np.add(columns, draw[:, None], out=noisy)
            count += noisy.max(axis=0) <= label_logit + draw[label]
        out[rows] = count / len(noise)
    return out


def runner_up_gap(logits: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Gap between the logit of ``predicted`` and the largest of the others, (n,)."""
    out = np.empty(len(logits))
    for rows in _row_blocks(logits.shape, 0):
        out[rows] = _gaps(logits[rows], predicted[rows]).min(axis=1)
    return out


def _row_blocks(shape: tuple[int, int], cells: int) -> list[Any]:
    size = max(1, BLOCK_SIZE // max(shape[1], cells))
    return [slice(start, min(start + size, shape[0])) for start in range(0, shape[0], size)]


def _gaps(logits: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """L_label - L_k in float64, infinite at the label itself."""
    rows = np.arange(len(logits))
    label_logit = logits[rows, predicted].astype(np.float64)
    gaps = np.subtract(label_logit[:, None], logits, dtype=np.float64)
    gaps[rows, predicted] = np.inf
    return gaps


def _spread(place: np.ndarray, low: int, high: int) -> np.ndarray:
    """Places (n, K) on knots low..high spread with cubic weights: (n, high - low + 4) for the
    knots low - 1 .. high + 2.
    """
    n, cells = len(place), high - low + 1
    place = np.clip(place, low, high)
    place -= low
    cell = place.astype(np.intp)
    place -= cell
    cell += cells * np.arange(n)[:, None]
    cell, f = cell.ravel(), place.ravel()
    moments = np.empty((4, n * cells))
    moments[0] = np.bincount(cell, minlength=n * cells)
    power = f
    for m in (1, 2, 3):
        moments[m] = np.bincount(cell, weights=power, minlength=n * cells)
        power = power * f
    weights = (CUBIC @ moments).reshape(4, n, cells)
    out = np.zeros((n, cells + 3))
    for knot in range(4):
        out[:, knot : knot + cells] += weights[knot]
    return out


def _sparse_spread(place: np.ndarray, low: int, high: int) -> Any:
    """The same as a sparse matrix, which is faster for few classes."""
    n, n_classes = place.shape
    place = np.clip(place, low, high) - low
    cell = place.astype(np.int32)
    place -= cell
    powers = np.stack([np.ones_like(place), place, place * place, place**3], axis=-1)
    knots = cell[:, :, None] + np.arange(4, dtype=np.int32)
    starts = 4 * n_classes * np.arange(n + 1, dtype=np.int32)
    return scipy.sparse.csr_array(
        ((powers @ CUBIC.T).ravel(), knots.ravel(), starts), shape=(n, high - low + 4)
    )


def _table(knots: np.ndarray, noise: str, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Log of the noise's distribution function at knot + node (knots, nodes), and the weights of
    the nodes; ``order`` 2 is the search's.
    """
    if noise == "gaussian":
        # Twice the step is good to 3e-6 up to a thousand classes.
        nodes, weights = _normal_rule(0.5 if order == 2 else 0.25)
        return special.log_ndtr(knots[:, None] + nodes), weights
    corners = np.unique(np.clip(1.0 - knots, 0.0, 1.0))
    corners = np.unique(np.concatenate([[0.0], corners, [1.0]]))
    nodes, weights = _legendre(corners[:-1], corners[1:], order)
    return _log_uniform(knots[:, None] + nodes.ravel()), weights.ravel()


@cache
def _normal_rule(step: float = 0.25) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the trapezoid rule for E_z, z ~ N(0, 1)."""
    nodes = np.arange(-9.0, 9.0 + step, step)
    return nodes, step * np.exp(-0.5 * nodes * nodes) / np.sqrt(2.0 * np.pi)


def _legendre(start: np.ndarray, stop: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on intervals (...), each (..., order)."""
    x, w = np.polynomial.legendre.leggauss(order)
    half = 0.5 * (stop - start)[..., None]
    return start[..., None] + half * (x + 1.0), half * w


def _log_uniform(value: np.ndarray) -> np.ndarray:
    return np.log(np.clip(value, 1e-6, 1.0))


def _gaussian(gaps: np.ndarray) -> np.ndarray:
    behind = bool(gaps.min() < 0.0)
    if gaps.shape[1] <= FEW_CLASSES["gaussian behind" if behind else "gaussian"]:
        nodes, weights = _normal_rule()
        return multiply_rows(special.ndtr(gaps[:, :, None] + nodes).prod(axis=1), weights)
    high = FINE_CELLS["gaussian"]
    per_width = high / REACH["gaussian"]
    values, weights = _fine_table("gaussian", low := -high if behind else 0)
    gaps *= per_width
    few = gaps.shape[1] <= SPARSE_CLASSES
    sums = (
        _sparse_spread(gaps, low, high) @ values
        if few
        else multiply_rows(_spread(gaps, low, high), values)
    )
    return multiply_rows(np.exp(sums, out=sums), weights)


def _uniform(gaps: np.ndarray) -> np.ndarray:
    if gaps.shape[1] <= FEW_CLASSES["uniform"]:
        return _uniform_few(gaps)
    high = FINE_CELLS["uniform"]
    low = -high if gaps.min() < 0.0 else 0
    (upper, upper_weights), (lower, lower_weights, nodes) = _fine_table("uniform", low)
    whole = _spread(gaps * high, low, high)
    # Below one half, log(u + gap) is singular at small gaps: the nearest classes are multiplied
    # directly.
    near = np.sort(np.partition(gaps, NEAREST, axis=1)[:, :NEAREST], axis=1)
    near[near >= 0.25] = np.inf
    rest = whole - _spread(near * high, low, high)
    rest[:, high - low + 1] += NEAREST
    product = np.ones((len(gaps), len(nodes)))
    for k in range(NEAREST):
        product *= np.clip(near[:, k, None] + nodes, 0.0, 1.0)
    above = multiply_rows(np.exp(multiply_rows(whole, upper)), upper_weights)
    return above + multiply_rows(np.exp(multiply_rows(rest, lower)) * product, lower_weights)


def _uniform_few(gaps: np.ndarray) -> np.ndarray:
    """Polynomials between the breakpoints 1 - gap, integrated exactly by Gauss-Legendre; zero
    below -gap.
    """
    n, n_classes = gaps.shape
    start = np.clip(-gaps.min(axis=1, keepdims=True), 0.0, 1.0)
    corners = np.sort(
        np.clip(1.0 - gaps, start, 1.0), axis=1
    )  # the label's own infinite gap gives the lower end
    corners = np.concatenate([corners, np.ones((n, 1))], axis=1)
    nodes, weights = _legendre(corners[:, :-1], corners[:, 1:], n_classes // 2 + 1)
    product = np.ones_like(nodes)
    for k in range(n_classes):
        product *= np.clip(nodes + gaps[:, k, None, None], 0.0, 1.0)
    return (product * weights).sum(axis=(1, 2))


@cache
def _fine_table(noise: str, low: int) -> tuple[Any, ...]:
    """The table of one scale; for uniform noise its parts above and below one half."""
    high = FINE_CELLS[noise]
    knots = np.arange(low - 1, high + 3) * (REACH[noise] / high)
    if noise == "gaussian":
        return _table(knots, noise, 0)
    corners = np.linspace(0.0, 1.0, high + 1)
    nodes, weights = (a.ravel() for a in _legendre(corners[:-1], corners[1:], 3))
    values = _log_uniform(knots[:, None] + nodes)
    small = nodes < 0.5
    return (values[:, ~small], weights[~small]), (values[:, small], weights[small], nodes[small])
