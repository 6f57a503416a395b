"""Classes whose scores are alike, so that they share their calibration rows where each alone has too few."""

from typing import Any, cast

import numpy as np

from calibrant._kernels.order_statistic import rows_needed

__all__ = ["similar_classes"]

#: A class is described by these quantiles of the scores of its rows.
QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
#: Share of the rows that the published rule spends on finding the clusters is K / (75 + K); half as many clusters as the rarest class has
#: rows among them.
SPENT = 75.0


def similar_classes(score: np.ndarray, labels: np.ndarray, weight: np.ndarray, n_classes: int, level: float, seed: int = 0) -> np.ndarray:
    """(K,) number 1.. of the cluster of each class; 0 for classes with too few rows to be placed, which take the limit of all rows.

    References
    ----------
    Ding, Angelopoulos, Bates, Jordan and Tibshirani, "Class-conditional conformal prediction with many classes", NeurIPS 2023.
    """
    # Here, because it brings much that nobody else needs.
    from sklearn.cluster import KMeans  # pyright: ignore

    count = np.bincount(labels, weights=weight, minlength=n_classes)
    placed = np.flatnonzero(count >= rows_needed(level))
    out = np.zeros(n_classes, dtype=np.intp)
    if not len(placed):
        return out
    order = np.argsort(score, kind="stable")
    parts = [order[labels[order] == k] for k in placed]
    described = np.array([_quantiles(score[rows], weight[rows]) for rows in parts])
    # In an order of their own: that of the classes changes nothing.
    own = np.lexsort(described.T[::-1])
    placed, described = placed[own], described[own]
    wanted = int(n_classes / (SPENT + n_classes) * count[placed].min() / 2.0)
    n_clusters = max(1, min(wanted, len(np.unique(described, axis=0))))
    means = cast(Any, KMeans)(n_clusters, random_state=seed, n_init=10)
    out[placed] = means.fit(described, sample_weight=np.sqrt(count[placed])).labels_ + 1
    return out


def _quantiles(score: np.ndarray, weight: np.ndarray) -> np.ndarray:
    total = np.cumsum(weight)
    return score[np.searchsorted(total, np.array(QUANTILES) * total[-1] * (1.0 - 1e-12))]
