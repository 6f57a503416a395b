"""The reliability curve: bins, bands, and its record."""

import re

import numpy as np
import pytest
from scipy.stats import binomtest

from calibrant.errors import InputError
from calibrant.metrics import expected_calibration_error, reliability_curve


def drawn(n=400, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(3), n)
    return (
        (P.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1),
        P,
        rng.integers(0, 4, n).astype(float),
    )


def test_hand_worked():
    curve = reliability_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=4, target=1)
    assert curve.lower.tolist() == [0.0, 0.25, 0.75]
    assert curve.upper.tolist() == [0.25, 0.5, 1.0]
    assert curve.n.tolist() == [1.0, 1.0, 2.0]
    np.testing.assert_allclose(curve.confidence, [0.2, 0.3, 0.85])
    assert curve.accuracy.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_gaps_add_up_to_the_calibration_error(strategy):
    y, P, weight = drawn()
    curve = reliability_curve(y, P, sample_weight=weight, strategy=strategy)
    gap = curve.n @ np.abs(curve.confidence - curve.accuracy) / curve.n.sum()
    assert gap == pytest.approx(
        expected_calibration_error(y, P, sample_weight=weight, strategy=strategy), rel=1e-12
    )


@pytest.mark.parametrize(("band", "method"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
def test_bands_equal_scipys(band, method):
    y, P, _ = drawn()
    curve = reliability_curve(y, P, band=band, level=0.9)
    for n, accuracy, low, high in zip(curve.n, curve.accuracy, curve.low, curve.high, strict=True):
        expected = binomtest(round(accuracy * n), int(n)).proportion_ci(0.9, method=method)
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_weights_mean_repetition(strategy):
    y, P, weight = drawn()
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    a = reliability_curve(y, P, sample_weight=weight, strategy=strategy)
    b = reliability_curve(y[rows], P[rows], strategy=strategy)
    for name, values in a.to_dict().items():
        np.testing.assert_allclose(values, getattr(b, name), rtol=1e-12, err_msg=name)


def test_equal_mass_edges_are_the_scores_they_hold():
    y, P, _ = drawn()
    curve = reliability_curve(y, P, strategy="mass", n_bins=10)
    assert len(curve.n) == 10
    assert np.ptp(curve.n) <= 1
    assert (curve.lower <= curve.confidence).all()
    assert (curve.confidence <= curve.upper).all()
    assert curve.lower[0] == P.max(axis=1).min()


def test_a_class_by_its_label():
    y, P, _ = drawn()
    names = np.array(["x", "y", "z"])
    a = reliability_curve(names[y], P, classes=names, target="y")
    b = reliability_curve((y == 1).astype(int), P[:, 1], target=1)
    np.testing.assert_allclose(a.accuracy, b.accuracy)
    assert a.n.sum() == len(y)


def test_record():
    pd = pytest.importorskip("pandas")
    curve = reliability_curve(*drawn()[:2])
    frame = curve.frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["lower", "upper", "n", "confidence", "accuracy", "low", "high"]
    assert curve.to_dict()["n"] == frame["n"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number of at least 1; got 0."),
        ({"strategy": "x"}, 'strategy must be "width" or "mass"; got \'x\'.'),
        ({"band": "x"}, 'band must be "wilson", "clopper-pearson" or "consistency"; got \'x\'.'),
        ({"level": 1.0}, "level must be between 0 and 1; got 1.0; 0.95 is usual."),
        ({"target": 7}, 'target must be "answer", "event" or one of the classes [0, 1]; got 7.'),
    ],
)
def test_options_that_cannot_work(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        reliability_curve([0, 1], [0.2, 0.8], **options)


def test_labels_are_required():
    with pytest.raises(InputError, match="y_true must be the true labels"):
        reliability_curve(None, [0.2, 0.8])
