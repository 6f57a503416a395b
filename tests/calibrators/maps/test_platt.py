import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant import Platt
from calibrant.errors import InputError


def planted(slope, intercept, n, seed=0):
    rng = np.random.default_rng(seed)
    score = expit(rng.normal(0.0, 1.5, n))
    return score, (rng.random(n) < expit(slope * logit(score) + intercept)).astype(float)


def log_loss(p, correct):
    return float(-np.mean(correct * np.log(p) + (1 - correct) * np.log1p(-p)))


def test_gradient_is_zero_at_the_fit():
    score, correct = planted(0.4, 0.3, 500)
    m = Platt(smoothing=False).fit(score, correct)
    residual = m.predict(score) - correct
    assert abs(residual.sum()) < 1e-9
    assert abs(residual @ logit(score)) < 1e-8
    assert m.status_ == "converged"


def test_smoothed_targets_are_platts():
    score, correct = planted(1.0, 0.0, 60)
    m = Platt().fit(score, correct)
    right, wrong = correct.sum(), (1 - correct).sum()
    target = np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))
    residual = m.predict(score) - target
    assert abs(residual.sum()) < 1e-9
    assert abs(residual @ logit(score)) < 1e-8


@pytest.mark.parametrize("slope", [0.05, 0.5, 3.0, 20.0])
def test_planted_parameters_are_recovered(slope):
    score, correct = planted(slope, 0.2, 200_000)
    m = Platt().fit(score, correct)
    assert m.slope_ == pytest.approx(slope, rel=0.1)
    assert m.intercept_ == pytest.approx(0.2, abs=0.1)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e8])
def test_probability_scale_takes_scores_of_any_size(factor):
    rng = np.random.default_rng(0)
    score = rng.normal(size=400)
    correct = (rng.random(400) < expit(2 * score)).astype(float)
    plain = Platt(scale="probability").fit(score, correct)
    scaled = Platt(scale="probability").fit(score * factor, correct)
    np.testing.assert_allclose(scaled.predict(score * factor), plain.predict(score), rtol=1e-7)
    assert (np.argsort(scaled.predict(score * factor)) == np.argsort(score)).all()


def test_separable_data_stay_bounded_by_the_number_of_rows():
    score = np.linspace(0.01, 0.99, 20)
    for m in (Platt(), Platt(smoothing=False), Platt(scale="probability")):
        p = m.fit(score, score > 0.5).predict(score)
        assert p.min() > 1e-4
        assert p.max() < 1 - 1e-4
    assert Platt(smoothing=False).fit(score, score > 0.5).status_ == "separable"


def test_a_score_that_ranks_backwards_gets_the_base_rate():
    score, correct = planted(2.0, 0.0, 2000)
    m = Platt().fit(1 - score, correct)
    assert m.slope_ == 0.0
    np.testing.assert_allclose(m.predict([0.1, 0.9]), correct.mean(), atol=1e-3)


def test_one_constant_score_moves_only_the_level():
    m = Platt().fit([0.8] * 10, [1, 0] * 5)
    assert m.slope_ == 1.0
    assert m.predict([0.8])[0] == pytest.approx(0.5)
    assert m.predict([0.9])[0] == pytest.approx(expit(logit(0.9) - logit(0.8)))


def test_calibrated_input_is_left_alone():
    """The expected log loss rises by 2 parameters / 2 n = 5.0e-05 on average: the price of
    fitting what is already right.
    """
    change = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        s = expit(rng.normal(0.5, 2.0, 20_000))
        p = Platt().fit(s, rng.random(20_000) < s).predict(s)
        change.append(
            (s * (np.log(s) - np.log(p)) + (1 - s) * (np.log1p(-s) - np.log1p(-p))).mean()
        )
    assert np.min(change) >= 0
    assert np.mean(change) < 1e-4


def test_exact_zeros_and_ones_have_no_leverage():
    rng = np.random.default_rng(2)
    score = rng.binomial(10, rng.beta(0.5, 0.5, 3000)) / 10.0
    correct = (rng.random(3000) < 0.05 + 0.9 * score).astype(float)
    m = Platt().fit(score, correct)
    assert m.limits_ == pytest.approx((0.05, 0.05))
    assert log_loss(m.predict(score), correct) < log_loss(np.clip(score, 0.05, 0.95), correct)


def test_unknown_scale_is_refused():
    with pytest.raises(InputError, match="scale"):
        Platt(scale="log").fit([0.1, 0.2], [0, 1])
