"""Hypotheses tested in an order fixed beforehand, from several starts that share the failure probability."""

import numpy as np

__all__ = ["fixed_sequence"]


def fixed_sequence(p_values: np.ndarray, delta: float, n_starts: int = 1) -> np.ndarray:
    """(r,) the places that are rejected, ascending: from each of evenly spread starts on, up to the first p-value above its share.

    Each start has ``delta / n_starts``. That one true hypothesis or more is rejected has a probability of at most ``delta``, however the
    p-values depend on each other: at each start the first true one must be.
    """
    held = p_values <= delta / n_starts
    starts = np.arange(n_starts) * len(p_values) // n_starts
    failed = np.append(np.flatnonzero(~held), len(p_values))
    ends = failed[np.searchsorted(failed, starts)]
    runs = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
    return np.unique(np.concatenate(runs))
