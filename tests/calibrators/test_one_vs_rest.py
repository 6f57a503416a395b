import numpy as np
import pytest

from calibrant import Isotonic, OneVsRest, Platt, TemperatureScaling, load
from calibrant.calibrators import Beta, HistogramBinning
from calibrant.core import Map
from calibrant.core.predictions import read
from calibrant.errors import InputError, SparseDataWarning


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1.0, 0.5, 0.3], 600)
    y = np.array([rng.choice(3, p=p) for p in P])
    return P, y


def test_each_class_has_its_own_map_then_rows_are_renormalised(data):
    P, y = data
    p = (
        read(P).probabilities
    )  # the sums of the rows are 1 but for rounding, which the fit of a map may magnify
    raw = np.column_stack([Beta().fit(p[:, k], y == k).predict(p[:, k]) for k in range(3)])
    np.testing.assert_allclose(
        OneVsRest().fit(P, y).predict_proba(P), raw / raw.sum(axis=1, keepdims=True), rtol=1e-8
    )


def test_two_classes_take_one_map_and_its_complement():
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    cal = OneVsRest(Isotonic()).fit(p, y)
    assert len(cal.maps_) == 1
    expected = Isotonic().fit(p, y).predict(p)
    np.testing.assert_array_equal(cal.predict_proba(p), np.column_stack([1 - expected, expected]))


def test_rows_where_every_map_says_zero_fall_back_on_the_model():
    P = np.array([[0.8, 0.1, 0.1]] * 25 + [[0.1, 0.8, 0.1]] * 25 + [[0.1, 0.1, 0.8]] * 25)
    cal = OneVsRest(HistogramBinning(n_bins=2, prior_weight=0.0)).fit(P, np.repeat([0, 1, 2], 25))
    row = [[0.3, 0.3, 0.4]]
    assert [m.predict(row[0]).max() for m in cal.maps_] == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(cal.predict_proba(row), row)


def test_rows_where_every_map_says_next_to_zero_are_shared_all_the_same(data):
    class Tiny(Map):
        def _fit(self, score, correct, weight):
            pass

        def _predict(self, score):
            return np.where(score > 0.5, 5e-324, 0.0)

    Q = OneVsRest(Tiny()).fit(*data).predict_proba([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    np.testing.assert_array_equal(Q, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def _tempered(P, y, P_new):
    """The probabilities at the temperature of P and y, mixed with equal ones at 1 / (n + 1)."""
    Z, mixing = TemperatureScaling().fit(P, y).predict_proba(P_new), 1.0 / (len(y) + 1.0)
    return (1.0 - mixing) * Z + mixing / P.shape[1]


def test_beside_a_class_of_few_rows_all_have_one_temperature_first(data):
    P, y = data
    few = np.flatnonzero(y == 2)[:24]
    rows = np.concatenate([np.flatnonzero(y != 2), few])
    cal = OneVsRest(Platt()).fit(P[rows], y[rows])
    Z = _tempered(P[rows], y[rows], P)
    raw = np.column_stack(
        [
            Platt().fit(Z[rows, k], y[rows] == k).predict(Z[:, k]) if k < 2 else Z[:, k]
            for k in range(3)
        ]
    )
    np.testing.assert_allclose(
        cal.predict_proba(P), raw / raw.sum(axis=1, keepdims=True), rtol=1e-5
    )
    assert cal.status_ == "converged; 1 of 3 classes with a temperature only"
    twice = OneVsRest(Platt()).fit(P[rows], y[rows], sample_weight=np.where(y[rows] == 2, 2.0, 1.0))
    assert twice.status_ == "converged"


@pytest.mark.filterwarnings("ignore:none of the")
def test_few_rows_of_every_class_get_a_temperature_and_two_classes_always_have_their_map():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 60), np.arange(60) % 3
    np.testing.assert_allclose(
        OneVsRest(Isotonic()).fit(P, y).predict_proba(P), _tempered(P, y, P), rtol=1e-6
    )
    p, y = [0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1]
    np.testing.assert_array_equal(
        OneVsRest(Isotonic()).fit(p, y).predict_proba(p)[:, 1], Isotonic().fit(p, y).predict(p)
    )


def test_a_class_of_few_rows_is_saved_with_the_others(data, tmp_path):
    P, y = data
    rows = np.flatnonzero((y != 2) | (np.cumsum(y == 2) <= 10))
    cal = OneVsRest(Platt()).fit(P[rows], y[rows])
    again = load(cal.save(tmp_path / "m.calibrant"))
    np.testing.assert_array_equal(again.predict_proba(P), cal.predict_proba(P))


def test_an_absent_class_keeps_its_tempered_probability(data):
    P, y = data
    rows = y != 2
    cal = OneVsRest(Platt()).fit(P[rows], y[rows])
    Q = cal.predict_proba(P)
    np.testing.assert_allclose(Q[:, 2], _tempered(P[rows], y[rows], P)[:, 2], rtol=1e-6)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:none of the")
def test_a_row_with_all_mass_on_an_absent_class_stays_there():
    cal = OneVsRest().fit([[0.7, 0.3, 0.0], [0.4, 0.6, 0.0]] * 5, [0, 1, 1, 0, 0, 1, 0, 1, 1, 0])
    Q = cal.predict_proba([[0.0, 0.0, 1.0]])
    assert Q.argmax() == 2
    assert Q.sum() == pytest.approx(1.0)


def test_a_calibrator_is_refused_with_the_remedy(data):
    with pytest.raises(
        InputError, match=r"map must be a map such as .* whole-vector calibrators need no wrapper"
    ):
        OneVsRest(TemperatureScaling()).fit(*data)


def test_it_says_when_no_class_has_a_map():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 60)
    with pytest.warns(SparseDataWarning, match="none of the 3 classes has 25 rows"):
        cal = OneVsRest(Isotonic()).fit(P, np.arange(60) % 3)
    assert cal.status_ == "converged; 3 of 3 classes with a temperature only"
