"""p-values of tests whose null is drawn from the predictions themselves, remembered while the predictions are the same."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from calibrant._kernels.null_draws import null_generator
from calibrant._kernels.simulated_limits import draw_hits

__all__ = ["signs_of_clusters", "simulated_p_value"]

#: Outcomes drawn at once.
CELLS = 2_000_000


def simulated_p_value(
    statistic: Callable[..., Callable[[np.ndarray], np.ndarray]], options: tuple[Any, ...], score: np.ndarray, hit: np.ndarray,
    weight: np.ndarray, n_draws: int, random_state: int, cluster: np.ndarray | None = None,
) -> tuple[float, float]:  # fmt: skip
    """(statistic, p-value): ``statistic(score, weight, *options)`` is a function of hits (draws, n) that is large for miscalibration.

    It is exact for any n. The null of the same scores, in any order, is drawn once. An infinite statistic has a p-value of 0. Of rows in
    clusters, (n,) numbers, the null turns the signs of the residuals hit - score of whole clusters: right for many clusters, whatever
    hangs together in them, and for statistics of the residuals alone.
    """
    order = np.lexsort((weight, score))
    score, hit, weight = score[order], hit[order], weight[order]
    observed = float(statistic(score, weight, *options)(hit[None])[0])
    if np.isinf(observed):
        return observed, 0.0
    if cluster is None:
        null = _null(statistic, options, score.tobytes(), weight.tobytes(), n_draws, random_state)
    else:
        of_hits, signs = statistic(score, weight, *options), signs_of_clusters(cluster[order], n_draws, random_state)
        null = np.concatenate([of_hits(score + sign * (hit - score)) for sign in signs])
    # As large but for rounding is as large.
    return observed, (1.0 + float(np.sum(null >= observed * (1.0 - 1e-10)))) / (n_draws + 1.0)


def signs_of_clusters(cluster: np.ndarray, n_draws: int, random_state: int) -> Iterator[np.ndarray]:
    """Signs, 1 and -1, that are one in a cluster, in blocks (draws, n) of ``n_draws`` in all."""
    rng, step = null_generator(random_state), max(CELLS // len(cluster), 1)
    for start in range(0, n_draws, step):
        yield (2.0 * rng.integers(0, 2, (min(step, n_draws - start), cluster.max() + 1)) - 1.0)[:, cluster]


@lru_cache(maxsize=32)
def _null(statistic, options, score_bytes, weight_bytes, n_draws, random_state):
    score, weight = np.frombuffer(score_bytes), np.frombuffer(weight_bytes)
    of_hits, rng = statistic(score, weight, *options), null_generator(random_state)
    step = max(CELLS // len(score), 1)
    parts = [min(step, n_draws - start) for start in range(0, n_draws, step)]
    return np.concatenate([of_hits(np.array([draw_hits(score, weight, rng) for _ in range(count)])) for count in parts])
