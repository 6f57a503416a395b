"""G4: a comparison of two models counts on the rare row that these rows happen to lack."""

from collections.abc import Callable

import numpy as np
import pytest

import calibrant as cb

REPEATS, MOST = 60, 6  # 2.5 % of 60 repeats, and what chance adds to it


def logistic(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def falsely_better(n: int, draw: Callable, other: Callable) -> int:
    """How often a model that is truly worse than the true risks is called better than they are."""
    called = 0
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        z = draw(rng, n)
        y = (rng.random(n) < logistic(z)).astype(int)
        pair = {"true": logistic(z), "other": logistic(other(z))}
        found = cb.metrics.compare(y, pair, metrics=[cb.metrics.log_loss])
        called += found.rows[0].meaning == "better"
    return called


@pytest.mark.parametrize("n", [50, 100])
def test_a_sharper_model_is_not_called_better_than_true_sharp_risks(n):
    def sharp(rng, n):
        return rng.choice([-1.0, 1.0], n) * rng.normal(5.0, 1.5, n)

    assert falsely_better(n, sharp, lambda z: 1.5 * z) <= MOST


def test_a_model_that_overstates_few_rows_is_not_called_better():
    def mild(rng, n):
        return rng.normal(0.0, 1.0, n)

    assert falsely_better(1_000, mild, lambda z: np.where(z > 2.5, z + 4.0, z)) <= MOST
