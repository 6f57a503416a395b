"""A signal, then a map."""

import numpy as np
import pytest
from sklearn.base import clone

import calibrant as cb
from calibrant.core.calibrator import SignalTags
from calibrant.core.map import Signal
from calibrant.errors import InputError


def drawn(n=200, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(n_classes), n)
    return P, (P.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


class Margin(Signal):
    """A signal of another file: the gap between the two largest logits, any real number."""

    tags = SignalTags(domain="real")

    def __init__(self, *, inputs="probability", classes=None):
        self.inputs, self.classes = inputs, classes

    def _score(self, record):
        top = np.sort(record.log_probabilities, axis=1)
        return top[:, -1] - top[:, -2]


def test_it_is_the_map_of_the_signal():
    P, y = drawn()
    cal = cb.ConfidenceCalibrator(map=cb.Isotonic()).fit(P, y)
    alone = cb.Isotonic().fit(P.max(axis=1), P.argmax(axis=1) == y)
    np.testing.assert_allclose(cal.predict_confidence(P), alone.predict(P.max(axis=1)), rtol=1e-12)


def test_the_rest_is_shared_in_proportion():
    P, y = drawn()
    Q = cb.ConfidenceCalibrator().fit(P, y).predict_proba(P)
    top = P.argmax(axis=1)
    rest = np.ones(P.shape, bool)
    rest[np.arange(len(P)), top] = False
    np.testing.assert_allclose((Q / P)[rest].reshape(len(P), 2).std(axis=1), 0.0, atol=1e-9)


def test_the_rest_of_a_certain_row_is_shared_equally():
    P, y = drawn()
    cal = cb.ConfidenceCalibrator().fit(P, y)
    Q = cal.predict_proba([[0.0, 1.0, 0.0]])
    assert Q[0, 0] == Q[0, 2] > 0


def test_confidence_is_of_the_models_own_label_even_when_another_becomes_likelier():
    P = np.array([[0.6, 0.4]] * 50 + [[0.9, 0.1]] * 50)
    y = np.array([1] * 40 + [0] * 60)
    cal = cb.ConfidenceCalibrator(
        map=cb.calibrators.HistogramBinning(prior_weight=0), per_class=False
    ).fit(P, y)
    np.testing.assert_allclose(cal.predict_confidence([[0.6, 0.4]]), 0.2)
    assert cal.predict([[0.6, 0.4]]).tolist() == [1]


def test_parts_are_cloned_and_their_status_is_kept():
    P, y = drawn()
    signal, map_ = cb.calibrators.TopProbability(), cb.calibrators.HistogramBinning()
    cal = cb.ConfidenceCalibrator(signal=signal, map=map_).fit(P, y)
    assert not hasattr(map_, "value_")
    assert cal.map_ is not map_
    assert cal.status_ == cal.map_.status_
    assert clone(cal).get_params()["map__n_bins"] == 15


def test_a_real_signal_needs_a_map_of_real_scores():
    P, y = drawn()
    assert cb.ConfidenceCalibrator(signal=Margin(), map=cb.Isotonic()).fit(P, y).predict_confidence(
        P
    ).shape == (200,)
    with pytest.raises(
        InputError,
        match=r"HistogramBinning needs scores in \[0, 1\] but Margin returns any real score",
    ):
        cb.ConfidenceCalibrator(signal=Margin(), map=cb.calibrators.HistogramBinning()).fit(P, y)
