import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant._numerics.intervals import mean_limits
from calibrant.core.forecast_record import read_forecast
from calibrant.core.groups import clustered
from calibrant.core.predictions import read
from calibrant.metrics.comparison import meaning, paired_difference

rng = np.random.default_rng(0)
P = rng.random(80)
Y = (rng.random(80) < P).astype(int)
Q = np.clip(P + rng.normal(0.0, 0.1, 80), 0.01, 0.99)
DRAWN = {"n_resamples": 300, "random_state": 0}


def difference(metric, y=Y, p=P, q=Q, weight=None, cluster=None, **options):
    first, second = (clustered(read(one, y, sample_weight=weight), cluster) for one in (p, q))
    return paired_difference(metric, first, second, **(DRAWN | options))


def test_of_a_mean_it_counts_the_row_not_seen():
    """The limits are those of a mean with the least or the largest difference that a row had
    with the other label.
    """
    found = difference(metrics.log_loss)
    losses = {label: [-np.log(p if label else 1.0 - p) for p in (P, Q)] for label in (0, 1)}
    apart = np.array([losses[label][1] - losses[label][0] for label in (0, 1)])
    d = np.where(Y == 1, apart[1], apart[0])
    sums = np.array([(d**power).sum() for power in (1, 2, 3)])
    wide = 2.0 * stats.norm.cdf(stats.t.ppf(0.95, 79)) - 1.0
    assert found.limits(0.9) == pytest.approx(
        [float(end) for end in mean_limits(80.0, sums, apart.min(), apart.max(), wide)]
    )
    low, high = found.limits(1.0 - found.p_value)
    assert (low if d.mean() > 0.0 else high) == pytest.approx(0.0, abs=1e-9)


def test_of_several_classes_every_label_is_tried_or_those_most_apart():
    rng = np.random.default_rng(1)
    for k in (3, 9):
        first, second = (rng.dirichlet(np.ones(k), 50) for _ in range(2))
        y = rng.integers(0, k, 50)
        found = difference(metrics.log_loss, y, first, second)
        apart = np.log(first) - np.log(second)
        assert found.unseen == pytest.approx((apart.min(), apart.max()))


def test_of_numbers_it_is_the_paired_t_test():
    first, second = (read_forecast(Q + shift, np.ones(80), P) for shift in (0.0, 0.1))
    found = paired_difference(metrics.negative_log_likelihood, first, second, **DRAWN)
    each = [metrics.negative_log_likelihood.losses_of(one) for one in (first, second)]
    expected = stats.ttest_rel(each[1], each[0])
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.limits(0.9) == pytest.approx(expected.confidence_interval(0.9), rel=1e-10)


def test_clusters_of_one_row_each_are_rows():
    alone, each = (
        difference(metrics.brier_score),
        difference(metrics.brier_score, cluster=np.arange(80)),
    )
    assert each.limits(0.95) == pytest.approx(alone.limits(0.95), rel=1e-12)
    assert each.freedom == pytest.approx(79.0)


def test_of_clusters_as_a_regression_on_a_constant_has_it():
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    cluster = np.arange(80) // 5
    found = difference(metrics.brier_score, cluster=cluster)
    d = 2.0 * ((Q - Y) ** 2 - (P - Y) ** 2)
    fit = regression.OLS(d, np.ones(80)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    # statsmodels counts the rows too, as (n - 1) / (n - 1) for one parameter.
    assert found.variance == pytest.approx(fit.cov_params()[0, 0], rel=1e-10)
    assert found.freedom == pytest.approx(15.0)


@pytest.mark.parametrize("metric", [metrics.log_loss, metrics.confidence_auroc], ids=repr)
def test_a_whole_cluster_repeated_is_one_more_cluster_but_rows_in_it_are_none(metric):
    cluster = np.arange(80) // 4
    twice = np.concatenate([np.arange(80), np.arange(80)])
    within = difference(metric, Y[twice], P[twice], Q[twice], cluster=cluster[twice])
    once = difference(metric, cluster=cluster)
    assert within.limits(0.9) == pytest.approx(once.limits(0.9), rel=1e-9)


@pytest.mark.parametrize("together", [False, True])
def test_a_weight_is_a_repetition(together):
    weight = np.tile([1.0, 2.0], 40)
    rows = np.repeat(np.arange(80), weight.astype(int))
    cluster = np.arange(80) // 4
    one = difference(metrics.log_loss, weight=weight, cluster=cluster if together else None)
    other = difference(
        metrics.log_loss, Y[rows], P[rows], Q[rows], cluster=cluster[rows] if together else None
    )
    assert one.limits(0.95) == pytest.approx(other.limits(0.95), rel=1e-12)


def test_the_bootstrap_s_p_value_is_where_its_interval_meets_zero():
    found = difference(metrics.calibration_slope, n_resamples=2000)
    assert found.method == "paired, bootstrap"
    low, high = found.limits(1.0 - found.p_value)
    assert min(abs(low), abs(high)) < 0.1 * (high - low)


MOVED = [
    "area_under_risk_coverage",
    "excess_area_under_risk_coverage",
    "confidence_auroc",
    "event_auroc",
    "calibration_slope",
    "calibration_in_the_large",
]


@pytest.mark.parametrize("name", MOVED)
def test_moves_are_the_derivatives_by_the_weights(name):
    metric, step = getattr(metrics, name), 1e-4
    # So much weight that there are plenty of either outcome, and ties.
    weight, score = np.tile([20.0, 50.0], 40), np.round(P, 1).clip(0.05, 0.95)
    moves = metric.moves_of(read(score, Y, sample_weight=weight))
    steps = step * np.eye(80)
    up, down = (
        np.array([metric(Y, score, sample_weight=weight + sign * one) for one in steps])
        for sign in (1.0, -1.0)
    )
    np.testing.assert_allclose(
        moves, (up - down) / (2.0 * step) * weight.sum(), rtol=1e-5, atol=1e-6
    )
    assert weight @ moves == pytest.approx(0.0, abs=1e-8)


def test_by_moves_it_is_as_wide_as_by_resamples():
    for metric in (metrics.area_under_risk_coverage, metrics.confidence_auroc):
        found, records = difference(metric), [read(one, Y) for one in (P, Q)]
        first, second = (metric.resampled_of(record, 1000, 0) for record in records)
        assert found.method == "paired, analytic"
        assert np.sqrt(found.variance) == pytest.approx(np.std(second - first), rel=0.1)


def test_nothing_that_varies_is_degenerate():
    assert difference(metrics.log_loss, q=P).degenerate
    assert difference(metrics.confidence_auroc, q=P).degenerate
    assert not difference(metrics.log_loss).degenerate


def test_meanings():
    assert [meaning(0.1, 0.2, way) for way in ("minimize", "maximize", "none")] == [
        "worse",
        "better",
        "larger",
    ]
    assert [meaning(-0.2, -0.1, way) for way in ("minimize", "maximize", "none")] == [
        "better",
        "worse",
        "smaller",
    ]
    assert meaning(-0.1, 0.2, "minimize") == "no clear change"


def test_of_rankings_the_variance_is_delong_s_and_of_clusters_obuchowski_s():
    def placements(p):
        beats = (p[Y == 1][:, None] > p[Y == 0]).astype(float)
        return beats.mean(axis=1), beats.mean(axis=0)

    above, below = (b - a for a, b in zip(placements(P), placements(Q), strict=True))
    found = difference(metrics.event_auroc)
    assert found.variance == pytest.approx(
        np.var(above, ddof=1) / len(above) + np.var(below, ddof=1) / len(below), rel=1e-10
    )
    assert found.freedom == min(len(above), len(below)) - 1.0
    # Rows four times over, as clusters: of equal ones the sums have k / (k - 1), k clusters of that
    # outcome, which is the same again.
    four = np.repeat(np.arange(80), 4)
    again = difference(metrics.event_auroc, Y[four], P[four], Q[four], cluster=four)
    assert (again.variance, again.freedom) == pytest.approx(
        (found.variance, found.freedom), rel=1e-10
    )


def noise(events_at, n_clusters=30, size=10, repeats=150):
    """The meanings of the difference of two rankings by chance alone; ``events_at`` are the rows
    with the event.
    """
    rng, cluster = np.random.default_rng(0), np.repeat(np.arange(n_clusters), size)
    y = np.isin(np.arange(len(cluster)), events_at).astype(int)
    drawn = (dict(zip("ab", rng.uniform(size=(2, len(y))), strict=True)) for _ in range(repeats))
    return [
        metrics.compare(y, P, metrics=[metrics.event_auroc], cluster=cluster).rows[0].meaning
        for P in drawn
    ]


@pytest.mark.parametrize(
    "events_at", [[0, 50, 100, 150, 200], [0, 1, 2, 50, 51]], ids=["five clusters", "two clusters"]
)
def test_few_clusters_with_events_do_not_make_one_ranking_better_than_another(events_at):
    # 16 and 35 in 100 by as many degrees of freedom as there are clusters.
    assert np.mean(
        [one in ("better", "worse") for one in noise(events_at)]
    ) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 150)


def test_of_events_in_one_cluster_nothing_is_known():
    assert set(noise([0, 1, 2, 3, 4], repeats=3)) == {"not compared"}


@pytest.mark.parametrize(("events", "most"), [(1, 0.0), (3, 0.1), (8, 0.1)])
def test_few_events_do_not_make_one_ranking_better_than_another(events, most):
    rng = np.random.default_rng(0)
    y = (np.arange(60) < events).astype(int)
    rows = [
        metrics.compare(
            y,
            dict(zip("ab", rng.uniform(size=(2, 60)), strict=True)),
            metrics=[metrics.event_auroc],
        ).rows[0]
        for _ in range(150)
    ]
    assert np.mean([row.meaning in ("better", "worse") for row in rows]) <= most
    assert (events > 1) == all(row.meaning != "not compared" for row in rows)
