"""What the binned calibration errors share: bins, norms, options, intervals."""

import re

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.metrics import (
    classwise_calibration_error,
    expected_calibration_error,
    positive_class_calibration_error,
)

ERRORS = [expected_calibration_error, positive_class_calibration_error, classwise_calibration_error]


def calibrated(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


def by_loop(score, hit, weight, n_bins, norm):
    """The definition, row by row."""
    gaps, masses = [], []
    for b in range(n_bins):
        inside = [
            i for i in range(len(score)) if min(int(score[i] * n_bins + 1e-9), n_bins - 1) == b
        ]
        if inside:
            masses.append(sum(weight[i] for i in inside))
            gaps.append(abs(sum(weight[i] * (score[i] - hit[i]) for i in inside)) / masses[-1])
    gaps, masses = np.array(gaps), np.array(masses) / sum(masses)
    return {
        1: masses @ gaps,
        2: np.sqrt(masses @ gaps**2),
        3: (masses @ gaps**3) ** (1 / 3),
        "max": gaps.max(),
    }[norm]


@pytest.mark.parametrize("norm", [1, 2, 3, "max"])
@pytest.mark.parametrize("n_bins", [1, 7, 15])
def test_equals_the_definition_row_by_row(n_bins, norm):
    rng = np.random.default_rng(0)
    P, y, weight = rng.dirichlet(np.ones(3), 150), rng.integers(0, 3, 150), rng.integers(1, 4, 150)
    options = {"n_bins": n_bins, "norm": norm, "sample_weight": weight}
    top = by_loop(P.max(axis=1), P.argmax(axis=1) == y, weight, n_bins, norm)
    assert expected_calibration_error(y, P, **options) == pytest.approx(top, rel=1e-12)
    each = np.mean([by_loop(P[:, k], y == k, weight, n_bins, norm) for k in range(3)])
    assert classwise_calibration_error(y, P, **options) == pytest.approx(each, rel=1e-12)
    p, z = P[:, 1] / (P[:, 0] + P[:, 1]), y == 1
    assert positive_class_calibration_error(z, p, **options) == pytest.approx(
        by_loop(p, z, weight, n_bins, norm), rel=1e-12
    )


@pytest.mark.parametrize("metric", ERRORS)
def test_norms_are_ordered(metric):
    y, p = calibrated(200)
    one, two, worst = (metric(y, p, norm=norm) for norm in (1, 2, "max"))
    assert one <= two <= worst


@pytest.mark.parametrize("metric", ERRORS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number of at least 1; got 0."),
        ({"n_bins": 1.5}, "n_bins must be a whole number of at least 1; got 1.5."),
        ({"strategy": "quantile"}, 'strategy must be "width" or "mass"; got \'quantile\'.'),
        ({"norm": 0.5}, 'norm must be a number of at least 1, or "max"; got 0.5.'),
    ],
)
def test_options_that_cannot_work(metric, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        metric([0, 1], [0.1, 0.9], **options)


@pytest.mark.parametrize("metric", ERRORS)
def test_equal_mass_bins_have_no_state(metric):
    with pytest.raises(
        InputError, match="has no state of fixed size; compute it on all rows at once"
    ):
        metric.state([0, 1], [0.1, 0.9], strategy="mass")


def test_equal_mass_hand_worked():
    # Two bins of two rows: gaps |(0.1 + 0.2) - 1| / 2 and |(0.7 + 0.8) - 1| / 2.
    value = positive_class_calibration_error(
        [0, 1, 0, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2, strategy="mass"
    )
    assert value == pytest.approx((0.35 + 0.25) / 2)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, "0.95"])
def test_levels_that_are_no_coverage(level):
    with pytest.raises(InputError, match="level must be between 0 and 1"):
        expected_calibration_error.interval([0, 1], [0.1, 0.9], level=level)


def test_bootstrap_equals_the_metric_on_the_resampled_rows():
    from calibrant._numerics.bootstrap import resample_weights
    from calibrant.core.predictions import read

    y, p = calibrated(100)
    draws = expected_calibration_error._resampled(read(p, y), 20, 5)
    rng = np.random.default_rng(5)
    for value in draws:
        times = resample_weights(np.ones(100), rng).astype(int)
        rows = np.repeat(np.arange(100), times)
        assert value == pytest.approx(expected_calibration_error(y[rows], p[rows]), rel=1e-12)


def test_interval_shrinks_with_the_rows():
    widths = []
    for n in (200, 5000):
        interval = expected_calibration_error.interval(*calibrated(n), n_resamples=200)
        widths.append(interval.high - interval.low)
    assert widths[1] < 0.5 * widths[0]
