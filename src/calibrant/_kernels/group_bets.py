"""The evidence of groups as bets (e-values), and tests adjusted so that few of those found are false."""

from typing import Any

import numpy as np
from scipy import special, stats

__all__ = ["by_adjusted", "e_adjusted", "log_bets"]

#: Shifts of the log-odds that are bet on, and shares of what is at stake.
SHIFTS = np.array([-1.6, -0.8, -0.4, -0.2, -0.1, 0.1, 0.2, 0.4, 0.8, 1.6])
STAKES = np.array([-0.8, -0.4, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.4, 0.8])


def log_bets(member: Any, p: np.ndarray, hits: np.ndarray, misses: np.ndarray, of_rows: bool) -> np.ndarray:
    """(G,) log of what a bet against each group has become, whose mean is 1 at most where the null is true.

    ``member`` is sparse (G, u), the others (u,). ``of_rows``: the null says that hits ~ p; the bet is the likelihood ratio of a shift of
    the log-odds, a mean over shifts. Else it says that errors are 0 on average in the group: the product of 1 + stake x error over its rows
    is 1 at most on average (means of factors whose sum is fixed), a mean over stakes.
    """
    p, hits, misses = p[:, None], hits[:, None], misses[:, None]
    if of_rows:
        gained = hits * SHIFTS - (hits + misses) * np.log1p(p * np.expm1(SHIFTS))
    else:
        gained = hits * np.log1p(STAKES * (1.0 - p)) + misses * np.log1p(-STAKES * p)
    return special.logsumexp(member @ gained, axis=1) - np.log(len(SHIFTS))


def e_adjusted(log_bet: np.ndarray) -> np.ndarray:
    """Of m bets, however they hang together: below which alpha each is among those found (e-BH), 1 at most."""
    order, place = np.argsort(-log_bet, kind="stable"), np.arange(1, len(log_bet) + 1)
    by_place = np.exp(np.minimum(np.log(len(log_bet) / place) - log_bet[order], 0.0))
    adjusted = np.empty(len(log_bet))
    adjusted[order] = np.minimum.accumulate(by_place[::-1])[::-1]
    return adjusted


def by_adjusted(statistic: np.ndarray, freedom: float | None) -> np.ndarray:
    """Benjamini and Yekutieli's p-values of m sizes in standard deviations, normal, or Student's with ``freedom`` degrees."""
    tail = special.ndtr(-statistic) if freedom is None else special.stdtr(freedom, -statistic)
    return stats.false_discovery_control(np.minimum(2.0 * tail, 1.0), method="by")
