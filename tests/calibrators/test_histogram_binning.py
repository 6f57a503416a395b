"""Histogram binning: known answers in both kinds of bins, empty bins, the prior."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError


def test_hand_worked_equal_width():
    score = [0.05, 0.15, 0.3, 0.45, 0.55, 0.9, 0.95, 1.0]
    correct = [0, 1, 0, 1, 1, 1, 0, 1]
    m = cb.calibrators.HistogramBinning(n_bins=2, prior_weight=0).fit(score, correct)
    assert m.edges_.tolist() == [0.0, 0.5, 1.0]
    assert m.value_.tolist() == [0.5, 0.75]
    assert m.predict([0.0, 0.4999, 0.5, 1.0]).tolist() == [0.5, 0.5, 0.75, 0.75]


def test_hand_worked_prior():
    m = cb.calibrators.HistogramBinning(n_bins=2, prior_weight=2.0).fit([0.1, 0.2, 0.8], [0, 1, 1])
    base = 2.5 / 4
    np.testing.assert_allclose(m.value_, [(1 + 2 * base) / 4, (1 + 2 * base) / 3], rtol=1e-15)


def test_the_prior_keeps_away_from_0_and_1():
    score = np.linspace(0, 1, 40)
    m = cb.calibrators.HistogramBinning().fit(score, score > 0.5)
    assert 0.0 < m.predict(score).min() < m.predict(score).max() < 1.0
    textbook = cb.calibrators.HistogramBinning(prior_weight=0).fit(score, score > 0.5)
    assert (textbook.predict(score).min(), textbook.predict(score).max()) == (0.0, 1.0)


def test_empty_bins_are_interpolated():
    m = cb.calibrators.HistogramBinning(n_bins=5, prior_weight=0).fit(
        [0.1, 0.1, 0.7, 0.7], [0, 1, 1, 1]
    )
    # Bins 0 and 3 hold data: 0.5 and 1; the bin above the last one repeats it.
    np.testing.assert_allclose(m.value_, [1 / 2, 2 / 3, 5 / 6, 1, 1], rtol=1e-15)


def test_equal_mass_bins_hold_equal_weight_and_split_no_ties():
    score = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    correct = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    m = cb.calibrators.HistogramBinning(n_bins=4, strategy="mass", prior_weight=0).fit(
        score, correct
    )
    # Middle of the mass: the three ties 1.5/8, 2 at 3.5/8, 3 at 4.5/8, 4 at 5.5/8, 5 at 6.5/8, 6 at
    # 7.5/8.
    np.testing.assert_allclose(
        m.predict([1, 2, 3, 4, 5, 6]), [1 / 3, 1, 0.5, 0.5, 1, 1], rtol=1e-15
    )
    assert m.edges_.tolist() == [1.0, 1.5, 2.5, 4.5, 6.0]
    assert m.predict([-100.0, 100.0]).tolist() == [m.value_[0], m.value_[-1]]


def test_equal_mass_bins_of_constant_scores_are_one_bin():
    m = cb.calibrators.HistogramBinning(strategy="mass").fit(np.full(10, 0.3), [0, 1] * 5)
    assert len(m.value_) == 1
    assert m.predict([0.3]).tolist() == [0.5]


def test_weights_move_equal_mass_edges():
    score = np.arange(4.0)
    plain = cb.calibrators.HistogramBinning(n_bins=2, strategy="mass").fit(score, [0, 1, 0, 1])
    heavy = cb.calibrators.HistogramBinning(n_bins=2, strategy="mass").fit(
        score, [0, 1, 0, 1], sample_weight=[9, 1, 1, 1]
    )
    assert plain.edges_[1] == 1.5
    assert heavy.edges_[1] == 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number of at least 1; got 0"),
        ({"n_bins": 2.5}, "n_bins must be a whole number of at least 1; got 2.5"),
        ({"strategy": "quantile"}, 'strategy must be "width" or "mass"; got \'quantile\''),
        ({"prior_weight": -1}, "prior_weight must be 0 or more; got -1"),
    ],
)
def test_parameters_that_cannot_work(parameters, message):
    with pytest.raises(InputError, match=message):
        cb.calibrators.HistogramBinning(**parameters).fit([0.1, 0.9], [0, 1])


def test_equal_width_bins_take_scores_between_0_and_1_only():
    with pytest.raises(InputError, match=r"score must be in \[0, 1\]; row 1 is 3.0"):
        cb.calibrators.HistogramBinning().fit([0.1, 3.0], [0, 1])
    assert cb.calibrators.HistogramBinning(strategy="mass").fit([0.1, 3.0], [0, 1]).predict(
        [3.0]
    ).shape == (1,)
