"""The kernel-density ratio: the rule for its bandwidth, its honest ends, and the cases where the
paper's rule is degenerate.
"""

import warnings

import numpy as np
import pytest

from calibrant._numerics.kernel_sums import direct_log_sums
from calibrant.calibrators import ClassRate, KernelDensity
from calibrant.errors import FitWarning, InputError, SparseDataWarning


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    score = rng.beta(5.0, 1.5, 1500)
    return score, (rng.random(1500) < score**1.5).astype(float)


def _direct(at, score, correct, m, prior):
    right, wrong = (
        np.exp(
            direct_log_sums(at, score[correct == k], np.ones((correct == k).sum()), m.bandwidth_)
        )
        for k in (1, 0)
    )
    return (right + prior * m.rate_) / (right + wrong + prior)


@pytest.mark.parametrize("bandwidth", ["b_mon", "b_mon2", "b_mon4", "b_opt", 0.01, 0.2])
def test_the_curve_is_the_direct_ratio_within_the_stated_bound(sample, bandwidth):
    score, correct = sample
    m = KernelDensity(bandwidth=bandwidth).fit(score, correct)
    at = np.random.default_rng(1).uniform(score.min(), score.max(), 500)
    error = np.abs(m.predict(at) - _direct(at, score, correct, m, 1.0)).max()
    assert 0.0 < error <= m.error_bound_ < 2e-3


def test_the_papers_curve_has_no_prior(sample):
    score, correct = sample
    m = KernelDensity(bandwidth=0.05, prior_weight=0.0).fit(score, correct)
    at = np.linspace(np.quantile(score, 0.02), score.max(), 200)
    assert m.predict(at) == pytest.approx(_direct(at, score, correct, m, 0.0), abs=1e-4)


def test_the_rules_allow_what_they_say(sample):
    fits = {
        rule: KernelDensity(bandwidth=rule).fit(*sample) for rule in ("b_mon", "b_mon2", "b_mon4")
    }
    assert fits["b_mon"].bandwidth_ >= fits["b_mon2"].bandwidth_ >= fits["b_mon4"].bandwidth_
    for rule, allowed in (("b_mon", 0), ("b_mon2", 2), ("b_mon4", 4)):
        assert fits[rule].sign_changes_ <= allowed
        assert fits[rule].search_[-1].tolist() == [fits[rule].bandwidth_, fits[rule].sign_changes_]
        assert (fits[rule].search_[:-1, 1] > allowed).all()
    assert (np.diff(fits["b_mon"].curve_) >= -1e-6).all()


def test_one_wrong_in_301_is_the_class_rate_with_a_warning():
    """The paper's rule read literally takes the smallest bandwidth here: one wrong prediction
    makes one spike, one local minimum.
    """
    rng = np.random.default_rng(2)
    for _ in range(20):
        score, correct = rng.beta(6.0, 1.0, 301), np.ones(301)
        correct[rng.integers(301)] = 0.0
        with pytest.warns(SparseDataWarning, match="300 right and 1 wrong"):
            m = KernelDensity().fit(score, correct)
        assert m.method_ == "class rate"
        assert m.predict([0.0, 0.5, 1.0]) == pytest.approx([300.5 / 302.0] * 3)
        assert np.array(m.interval([0.5])) == pytest.approx(
            np.array(ClassRate().fit(score, correct).interval([0.5])), abs=1e-12
        )


def test_few_wrong_predictions_do_not_make_spikes():
    """With 5 to 8 wrong in 300 the climb starts at a fraction of Silverman's rule, so a lone
    point cannot take the curve to 0.
    """
    rng = np.random.default_rng(4)
    for wrong in (5, 6, 8):
        score, correct = rng.beta(6.0, 1.0, 300), np.ones(300)
        correct[rng.choice(300, wrong, replace=False)] = 0.0
        m = KernelDensity().fit(score, correct)
        dense = m.grid_ > np.quantile(score, 0.1)
        assert m.curve_[dense].min() > 0.5


def test_scores_crowding_at_one_stay_finite():
    """Section 13.4: most scores at exactly 1, four right ones below 0.99 and eleven wrong."""
    rng = np.random.default_rng(5)
    score = np.concatenate([np.ones(980), rng.uniform(0.3, 0.99, 15)])
    correct = np.concatenate([np.ones(980), np.repeat([1.0, 0.0], [4, 11])])
    m = KernelDensity().fit(score, correct)
    p = m.predict(np.linspace(0, 1, 101))
    assert m.sign_changes_ <= 2
    assert p[-1] > 0.95
    assert 0.0 < p[60] < 0.6


def test_outside_the_scores_the_curve_stays_at_its_ends(sample):
    m = KernelDensity().fit(*sample)
    low, high = m.predict([sample[0].min(), sample[0].max()])
    assert m.predict([-1e9, -1.0, 2.0, 1e9]).tolist() == [low, low, high, high]


@pytest.mark.parametrize("prior_weight", [0.0, 1.0])
def test_far_gaps_between_scores_are_never_undefined(prior_weight):
    rng = np.random.default_rng(6)
    score = np.concatenate([rng.normal(0.0, 0.01, 50), rng.normal(100.0, 0.01, 50)])
    correct = np.repeat([0.0, 1.0], 50)
    correct[[0, 50]] = 1.0, 0.0
    correct[[1, 2, 3, 4, 51, 52, 53, 54]] = 1.0 - correct[[1, 2, 3, 4, 51, 52, 53, 54]]
    m = KernelDensity(bandwidth=0.2, prior_weight=prior_weight).fit(score, correct)
    middle = m.predict([10.0, 50.0, 90.0])
    assert np.isfinite(middle).all()
    if prior_weight:
        assert middle == pytest.approx([m.rate_] * 3)
    else:
        assert middle[0] < 0.2
        assert middle[2] > 0.8


def test_weights_are_repetition_in_the_bandwidth_too(sample):
    score, correct = sample
    weight = np.random.default_rng(7).integers(0, 4, len(score))
    for bandwidth in ("b_mon2", "b_opt"):
        weighted = KernelDensity(bandwidth=bandwidth).fit(score, correct, sample_weight=weight)
        repeated = KernelDensity(bandwidth=bandwidth).fit(
            np.repeat(score, weight), np.repeat(correct, weight)
        )
        assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-9)
        assert weighted.curve_ == pytest.approx(repeated.curve_, abs=1e-9)
        assert np.array(weighted.interval([0.7])) == pytest.approx(
            np.array(repeated.interval([0.7])), abs=1e-9
        )


def test_more_right_predictions_only_raise_it_at_a_fixed_bandwidth(sample):
    """The paper's HTJ story: a trove of samples of the class, predicted as the class, leaves the
    wrong ones as they were.
    """
    score, correct = sample
    trove = np.random.default_rng(8).beta(8.0, 2.0, 3000)
    trove = trove[(trove > score.min()) & (trove < score.max())]
    both = np.concatenate([score, trove]), np.concatenate([correct, np.ones(len(trove))])
    at = np.linspace(score.min(), score.max(), 300)
    old, new = (
        KernelDensity(bandwidth=0.05, prior_weight=0.0).fit(*d).predict(at) for d in (sample, both)
    )
    assert (new >= old - 1e-4).all()
    assert (new - old).max() > 0.1
    # Samples of the class that are predicted as another class do not enter this map at all; here
    # they would be wrong rows elsewhere.
    worse = np.concatenate([score, trove]), np.concatenate([correct, np.zeros(len(trove))])
    assert KernelDensity(bandwidth=0.05).fit(*worse).predict(at).mean() < old.mean()


def test_bands_cover_a_smooth_truth():
    rng = np.random.default_rng(9)
    at, hits = np.array([0.3, 0.5, 0.7]), []
    for _ in range(200):
        score = rng.random(1000)
        correct = (rng.random(1000) < 0.2 + 0.6 * score).astype(float)
        low, high = KernelDensity(bandwidth=0.05).fit(score, correct).interval(at, level=0.9)
        hits.append((low <= 0.2 + 0.6 * at) & (0.2 + 0.6 * at <= high))
    assert np.mean(hits) == pytest.approx(0.9, abs=0.04)


def test_groups_fitted_together_equal_each_alone(sample):
    score, correct = sample
    group = np.random.default_rng(10).integers(0, 3, len(score))
    together = KernelDensity().fit_groups(score, correct, np.ones(len(score)), group, 3)
    for g, m in enumerate(together):
        alone = KernelDensity().fit(score[group == g], correct[group == g])
        assert m.bandwidth_ == pytest.approx(alone.bandwidth_, rel=1e-12)
        assert m.curve_ == pytest.approx(alone.curve_, abs=1e-12)


def test_a_group_never_predicted_has_an_even_chance():
    with pytest.warns(SparseDataWarning, match="class 1 has 0 right and 0 wrong"):
        maps = KernelDensity().fit_groups(
            np.linspace(0, 1, 40),
            np.tile([0.0, 1.0], 20),
            np.ones(40),
            np.zeros(40, dtype=np.intp),
            2,
        )
    assert maps[1].predict([0.5]).tolist() == [0.5]


def test_reflection_lifts_the_sums_at_the_ends():
    score = np.linspace(0.0, 1.0, 1000)
    correct = (np.arange(1000) % 10 < 7).astype(float)
    plain, mirrored = (
        KernelDensity(bandwidth=0.1, boundary=b).fit(score, correct) for b in (None, "reflect")
    )
    assert mirrored.all_[0] == pytest.approx(2.0 * plain.all_[0], rel=0.01)
    assert mirrored.curve_[0] == pytest.approx(0.7, abs=0.02)


def test_a_bandwidth_below_the_grid_is_said(sample):
    with pytest.warns(FitWarning, match="finer than the grid"):
        m = KernelDensity(bandwidth=1e-9).fit(*sample)
    assert m.bandwidth_ == pytest.approx(2.0 * (m.grid_[1] - m.grid_[0]))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"bandwidth": "b_mon3"}, "bandwidth"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwidth": np.nan}, "bandwidth"),
        ({"boundary": "wrap"}, "boundary"),
        ({"prior_weight": -1.0}, "prior_weight"),
    ],
)
def test_bad_options_are_named(sample, options, what):
    with pytest.raises(InputError, match=what):
        KernelDensity(**options).fit(*sample)


def test_planted_curve_is_found():
    rng = np.random.default_rng(11)
    score = rng.uniform(0.2, 1.0, 20_000)
    truth = lambda s: 1.0 / (1.0 + np.exp(-8.0 * (s - 0.6)))  # noqa: E731
    correct = (rng.random(20_000) < truth(score)).astype(float)
    at = np.linspace(0.25, 0.95, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = KernelDensity().fit(score, correct)
    assert np.abs(m.predict(at) - truth(at)).max() < 0.05
