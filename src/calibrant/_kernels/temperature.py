"""Log loss of softmax(beta * logits) with its two derivatives in beta, and the beta that minimises it, in blocks that stay in cache."""

import numpy as np

from calibrant._kernels.roots import increasing_root
from calibrant._kernels.softmax import SINGLE_ENTRIES, by_class, working_dtype
from calibrant._kernels.threads import map_blocks, row_blocks

__all__ = ["inverse_temperature", "is_separable", "nll_derivatives", "tilted_losses", "tilted_root", "tilts"]

BLOCK_ENTRIES = 65_536
COARSE_STRIDE = 16
#: Logits of a row that differ by no more than so many units in the last place are equal but for rounding.
FLAT_ULPS = 4
FACTORIALS = np.array([1.0, 1.0, 2.0, 6.0, 24.0])


def inverse_temperature(logits, labels, weight, low=1e-9, high=1e9, start=None):
    """(beta in [low, high] of least mean log loss, status); status as of :func:`roots.increasing_root`, or "separable".

    ``start`` is the end of a search on nearly the same rows.
    "flat" is also where logits of a row differ by rounding alone.
    Separable rows have no finite optimum: they are fitted to targets smoothed by 1 / (n + 1).
    """
    logits, pull = by_class(logits), 0.0
    if _is_flat(logits):
        return 1.0, "flat"
    if is_separable(logits, labels):
        # Smoothed targets add a constant to the gradient: epsilon * (own logit - mean logit), averaged.
        own = logits[np.arange(len(logits)), labels]
        pull = float(weight @ (own - logits.mean(axis=1, dtype=np.float64))) / weight.sum() / (weight.sum() + 1.0)
    single = working_dtype(logits) == np.float32
    # Rounding in float32 hides steps below about 1e-8; Newton squares the last step's error, so it may stop well above that.
    tolerance = 1e-6 if single else 1e-12
    if start is None and logits.size >= SINGLE_ENTRIES:
        part = slice(None, None, COARSE_STRIDE)
        start, _ = _root(logits[part], labels[part], weight[part], pull, low, high, 1.0, 1e-3)
    beta, status = _root(logits, labels, weight, pull, low, high, start or 1.0, tolerance)
    return beta, "separable" if pull and status == "converged" else status


def _root(logits, labels, weight, pull, low, high, start, tolerance):
    def gradient(beta):
        _, slope, curvature = nll_derivatives(beta, logits, labels, weight)
        return slope + pull, curvature

    return increasing_root(gradient, low, high, start, tolerance)


def nll_derivatives(beta, logits, labels, weight):
    """(mean NLL, d/dbeta, d2/dbeta2) of softmax(beta * logits), weighted; sums over rows in float64."""
    dtype = working_dtype(logits)
    blocks = row_blocks(len(logits), max(BLOCK_ENTRIES // logits.shape[1], 1))
    totals = np.zeros(3)
    for part in map_blocks(lambda rows: _block(beta, logits[rows], labels[rows], weight[rows], dtype), blocks):
        totals += part
    return tuple(totals / weight.sum())


def _block(beta, logits, labels, weight, dtype):
    z = np.subtract(logits, logits.max(axis=1, keepdims=True), dtype=dtype)
    own = z[np.arange(len(z)), labels].astype(np.float64)
    e = z * dtype(beta)
    np.exp(e, out=e)
    total = e.sum(axis=1).astype(np.float64)
    e *= z
    first = e.sum(axis=1, dtype=np.float64) / total
    e *= z
    second = e.sum(axis=1, dtype=np.float64) / total
    return np.array([
        weight @ (np.log(total) - beta * own),
        weight @ (first - own),
        weight @ np.maximum(second - first * first, 0.0),
    ])  # fmt: skip


def _is_flat(logits):
    if len(logits) > 1000 and not _is_flat(logits[:1000]):
        return False
    largest = logits.max(axis=1)
    return bool((largest - logits.min(axis=1) <= FLAT_ULPS * np.spacing(np.maximum(np.abs(largest), 1))).all())


def is_separable(logits, labels):
    """Whether every row's label has its largest logit, so that the log loss has no finite optimum in the temperature."""
    if len(labels) > 1000 and not is_separable(logits[:1000], labels[:1000]):
        return False
    return bool((logits[np.arange(len(labels)), labels] >= logits.max(axis=1)).all())


def tilts(beta, logits, labels):
    """(n, 5): each row's loss at softmax(beta * logits) and its first four derivatives in beta, cumulants of the logits."""
    logits, dtype = by_class(logits), working_dtype(logits)
    out = np.empty((len(logits), 5))

    def block(rows):
        z = np.subtract(logits[rows], logits[rows].max(axis=1, keepdims=True), dtype=dtype)
        own = z[np.arange(len(z)), labels[rows]].astype(np.float64)
        e = z * dtype(beta)
        np.exp(e, out=e)
        total = e.sum(axis=1).astype(np.float64)
        mean = np.einsum("ij,ij->i", e, z) / total
        z -= mean[:, None].astype(dtype)
        e *= z
        moments = []
        for _ in range(3):
            e *= z
            moments.append(e.sum(axis=1) / total)
        second, third, fourth = moments
        out[rows] = np.column_stack([np.log(total) - beta * own, mean - own, second, third, fourth - 3.0 * second**2])

    map_blocks(block, row_blocks(len(logits), max(BLOCK_ENTRIES // logits.shape[1], 1)))
    return out


def tilted_losses(tilts, change):
    """(n,) losses where beta is so much larger than where the ``tilts`` were taken: their Taylor series."""
    return tilts @ (change ** np.arange(5) / FACTORIALS)


def tilted_root(tilts, weight, widest):
    """The change of beta at which the weighted losses are least, by their Taylor series; None where it is more than ``widest``."""
    slope = weight @ tilts[:, 1:] / FACTORIALS[:4]
    change = 0.0
    for _ in range(8):
        powers = change ** np.arange(4)
        bend = slope[1:] * np.arange(1, 4) @ powers[:3]
        step = slope @ powers / bend if bend > 0.0 else np.inf
        change -= step
        if not abs(change) <= widest:
            return None
        if abs(step) <= 1e-13 * widest:
            break
    return float(change)
