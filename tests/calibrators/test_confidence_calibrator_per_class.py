import numpy as np
import pytest

from calibrant import ConfidenceCalibrator, Isotonic, Platt
from calibrant.calibrators import HistogramBinning
from calibrant.errors import SparseDataWarning


@pytest.fixture
def data():
    """Three classes; what is predicted as 2 is right far less often than it says."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.6, 0.6, 0.6], 3000)
    y = np.array([rng.choice(3, p=p) for p in P])
    swap = (P.argmax(axis=1) == 2) & (rng.random(3000) < 0.5)
    return P, np.where(swap, 0, y)


def test_each_class_has_the_map_of_its_own_rows(data):
    P, y = data
    cal = ConfidenceCalibrator(per_class=True).fit(P, y)
    for k in range(3):
        own = P.argmax(axis=1) == k
        alone = Isotonic().fit(P[own].max(axis=1), y[own] == k)
        np.testing.assert_array_equal(
            cal.predict_confidence(P[own]), alone.predict(P[own].max(axis=1))
        )


def test_per_class_is_right_in_each_class_where_pooled_is_not(data):
    P, y = data
    predicted = P.argmax(axis=1)
    for k in range(3):
        own = predicted == k
        rate = (y[own] == k).mean()
        per_class = (
            ConfidenceCalibrator(map=Platt(), per_class=True)
            .fit(P, y)
            .predict_confidence(P)[own]
            .mean()
        )
        assert per_class == pytest.approx(rate, abs=0.01)
    pooled = ConfidenceCalibrator(map=Platt()).fit(P, y).predict_confidence(P)[own].mean()
    assert abs(pooled - rate) > 0.1


def test_a_sparse_class_gets_its_shrunk_rate_and_a_warning_says_how_few(data):
    P, y = data
    few = np.flatnonzero(P.argmax(axis=1) == 1)[:6]
    rows = np.concatenate([np.flatnonzero(P.argmax(axis=1) != 1), few])
    right = int((y[few] == 1).sum())
    with pytest.warns(
        SparseDataWarning, match=rf"1 of 3 .* b \({right} right, {6 - right} wrong\)"
    ):
        cal = ConfidenceCalibrator(per_class=True, classes=["a", "b", "c"]).fit(
            P[rows], np.array(["a", "b", "c"])[y[rows]]
        )
    np.testing.assert_allclose(cal.predict_confidence(P[few]), (right + 0.5) / 7)


def test_a_class_never_predicted_gets_the_rate_of_all_rows(data):
    P, y = data
    rows = P.argmax(axis=1) != 1
    with pytest.warns(SparseDataWarning, match=r"1 \(0 right, 0 wrong\)"):
        cal = ConfidenceCalibrator(map=HistogramBinning(), per_class=True).fit(P[rows], y[rows])
    rate = ((y[rows] == P[rows].argmax(axis=1)).sum() + 0.5) / (rows.sum() + 1)
    np.testing.assert_allclose(cal.predict_confidence([[0.1, 0.8, 0.1]]), rate)


def test_the_warning_points_at_the_caller(data):
    P, y = data
    with pytest.warns(SparseDataWarning) as caught:
        ConfidenceCalibrator(per_class=True).fit(P[:4], y[:4])
    assert caught[0].filename == __file__
