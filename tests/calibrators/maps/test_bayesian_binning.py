import numpy as np
from scipy.special import gamma

from calibrant.calibrators import BayesianBinning


def test_evidence_and_values_by_the_papers_formula():
    """Forty rows: binnings of 1 to 8 equal-mass bins, written out with gamma functions."""
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(40))
    correct = (rng.random(40) < score).astype(float)
    evidence, value = [], []
    for n_bins in range(1, 9):
        part = ((np.arange(40) + 0.5) / 40 * n_bins).astype(int)
        total, own = 1.0, np.empty(40)
        for b in range(n_bins):
            rows = part == b
            share, middle = 2 / n_bins, (score[rows][0] + score[rows][-1]) / 2
            a, d, right, count = (
                share * middle,
                share * (1 - middle),
                correct[rows].sum(),
                rows.sum(),
            )
            total *= (
                gamma(share)
                / gamma(count + share)
                * gamma(right + a)
                / gamma(a)
                * gamma(count - right + d)
                / gamma(d)
            )
            own[rows] = (right + a) / (count + share)
        evidence.append(total)
        value.append(own)
    weight = np.array(evidence) / np.sum(evidence)
    m = BayesianBinning().fit(score, correct)
    np.testing.assert_allclose(m.model_weight_, weight, rtol=1e-10)
    np.testing.assert_allclose(m.predict(score), weight @ np.array(value), rtol=1e-10)


def test_range_of_bins():
    score = np.linspace(0.001, 0.999, 8000)
    m = BayesianBinning().fit(score, np.random.default_rng(0).random(8000) < score)
    assert (m.n_bins_.min(), m.n_bins_.max()) == (2, 200)
    assert BayesianBinning(max_bins=3).fit(score, score > 0.5).n_bins_.tolist() == [2, 3]


def test_ties_give_each_binning_once():
    m = BayesianBinning().fit(np.repeat([0.2, 0.8], 50), np.repeat([0, 1], 50))
    assert m.n_bins_.tolist() == [1, 2]


def test_a_score_at_the_lowest_edge_is_in_the_first_bin():
    m = BayesianBinning().fit(np.repeat([0.0, 0.5, 1.0], 40), np.repeat([0, 0, 1], 40))
    p = m.predict([0.0, 1.0])
    assert p[0] < 0.05
    assert p[1] > 0.95
    assert ((p > 0) & (p < 1)).all()


def test_never_above_one_by_rounding():
    rng = np.random.default_rng(3)
    score = rng.random(500)
    p = BayesianBinning().fit(score, np.ones(500)).predict(score)
    assert p.max() <= 1.0
