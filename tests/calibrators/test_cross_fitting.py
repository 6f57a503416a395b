import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, RepeatedKFold, TimeSeriesSplit

from calibrant import ConfidenceCalibrator, Isotonic, OneVsRest, TemperatureScaling
from calibrant.calibrators import cross_fitted
from calibrant.core.folds import make_splits
from calibrant.errors import InputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.5] * 3, 120)
    return P, np.array([rng.choice(3, p=p) for p in P])


def test_a_splitter_decides_who_sees_whom(data):
    P, y = data
    groups = np.arange(120) // 10
    Q = cross_fitted(TemperatureScaling(), P, y, cv=GroupKFold(4), groups=groups)
    for fit_rows, held_out in GroupKFold(4).split(P, y, groups):
        np.testing.assert_array_equal(
            Q[held_out],
            TemperatureScaling(classes=[0, 1, 2])
            .fit(P[fit_rows], y[fit_rows])
            .predict_proba(P[held_out]),
        )


def test_a_number_of_folds_keeps_groups_whole_and_holds_each_row_out_once(data):
    groups = np.repeat(np.arange(12), 10)
    splits = make_splits(3, data[0], data[1], groups)
    assert len(splits) == 3
    for fit_rows, held_out in splits:
        assert not set(groups[fit_rows]) & set(groups[held_out])
    np.testing.assert_array_equal(
        np.sort(np.concatenate([held_out for _, held_out in splits])), np.arange(120)
    )


def test_time_series_leaves_the_first_rows_open(data):
    P, y = data
    Q = cross_fitted(TemperatureScaling(), P, y, cv=TimeSeriesSplit(3))
    assert np.isnan(Q[:30]).all()
    np.testing.assert_allclose(Q[30:].sum(axis=1), 1.0)


def test_weights_are_repetition_for_a_given_assignment(data):
    P, y = data
    times = np.random.default_rng(1).integers(0, 3, 120)
    rows = np.repeat(np.arange(120), times)
    folds = np.arange(120) % 4
    weighted = cross_fitted(
        OneVsRest(),
        P,
        y,
        sample_weight=times,
        cv=[(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)],
    )
    again = cross_fitted(
        OneVsRest(),
        P[rows],
        y[rows],
        cv=[(np.flatnonzero(folds[rows] != k), np.flatnonzero(folds[rows] == k)) for k in range(4)],
    )
    assert np.isfinite(weighted).all()
    np.testing.assert_allclose(weighted[rows], again, atol=1e-8)


@pytest.mark.filterwarnings("ignore:none of the")
def test_a_class_absent_from_a_fold_keeps_its_column():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1, 1, 0.5], 40)
    y = np.array([rng.choice(2, p=p[:2] / p[:2].sum()) for p in P])
    y[0] = 2
    for calibrator in (TemperatureScaling(), OneVsRest(Isotonic()), ConfidenceCalibrator()):
        Q = cross_fitted(calibrator, P, y, cv=4)
        assert Q.shape == (40, 3)
        assert Q[:, 2].max() > 0


def test_a_row_held_out_twice_is_refused(data):
    with pytest.raises(InputError, match="only one split may hold out"):
        cross_fitted(TemperatureScaling(), *data, cv=RepeatedKFold(n_splits=3, n_repeats=2))


def test_prefit_is_refused_with_the_remedy(data):
    with pytest.raises(InputError, match="fitted model"):
        cross_fitted(TemperatureScaling(), *data, cv="prefit")
