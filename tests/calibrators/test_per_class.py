import numpy as np
import pytest

from calibrant import ConfidenceCalibrator, Isotonic
from calibrant.calibrators import LikelihoodPool, PerClass
from calibrant.errors import SparseDataWarning


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.6, 0.6, 0.6], 3000)
    y = np.array([rng.choice(3, p=p) for p in P])
    swap = (P.argmax(axis=1) == 2) & (rng.random(3000) < 0.5)
    return P, np.where(swap, 0, y)


def test_each_predicted_class_is_calibrated_by_its_own_rows(data):
    P, y = data
    Q = PerClass().fit(P, y).predict_proba(P)
    for k in range(3):
        own = P.argmax(axis=1) == k
        np.testing.assert_array_equal(
            Q[own], LikelihoodPool(classes=[0, 1, 2]).fit(P[own], y[own]).predict_proba(P[own])
        )


def test_a_confidence_calibrator_inside_is_the_per_class_confidence(data):
    P, y = data
    inside = PerClass(ConfidenceCalibrator(map=Isotonic())).fit(P, y)
    np.testing.assert_allclose(
        inside.predict_confidence(P),
        ConfidenceCalibrator(map=Isotonic(), per_class=True).fit(P, y).predict_confidence(P),
    )


def test_sparse_classes_fall_back_with_one_warning(data):
    P, y = data
    rows = np.concatenate(
        [np.flatnonzero(P.argmax(axis=1) == 0), np.flatnonzero(P.argmax(axis=1) == 1)[:6]]
    )
    right = int((y[rows[-6:]] == 1).sum())
    with pytest.warns(
        SparseDataWarning,
        match=rf"2 of 3 .* 1 \({right} right, {6 - right} wrong\), 2 \(0 right, 0 wrong\)",
    ) as caught:
        cal = PerClass().fit(P[rows], y[rows])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_allclose(cal.predict_confidence(P[rows[-6:]]), (right + 0.5) / 7)
    assert sorted(cal.calibrators_) == [0]
