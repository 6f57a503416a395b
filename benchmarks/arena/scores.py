"""The scores, on plain arrays, so that calibrant and its peers are measured by the same lines
(tests hold them to ``metrics``).
"""

import numpy as np

SMALLEST = 1e-12


def log_losses(P, y):
    """-log of the true class's probability, row by row, probabilities clipped to [1e-12, 1]."""
    return -np.log(np.clip(P[np.arange(len(y)), y], SMALLEST, 1.0))


def brier_scores(P, y):
    """Squared distance from the one-hot truth, summed over all classes, row by row."""
    return np.square(P).sum(axis=1) - 2.0 * P[np.arange(len(y)), y] + 1.0


def top_label_error(P, y, n_bins=15):
    """Expected calibration error of the top label in equal-width bins; an edge belongs to the
    bin above.
    """
    confidence, correct = P.max(axis=1), P.argmax(axis=1) == y
    of = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    return float(np.abs(np.bincount(of, correct - confidence, n_bins)).sum() / len(y))


def checked(Q, shape):
    """The output as float64 rows that sum to 1; ValueError with the reason where it cannot be
    scored.
    """
    Q = np.asarray(Q, dtype=np.float64)
    if Q.shape != shape:
        raise ValueError(f"shape {Q.shape} instead of {shape}")
    if not np.isfinite(Q).all():
        raise ValueError(f"{int((~np.isfinite(Q)).any(axis=1).sum())} rows are not finite")
    Q = np.clip(Q, 0.0, None)
    total = Q.sum(axis=1, keepdims=True)
    if (total <= 0.0).any():
        raise ValueError(f"{int((total <= 0.0).sum())} rows are all zero")
    return Q / total
