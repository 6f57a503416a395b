"""Outcomes drawn from their probabilities where rows of a cluster fall together: each by itself calibrated, and alike as often as seen."""

from collections.abc import Callable

import numpy as np

from calibrant._kernels.simulated_limits import draw_hits

__all__ = ["draw_shared_hits", "hit_drawer", "score_drawer", "shared_share"]


def shared_share(score: np.ndarray, hit: np.ndarray, cluster: np.ndarray) -> float:
    r"""The share, 0 to 1, of pairs of rows of a cluster that one uniform number decides, by the products of their residuals.

    .. math:: \lambda = \frac{\sum_{i \ne j} (h_i - s_i)(h_j - s_j)}{\sum_{i \ne j} (\min(s_i, s_j) - s_i s_j)}

    over the pairs (n,) of one cluster: what they covary by, over what they would if one number decided them all.
    """
    order = np.lexsort((score, cluster))
    score, residual, cluster = score[order], (hit - score)[order], cluster[order]
    start = np.flatnonzero(np.append(True, np.diff(cluster) > 0))
    size = np.diff(np.append(start, len(score)))
    later = np.repeat(start + size, size) - 1 - np.arange(len(score))
    seen = (np.add.reduceat(residual, start) ** 2).sum() - (residual**2).sum()
    # In ascending order each score is the smaller one with all that come later.
    most = 2.0 * (score * later).sum() - (np.add.reduceat(score, start) ** 2).sum() + (score**2).sum()
    return float(np.clip(seen / most, 0.0, 1.0)) if most > 0.0 else 0.0


def draw_shared_hits(score: np.ndarray, cluster: np.ndarray, share: float, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Outcomes (n_draws, n) of rows in clusters 0..G-1; of each pair of a cluster the ``share`` is decided by one uniform number."""
    of_cluster = rng.random((n_draws, int(cluster.max()) + 1))[:, cluster]
    own, together = rng.random((2, n_draws, len(score)))
    return (np.where(together < np.sqrt(share), of_cluster, own) < score).astype(np.float64)


def hit_drawer(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None
) -> Callable[[np.random.Generator], np.ndarray]:
    """A function that draws the outcomes (n,) of calibrated scores; of rows in clusters they fall together as often as ``hit`` does.

    A row of weight w stands for w rows (rounded) and gets their share of hits.
    """
    if cluster is None:
        return lambda rng: draw_hits(score, weight, rng)
    times = np.maximum(np.rint(weight), 1.0)
    row = np.repeat(np.arange(len(score)), times.astype(np.intp))
    score, cluster = score[row], cluster[row]
    share = shared_share(score, hit[row], cluster)
    return lambda rng: np.bincount(row, weights=draw_shared_hits(score, cluster, share, 1, rng)[0]) / times


def score_drawer(score: np.ndarray, cluster: np.ndarray | None) -> Callable[[np.random.Generator], np.ndarray]:
    """A function that draws standard normal scores (n,); those of a cluster are correlated as the given ones are about their mean."""
    n = len(score)
    if cluster is None:
        return lambda rng: rng.standard_normal(n)
    centred = np.clip(score, -40.0, 40.0)
    centred = centred - centred.mean()
    sums, size = np.bincount(cluster, weights=centred), np.bincount(cluster)
    squares, pairs = centred @ centred, float(size @ size) - n
    alike = np.clip((sums @ sums - squares) / pairs * n / squares, 0.0, 1.0) if pairs > 0.0 and squares > 0.0 else 0.0
    own, shared = np.sqrt(1.0 - alike), np.sqrt(alike)
    return lambda rng: own * rng.standard_normal(n) + shared * rng.standard_normal(len(size))[cluster]
