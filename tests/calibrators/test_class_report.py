"""One row a predicted class: counts by hand, the method and bandwidth of each."""

import warnings

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.errors import InputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([3.0, 3.0, 0.4], 800)
    return np.array([rng.choice(3, p=row) for row in P]), P


def test_counts_and_interval_by_hand(data):
    y, P = data
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    report = cb.calibrators.class_report(y, P, sample_weight=weight, level=0.9)
    predicted = P.argmax(axis=1)
    for k in range(3):
        own = predicted == k
        right, n = weight[own & (y == k)].sum(), weight[own].sum()
        assert (report.n[k], report.right[k], report.wrong[k]) == (n, right, n - right)
        assert report.rate[k] == pytest.approx((right + 0.5) / (n + 1.0))
        assert (report.low[k], report.high[k]) == pytest.approx(
            stats.beta(right + 0.5, n - right + 0.5).ppf([0.05, 0.95])
        )
    assert report.method.tolist() == [""] * 3


def test_it_says_how_each_class_is_treated(data):
    y, P = data
    few = np.concatenate(
        [np.flatnonzero(P.argmax(axis=1) != 2), np.flatnonzero(P.argmax(axis=1) == 2)[:4]]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cal = cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity(), per_class=True).fit(
            P[few], y[few]
        )
    report = cb.calibrators.class_report(y[few], P[few], calibrator=cal)
    assert report.method.tolist() == ["b_mon2", "b_mon2", "class rate"]
    assert report.bandwidth[:2] == pytest.approx([cal.maps_[k].bandwidth_ for k in (0, 1)])
    assert np.isnan(report.bandwidth[2])
    shared = cb.calibrators.class_report(
        y, P, calibrator=cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity()).fit(P, y)
    )
    assert set(shared.method) == {"b_mon2"}
    assert set(
        cb.calibrators.class_report(
            y, P, calibrator=cb.calibrators.AwardTemperature().fit(P, y)
        ).method
    ) == {"temperature with awards"}


def test_it_is_a_table(data):
    frame = cb.calibrators.class_report(*data).frame()
    assert list(frame["name"]) == [0, 1, 2]
    assert len(cb.calibrators.class_report(*data).to_dict()["rate"]) == 3


def test_a_calibrator_of_other_classes_is_refused(data):
    y, P = data
    cal = cb.TemperatureScaling().fit([[0.6, 0.4], [0.3, 0.7]], [0, 1])
    with pytest.raises(InputError, match="calibrator"):
        cb.calibrators.class_report(y, P, calibrator=cal)
