"""Curves of rows that hang together: bands that count clusters, and never less than independent
rows would show.
"""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

CURVES = {
    "reliability": (
        lambda *a, **o: metrics.reliability_curve(*a, target="event", n_bins=5, **o),
        "low",
        "high",
    ),
    "clopper": (
        lambda *a, **o: metrics.reliability_curve(
            *a, target="event", n_bins=5, band="clopper-pearson", **o
        ),
        "low",
        "high",
    ),
    "risk": (metrics.risk_coverage_curve, "low", "high"),
    "gain": (metrics.gain_curve, "low", "high"),
    "decision": (
        lambda *a, **o: metrics.decision_curve(*a, thresholds=[0.1, 0.3, 0.5, 0.7], **o),
        "low",
        "high",
    ),
    "table": (
        lambda *a, **o: metrics.threshold_table(*a, thresholds=[0.2, 0.5], **o),
        "ppv_low",
        "ppv_high",
    ),
    "sensitivity": (
        lambda *a, **o: metrics.threshold_table(*a, thresholds=[0.2, 0.5], **o),
        "sensitivity_low",
        "sensitivity_high",
    ),
    "loess": (
        lambda *a, **o: metrics.loess_curve(*a, n_points=12, n_draws=100, **o),
        "low",
        "high",
    ),
    "loess band": (
        lambda *a, **o: metrics.loess_curve(*a, n_points=12, n_draws=100, **o),
        "band_low",
        "band_high",
    ),
    "spline": (
        lambda *a, **o: metrics.spline_curve(*a, n_points=12, n_draws=100, **o),
        "low",
        "high",
    ),
    "spline band": (
        lambda *a, **o: metrics.spline_curve(*a, n_points=12, n_draws=100, **o),
        "band_low",
        "band_high",
    ),
    "isotonic": (
        lambda *a, **o: metrics.isotonic_curve(*a, target="event", n_draws=50, **o),
        "low",
        "high",
    ),
}


def draw(seed, n_clusters=40, size=5):
    """Calibrated scores spread over each cluster; one number decides nearly all of its outcomes."""
    rng = np.random.default_rng(seed)
    cluster, n = np.repeat(np.arange(n_clusters), size), n_clusters * size
    p = np.round(
        np.clip(rng.beta(2, 2, n_clusters)[cluster] + rng.uniform(-0.1, 0.1, n), 0.03, 0.97), 2
    )
    return (rng.random(n_clusters)[cluster] < p).astype(int), p, cluster


def width(name, *args, **options):
    make, low, high = CURVES[name]
    curve = make(*args, **options)
    return getattr(curve, high) - getattr(curve, low)


@pytest.mark.parametrize("name", CURVES)
def test_it_is_wider_than_of_independent_rows_and_their_names_do_not_matter(name):
    y, p, cluster = draw(1)
    of_clusters = width(name, y, p, cluster=cluster)
    assert of_clusters.mean() > 1.2 * width(name, y, p).mean()
    np.testing.assert_allclose(
        of_clusters, width(name, y, p, cluster=[f"day {c:02d}" for c in cluster]), atol=1e-12
    )


@pytest.mark.parametrize("name", ["reliability", "risk", "decision", "table", "loess", "spline"])
def test_of_clusters_of_one_row_it_is_hardly_wider(name):
    y, p, _ = draw(2)
    alone = width(name, y, p)
    assert width(name, y, p, cluster=np.arange(len(y))).mean() == pytest.approx(
        alone.mean(), rel=0.06
    )


@pytest.mark.parametrize("name", ["reliability", "risk", "gain", "table", "loess", "spline"])
def test_a_weight_is_a_repetition_within_the_cluster(name):
    y, p, cluster = draw(3)
    weight = 1 + np.arange(len(y)) % 2
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = width(name, y[rows], p[rows], cluster=cluster[rows])
    np.testing.assert_allclose(
        width(name, y, p, cluster=cluster, sample_weight=weight), repeated, atol=1e-8
    )


def test_the_pointwise_intervals_hold_the_truth():
    """The truth is the diagonal: of the bins, and of loess and spline at a score chosen
    beforehand.
    """
    held, rows, repeats = np.zeros(3), np.zeros(3), 120
    for seed in range(repeats):
        y, p, cluster = draw(seed)
        for told, options in ((held, {"cluster": cluster}), (rows, {})):
            bins = metrics.reliability_curve(y, p, target="event", n_bins=5, **options)
            told[0] += (bins.low[2] <= bins.confidence[2]) & (bins.confidence[2] <= bins.high[2])
            for k, curve in enumerate((metrics.loess_curve, metrics.spline_curve), 1):
                found = curve(y, p, n_points=20, n_draws=20, **options)
                low, high = (np.interp(0.5, found.score, end) for end in (found.low, found.high))
                told[k] += (low <= 0.5) & (high >= 0.5)
    assert (held / repeats >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)).all()
    assert (rows / repeats < 0.85).all()


@pytest.mark.filterwarnings("ignore:cluster names")
def test_a_bin_of_one_cluster_says_nothing():
    curve = metrics.reliability_curve(
        [0, 1, 1, 0, 1, 1],
        [0.1, 0.1, 0.9, 0.9, 0.9, 0.1],
        target="event",
        n_bins=2,
        cluster=[1, 1, 2, 2, 3, 1],
    )
    assert (curve.low[0], curve.high[0]) == (0.0, 1.0)
    assert curve.high[1] - curve.low[1] < 1.0


def test_a_band_of_independent_draws_is_refused():
    y, p, cluster = draw(4)
    with pytest.raises(InputError, match="independent rows; with clusters, use"):
        metrics.reliability_curve(y, p, band="consistency", cluster=cluster)
