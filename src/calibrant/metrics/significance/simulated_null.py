"""p-values of tests whose null is drawn from the predictions themselves, remembered while the predictions are the same."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from calibrant._kernels.bootstrap import draw_hits, draw_shared_hits, null_generator, shared_share

__all__ = ["signs_of_clusters", "simulated_p_value"]

#: Outcomes drawn at once.
CELLS = 2_000_000


def simulated_p_value(
    statistic: Callable[..., Callable[[np.ndarray], np.ndarray]], options: tuple[Any, ...], score: np.ndarray, hit: np.ndarray,
    weight: np.ndarray, n_draws: int, random_state: int, cluster: np.ndarray | None = None,
) -> tuple[float, float]:  # fmt: skip
    """(statistic, p-value): ``statistic(score, weight, *options)`` is a function of hits (draws, n) that is large for miscalibration.

    It is exact for any n. The null of the same scores, in any order, is drawn once. An infinite statistic has a p-value of 0. Of rows in
    clusters, (n,) numbers, it is the larger of two, for statistics of the residuals hit - score alone. One turns the signs of the residuals
    of whole clusters: right for many clusters, whatever hangs together in them, but with 20 to 40 and rare hits it alarms 8 to 11 times
    of 100. The other draws outcomes that fall together as often as seen, in all clusters alike: right for few of them.
    """
    order = np.lexsort((weight, score) if cluster is None else (hit, cluster, weight, score))
    score, hit, weight = score[order], hit[order], weight[order]
    if cluster is not None:
        times = np.maximum(np.rint(weight), 1.0)
        score, hit, weight, cluster = (np.repeat(one, times.astype(np.intp)) for one in (score, hit, weight / times, cluster[order]))
    of_hits = statistic(score, weight, *options)
    observed = float(of_hits(hit[None])[0])
    if np.isinf(observed):
        return observed, 0.0
    if cluster is None:
        nulls = [_null(statistic, options, score.tobytes(), weight.tobytes(), n_draws, random_state)]
    else:
        turned = (of_hits(score + sign * (hit - score)) for sign in signs_of_clusters(cluster, n_draws, random_state))
        nulls = [np.concatenate(list(one)) for one in (turned, _shared(of_hits, score, hit, cluster, n_draws, random_state))]
    # As large but for rounding is as large.
    return observed, max((1.0 + float(np.sum(null >= observed * (1.0 - 1e-10)))) / (n_draws + 1.0) for null in nulls)


def _shared(of_hits, score, hit, cluster, n_draws, random_state):
    """The statistic of outcomes that fall together in their clusters, in blocks of ``n_draws`` in all."""
    rng, share = null_generator(random_state), shared_share(score, hit, cluster)
    for count in _blocks(n_draws, len(score)):
        yield of_hits(draw_shared_hits(score, cluster, share, count, rng))


def _blocks(n_draws, n):
    step = max(CELLS // n, 1)
    return [min(step, n_draws - start) for start in range(0, n_draws, step)]


def signs_of_clusters(cluster: np.ndarray, n_draws: int, random_state: int) -> Iterator[np.ndarray]:
    """Signs, 1 and -1, that are one in a cluster, in blocks (draws, n) of ``n_draws`` in all."""
    rng = null_generator(random_state)
    for count in _blocks(n_draws, len(cluster)):
        yield (2.0 * rng.integers(0, 2, (count, cluster.max() + 1)) - 1.0)[:, cluster]


@lru_cache(maxsize=32)
def _null(statistic, options, score_bytes, weight_bytes, n_draws, random_state):
    score, weight = np.frombuffer(score_bytes), np.frombuffer(weight_bytes)
    of_hits, rng = statistic(score, weight, *options), null_generator(random_state)
    parts = _blocks(n_draws, len(score))
    return np.concatenate([of_hits(np.array([draw_hits(score, weight, rng) for _ in range(count)])) for count in parts])
