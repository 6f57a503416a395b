"""The Hosmer-Lemeshow statistic by its formula, its degrees of freedom, and its bins."""

import warnings

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.errors import InputError, SparseDataWarning

hosmer_lemeshow = metrics.hosmer_lemeshow_test
RNG = np.random.default_rng(1)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)


def test_few_expected_hits_are_simulated_and_hold_their_size():
    """Events of .5 %: the chi-squared law alarms too often, the simulation as often as it says."""
    alarms = {"auto": 0, "chi-squared": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p = np.random.default_rng(99).beta(0.5, 100, 1000)
        y = (rng.random(1000) < p).astype(int)
        for method in alarms:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SparseDataWarning)
                alarms[method] += hosmer_lemeshow(y, p, method=method).p_value <= 0.05
    assert alarms["auto"] <= 0.05 * 200 + 3 * np.sqrt(200 * 0.05 * 0.95) < alarms["chi-squared"]


def test_what_cannot_be_simulated_warns():
    p = np.linspace(0.001, 0.1, 100)
    with pytest.warns(SparseDataWarning, match="expects 0.0.* hits or misses"):
        hosmer_lemeshow([0] * 99 + [1], p, fitted=True)
    with pytest.raises(InputError, match="method must be"):
        hosmer_lemeshow([0] * 99 + [1], p, fitted=True, method="simulated")


def test_by_hand():
    # Two bins of ten: 5 hits where 2 are expected, 7 where 8 are; variances 10 (.2)(.8) twice.
    y, p = [1] * 5 + [0] * 5 + [1] * 7 + [0] * 3, [0.2] * 10 + [0.8] * 10
    with pytest.warns(SparseDataWarning, match="needs about 5"):
        found = hosmer_lemeshow(y, p, n_bins=2, method="chi-squared")
    assert found.statistic == pytest.approx((9 + 1) / 1.6)
    assert found.p_value == pytest.approx(np.exp(-6.25 / 2))
    assert found.method == "chi-squared, 2 degrees of freedom"
    assert found.n == 20.0


@pytest.mark.parametrize("n_bins", [4, 10])
@pytest.mark.filterwarnings("ignore::calibrant.errors.SparseDataWarning")
def test_by_loops(n_bins):
    parts = np.array_split(np.argsort(P), n_bins)
    terms = [(Y[i].sum() - P[i].sum()) ** 2 / (P[i].sum() * (1 - P[i].mean())) for i in parts]
    found = hosmer_lemeshow(Y, P, n_bins=n_bins, method="chi-squared")
    assert found.statistic == pytest.approx(sum(terms))
    assert found.p_value == pytest.approx(stats.chi2.sf(sum(terms), n_bins))
    assert hosmer_lemeshow(Y, P, n_bins=n_bins, fitted=True).p_value == pytest.approx(
        stats.chi2.sf(sum(terms), n_bins - 2)
    )


def test_ties_are_not_split_and_cost_degrees_of_freedom():
    y, p = [0, 1, 1, 0] * 25, [0.4, 0.4, 0.4, 0.6] * 25
    assert hosmer_lemeshow(y, p).method == "chi-squared, 2 degrees of freedom"
    with pytest.raises(InputError, match="at least three bins; the scores allow 2"):
        hosmer_lemeshow(y, p, fitted=True)


def test_calibrated_is_let_pass_and_a_planted_shift_is_not():
    rng = np.random.default_rng(3)
    p = rng.uniform(0.1, 0.9, 1000)
    assert hosmer_lemeshow((rng.random(1000) < p).astype(int), p).p_value > 0.05
    assert hosmer_lemeshow((rng.random(1000) < p + 0.1).astype(int), p).p_value < 1e-4


def test_sure_scores():
    assert hosmer_lemeshow([1, 1], [0.0, 0.0]).statistic == np.inf
    assert hosmer_lemeshow([1, 1], [0.0, 0.0]).p_value == 0.0
    assert hosmer_lemeshow([0, 1], [0.0, 1.0]).p_value == 1.0
    assert hosmer_lemeshow([0, 1], [0.0, 1.0]).statistic == 0.0


def test_the_target_decides_whose_probability():
    Q = RNG.dirichlet(np.ones(3), 150)
    y = RNG.integers(0, 3, 150)
    assert hosmer_lemeshow(y, Q, target=2).statistic == pytest.approx(
        hosmer_lemeshow((y == 2).astype(int), Q[:, 2]).statistic
    )
    right = (Q.argmax(axis=1) == y).astype(int)
    assert hosmer_lemeshow(y, Q, target="answer").statistic == pytest.approx(
        hosmer_lemeshow(right, Q.max(axis=1)).statistic
    )
