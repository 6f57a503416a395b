import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.errors import InputError
from calibrant.metrics import accuracy
from calibrant.monitoring.importance import ImportanceWeights


def moved(seed, by, n=2000, d=2):
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    new[:, 0] += by
    return old, new


def test_weights_of_two_normal_laws_are_their_ratio():
    old, new = moved(0, 1.0, n=4000)
    w = ImportanceWeights().fit(old, new)
    # The ratio of N(1, 1) and N(0, 1) is exp(x - 1/2).
    at = np.column_stack([np.array([-1.0, 0.0, 1.0]), np.zeros(3)])
    np.testing.assert_allclose(w(at), np.exp(at[:, 0] - 0.5), rtol=0.35)
    assert w.weights_.mean() == pytest.approx(1.0)
    # E w = 1 and E w^2 = e, so n / e effective rows.
    assert 0.6 < w.n_effective_ / (4000 / np.e) < 1.4
    assert w.doubts_ == []
    # A mean over new rows from old ones, by the weights.
    assert np.average(old[:, 0], weights=w.weights_) == pytest.approx(1.0, abs=0.15)


def test_without_a_change_all_weights_are_one():
    w = cb.ImportanceWeights().fit(*moved(1, 0.0, n=300))
    assert (w.weights_ == 1.0).all()
    assert (w.predict(np.zeros((3, 2))) == 1.0).all()
    assert w.n_effective_ == pytest.approx(300.0)


def test_given_weights_are_clipped_and_said_so():
    old, new = moved(2, 0.0, n=100)
    w = ImportanceWeights(lambda X: np.where(X[:, 0] > 1.0, 100.0, 1.0), clip=2.0).fit(old, new)
    high = (old[:, 0] > 1.0).mean()
    assert w.clipped_ == pytest.approx(1.0 - (1.0 + high) / (1.0 + 99.0 * high))
    np.testing.assert_allclose(w(old), w.weights_)
    assert any("clipping at 2" in doubt for doubt in w.doubts_)
    with pytest.raises(InputError, match="one finite weight for each of 100 rows"):
        ImportanceWeights(lambda X: -X[:, 0]).fit(old, new)
    with pytest.raises(InputError, match="clip must be"):
        ImportanceWeights(clip=0.5).fit(old, new)


def test_effective_size_by_hand():
    old = np.arange(40.0)[:, None]
    w = ImportanceWeights(lambda X: np.where(X[:, 0] < 20.0, 1.0, 3.0)).fit(old, old)
    # (20 + 60)^2 / (20 + 180) = 32.
    assert w.n_effective_ == pytest.approx(32.0)
    assert any("only 32 rows" in doubt for doubt in w.doubts_)


def test_a_new_region_is_named():
    old, new = moved(3, 0.0, n=400)
    new[:100, 1] = 9.0
    w = ImportanceWeights(model=LogisticRegression()).fit(old, new)
    assert w.outside_ >= 0.2
    assert any("unlike any old row" in doubt for doubt in w.doubts_)


def test_metrics_take_the_weights_as_sampling_weights():
    old, new = moved(4, 0.8, n=3000)
    rng = np.random.default_rng(5)
    p = 1.0 / (1.0 + np.exp(-old[:, 0]))
    y = (rng.random(3000) < p).astype(int)
    w = ImportanceWeights(model=LogisticRegression()).fit(old, new)
    found = accuracy.interval(y, p, sample_weight=w.weights_, weight_kind="sampling")
    q = 1.0 / (1.0 + np.exp(-new[:, 0]))
    assert found.low < np.mean(np.maximum(q, 1.0 - q)) < found.high


def test_separated_rows_have_bounded_weights():
    old, new = moved(6, 30.0, n=200)
    w = ImportanceWeights().fit(old, new)
    assert w(new).max() <= 500.0
    assert len(w.doubts_) >= 2


def test_many_columns_alone_raise_no_doubt():
    old, new = moved(7, 0.0, n=200, d=20)
    # Chance puts up to a fifth of such rows beyond some old column.
    beyond = ((new < old.min(axis=0)) | (new > old.max(axis=0))).any(axis=1).mean()
    assert beyond > 0.05
    assert ImportanceWeights(model=LogisticRegression(C=0.01)).fit(old, new).outside_ < 0.05
