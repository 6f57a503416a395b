"""G9: a comparison with one large cluster among small ones keeps its size."""

import numpy as np
import pytest

import calibrant as cb


def logistic(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


@pytest.mark.parametrize(("count", "share"), [(10, 0.45), (25, 0.31)])
def test_two_models_that_are_as_good_are_not_told_apart(count, share):
    sizes = np.full(count, 300.0 * (1.0 - share) / (count - 1))
    sizes[0] = 300.0 * share
    cluster = np.repeat(np.arange(count), np.round(sizes).astype(int))
    called, repeats = 0, 400
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        z = rng.normal(0.0, 1.0, len(cluster))
        y = rng.random(len(cluster)) < logistic(z + rng.normal(0.0, 1.0, count)[cluster])
        pair = {"high": logistic(z + 0.5), "low": logistic(z - 0.5)}
        loss = [cb.metrics.log_loss]
        found = cb.metrics.compare(y.astype(int), pair, metrics=loss, cluster=cluster)
        called += found.rows[0].p_value < 0.05
    assert called <= 34  # 5 % of 400 repeats, and what chance adds to it
