"""The numbers behind the figures: the curve is the calibrator's, the bars are the rows', the
densities hold the whole weight.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.normal(size=(3000, 3))
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.array([rng.choice(3, p=row) for row in P]), P


def test_the_curve_is_the_calibrators_own(data):
    y, P = data
    cal = cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity(), per_class=True).fit(P, y)
    curve = cb.calibrators.confidence_curve(y, P, cal, 1)
    own = P.argmax(axis=1) == 1
    assert not curve.cloud
    assert np.interp(
        P[own].max(axis=1), curve.points.score, curve.points.confidence
    ) == pytest.approx(cal.predict_confidence(P[own]), abs=2e-3)
    assert (curve.points.low <= curve.points.confidence).all()
    assert (curve.points.confidence <= curve.points.high).all()
    assert (curve.n, curve.right) == (own.sum(), (own & (y == 1)).sum())


def test_the_bars_are_the_shares_of_right_rows(data):
    y, P = data
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    curve = cb.calibrators.confidence_curve(
        y, P, cb.ConfidenceCalibrator().fit(P, y), sample_weight=weight, n_bins=5
    )
    top, right = P.max(axis=1), P.argmax(axis=1) == y
    for lower, upper, n, rate in zip(
        *(getattr(curve.bars, f) for f in ("lower", "upper", "n", "rate")), strict=True
    ):
        rows = (top >= lower) & (top < upper)
        assert n == weight[rows].sum()
        assert rate == pytest.approx(np.average(right[rows], weights=weight[rows]))


def test_densities_hold_the_share_of_right_and_wrong(data):
    y, P = data
    curve = cb.calibrators.confidence_curve(
        y,
        P,
        cb.ConfidenceCalibrator(
            signal=cb.calibrators.LogOdds(), map=cb.calibrators.KernelDensity()
        ).fit(P, y),
    )
    right, wrong = (
        np.trapezoid(d, curve.points.score)
        for d in (curve.points.right_density, curve.points.wrong_density)
    )
    assert right == pytest.approx(curve.right / curve.n, rel=0.05)
    assert wrong == pytest.approx(curve.wrong / curve.n, rel=0.1)


def test_a_scaling_is_a_cloud(data):
    y, P = data
    cal = cb.calibrators.AwardTemperature().fit(P, y)
    curve = cb.calibrators.confidence_curve(y, P, cal, 0)
    own = P.argmax(axis=1) == 0
    assert curve.cloud
    order = np.argsort(P[own].max(axis=1), kind="stable")
    assert curve.points.confidence.tolist() == cal.predict_confidence(P[own])[order].tolist()
    assert np.isnan(curve.points.low).all()


def test_a_class_never_predicted_has_no_curve_and_a_foreign_one_is_refused():
    P = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
    cal = cb.TemperatureScaling().fit(P, [0, 1, 1])
    assert cb.calibrators.confidence_curve([0, 1, 1], P, cal, 2) is None
    with pytest.raises(InputError, match="target"):
        cb.calibrators.confidence_curve([0, 1, 1], P, cal, "cat")
