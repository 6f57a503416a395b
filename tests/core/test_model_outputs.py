import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant.core.model_outputs import (
    fit_model,
    is_fitted,
    kind_of_output,
    model_output,
    with_weight,
)
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), np.arange(60) % 3


class Fixed:
    """A model that only predicts, its columns not in sorted order."""

    classes_ = np.array(["b", "a"])

    def predict_proba(self, X):
        return np.tile([0.7, 0.3], (len(X), 1))


def test_who_is_fitted():
    assert not is_fitted(GaussianNB())
    assert is_fitted(GaussianNB().fit(X, Y))
    assert is_fitted(FrozenEstimator(GaussianNB()))
    assert is_fitted(Fixed())
    assert not is_fitted(make_pipeline(StandardScaler(), GaussianNB()))


def test_kind_of_output_is_what_is_wanted_or_what_there_is():
    assert kind_of_output(LogisticRegression(), "logit") == "logit"
    assert kind_of_output(LogisticRegression(), "probability") == "probability"
    assert kind_of_output(Perceptron(), "probability") == "logit"
    assert kind_of_output(GaussianNB(), "logit") == "probability"

    class Neither:
        pass

    with pytest.raises(InputError, match="Neither"):
        kind_of_output(Neither(), "probability")


def test_columns_come_in_the_order_of_all_classes():
    out = model_output(Fixed(), X[:2], "probability", np.array(["a", "b"]), None)
    np.testing.assert_array_equal(out, [[0.3, 0.7]] * 2)


def test_a_class_the_model_never_saw_keeps_its_prior_on_both_scales():
    prior = np.array([0.5, 0.25, 0.25])
    classes = np.array(["a", "b", "c"])
    P = model_output(Fixed(), X[:2], "probability", classes, prior)
    np.testing.assert_allclose(P, [[0.3 * 0.75, 0.7 * 0.75, 0.25]] * 2)
    model = LogisticRegression().fit(X[Y < 2], Y[Y < 2])
    L = model_output(model, X, "logit", np.arange(3), prior)
    np.testing.assert_allclose(np.exp(L).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(L[:, 2]), 0.25)
    np.testing.assert_allclose(np.exp(L[:, :2]), 0.75 * model.predict_proba(X), rtol=1e-9)


def test_one_class_left_is_the_model_that_always_says_it():
    model = fit_model(GaussianNB(), X[:5], np.ones(5), {})
    np.testing.assert_array_equal(model.predict_proba(X[:3]), np.ones((3, 1)))


def test_weights_go_where_the_model_takes_them():
    assert list(with_weight(GaussianNB(), {"a": 1}, [1.0])) == ["a", "sample_weight"]
    assert list(with_weight(make_pipeline(StandardScaler(), GaussianNB()), {}, [1.0])) == [
        "gaussiannb__sample_weight"
    ]
    assert with_weight(NearestCentroid(), {}, None) == {}
