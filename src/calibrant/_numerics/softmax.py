"""Softmax, its logarithm, and the logarithm of probabilities that may hold exact zeros."""

from typing import Any

import numpy as np

from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.threads import map_blocks, row_blocks

__all__ = [
    "bounded_logits",
    "by_class",
    "clipped_log_odds",
    "clipped_logs",
    "inner_limits",
    "log_odds",
    "log_probabilities",
    "log_softmax",
    "log_softmax_mixed",
    "normalise_rows",
    "share_rest",
    "softmax",
    "working_dtype",
]

ZERO_FLOOR = 1e-12
#: The largest distance of logits below their row's maximum: softmax is exactly 0 at temperatures up
#: #: to 1e9, and squares stay finite.
DEEPEST_LOGIT = 1e15
#: Up to this many classes, sums and maxima over them are several times faster in column order.
FEW_CLASSES = 32
#: From this size on float32 logits are processed in float32: rounding errors average out.
SINGLE_ENTRIES = 2_000_000
BLOCK_ENTRIES = 65_536


def by_class(values: np.ndarray) -> np.ndarray:
    """The array (n, K), in column order if the classes are few and the rows many."""
    return (
        np.asfortranarray(values)
        if values.ndim == 2 and values.shape[1] <= min(FEW_CLASSES, len(values) // 8)
        else values
    )


def bounded_logits(logits: np.ndarray) -> np.ndarray:
    """The logits (n, K), with rows that reach beyond 1e15 shifted to a largest of 0 and floored at
    -1e15; their softmax is the same.

    Masks of the lowest float and other extremes then never overflow. Rows that are not finite stay.
    """
    if not max(logits.max(), -logits.min()) > DEEPEST_LOGIT:
        return logits
    rows = np.flatnonzero(
        (np.abs(logits) > DEEPEST_LOGIT).any(axis=1) & np.isfinite(logits).all(axis=1)
    )
    far = logits[rows].astype(np.float64)
    with np.errstate(over="ignore"):
        far -= far.max(axis=1, keepdims=True)
    out = logits.copy()
    out[rows] = np.maximum(far, -DEEPEST_LOGIT)
    return out


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Log of the softmax over the last axis, (n, K) -> (n, K) float64, without overflow."""
    logits = by_class(logits)
    shifted = np.subtract(logits, logits.max(axis=-1, keepdims=True), dtype=np.float64)
    shifted -= np.log(sum_rows(np.exp(shifted)))[..., None]
    return shifted


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, (n, K) -> (n, K) float64, without overflow."""
    logits = by_class(logits)
    out = np.subtract(logits, logits.max(axis=-1, keepdims=True), dtype=np.float64)
    np.exp(out, out=out)
    out /= sum_rows(out)[..., None]
    return out


def working_dtype(logits: np.ndarray) -> type[Any]:
    """float32 for many float32 logits, else float64."""
    return (
        np.float32 if logits.dtype == np.float32 and logits.size >= SINGLE_ENTRIES else np.float64
    )


def log_softmax_mixed(logits: np.ndarray, share: float, beta: float = 1.0) -> np.ndarray:
    """Log of (1 - share) softmax(beta logits) + share / K, (n, K) -> (n, K): no entry is below
    log(share / K).
    """
    if logits.size < SINGLE_ENTRIES:
        return _mixed(by_class(logits * beta), share)
    # In blocks that stay in the cache: passes over so many entries wait for the memory.
    out = np.empty(logits.shape, dtype=working_dtype(logits))

    def block(rows):
        out[rows] = _mixed(logits[rows] * out.dtype.type(beta), share, out.dtype)

    map_blocks(block, row_blocks(len(logits), max(BLOCK_ENTRIES // logits.shape[1], 1)))
    return out


def _mixed(logits: np.ndarray, share: float, dtype: type[Any] = np.float64) -> np.ndarray:
    out = np.subtract(logits, logits.max(axis=-1, keepdims=True), dtype=dtype)
    np.exp(out, out=out)
    out *= (1.0 - share) / sum_rows(out)[..., None]
    out += share / out.shape[1]
    return np.log(out, out=out)


def normalise_rows(P: np.ndarray) -> np.ndarray:
    """Rows of P divided by their sums, float64."""
    out = np.array(P, dtype=np.float64)
    out /= sum_rows(out)[..., None]
    return out


def log_probabilities(P: np.ndarray) -> np.ndarray:
    """Log of (n, K) rows that sum to 1, finite everywhere and keeping the order within a row.

    An exact zero is read as 1e-12, or as the row's smallest positive entry where that is smaller
    still. The top entry is taken as -log1p(rest / top), which keeps the relative precision of log p
    near p = 1.
    """
    rows = np.arange(len(P))
    top = P.argmax(axis=1)
    peak = P[rows, top]
    others = P.copy()
    others[rows, top] = 0.0
    rest = sum_rows(others)
    if P.min() <= 0.0:
        zero = P <= 0.0
        smallest = np.where(zero, np.inf, P).min(axis=1)
        floor = np.minimum(ZERO_FLOOR, smallest)
        others = np.where(zero, floor[:, None], P).astype(P.dtype)
    else:
        others[rows, top] = peak
    out = np.log(others, out=others)
    out[rows, top] = -np.log1p(rest / peak)
    return out


def log_odds(p: Any) -> Any:
    """Logit of p in [0, 1], finite: p is kept at least 1e-12 from 0, and at least 2**-53 from 1."""
    p = np.clip(p, ZERO_FLOOR, 1.0 - 2.0**-53)
    return np.log(p) - np.log1p(-p)


def share_rest(P: np.ndarray, predicted: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Rows with ``confidence`` at ``predicted`` and the rest shared in proportion to P (equally
    if that is 0).
    """
    rows = np.arange(len(P))
    rest = P.copy()
    rest[rows, predicted] = 0.0
    total = sum_rows(rest)[:, None]
    even = np.full_like(rest, 1.0 / (P.shape[1] - 1))
    even[rows, predicted] = 0.0
    rest = np.where(total > 0.0, rest / np.where(total > 0.0, total, 1.0), even)
    out = rest * (1.0 - confidence)[:, None]
    out[rows, predicted] = confidence
    return out


def inner_limits(score: np.ndarray, total_weight: float, power: float = 2.0) -> tuple[float, float]:
    """(lowest score, smallest gap from 1) to use in logarithms, two floats.

    A score within 1e-12 of 0 or 1 is beyond the resolution of the model: a vote of all trees, a
    rounded softmax. It is read as half the smallest other score (or gap), and at least 1 / (2
    n^power), so that it has little leverage. Without such scores the limits are 1e-12.
    """
    low = score[score > 1.5 * ZERO_FLOOR].min(initial=1.0)
    gap = 1.0 - score[score < 1.0 - 1.5 * ZERO_FLOOR].max(initial=0.0)
    resolution = min(0.5 / total_weight**power, 0.25)
    low = (
        max(0.5 * low, resolution) if score.min() <= 1.5 * ZERO_FLOOR and low < 1.0 else ZERO_FLOOR
    )
    gap = (
        max(0.5 * gap, resolution)
        if score.max() >= 1.0 - 1.5 * ZERO_FLOOR and gap < 1.0
        else ZERO_FLOOR
    )
    return max(float(low), ZERO_FLOOR), max(float(gap), ZERO_FLOOR)


def clipped_logs(score: np.ndarray, limits: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """log s and log(1 - s) of scores kept inside the limits."""
    s = np.minimum(np.maximum(score, limits[0]), 1.0 - limits[1])
    return np.log(s), np.log1p(-s)


def clipped_log_odds(score: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Their difference."""
    return np.subtract(*clipped_logs(score, limits))
