"""Bets against forecasts, by the cells between levels in which their probability integral transforms (PIT) fall.

A forecast claims that its PIT is uniform, so that it falls between two levels as often as they are apart. The cells are the leaves of a
tree: first, is the PIT at most the level nearest a half; then, level by level outwards, is it beyond the next one. Each question is an
event of stated probability, and its log factors are those of ``rate_bets``. A row's factor is the product along its path. Its expected
value, over rows whose cells have the claimed rates on average, is at most 1: the product over rows is at most that with every row's
probabilities at their mean (inequality of the means), and at each node of the tree the expected factor is at most 1 (see ``betting``).

Counts are (C, C): ``counts[a, b]`` rows whose PIT is known to be in cells a to b. Where a tie leaves it open, each alternative gets the
factor of that cell of them which pays it least, so that no way of breaking the tie makes the factor too large.
"""

import numpy as np
from scipy import special

from calibrant._kernels.betting import NEAR, SHIFTS, rate_bets
from calibrant._kernels.softmax import log_odds

__all__ = ["N_RECALIBRATIONS", "cell_factors", "cell_shares", "node_sums", "pit_log_factors", "spread"]

#: Factors of the std: 9 % and 19 % too narrow or wide, then by square roots of two to four times.
SCALES = 2.0 ** np.array([-2.0, -1.0, -0.5, -0.25, -0.125, 0.0, 0.125, 0.25, 0.5, 1.0, 2.0])
#: Every mean and std of the normal scores but 0 and 1.
RECALIBRATIONS = np.array([(m, s) for m in SHIFTS for s in SCALES if (m, s) != (0.0, 1.0)])
N_RECALIBRATIONS = len(RECALIBRATIONS)


def _root(levels):
    return int(np.argmin(np.abs(levels - 0.5)))


def _tree(levels):
    """(hit (C, L), miss (C, L)): how the path to each cell answers each node, one a level."""
    cell, node, root = np.arange(len(levels) + 1)[:, None], np.arange(len(levels)), _root(levels)
    hit = np.where(node <= root, cell <= node, cell > node)
    reached = np.where(node == root, True, np.where(node < root, cell <= node + 1, cell > node - 1))
    return hit.astype(np.float64), (reached & ~hit).astype(np.float64)


def _node_rates(z, root):
    """(..., L) logarithm of the rate at which each node is answered by yes, where the levels have normal scores ``z`` (..., L)."""
    below, above = special.log_ndtr(z), special.log_ndtr(-z)
    inner = below[..., :root] - below[..., 1 : root + 1]
    outer = above[..., root + 1 :] - above[..., root:-1]
    return np.concatenate([inner, below[..., root : root + 1], outer], axis=-1)


def cell_factors(levels, low, high):
    """Log factors (A, C) of one row in each cell, where the rate of each node is claimed within ``low`` and ``high``, offsets (L,)."""
    hits, misses = _tree(levels)
    z, root = special.ndtri(levels), _root(levels)
    mean, std = RECALIBRATIONS[:, :1], RECALIBRATIONS[:, 1:]
    rate, other = (np.clip(np.exp(_node_rates(each, root)), NEAR, 1.0 - NEAR) for each in (z, (z - mean) / std))
    centre = np.clip(rate + 0.5 * (low + high), NEAR, 1.0 - NEAR)
    hit, miss = rate_bets(rate, low, high, log_odds(other) - log_odds(rate) + log_odds(centre))
    return hit @ hits.T + miss @ misses.T


def cell_shares(levels, mean, std):
    """(A, C) probability of each cell, at least 1e-12, where normal scores have these means and stds, (A,) each."""
    z = (special.ndtri(levels) - mean[:, None]) / std[:, None]
    ends = np.pad(z, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    low, high = ends[:, :-1], ends[:, 1:]
    # By the tail that keeps its digits.
    return np.maximum(np.where(low < 0.0, special.ndtr(high) - special.ndtr(low), special.ndtr(-low) - special.ndtr(-high)), 1e-12)


def pit_log_factors(counts, factors):
    """Log factor of each alternative's stake, (A,), for the (C, C) counts of one bucket."""
    out = factors @ np.diagonal(counts)
    for first, last in np.argwhere(np.triu(counts, 1) > 0.0):
        out = out + counts[first, last] * factors[:, first : last + 1].min(axis=1)
    return out


def spread(counts, levels):
    """(..., C) rows by cell of (..., C, C) counts; those in doubt are dealt out as the forecast itself would."""
    width = np.diff(levels, prepend=0.0, append=1.0)
    ends = np.concatenate([[0.0], np.cumsum(width)])
    # share[a, b, c]: of a row in cells a to b the part that belongs to cell c.
    cell = np.arange(len(width))
    inside = (cell[:, None, None] <= cell) & (cell <= cell[:, None])
    whole = np.maximum(ends[1:] - ends[:-1, None], np.finfo(np.float64).tiny)[..., None]
    return np.einsum("...ab,abc->...c", counts, inside * width / whole)


def node_sums(cells, levels):
    """(..., L, 3) rows, summed claimed rate and hits of each node of the tree, from rows by cell (..., C)."""
    hits, misses = _tree(levels)
    rate = np.exp(_node_rates(special.ndtri(levels), _root(levels)))
    n = cells @ (hits + misses)
    return np.stack([n, n * rate, np.minimum(cells @ hits, n)], axis=-1)
