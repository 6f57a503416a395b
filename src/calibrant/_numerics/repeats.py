"""Evidence that rows of one group, such as copies of a row, have one outcome between them.

Rows with equal scores, or in one group, differ in their outcomes as often as chance lets them if
they are independent. Where they hardly ever do, the group fixes the outcome.
"""

import numpy as np
from scipy import special
from scipy.optimize import isotonic_regression

__all__ = ["fixed_outcomes", "repeated_rows"]

#: Largest share of the rows in one group: a larger one may be a value of a discrete score.
LARGE = 0.05
#: Share of the expected differences that may occur, and the largest probability that so few do by
#: chance.
FEW, SURE = 0.25, 1e-4
#: Fewest distinct rows whose numbers of copies are compared.
DISTINCT = 20


def fixed_outcomes(group: np.ndarray, score: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """(n,) whether a row is in a small group of several rows, if the outcomes of these groups are
    fixed; else all False.

    ``group`` (n,) numbers 0..G-1, ``outcome`` (n,) 0 or 1, whose rate is assumed to rise with
    ``score`` (n,) or to fall.
    """
    size = np.bincount(group)
    several = (size > 1) & (size <= LARGE * len(group))
    small = several[group]
    if not small.any():
        return small
    order = np.argsort(score, kind="stable")
    unique, first, place = np.unique(score[order], return_index=True, return_inverse=True)
    mass = np.diff(first, append=len(order)).astype(np.float64)
    mean = np.add.reduceat(outcome[order], first) / mass
    rising = float((np.arange(len(unique)) - 0.5 * len(unique)) @ (mean - mean.mean())) >= 0.0
    rate = np.empty(len(order))
    rate[order] = isotonic_regression(mean, weights=mass, increasing=rising).x[place]
    hits, predicted, spread = (
        np.bincount(group, weights=each) for each in (outcome, rate, rate * (1.0 - rate))
    )
    # Of m rows with k events in random order, 2 k (m - k) / m neighbours differ on average.
    differing = float((2.0 * hits * (size - hits) / np.maximum(size, 1))[several].sum())
    pairs = 2.0 * (predicted * (size - predicted) - spread) / np.maximum(size, 1)
    expected = float(pairs[several].sum())
    sure = differing <= FEW * expected and special.pdtr(np.floor(differing), expected) <= SURE
    return small if sure else np.zeros_like(small)


def repeated_rows(content: np.ndarray, score: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """(n,) whether a row repeats an earlier one, if rows of equal content are copies of each other;
    else all False.

    They are where their outcomes are fixed, and where each of ``DISTINCT`` rows or more occurs a
    multiple of the same number of times. ``content`` (n,) are equal for equal predictions.
    """
    group = np.unique(content, return_inverse=True)[1]
    rows = np.unique(np.column_stack([group, outcome]), axis=0, return_inverse=True)[1].ravel()
    times = np.bincount(rows)
    copies = np.full(len(group), len(times) >= DISTINCT and np.gcd.reduce(times) > 1)
    if not copies.any() and np.isin(outcome, (0.0, 1.0)).all():
        copies = fixed_outcomes(group, score, outcome)
    first = np.zeros(len(group), bool)
    first[np.unique(rows, return_index=True)[1]] = True
    return copies & ~first
