"""One row of each cluster, drawn at random: rows that are independent where clusters are."""

import numpy as np

__all__ = ["one_of_each"]


def one_of_each(cluster: np.ndarray, score: np.ndarray, loss: np.ndarray, weight: np.ndarray, seed: int) -> np.ndarray:
    """(G,) positions of rows, one a cluster, ``cluster`` (n,) numbers 0..G-1; a row of weight 2 is drawn twice as often.

    The draw depends on what the rows hold, not on their order.
    """
    order = np.lexsort((loss, score, cluster))
    mass = np.cumsum(weight[order])
    ends = np.searchsorted(cluster[order], np.arange(cluster.max() + 1), side="right")
    high = mass[ends - 1]
    low = np.append(0.0, high[:-1])
    drawn = low + np.random.default_rng(seed).random(len(ends)) * (high - low)
    return order[np.minimum(np.searchsorted(mass, drawn, side="right"), ends - 1)]
