"""Bugs of binning and of error metrics that bit other tools, each a test named after the trap.

Rows that wait for their method, for whoever adds it: a score's decomposition (refinement 0; MCB -
DSC + UNC equals the score to 1e-12, with ties and weights).
"""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from calibrant import metrics
from calibrant._numerics.bins import equal_mass_groups, equal_width_index
from calibrant._numerics.intervals import clopper_pearson, wilson
from calibrant.errors import InputError

CURVES = [{"strategy": "width"}, {"strategy": "mass"}]


def test_confidence_of_exactly_0_is_counted():
    assert metrics.positive_class_calibration_error([1], [0.0]) == 1.0
    assert metrics.reliability_curve([1, 0, 1], [0.0, 0.0, 0.5], target=1).n.sum() == 3


def test_confidence_of_exactly_1_is_in_the_last_bin():
    assert metrics.positive_class_calibration_error(
        [1, 0], [0.95, 1.0], n_bins=10
    ) == pytest.approx(0.475, abs=1e-15)
    assert metrics.expected_calibration_error([1, 0], [0.95, 1.0], n_bins=10) == pytest.approx(
        0.475, abs=1e-15
    )
    assert equal_width_index([0.95, 1.0], 10).tolist() == [9, 9]


def test_a_float32_sigmoid_that_rounds_to_1_is_in_the_last_bin():
    p = (1.0 / (1.0 + np.exp(-np.array([16.0, 17.0, 40.0], np.float32)))).astype(np.float32)
    assert p[2] == 1.0
    curve = metrics.reliability_curve([1, 1, 0], p, target=1, n_bins=10)
    assert (curve.n.tolist(), curve.lower.tolist()) == ([3.0], [0.9])


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 11, 99, 101])
@pytest.mark.parametrize("options", CURVES)
def test_the_last_bin_is_not_skipped(n, options):
    p = np.linspace(0.5, 1.0, n)
    curve = metrics.reliability_curve(np.zeros(n, int), p, target=1, n_bins=10, **options)
    assert curve.n.sum() == n
    assert metrics.positive_class_calibration_error(
        np.zeros(n, int), p, n_bins=10, **options
    ) == pytest.approx(p.mean())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_score_on_an_edge_is_in_the_bin_above(dtype):
    # linspace(0, 1, 11) is not k / 10 at 0.3, 0.6 and 0.7.
    edges = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], dtype)
    expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    assert equal_width_index(edges, 10, np.finfo(dtype).eps).tolist() == expected
    for p, b in zip(edges, expected, strict=True):
        curve = metrics.reliability_curve([1], np.array([p], dtype), target=1, n_bins=10)
        assert curve.lower.tolist() == [b / 10]


@pytest.mark.parametrize("n_bins", [3, 7, 10, 15, 20, 49, 100])
def test_every_edge_of_every_grid_is_in_the_bin_above(n_bins):
    k = np.arange(n_bins)
    assert equal_width_index(k / n_bins, n_bins).tolist() == k.tolist()
    assert (
        equal_width_index(np.nextafter(k[1:] / n_bins, 0.0) - 1e-12, n_bins).tolist()
        == k[:-1].tolist()
    )


def test_duplicate_quantile_edges_split_no_ties_and_are_reported():
    p = np.concatenate([np.zeros(95), np.linspace(0.1, 0.9, 5)])
    y = (np.arange(100) % 2).astype(int)
    curve = metrics.reliability_curve(y, p, target=1, n_bins=10, strategy="mass")
    assert len(curve.n) < 10
    assert curve.n[0] == 95
    assert curve.n.sum() == 100
    group = equal_mass_groups(np.repeat([0.1, 0.2, 0.2, 0.3], [5, 50, 1, 44]), 10)
    assert len(np.unique(group[5:56])) == 1


@pytest.mark.parametrize(
    "metric",
    [metrics.expected_calibration_error, metrics.classwise_calibration_error],
    ids=lambda m: m.name,
)
@pytest.mark.parametrize("strategy", ["width", "mass"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_singleton_and_empty_bins_are_never_nan(metric, strategy, n):
    rng = np.random.default_rng(n)
    y, P = rng.integers(0, 3, n), rng.dirichlet(np.ones(3), n)
    for norm in (1, 2, "max"):
        assert 0.0 <= metric(y, P, strategy=strategy, norm=norm) <= 1.0
    interval = metric.interval(y, P, strategy=strategy, n_resamples=20)
    assert 0.0 <= interval.low <= interval.high <= 1.0
    assert np.isfinite(interval.value)


def test_positive_class_and_top_label_are_two_names():
    y, p = np.array([0, 0, 1, 1]), np.array([0.2, 0.3, 0.7, 0.8])
    # In one bin: mean p .5 against a share of .5; mean confidence .75 against an accuracy of 1.
    assert metrics.positive_class_calibration_error(y, p, n_bins=1) == pytest.approx(0.0, abs=1e-15)
    assert metrics.expected_calibration_error(y, p, n_bins=1) == pytest.approx(0.25)


def test_a_class_missing_from_the_labels_keeps_its_column():
    P = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    for metric in (
        metrics.log_loss,
        metrics.brier_score,
        metrics.classwise_calibration_error,
        metrics.expected_calibration_error,
    ):
        assert metric([1, 0], P) == pytest.approx(metric(["b", "a"], P, classes=["a", "b", "c"]))
    assert metrics.classwise_calibration_error([1, 0], P, n_bins=1) == pytest.approx(
        (0.1 + 0.2 + 0.3) / 3
    )


def test_swapped_arguments_are_an_error():
    P, y = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([1, 0])
    for swapped in ((P, y), (P[:, 1], y)):
        with pytest.raises(InputError, match="look swapped"):
            metrics.log_loss(*swapped)


@pytest.mark.parametrize("band", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("label", [0, 1])
def test_bands_keep_their_width_where_all_or_none_are_right(band, label):
    curve = metrics.reliability_curve(np.full(20, label), np.full(20, 0.5), target=1, band=band)
    assert curve.accuracy.tolist() == [label]
    assert curve.high[0] - curve.low[0] > 0.1
    assert (curve.low[0] if label == 0 else 1 - curve.high[0]) == 0.0


@pytest.mark.parametrize(
    ("rule", "low", "high"), [(wilson, 0.93, 0.97), (clopper_pearson, 0.95, 0.99)]
)
def test_bands_cover_as_often_as_they_say_and_not_more(rule, low, high):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 4000)
    n = rng.integers(20, 200, 4000)
    a, b = rule(rng.binomial(n, p), n)
    assert low <= np.mean((a <= p) & (p <= b)) <= high


@pytest.mark.parametrize("scale_by_half", [True, False])
def test_the_factor_2_of_the_binary_brier_score_is_stated(scale_by_half):
    rng = np.random.default_rng(0)
    p, y = rng.random(50), rng.integers(0, 2, 50)
    theirs = brier_score_loss(y, p) * (1 if scale_by_half else 2)
    assert metrics.brier_score(y, p, scale_by_half=scale_by_half) == pytest.approx(
        theirs, rel=1e-12
    )
    # The default is the sum over all classes, whatever their number.
    assert metrics.brier_score(y, p) == pytest.approx(2 * np.mean((p - y) ** 2))
