"""The histogram and the test of the probabilities of what came true, of rows in clusters; of
independent ones see tests/reference.
"""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


def series(seed, n_clusters=40, size=5, alike=0.8):
    """Standard normal outcomes, alike in their clusters."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    own, common = rng.standard_normal((2, len(cluster)))
    return np.sqrt(1.0 - alike) * own + np.sqrt(alike) * common[cluster], cluster


@pytest.mark.parametrize("method", ["ks", "cramer-von-mises", "chi-square"])
def test_it_holds_its_level_where_rows_do_not_and_has_power(method):
    alarms, repeats = np.zeros(3), 100
    for seed in range(repeats):
        y, cluster = series(seed)
        zero, one = np.zeros(len(y)), np.ones(len(y))
        options = {"method": method, "cluster": cluster, "n_draws": 39}
        alarms += [
            metrics.pit_test(y, zero, one, **options).p_value <= 0.05,
            metrics.pit_test(y, zero, one, method=method).p_value <= 0.05,
            metrics.pit_test(y, zero, 0.4 * one, **options).p_value <= 0.05,
        ]
    held, rows, power = alarms / repeats
    assert held <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / repeats)
    assert rows > 0.2
    assert power > 0.7


def test_of_clusters_of_one_row_it_is_the_law_of_independent_rows():
    y, _ = series(1, n_clusters=100, size=1)
    alone = metrics.pit_test(y, np.zeros(100), np.ones(100))
    drawn = metrics.pit_test(y, np.zeros(100), np.ones(100), cluster=np.arange(100))
    assert drawn.statistic == alone.statistic
    assert drawn.p_value == pytest.approx(alone.p_value, abs=0.05)
    assert drawn.method == "ks, 999 draws of clusters"


@pytest.mark.parametrize(
    ("curve", "low", "high"),
    [
        (metrics.pit_histogram, "low", "high"),
        (metrics.interval_curve, "low", "high"),
        (metrics.real_std_curve, "low", "high"),
        (metrics.rmse_rmv_curve, "low", "high"),
    ],
)
def test_bands_of_forecasts_are_wider_with_clusters(curve, low, high):
    y, cluster = series(2)
    std = np.exp(np.random.default_rng(0).uniform(-0.01, 0.01, len(y)))
    alone, together = (
        curve(y, np.zeros(len(y)), std, **options) for options in ({}, {"cluster": cluster})
    )
    width = [np.mean(getattr(one, high) - getattr(one, low)) for one in (alone, together)]
    assert width[1] > 1.1 * width[0]


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="method must be"):
        metrics.pit_test([0.0], [0.0], [1.0], method="t")
