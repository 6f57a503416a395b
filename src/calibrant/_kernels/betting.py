"""Bets against a claim on the rates of hits: a test martingale over recalibrations, with an unknown time of change.

Each alternative is a recalibration q = sigmoid(a + b logit(rate)). Its stake on a bucket of rows is multiplied by the likelihood of the
hits at q over that at the claimed rate r nearest to q, one q and r for each bin of scores. A row whose true rate is p multiplies the stake
by p q/r + (1 - p) (1 - q)/(1 - r) on average, which is linear in p and 1 at p = r; the product over the rows of a bin is at most that with
every p at their mean (inequality of the means). So the expected factor is at most 1 under the claim, however coarse the bins are, and
exactly 1 where the scores of a bin are equal and one rate is claimed.
"""

import numpy as np
from scipy import special

from calibrant._kernels.softmax import log_odds

__all__ = ["N_ALTERNATIVES", "growth_since", "likeliest_start", "log_evidence", "log_factors", "next_stakes", "rate_bets"]

#: Shifts on the logit scale, from a factor of 1.05 in the odds to one of 25, and slopes from 1/4 to 4.
SHIFTS = np.concatenate([[0.0], *([size, -size] for size in 0.05 * 2.0 ** np.arange(7))])
SLOPES = 2.0 ** (0.5 * np.arange(-4, 5))
#: Every pair but the one that changes nothing.
ALTERNATIVES = np.array([(a, b) for a in SHIFTS for b in SLOPES if (a, b) != (0.0, 1.0)])
N_ALTERNATIVES = len(ALTERNATIVES)
#: The rates of a claim stay this far from 0 and 1 on the side that would make a bet infinite or pay for nothing.
NEAR = 1e-9


def log_factors(sums, low, high):
    """Log factor of each alternative's stake, (A,), for one bucket: ``sums`` (B, 3) weight, summed score, hits of each bin.

    The claim is that the rate of a bin is between its mean score + ``low`` and + ``high``, (B,) each.
    """
    filled = sums[:, 0] > 0.0
    (n, total, hits), low, high = sums[filled].T, low[filled], high[filled]
    score = np.clip(total / n, 0.0, 1.0)
    shift, slope = ALTERNATIVES.T[..., None]
    z = shift + slope * log_odds(np.clip(score + 0.5 * (low + high), NEAR, 1.0 - NEAR))
    hit, miss = rate_bets(score, low, high, z)
    return hit @ hits + miss @ (n - hits)


def rate_bets(rate, low, high, z):
    """Log factors, (A, B) each, of one hit and of one miss: alternatives of log-odds ``z`` (A, B) against a claim on B rates.

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


def next_stakes(log_stakes, count, factors):
    """Log stakes (A,) after bucket ``count`` = 1, 2, ...: of the 1 at the start, 1 / (count (count + 1)) is first staked there, evenly."""
    fresh = -np.log(count * (count + 1.0) * len(factors))
    return np.logaddexp(log_stakes, fresh) + factors


def log_evidence(log_stakes, count):
    """Log of all money after ``count`` buckets: the stakes, and the 1 / (count + 1) that is not staked yet."""
    return float(np.logaddexp(np.logaddexp.reduce(log_stakes), -np.log(count + 1.0)))


def growth_since(factors):
    """(T,) log of what stakes placed at each bucket have become: ``factors`` (T, A) of all buckets so far."""
    return np.logaddexp.reduce(np.cumsum(factors[::-1], axis=0)[::-1], axis=1)


def likeliest_start(growth):
    """The bucket, from 0, whose stakes, as large as they are there, have become most: ``growth`` (T,) is from ``growth_since``."""
    count = np.arange(1.0, len(growth) + 1.0)
    return int(np.argmax(growth - np.log(count * (count + 1.0))))
