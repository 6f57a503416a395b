"""Bugs that bit other tools' error metrics, curves and decompositions, each named after its trap;
for every calibration error we have.

The rows about bins and bands are in test_binning.py; here are the other errors, and what was added
since.
"""

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant._numerics import bins
from calibrant.errors import InputError

TOP = [
    metrics.expected_calibration_error,
    metrics.root_mean_square_calibration_error,
    metrics.maximum_calibration_error,
    metrics.ks_calibration_error,
    metrics.smooth_calibration_error,
    metrics.maximum_mean_calibration_error,
    metrics.debiased_calibration_error,
]
POSITIVE = [
    metrics.positive_class_calibration_error,
    *(m.with_options(target="event") for m in TOP[3:]),
]
ALL = [*TOP, *POSITIVE, metrics.classwise_calibration_error, metrics.adaptive_calibration_error]


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("metric", POSITIVE, ids=repr)
def test_confidence_of_exactly_zero_counts(metric):
    """An index of -1 dropped it elsewhere, and read a total failure as 0. (One row has no
    variance to debias, so two.)
    """
    assert metric([1, 1], [0.0, 0.0]) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("metric", [m for m in ALL if "strategy" in repr(m)], ids=repr)
def test_ties_are_never_split_by_equal_mass_bins(metric):
    """95 % zeros: asked for 10 bins there are fewer, whatever the order of the rows, and each
    tied score has one bin.
    """
    rng = np.random.default_rng(1)
    p = np.append(np.zeros(950), rng.random(50))
    y = (rng.random(1000) < p).astype(int)
    group = bins.equal_mass_groups(p, 10)
    assert len(np.unique(group[:950])) == 1
    assert group.max() + 1 < 10
    order = rng.permutation(1000)
    value = metric(y, p, strategy="mass", n_bins=10)
    assert value == pytest.approx(metric(y[order], p[order], strategy="mass", n_bins=10), abs=1e-12)


@pytest.mark.parametrize("norm", [1, 2])
def test_the_debiased_error_of_bins_of_one_row_is_not_nan(norm):
    debiased = metrics.debiased_calibration_error
    for n in (1, 2, 5, 15, 16):
        value = debiased(*sample(n), n_bins=15, norm=norm)
        assert 0.0 <= value <= 1.0
    # Less gap than the noise explains: the square is negative and cut off at 0.
    assert debiased([0, 1] * 20, [0.5] * 40, norm=norm, target="event") == 0.0


@pytest.mark.parametrize("metric", [m for m in ALL if not m.binary_only], ids=repr)
def test_a_class_missing_from_the_labels_is_no_error(metric):
    P = np.random.default_rng(0).dirichlet(np.ones(4), 60)
    y = np.arange(60) % 3
    assert np.isfinite(metric(y, P))
    assert np.isfinite(metric(np.array(["a", "b", "c"])[y], P, classes=["a", "b", "c", "d"]))


@pytest.mark.parametrize("metric", ALL, ids=repr)
def test_swapped_arguments_are_refused(metric):
    y, p = sample(50)
    with pytest.raises(InputError, match="swapped"):
        metric(p, y)


def test_consistency_bars_hold_calibrated_accuracies_as_often_as_they_say():
    rng = np.random.default_rng(4)
    p = np.repeat([0.02, 0.3, 0.5, 0.7, 0.95], 200)
    inside = []
    for _ in range(300):
        curve = metrics.reliability_curve(
            (rng.random(1000) < p).astype(int), p, target=1, n_bins=10, band="consistency"
        )
        inside.append(
            (curve.low - 1e-12 <= curve.accuracy) & (curve.accuracy <= curve.high + 1e-12)
        )
        assert (curve.low <= curve.confidence).all()
        assert (curve.confidence <= curve.high).all()
    assert 0.94 <= np.mean(inside) <= 0.985
    low, high = curve.low[1], curve.high[1]
    assert (low, high) == (
        stats.binom.ppf(0.025, 200, 0.3) / 200,
        stats.binom.ppf(0.975, 200, 0.3) / 200,
    )


@pytest.mark.parametrize("target", ["classes", "answer", "event"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_parts_of_a_score_add_up_to_it(target, weighted):
    """Elsewhere refinement came out as 0. Ties and weights included, to 1e-12."""
    rng = np.random.default_rng(5)
    p = np.round(rng.random(2000), 2)
    y = (rng.random(2000) < p**1.5).astype(int)
    weight = rng.integers(0, 4, 2000).astype(float) if weighted else None
    found = [metrics.brier_decomposition(y, p, target=target, sample_weight=weight)]
    if target != "classes":
        found.append(metrics.log_loss_decomposition(y, p, target=target, sample_weight=weight))
    for parts in found:
        assert parts.miscalibration - parts.discrimination + parts.uncertainty == pytest.approx(
            parts.score, abs=1e-12
        )
        assert parts.miscalibration > 1e-4
        assert parts.discrimination > 1e-4
        assert parts.uncertainty - parts.discrimination > 0.01
    if target == "classes":
        assert found[0].score == pytest.approx(
            metrics.brier_score(y, p, sample_weight=weight), abs=1e-12
        )


def test_sums_over_many_float32_rows_keep_their_digits():
    """float32 accumulation makes two peers report 3.76e-4 for 3.33e-4 at 10 million rows; here
    against exact integers.
    """
    n = 1_000_000
    p = np.full((n, 2), 0.5, dtype=np.float32)
    p[:, 1] = np.float32(0.7)
    p[:, 0] = np.float32(1.0) - p[:, 1]
    y = (np.arange(n) % 10 < 7).astype(int)
    confidence = float(p[0, 1]) / (float(p[0, 0]) + float(p[0, 1]))
    assert metrics.expected_calibration_error(y, p) == pytest.approx(
        abs(confidence - 0.7), abs=1e-12
    )
