"""Intervals of rows that hang together: clusters count, not rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from calibrant import metrics
from calibrant.core.groups import clustered
from calibrant.core.predictions import read
from calibrant.errors import InputError, SparseDataWarning


def draw(n_clusters, size, seed, base=0.0):
    """Outcomes that share in a cluster what the model does not know."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    said, shared = rng.normal(size=(2, n_clusters))
    p = expit((said[cluster] + base) / np.sqrt(1.0 + np.pi / 8.0))
    return (
        (rng.random(len(p)) < expit(said[cluster] + base + shared[cluster])).astype(int),
        p,
        cluster,
    )


Y, P, CLUSTER = draw(40, 5, 0)
ANALYTIC = [
    metrics.log_loss,
    metrics.brier_score,
    metrics.accuracy,
    metrics.observed_expected_ratio,
    metrics.d2_brier,
    metrics.net_benefit,
]
DRAWN = [metrics.event_auroc, metrics.calibration_slope]
BIASED = [
    metrics.expected_calibration_error,
    metrics.integrated_calibration_index,
]


def ends(found):
    return found.low, found.high


@pytest.mark.filterwarnings("ignore:sample_weight holds numbers that are not whole")
@pytest.mark.parametrize("metric", ANALYTIC, ids=lambda metric: metric.key)
def test_of_clusters_of_one_row_it_is_that_of_rows_with_t_for_z(metric):
    rows, alone = (
        metric.interval(Y, P, method="analytic"),
        metric.interval(Y, P, cluster=np.arange(200)),
    )
    fewer = 200 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 199)) ** 2
    expected = metric.interval(Y, P, method="analytic", sample_weight=np.full(200, fewer / 200))
    assert alone.value == rows.value
    assert alone.method == "analytic"
    assert ends(alone) == pytest.approx(ends(expected), rel=1e-6)
    assert ends(alone) == pytest.approx(ends(rows), abs=0.02 * (rows.high - rows.low))


def test_of_a_mean_of_many_rows_it_is_the_cluster_robust_one_with_t():
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    y, p, cluster = draw(400, 10, 1)
    fit = regression.OLS(2.0 * (p - y) ** 2, np.ones(len(y))).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    found, (low, high) = metrics.brier_score.interval(y, p, cluster=cluster), fit.conf_int()[0]
    assert ends(found) == pytest.approx((low, high), abs=0.03 * (high - low))


@pytest.mark.parametrize("metric", [*ANALYTIC, metrics.event_auroc], ids=lambda metric: metric.key)
def test_every_row_twice_in_its_cluster_is_nothing_new(metric):
    twice = np.repeat(np.arange(200), 2)
    once = ends(metric.interval(Y, P, cluster=CLUSTER, n_resamples=100))
    again = ends(metric.interval(Y[twice], P[twice], cluster=CLUSTER[twice], n_resamples=100))
    weighed = ends(
        metric.interval(Y, P, cluster=CLUSTER, sample_weight=np.full(200, 2.0), n_resamples=100)
    )
    assert weighed == pytest.approx(again, rel=1e-6)
    assert again == pytest.approx(once, abs=0.05 * (once[1] - once[0]))


@pytest.mark.parametrize("metric", [*ANALYTIC, *DRAWN], ids=lambda metric: metric.key)
@pytest.mark.parametrize("method", ["auto", "bootstrap", "bca"])
def test_names_and_order_of_clusters_do_not_matter_and_weight_zero_is_no_row(metric, method):
    weight = np.arange(200) % 3.0
    some = np.flatnonzero(weight)
    names = np.array([f"patient {c}" for c in CLUSTER])
    options = {"method": method, "n_resamples": 60}
    one = metric.interval(Y, P, cluster=names, sample_weight=weight, **options)
    other = metric.interval(
        Y[some], P[some], cluster=names[some], sample_weight=weight[some], **options
    )
    assert ends(one) == pytest.approx(ends(other), rel=1e-9)
    assert one.low <= one.value <= one.high


@pytest.mark.parametrize(
    "metric",
    [metrics.log_loss, metrics.accuracy, metrics.event_auroc],
    ids=lambda metric: metric.key,
)
@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_without_an_error_a_cluster_counts_as_a_row_and_the_width_is_not_zero(metric, method):
    y = np.tile([0, 1], 100)
    found = metric.interval(
        y, np.where(y == 1, 0.99, 0.01), cluster=CLUSTER, method=method, n_resamples=50
    )
    assert found.low < found.high
    if metric is metrics.accuracy:
        assert found.low == pytest.approx(0.025 ** (1.0 / 40.0), abs=0.01)


@pytest.mark.parametrize("metric", BIASED, ids=lambda metric: metric.key)
def test_what_knows_no_clusters_says_so(metric):
    with pytest.raises(InputError, match="interval for clustered rows"):
        metric.interval(Y, P, cluster=CLUSTER)
    assert (
        metric.interval(Y, P, cluster=CLUSTER, method="bootstrap", n_resamples=20).method
        == "bootstrap"
    )


def test_of_a_ranking_as_much_is_known_as_of_the_clusters_with_the_rarer_outcome():
    """By the freedom of all 30 clusters it held 83 of 100 times with five events, and with all
    of them in one it had next to no width.
    """
    rng, cluster = np.random.default_rng(3), np.repeat(np.arange(30), 10)
    risk, options = rng.random(300), {"n_resamples": 400, "cluster": cluster}
    apart, together = (
        np.isin(np.arange(300), rows).astype(int) for rows in ([0, 10, 20, 30, 40], [0, 1, 2, 3, 4])
    )
    found = metrics.event_auroc.interval(apart, risk, **options)
    draws = metrics.event_auroc.resampled_of(clustered(read(risk, apart), cluster), 400, 0)
    # Student's t of 4 degrees of freedom, and 5 / 4 as a bootstrap of five has 4 / 5 of the
    # variance.
    level = 2.0 * stats.norm.cdf(np.sqrt(5.0 / 4.0) * stats.t.ppf(0.975, 4)) - 1.0
    np.testing.assert_allclose(
        [found.low, found.high], np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    )
    nothing = metrics.event_auroc.interval(together, risk, **options)
    assert nothing.low < 0.05 < 0.95 < nothing.high


def test_one_cluster_is_refused_and_few_warn():
    with pytest.raises(InputError, match="two clusters"):
        metrics.log_loss.interval(Y, P, cluster=np.zeros(200))
    with pytest.raises(InputError, match="200 rows"):
        metrics.log_loss.interval(Y, P, cluster=[1, 2])
    with pytest.warns(SparseDataWarning, match="names 4 clusters"):
        found = metrics.log_loss.interval(Y, P, cluster=np.arange(200) % 4)
    assert found.low < found.value < found.high
    lone = clustered(read(P, Y), CLUSTER).take(CLUSTER == 3)
    with pytest.raises(InputError, match="two clusters"):
        metrics.log_loss.interval_of(lone)


def test_a_record_carries_its_clusters_to_metrics_of_another_question_and_of_numbers():
    record = clustered(read(P, Y), CLUSTER)
    assert record.as_pair("event").cluster is record.cluster
    assert metrics.event_brier_score.interval_of(record) == metrics.event_brier_score.interval(
        Y, P, cluster=CLUSTER
    )
    plain = metrics.log_loss.interval_of(replace(record, cluster=None))
    assert plain == metrics.log_loss.interval(Y, P)
    mean, std = np.stack([P, P], axis=1), np.ones((200, 2))
    both = metrics.root_mean_squared_error.interval(
        np.stack([Y, 1 - Y], axis=1), mean, std, cluster=CLUSTER
    )
    alone = metrics.root_mean_squared_error.interval(Y, P, np.ones(200), cluster=CLUSTER)
    assert ends(both[0]) == pytest.approx(ends(alone), rel=1e-12)


TRUTH = 60_000


@pytest.mark.parametrize(
    ("metric", "base", "repeats"),
    [
        (metrics.log_loss, 0.0, 300),
        (metrics.brier_score, 0.0, 300),
        (metrics.accuracy, 0.0, 300),
        (metrics.accuracy, 4.0, 300),
        (metrics.d2_brier, 0.0, 300),
        (metrics.event_auroc, 0.0, 100),
    ],
)
def test_it_covers_where_that_of_rows_does_not(metric, base, repeats):
    truth = metric(*draw(TRUTH, 10, 99, base)[:2])
    held = np.zeros(2)
    for seed in range(repeats):
        y, p, cluster = draw(30, 10, seed, base)
        found = [metric.interval(y, p, cluster=one, n_resamples=200) for one in (cluster, None)]
        held += [one.low <= truth <= one.high for one in found]
    least = 0.93 - 2.0 * np.sqrt(0.05 * 0.95 / repeats)
    assert held[0] / repeats >= least
    # Where events are rare there is less for rows to share.
    assert held[1] / repeats < (0.87 if base == 0.0 else 0.92)


def crossed(seed, n=400):
    """Outcomes of raters and items that both have effects, in unequal numbers; the risks are
    true.
    """
    rng = np.random.default_rng(seed)
    sizes = [rng.dirichlet(np.full(count, 1.5)) for count in (20, 25)]
    ways = np.column_stack([rng.choice(len(size), n, p=size) for size in sizes])
    z, shared = rng.normal(size=n), [0.7 * rng.normal(size=len(size)) for size in sizes]
    nodes, mass = np.polynomial.hermite_e.hermegauss(21)
    p = expit(z[:, None] + 0.7 * np.sqrt(2.0) * nodes) @ (mass / mass.sum())
    z = z + shared[0][ways[:, 0]] + shared[1][ways[:, 1]]
    return (rng.random(n) < expit(z)).astype(int), p, ways


def test_of_two_ways_the_squared_distances_add_up_less_those_of_the_cells():
    y, p, ways = crossed(0)
    cells = ways[:, 0] * 25 + ways[:, 1]
    given = (ways[:, 0], ways[:, 1], cells, ways)
    first, second, both, found = (metrics.brier_score.interval(y, p, cluster=one) for one in given)
    for side in ("low", "high"):
        a, b, c, d = (
            (getattr(one, side) - found.value) ** 2 for one in (first, second, both, found)
        )
        assert d == pytest.approx(max(a + b - c, a, b))
    frame = {"rater": np.array([f"r{one}" for one in ways[:, 0]]), "item": ways[:, 1]}
    assert ends(metrics.brier_score.interval(y, p, cluster=frame)) == pytest.approx(ends(found))
    # The same column twice is one way.
    twice = metrics.brier_score.interval(y, p, cluster=ways[:, [0, 0]])
    assert ends(twice) == pytest.approx(ends(first))


def test_two_ways_where_they_are_not_known_are_refused():
    y, p, ways = crossed(0)
    with pytest.raises(InputError, match="two columns of clusters"):
        metrics.brier_score.interval(y, p, cluster=ways, method="bootstrap")
    with pytest.raises(InputError, match="interval for clustered rows"):
        metrics.event_auroc.interval(y, p, cluster=ways)
    with pytest.raises(InputError, match="or two crossed ones"):
        metrics.brier_score.interval(y, p, cluster=np.column_stack([ways, ways]))
    with pytest.raises(InputError, match="here; got two"):
        metrics.spiegelhalter_test(y, p, cluster=ways)
    with pytest.raises(InputError, match="means over rows"):
        metrics.compare(y, {"one": p, "other": p}, cluster=ways, metrics=[metrics.event_auroc])


def test_models_that_are_as_good_are_not_told_apart_where_raters_and_items_cross():
    told = np.zeros(2)
    for seed in range(200):
        y, p, ways = crossed(seed)
        odds = np.log(p / (1.0 - p))
        pair = {"high": expit(odds + 0.5), "low": expit(odds - 0.5)}
        given = {"metrics": [metrics.log_loss]}
        found = [metrics.compare(y, pair, cluster=one, **given) for one in (ways, ways[:, 0])]
        told += [one.rows[0].p_value < 0.05 for one in found]
    assert told[0] <= 17  # 5 % of 200 comparisons, and what chance adds to it
    assert told[1] > told[0]


@pytest.mark.parametrize("key", ["calibration_bias", "observed_expected_ratio"])
def test_two_ways_are_covered_where_one_is_not(key):
    metric = getattr(metrics, key)
    truth, repeats, held = key == "observed_expected_ratio", 200, np.zeros(2)
    for seed in range(repeats):
        y, p, ways = crossed(seed)
        found = [metric.interval(y, p, cluster=one) for one in (ways, ways[:, 0])]
        held += [one.low <= truth <= one.high for one in found]
    assert held[0] / repeats >= 0.95 - 2.0 * np.sqrt(0.05 * 0.95 / repeats)
    assert held[1] < held[0]
