import time

import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.metric_kinds import Metric
from calibrant.core.predictions import read
from calibrant.errors import InputError

RNG = np.random.default_rng(4)
N = 4_000
P = RNG.dirichlet([1.0, 2.0, 1.5], N)
Y = np.array([RNG.choice(3, p=p) for p in P])
GROUP = RNG.integers(0, 12, N)
WEIGHT = RNG.integers(0, 3, N).astype(float)


@pytest.mark.parametrize(
    "metric",
    [
        metrics.log_loss,
        metrics.brier_score,
        metrics.accuracy,
        metrics.expected_calibration_error,
        metrics.classwise_calibration_error,
        metrics.expected_calibration_error.with_options(strategy="mass", n_bins=4),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
def test_each_group_has_the_value_of_its_rows(metric, weight):
    got = metrics.per_group(metric, Y, P, GROUP, sample_weight=weight)
    assert got.group.tolist() == list(range(12))
    for j, value, n in zip(got.group, got.value, got.n, strict=True):
        rows = j == GROUP
        assert value == pytest.approx(
            metric(Y[rows], P[rows], sample_weight=None if weight is None else weight[rows]),
            abs=1e-12,
        )
        assert n == (rows.sum() if weight is None else weight[rows].sum())


def test_intervals_of_mean_metrics_are_those_of_the_rows():
    got = metrics.per_group(metrics.log_loss, Y, P, GROUP, level=0.9)
    alone = metrics.log_loss.interval(Y[GROUP == 5], P[GROUP == 5], level=0.9)
    assert (got.low[5], got.high[5]) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_hundred_thousand_groups_take_no_loop():
    n = 400_000
    p = np.linspace(0.01, 0.99, n)
    y = (np.arange(n) % 3 == 0).astype(int)
    groups = np.arange(n) % 100_000
    for metric in (metrics.log_loss, metrics.expected_calibration_error):
        start = time.process_time()
        values = metrics.per_group(metric, y, p, groups)
        assert len(values.value) == 100_000
        # A loop of 100,000 metric calls takes over ten seconds.
        assert time.process_time() - start < 3.0


def test_the_planted_worst_group_is_found_and_a_tiny_unlucky_one_is_not():
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(41), [500] * 40 + [40])
    p = rng.random(len(group))
    truth = np.where(group == 17, 0.5 * p, p)
    y = (rng.random(len(group)) < truth).astype(int)
    y[group == 40] = (p[group == 40] < 0.9).astype(int)[::-1]
    for metric in (metrics.brier_score, metrics.positive_class_calibration_error):
        found = metrics.worst_group(metric, y, p, group, min_rows=50)
        assert found.group == 17
        assert found.groups == 41


def test_group_names_may_be_text_and_rows_of_weight_zero_leave():
    weight = np.where(GROUP == 3, 0.0, 1.0)
    names = np.array([f"g{j:02d}" for j in GROUP])
    values = metrics.per_group(metrics.accuracy, Y, P, names, sample_weight=weight)
    assert "g03" not in values.group
    assert len(values.group) == 11
    assert values.frame().shape == (11, 5)


def test_refuses_groups_of_another_length_and_groups_too_small():
    with pytest.raises(InputError, match="groups must have 4000 rows"):
        metrics.per_group(metrics.accuracy, Y, P, GROUP[:-1])
    with pytest.raises(InputError, match="no group has 1e\\+06 rows"):
        metrics.worst_group(metrics.accuracy, Y, P, GROUP, min_rows=1e6)


@pytest.mark.parametrize(
    "metric", [metrics.log_loss, metrics.expected_calibration_error], ids=lambda m: m.name
)
def test_one_pass_gives_what_the_template_gives_group_by_group(metric):
    record = read(P, Y, sample_weight=WEIGHT + 1.0)
    np.testing.assert_allclose(
        metric._group_totals(record, GROUP, 12),
        Metric._group_totals(metric, record, GROUP, 12),
        rtol=1e-12,
    )


MEAN, STD = RNG.normal(size=N), np.exp(0.4 * RNG.normal(size=N))
OUTCOME = MEAN + STD * np.where(GROUP == 7, 3.0, 1.0) * RNG.normal(size=N)


@pytest.mark.parametrize(
    "metric",
    [
        metrics.negative_log_likelihood,
        metrics.root_mean_squared_error,
        metrics.interval_calibration_error,
        metrics.expected_normalized_calibration_error,
        metrics.uncertainty_calibration_error.with_options(cells=16),
        metrics.quantile_calibration_error,
    ],
    ids=repr,
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
def test_each_group_of_a_regression_has_the_value_of_its_rows(metric, weight):
    got = metrics.per_group(metric, OUTCOME, MEAN, GROUP, std=STD, sample_weight=weight)
    assert got.group.tolist() == list(range(12))
    for j, value in zip(got.group, got.value, strict=True):
        rows = j == GROUP
        own = metric(
            OUTCOME[rows],
            MEAN[rows],
            STD[rows],
            sample_weight=None if weight is None else weight[rows],
        )
        assert value == pytest.approx(own, rel=1e-9)


def test_the_worst_group_of_a_regression_is_found():
    for metric in (metrics.negative_log_likelihood, metrics.expected_normalized_calibration_error):
        found = metrics.worst_group(metric, OUTCOME, (MEAN, STD), GROUP, n_resamples=100)
        assert found.group == 7
        assert found.interval.low > metric(OUTCOME, MEAN, STD)
    with pytest.raises(InputError, match="one output"):
        metrics.per_group(metric, np.zeros((2, 2)), np.zeros((2, 2)), [0, 1], std=np.ones((2, 2)))


def rows_of_clusters(seed=0, n_clusters=60, size=5):
    """Right or wrong at a confidence of .7, one number for a cluster, whose rows lie in three
    groups.
    """
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    group = np.repeat(np.arange(n_clusters) % 3, size)
    return (
        (rng.random(n_clusters)[cluster] < 0.7).astype(int),
        np.full(len(cluster), 0.7),
        group,
        cluster,
    )


def test_with_clusters_each_interval_is_that_of_the_groups_rows():
    y, p, group, cluster = rows_of_clusters()
    values = metrics.per_group(metrics.log_loss, y, p, group, cluster=cluster)
    for j in range(3):
        rows = group == j
        expected = metrics.log_loss.interval(y[rows], p[rows], cluster=cluster[rows])
        assert (values.low[j], values.high[j]) == pytest.approx(
            (expected.low, expected.high), rel=1e-9
        )


def test_a_group_of_one_cluster_has_no_interval_and_is_not_the_worst():
    y, p, group, cluster = rows_of_clusters()
    group = np.where(cluster == 0, 9, group)
    y = np.where(cluster == 0, 0, y)
    values = metrics.per_group(metrics.log_loss, y, p, group, cluster=cluster)
    assert np.isnan(values.low).tolist() == [False, False, False, True]
    assert (
        metrics.worst_group(metrics.log_loss, y, p, group, cluster=cluster, min_rows=5).group != 9
    )
    with pytest.raises(InputError, match="two clusters or more"):
        metrics.worst_group(metrics.log_loss, y, p, cluster, cluster=cluster, min_rows=5)


def test_the_worst_group_of_clusters_that_differ_by_chance_is_rarely_called_worse():
    called, repeats = np.zeros(2), 60
    for seed in range(repeats):
        y, p, group, cluster = rows_of_clusters(seed)
        for k, options in enumerate(({}, {"cluster": cluster})):
            found = metrics.worst_group(metrics.accuracy, y, p, group, min_rows=10, **options)
            called[k] += found.interval.high < 0.7
    assert called[0] > 0.1 * repeats
    assert called[1] <= 0.05 * repeats + 2.0 * np.sqrt(0.05 * 0.95 * repeats)
