"""Bets against a claim on the rates of hits: a test martingale over recalibrations, with an unknown
time of change. Each alternative is a recalibration q = sigmoid(a + b logit(rate)). Its stake on a
bucket of rows is multiplied by the likelihood of the hits at q over that at the claimed rate r
nearest to q, one q and r for each bin of scores. A row whose true rate is p multiplies the stake by
p q/r + (1 - p) (1
- q)/(1 - r) on average, which is linear in p and 1 at p = r; the product over the rows of a bin is
at most that with every p at their mean (inequality of the means). So the expected factor is at most
1 under the claim, however coarse the bins are, and exactly 1 where the scores of a bin are equal
and one rate is claimed.

Bets against forecasts, by the cells between levels in which their probability integral transforms
(PIT) fall.

A forecast claims that its PIT is uniform, so that it falls between two levels as often as they are
apart. The cells are the leaves of a tree: first, is the PIT at most the level nearest a half; then,
level by level outwards, is it beyond the next one. Each node is an event of stated probability,
with the log factors of ``rate_bets``. A row's factor is the product along its path. Its expected
value, over rows whose cells have the claimed rates on average, is at most 1: the product over rows
is at most that with every row's probabilities at their mean (inequality of the means), and at each
node of the tree the expected factor is at most 1 (see ``betting``).

Counts are (C, C): ``counts[a, b]`` rows whose PIT is known to be in cells a to b. For ties, each
alternative gets the factor of the cell that pays it least, so that no way of breaking the tie makes
the factor too large.
"""

import numpy as np
from scipy import special

from calibrant._numerics.softmax import log_odds

__all__ = [
    "N_ALTERNATIVES",
    "N_RECALIBRATIONS",
    "cell_factors",
    "cell_shares",
    "growth_since",
    "likeliest_start",
    "log_evidence",
    "log_factors",
    "next_stakes",
    "node_sums",
    "pit_log_factors",
    "rate_bets",
    "spread",
]

#: Shifts on the logit scale, from a factor of 1.05 in the odds to one of 25, and slopes from 1/4 to
#: 4.
SHIFTS = np.concatenate([[0.0], *([size, -size] for size in 0.05 * 2.0 ** np.arange(7))])
SLOPES = 2.0 ** (0.5 * np.arange(-4, 5))
#: All pairs but the identity.
ALTERNATIVES = np.array([(a, b) for a in SHIFTS for b in SLOPES if (a, b) != (0.0, 1.0)])
N_ALTERNATIVES = len(ALTERNATIVES)
#: The rates of a claim stay this far from 0 and 1 on the side that would make a bet infinite or pay
#: for nothing.
NEAR = 1e-9


def log_factors(sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Log factor of each alternative's stake, (A,), for one bucket: ``sums`` (B, 3) weight, summed
    score, hits of each bin.

    The claim is that the rate of a bin is between its mean score + ``low`` and + ``high``, (B,)
    each.
    """
    filled = sums[:, 0] > 0.0
    (n, total, hits), low, high = sums[filled].T, low[filled], high[filled]
    score = np.clip(total / n, 0.0, 1.0)
    shift, slope = ALTERNATIVES.T[..., None]
    z = shift + slope * log_odds(np.clip(score + 0.5 * (low + high), NEAR, 1.0 - NEAR))
    hit, miss = rate_bets(score, low, high, z)
    return hit @ hits + miss @ (n - hits)


def rate_bets(
    rate: np.ndarray, low: np.ndarray, high: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log factors, (A, B) each, of one hit and of one miss: alternatives of log-odds ``z`` (A, B)
    against a claim on B rates.

    The claim is that each is between ``rate`` + ``low`` and ``rate`` + ``high``, (B,) each.
    """
    floor = np.minimum(np.clip(rate + low, 0.0, 1.0), 1.0 - NEAR)
    ceiling = np.maximum(np.clip(rate + high, 0.0, 1.0), NEAR)
    alternative = special.expit(z)
    nearest = np.clip(alternative, floor, ceiling)
    # Within the claim there is no bet.
    bet = alternative != nearest
    safe = np.where(bet, nearest, 0.5)
    hit = np.where(bet, special.log_expit(z) - np.log(safe), 0.0)
    miss = np.where(bet, special.log_expit(-z) - np.log1p(-safe), 0.0)
    return hit, miss


def next_stakes(log_stakes: np.ndarray, count: int, factors: np.ndarray) -> np.ndarray:
    """Log stakes (A,) after bucket ``count`` = 1, 2, ...: of the 1 at the start, 1 / (count
    (count + 1)) is first staked there, evenly.
    """
    fresh = -np.log(count * (count + 1.0) * len(factors))
    return np.logaddexp(log_stakes, fresh) + factors


def log_evidence(log_stakes: np.ndarray, count: int) -> float:
    """Log of the total capital after ``count`` buckets: the stakes, and the unstaked 1 /
    (count + 1).
    """
    return float(np.logaddexp(np.logaddexp.reduce(log_stakes), -np.log(count + 1.0)))


def growth_since(factors: np.ndarray) -> np.ndarray:
    """Log of the current value of the stakes placed at each bucket, (T,), from all ``factors`` (T,
    A).
    """
    return np.logaddexp.reduce(np.cumsum(factors[::-1], axis=0)[::-1], axis=1)


def likeliest_start(growth: np.ndarray) -> int:
    """The bucket, from 0, whose stakes have grown most; ``growth`` (T,): from ``growth_since``."""
    count = np.arange(1.0, len(growth) + 1.0)
    return int(np.argmax(growth - np.log(count * (count + 1.0))))


#: Factors of the std: 9 % and 19 % too narrow or wide, then by square roots of two to four times.
SCALES = 2.0 ** np.array([-2.0, -1.0, -0.5, -0.25, -0.125, 0.0, 0.125, 0.25, 0.5, 1.0, 2.0])
#: All means and std of the normal scores but (0, 1).
RECALIBRATIONS = np.array([(m, s) for m in SHIFTS for s in SCALES if (m, s) != (0.0, 1.0)])
N_RECALIBRATIONS = len(RECALIBRATIONS)


def _root(levels: np.ndarray) -> int:
    return int(np.argmin(np.abs(levels - 0.5)))


def _tree(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(hit (C, L), miss (C, L)): the answers at each node on the path to each cell."""
    cell, node, root = np.arange(len(levels) + 1)[:, None], np.arange(len(levels)), _root(levels)
    hit = np.where(node <= root, cell <= node, cell > node)
    reached = np.where(node == root, True, np.where(node < root, cell <= node + 1, cell > node - 1))
    return hit.astype(np.float64), (reached & ~hit).astype(np.float64)


def _node_rates(z: np.ndarray, root: int) -> np.ndarray:
    """(..., L) logarithm of the hit rate of each node, for levels with normal scores ``z`` (...,
    L).
    """
    below, above = special.log_ndtr(z), special.log_ndtr(-z)
    inner = below[..., :root] - below[..., 1 : root + 1]
    outer = above[..., root + 1 :] - above[..., root:-1]
    return np.concatenate([inner, below[..., root : root + 1], outer], axis=-1)


def cell_factors(levels: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Log factors (A, C) of one row in each cell, where the rate of each node is claimed within
    ``low`` and ``high``, offsets (L,).
    """
    hits, misses = _tree(levels)
    z, root = special.ndtri(levels), _root(levels)
    mean, std = RECALIBRATIONS[:, :1], RECALIBRATIONS[:, 1:]
    rate, other = (
        np.clip(np.exp(_node_rates(each, root)), NEAR, 1.0 - NEAR) for each in (z, (z - mean) / std)
    )
    centre = np.clip(rate + 0.5 * (low + high), NEAR, 1.0 - NEAR)
    hit, miss = rate_bets(rate, low, high, log_odds(other) - log_odds(rate) + log_odds(centre))
    return hit @ hits.T + miss @ misses.T


def cell_shares(levels: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """(A, C) probability of each cell, at least 1e-12, where normal scores have these means and
    stds, (A,) each.
    """
    z = (special.ndtri(levels) - mean[:, None]) / std[:, None]
    ends = np.pad(z, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    low, high = ends[:, :-1], ends[:, 1:]
    # Use the tail that is more accurate.
    return np.maximum(
        np.where(
            low < 0.0,
            special.ndtr(high) - special.ndtr(low),
            special.ndtr(-low) - special.ndtr(-high),
        ),
        1e-12,
    )


def pit_log_factors(counts: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Log factor of each alternative's stake, (A,), for the (C, C) counts of one bucket."""
    out = factors @ np.diagonal(counts)
    for first, last in np.argwhere(np.triu(counts, 1) > 0.0):
        out = out + counts[first, last] * factors[:, first : last + 1].min(axis=1)
    return out


def spread(counts: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(..., C) rows by cell of (..., C, C) counts; ambiguous rows are distributed as the forecast
    predicts.
    """
    width = np.diff(levels, prepend=0.0, append=1.0)
    ends = np.concatenate([[0.0], np.cumsum(width)])
    # share[a, b, c]: of a row in cells a to b the part that belongs to cell c.
    cell = np.arange(len(width))
    inside = (cell[:, None, None] <= cell) & (cell <= cell[:, None])
    whole = np.maximum(ends[1:] - ends[:-1, None], np.finfo(np.float64).tiny)[..., None]
    return np.einsum("...ab,abc->...c", counts, inside * width / whole)


def node_sums(cells: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(..., L, 3) rows, summed claimed rate and hits of each node of the tree, from rows by cell
    (..., C).
    """
    hits, misses = _tree(levels)
    rate = np.exp(_node_rates(special.ndtri(levels), _root(levels)))
    n = cells @ (hits + misses)
    return np.stack([n, n * rate, np.minimum(cells @ hits, n)], axis=-1)
