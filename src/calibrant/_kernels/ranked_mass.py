"""How much probability a row gives to the classes that it finds more likely than one of them; classes of equal probability go together.

Probabilities are first rounded to whole multiples of 2^-50, so that every sum of them is exact: it comes out the same in whatever order it
is taken, for one class or for all, and in any order of the columns.
"""

import numpy as np

__all__ = ["mass_of_all", "mass_of_labels", "on_grid", "within_mass"]


def on_grid(P: np.ndarray) -> np.ndarray:
    """Probabilities as whole multiples of 2^-50."""
    return (P + 4.0) - 4.0


def mass_of_labels(P: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of one class a row: (mass of the more likely ones, mass of it and its equals, how many are at least as likely), (n,) each."""
    own = P[np.arange(len(P)), labels]
    more = own[:, None] < P
    equal = np.count_nonzero(own[:, None] == P, axis=1)
    return np.einsum("ij,ij->i", more, P), equal * own, np.count_nonzero(more, axis=1) + equal


def mass_of_all(P: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for every class of each row, (n, K) each."""
    n, n_classes = P.shape
    order = np.argsort(-P, axis=1)
    ranked = np.take_along_axis(P, order, axis=1)
    total, place = np.cumsum(ranked, axis=1), np.arange(n_classes)
    fresh = np.ones((n, n_classes + 1), dtype=bool)
    fresh[:, 1:-1] = ranked[:, 1:] != ranked[:, :-1]
    first = np.maximum.accumulate(np.where(fresh[:, :-1], place, 0), axis=1)
    last = np.minimum.accumulate(np.where(fresh[:, 1:], place, n_classes)[:, ::-1], axis=1)[:, ::-1]
    above = np.take_along_axis(total - ranked, first, axis=1)
    found = above, np.take_along_axis(total, last, axis=1) - above, last + 1
    back = np.empty_like(order)
    np.put_along_axis(back, order, place[None, :], axis=1)
    above, tied, rank = (np.take_along_axis(part, back, axis=1) for part in found)
    return above, tied, rank


def within_mass(P: np.ndarray, u: np.ndarray, limit: np.ndarray, penalty: float = 0.0, free: int = 0) -> np.ndarray:
    """(n, K), whether mass above + u (mass of the equals) + penalty max(0, rank - free) is at most the limit, one a row, (n,) each.

    It rises with the rank, so that the classes within are the most likely ones down to some probability: to find it takes no more than
    sorted rows, whatever the order of the columns.
    """
    n, n_classes = P.shape
    ranked = np.sort(P, axis=1)[:, ::-1]
    score = np.cumsum(ranked, axis=1)
    score -= ranked
    score += u[:, None] * ranked
    if penalty > 0.0:
        score += penalty * np.maximum(np.arange(1, n_classes + 1) - free, 0)
    count, rows = np.count_nonzero(score <= limit[:, None], axis=1), np.arange(n)
    least = np.where(count > 0, ranked[rows, np.maximum(count - 1, 0)], np.inf)
    out = least[:, None] <= P
    # Counted one by one, some of a block of equals may be within and others not: the block has one score.
    split = np.flatnonzero((count > 0) & (count < n_classes) & (ranked[rows, np.minimum(count, n_classes - 1)] == least))
    if len(split):
        above, tied, rank = mass_of_all(P[split])
        out[split] = above + u[split, None] * tied + penalty * np.maximum(rank - free, 0) <= limit[split, None]
    return out
