import numpy as np
from scipy.special import expit

from calibrant import Isotonic
from calibrant.calibrators import CenteredIsotonic


def test_blocks_become_points_at_their_mean_score():
    m = CenteredIsotonic(smooth_ends=False).fit([0, 1, 1, 2, 3, 4], [0, 0, 1, 0, 1, 1])
    np.testing.assert_allclose(m.score_, [0, 4 / 3, 3.5])
    np.testing.assert_allclose(m.value_, [0, 1 / 3, 1])
    np.testing.assert_allclose(m.predict([2 / 3]), [1 / 6])


def test_weights_move_the_centre():
    m = CenteredIsotonic(smooth_ends=False).fit([1, 2], [1, 0], sample_weight=[3, 1])
    np.testing.assert_allclose(m.score_, [1.25])
    np.testing.assert_allclose(m.value_, [0.75])


def test_strictly_increasing_between_the_first_and_last_centre():
    rng = np.random.default_rng(0)
    score = rng.random(500)
    m = CenteredIsotonic().fit(score, rng.random(500) < score)
    inside = np.linspace(m.score_[0], m.score_[-1], 1000)
    assert (np.diff(m.predict(inside)) > 0).all()


def test_fewer_ties_and_less_error_than_isotonic_when_the_truth_is_smooth():
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(20):
        score = rng.normal(size=500)
        correct = rng.random(500) < expit(2 * score)
        errors.append(
            [
                np.mean((m.fit(score, correct).predict(score) - expit(2 * score)) ** 2)
                for m in (CenteredIsotonic(), Isotonic())
            ]
        )
    centred, plain = np.mean(errors, axis=0)
    assert centred < plain


def test_outputs_are_never_exactly_zero_or_one():
    m = CenteredIsotonic().fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert m.predict([0, 1]).tolist() == [0.25, 0.75]
