import numpy as np
import pytest
from sklearn.linear_model import Ridge

from calibrant.calibrators.training_rows import TrainingRows
from calibrant.errors import InputError

X, Y = np.arange(10.0).reshape(5, 2), np.array([0, 1, 0, 1, 1])


def test_rows_of_weight_zero_are_no_rows():
    data = TrainingRows(X, Y, [1.0, 0.0, 2.0, 0.0, 3.0])
    assert data.counted().tolist() == [0, 2, 4]
    assert data.counted(np.array([1, 2, 3])).tolist() == [2]
    assert data.weight_of(np.array([4, 0])).tolist() == [3.0, 1.0]


def test_without_weights_all_rows_count():
    data = TrainingRows(X, Y)
    assert data.counted().tolist() == [0, 1, 2, 3, 4]
    assert data.weight_of(data.counted()) is None


def test_all_rows_in_order_are_the_object_given():
    data = TrainingRows(X, Y)
    assert data.X_of(np.arange(5)) is X
    np.testing.assert_array_equal(data.X_of(np.array([4, 3, 2, 1, 0])), X[::-1])


def test_fit_arguments_with_one_entry_a_row_are_cut():
    cut = TrainingRows(X, Y).params_of(
        np.array([0, 4]), {"margin": np.arange(5), "names": ["a", "b"], "verbose": True}
    )
    assert (cut["margin"].tolist(), cut["names"], cut["verbose"]) == ([0, 4], ["a", "b"], True)


def test_splits_without_rows_of_weight_zero():
    data = TrainingRows(X, Y, [1.0, 1.0, 0.0, 0.0, 1.0])
    folds = [(np.array([0, 1, 4]), np.array([2, 3])), (np.array([2, 3, 4]), np.array([0, 1]))]
    assert [(a.tolist(), b.tolist()) for a, b in data.counted_splits(folds)] == [([4], [0, 1])]
    with pytest.raises(InputError, match="each split of cv rows to fit"):
        data.counted_splits([(np.array([2, 3]), np.array([0, 1, 4]))])
    with pytest.raises(InputError, match="some split held-out rows"):
        data.counted_splits(folds[:1])


def test_weights_that_are_none_are_refused():
    with pytest.raises(InputError, match="zero in every row"):
        TrainingRows(X, Y, np.zeros(5))


def test_a_model_is_fitted_to_some_rows_and_stays_as_it_is():
    model, features, target = Ridge(), np.arange(5.0)[:, None], np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    data, rows = TrainingRows(features, 2.0 * target), np.array([0, 2, 3])
    plain, other = (
        data.fitted(model, rows, {}),
        data.fitted(model, rows, {"sample_weight": np.arange(1.0, 6.0)}, target),
    )
    assert plain.coef_ == pytest.approx(Ridge().fit(features[rows], 2.0 * target[rows]).coef_)
    assert other.coef_ == pytest.approx(
        Ridge().fit(features[rows], target[rows], sample_weight=[1.0, 3.0, 4.0]).coef_
    )
    assert not hasattr(model, "coef_")
