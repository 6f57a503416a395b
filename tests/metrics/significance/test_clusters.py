"""Tests of calibration where rows hang together: size and power by clusters, small and seeded."""

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.errors import InputError

TESTS = {
    "spiegelhalter": metrics.spiegelhalter_test,
    "hosmer_lemeshow": lambda y, p, **options: metrics.hosmer_lemeshow_test(
        y, p, n_bins=5, n_draws=99, **options
    ),
    "kuiper": lambda y, p, **options: metrics.cumulative_test(y, p, n_draws=99, **options),
    "ks": lambda y, p, **options: metrics.cumulative_test(
        y, p, statistic="ks", n_draws=99, **options
    ),
}


def draw(seed, n_clusters=40, size=5):
    """Calibrated scores; the outcomes of a cluster are nearly one."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    p = np.clip(
        rng.beta(2, 2, n_clusters)[cluster] + rng.uniform(-0.05, 0.05, len(cluster)), 0.02, 0.98
    )
    return (rng.random(n_clusters)[cluster] < p).astype(int), p, cluster


@pytest.mark.parametrize("name", TESTS)
def test_it_holds_its_level_where_rows_do_not_and_has_power(name):
    test, repeats = TESTS[name], 100
    alarms = np.zeros(3)
    for seed in range(repeats):
        y, p, cluster = draw(seed)
        alarms += [
            test(y, p, cluster=cluster).p_value <= 0.05,
            test(y, p).p_value <= 0.05,
            test(y, p**3, cluster=cluster).p_value <= 0.05,
        ]
    held, rows, power = alarms / repeats
    assert held <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / repeats)
    assert rows > 0.15
    assert power > 0.5


def rare(seed, n_clusters, size=5):
    """Calibrated scores of rare hits; in each cluster about half of the rows are decided by one
    number.
    """
    rng = np.random.default_rng([n_clusters, seed])
    cluster, n = np.repeat(np.arange(n_clusters), size), n_clusters * size
    p = rng.beta(1, 12, n).clip(0.005, 0.98)
    number = np.where(rng.random(n) < 0.5, rng.random(n_clusters)[cluster], rng.random(n))
    return (number < p).astype(int), p, cluster


def size_of(name, n_clusters, repeats):
    return np.mean(
        [
            TESTS[name](y, p, cluster=cluster).p_value <= 0.05
            for y, p, cluster in (rare(i, n_clusters) for i in range(repeats))
        ]
    )


@pytest.mark.parametrize("name", ["kuiper", "ks"])
def test_few_clusters_of_rare_hits_raise_no_false_alarms(name):
    # Signs of clusters alone: .107 and .105.
    assert size_of(name, 20, 200) <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [20, 40, 100])
@pytest.mark.parametrize("name", ["kuiper", "ks", "hosmer_lemeshow"])
def test_size_by_number_of_clusters(name, n_clusters):
    repeats = 1000
    assert size_of(name, n_clusters, repeats) <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / repeats)


@pytest.mark.parametrize("name", TESTS)
def test_names_of_clusters_and_weights_of_zero_do_not_matter_and_a_weight_is_a_repetition(name):
    y, p, cluster = draw(0)
    weight = np.arange(len(y)) % 3.0
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    one = TESTS[name](y, p, cluster=[f"day {c:02d}" for c in cluster], sample_weight=weight)
    other = TESTS[name](y[rows], p[rows], cluster=cluster[rows])
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)
    assert one.p_value == pytest.approx(other.p_value, abs=1e-9)


def test_spiegelhalters_is_the_t_test_of_the_clusters_sums():
    y, p, cluster = draw(1)
    p = np.repeat(p[::5], 5)
    sums = np.bincount(cluster, weights=(y - p) * (1.0 - 2.0 * p))
    found, expected = (
        metrics.spiegelhalter_test(y, p, cluster=cluster),
        stats.ttest_1samp(sums, 0.0),
    )
    assert (found.statistic, found.p_value) == pytest.approx(
        (expected.statistic, expected.pvalue), rel=1e-10
    )
    assert found.method == "t, 40 clusters"


@pytest.mark.parametrize(
    ("test", "options"),
    [
        (metrics.hosmer_lemeshow_test, {"method": "chi-squared"}),
        (metrics.hosmer_lemeshow_test, {"fitted": True}),
        (metrics.cumulative_test, {"method": "brownian"}),
    ],
)
def test_laws_of_independent_rows_are_refused(test, options):
    y, p, cluster = draw(2)
    with pytest.raises(InputError, match="cluster requires"):
        test(y, p, cluster=cluster, **options)
