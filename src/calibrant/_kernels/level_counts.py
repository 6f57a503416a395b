"""How many outcomes fall between neighbouring levels of their forecasts, by bin."""

import numpy as np

__all__ = ["level_counts", "level_gaps", "redrawn_counts"]


def level_counts(score, reach, index, n_groups, weight=None):
    """Weight of the rows of each group in (reach[l - 1], reach[l]], (n_groups, L + 1): below the first of L reaches to above the last."""
    first = np.searchsorted(reach, score, side="left") + index * (len(reach) + 1)
    counts = np.bincount(first, weights=weight, minlength=n_groups * (len(reach) + 1))
    return counts.reshape(n_groups, len(reach) + 1).astype(np.float64)


def level_gaps(counts, levels):
    """(weight (..., G), summed gap between rows at most at each level and rows claimed (..., L, G))."""
    weight = counts.sum(axis=-1)
    below = np.cumsum(counts, axis=-1)[..., :-1]
    return weight, np.swapaxes(below - weight[..., None] * levels, -1, -2)


def redrawn_counts(counts, levels, n_resamples, random_state):
    """Bootstrap resamples of the rows, seen through their counts: (n_resamples, G, L + 1).

    As if each group held two rows more, spread as is claimed: a share of exactly 0 or 1 would hide its noise.
    """
    weight = counts.sum(axis=-1, keepdims=True)
    claimed = np.diff(levels, prepend=0.0, append=1.0)
    share = (counts + 2.0 * claimed) / (weight + 2.0) * weight / weight.sum()
    drawn = np.random.default_rng(random_state).multinomial(max(round(float(weight.sum())), 1), share.ravel(), n_resamples)
    return drawn.reshape(n_resamples, *counts.shape).astype(np.float64)
