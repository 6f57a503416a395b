"""Cumulative confidence by hand, and its optimal cutoff against trying every one."""

import numpy as np
import pytest

from calibrant.calibrators import CumulativeConfidence
from calibrant.errors import InputError


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    score = rng.random(200).round(2)
    return score, (rng.random(200) < score**2).astype(float)


def test_it_is_the_share_at_this_score_or_better(sample):
    score, correct = sample
    m = CumulativeConfidence(prior_weight=0.0).fit(score, correct)
    for s in (0.0, 0.3, 0.305, 0.9):
        assert m.predict([s])[0] == pytest.approx(correct[score >= s].mean())
    assert m.predict([2.0])[0] == m.predict([score.max()])[0]


def test_below_the_median_there_is_one_bin(sample):
    score, correct = sample
    m = CumulativeConfidence(cutoff="median", prior_weight=0.0).fit(score, correct)
    assert m.cutoff_ == np.quantile(score, 0.5, method="inverted_cdf")
    assert m.predict([0.0, m.cutoff_ - 1e-9]) == pytest.approx(
        [correct[score < m.cutoff_].mean()] * 2
    )
    assert m.predict([m.cutoff_])[0] == pytest.approx(correct[score >= m.cutoff_].mean())


@pytest.mark.parametrize("prior_weight", [0.0, 1.0])
def test_the_optimal_cutoff_is_the_best_of_all(sample, prior_weight):
    score, correct = sample
    weight = np.random.default_rng(1).integers(1, 3, len(score)).astype(float)
    m = CumulativeConfidence(cutoff="optimal", prior_weight=prior_weight).fit(
        score, correct, sample_weight=weight
    )
    prior = prior_weight * (weight @ correct + 0.5) / (weight.sum() + 1.0)

    def share(rows):
        return (weight[rows] @ correct[rows] + prior) / (weight[rows].sum() + prior_weight)

    def loss(p):
        with np.errstate(divide="ignore"):
            return -(weight @ np.where(correct == 1.0, np.log(p), np.log1p(-p)))

    cutoffs = np.unique(score)
    losses = [
        loss(np.array([share(score >= s) if s >= cutoff else share(score < cutoff) for s in score]))
        for cutoff in cutoffs
    ]
    best = int(np.argmin(losses))
    assert m.cutoff_ == (cutoffs[best] if best else -np.inf)
    assert loss(m.predict(score)) == pytest.approx(min(losses))


def test_low_scores_are_believed_too_much_without_a_cutoff(sample):
    """The paper's reason for the cutoff (figure 8)."""
    score, correct = sample
    low = score < 0.3
    plain, cut = (
        CumulativeConfidence(cutoff=c).fit(score, correct).predict(score[low]).mean()
        for c in (None, "optimal")
    )
    assert plain > correct[low].mean() + 0.15
    assert abs(cut - correct[low].mean()) < 0.12


def test_a_bad_cutoff_is_named(sample):
    with pytest.raises(InputError, match="cutoff"):
        CumulativeConfidence(cutoff=0.5).fit(*sample)
