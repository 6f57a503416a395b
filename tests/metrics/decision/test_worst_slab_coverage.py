import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


def test_a_region_that_is_not_covered_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    held = rng.random(2000) < np.where(X[:, 0] > 0.8, 0.5, 0.95)
    found = metrics.worst_slab_coverage.interval(
        np.zeros(2000, dtype=int), np.column_stack([held, ~held]), X=X
    )
    assert found.high < 0.8


def test_sets_that_are_right_everywhere_are_not_blamed():
    """The slab is chosen on other rows than it is measured on: its interval holds the coverage
    as often as it says.
    """
    blamed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        held = rng.random(400) < 0.9
        X = rng.normal(size=(400, 2))
        found = metrics.worst_slab_coverage.interval(
            np.zeros(400, dtype=int),
            np.column_stack([held, ~held]),
            X=X,
            n_draws=30,
            random_state=seed,
        )
        blamed += not found.low <= 0.9 <= found.high
    assert blamed <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_what_is_refused():
    sets, y = np.ones((50, 2), dtype=bool), np.zeros(50, dtype=int)
    with pytest.raises(InputError, match=r"X must be \(50, d\)"):
        metrics.worst_slab_coverage.interval(y, sets, X=np.zeros((49, 2)))
    with pytest.raises(InputError, match="at least 20"):
        metrics.worst_slab_coverage.interval(y, sets, X=np.zeros((50, 2)), share=0.1)
