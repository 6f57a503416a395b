"""The largest probability of the row."""

import numpy as np

import calibrant as cb


def test_it_is_the_largest_probability():
    P = np.random.default_rng(0).dirichlet(np.ones(5), 30)
    np.testing.assert_allclose(cb.calibrators.TopProbability().score(P), P.max(axis=1), rtol=1e-15)


def test_of_logits_it_is_that_of_their_softmax():
    P = np.random.default_rng(0).dirichlet(np.ones(5), 30)
    np.testing.assert_allclose(
        cb.calibrators.TopProbability(inputs="logit").score(np.log(P) + 7.0),
        P.max(axis=1),
        rtol=1e-12,
    )


def test_binary_predictions_below_a_half_are_confident_in_the_first_class():
    assert cb.calibrators.TopProbability().score([0.2, 0.5, 0.9]).tolist() == [0.8, 0.5, 0.9]


def test_fitting_learns_nothing_but_the_classes():
    signal = cb.calibrators.TopProbability(classes=["b", "a"]).fit([[0.9, 0.1]], ["b"])
    assert signal.classes_.tolist() == ["b", "a"]
