"""Rows that a stated precision needs, and the smallest miscalibration that a sample would show."""

import numpy as np
import pytest
from scipy import special, stats

from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.planning import (
    auroc_rows,
    beta_law,
    class_laws,
    detectable_shift,
    normal_law,
    ratio_standard_error,
    true_rates,
)


@pytest.mark.parametrize(("a", "b"), [(0.05, 0.1), (0.5, 0.5), (2.0, 8.0), (400.0, 3000.0)])
def test_a_beta_law_has_the_moments_of_its_risks(a, b):
    odds, share = beta_law(a, b)
    risk, law = special.expit(odds), stats.beta(a, b)
    assert share.sum() == pytest.approx(1.0)
    assert share @ risk == pytest.approx(law.mean(), rel=1e-9)
    assert share @ risk**2 == pytest.approx(law.moment(2), rel=1e-9)


def test_a_normal_law_has_its_moments():
    odds, share = normal_law(-2.0, 3.0)
    assert (share @ odds, share @ (odds + 2.0) ** 2) == pytest.approx((-2.0, 9.0), rel=1e-12)


def test_two_classes_have_the_auroc_and_the_prevalence_that_were_asked_for():
    """Log-odds a standard deviation times root 2 of the quantile apart: the chance that an
    event's is above another's is the AUROC.
    """
    odds, share = class_laws(0.05, 0.85)
    half = len(odds) // 2
    gap = np.average(odds[half:], weights=share[half:]) - np.average(
        odds[:half], weights=share[:half]
    )
    deviation = np.sqrt(
        np.average(
            (odds[:half] - np.average(odds[:half], weights=share[:half])) ** 2, weights=share[:half]
        )
    )
    assert special.ndtr(gap / (np.sqrt(2.0) * deviation)) == pytest.approx(0.85, rel=1e-9)
    assert share @ special.expit(odds) == pytest.approx(0.05, rel=1e-9)


def test_the_width_of_a_ratios_interval_comes_back():
    for ratio, width in ((1.0, 0.2), (0.7, 1.5), (2.0, 0.01)):
        error = ratio_standard_error(ratio, width, 1.96)
        assert ratio * (np.exp(1.96 * error) - np.exp(-1.96 * error)) == pytest.approx(width)


def test_newcombes_formula_is_solved():
    n = auroc_rows(0.8, 0.018, 0.1 / 3.92)
    inner = 1 + (n / 2 - 1) * 0.2 / 1.2 + (n / 2 - 1) * 0.8 / 1.8
    assert 0.16 * inner / (n**2 * 0.018 * 0.982) == pytest.approx((0.1 / 3.92) ** 2)
    assert n == pytest.approx(4251.36, abs=0.01)


def test_rates_at_a_threshold_by_hand():
    odds, p = special.logit(np.array([0.1, 0.3, 0.6])), np.array([0.2, 0.3, 0.5])
    sensitivity, specificity = true_rates(odds, p, np.array([0.5, 0.25, 0.25]), 0.2)
    assert sensitivity == pytest.approx(0.2 / 0.3)
    assert specificity == pytest.approx(0.4 / 0.7)


# -- detectable ---------------------------------------------------------------------------------
# What a sample would have shown.


def test_of_one_risk_it_is_the_textbooks_two_binomials():
    """p = .5, n = 100: q solves 100 (q - .5) = 1.96 x 5 + 1.645 sqrt(100 q (1 - q))."""
    gap = detectable_shift(np.full(100, 0.5), np.ones(100))
    q = 0.5 + gap
    assert 100.0 * gap == pytest.approx(
        1.959964 * 5.0 + 1.644854 * np.sqrt(100.0 * q * (1.0 - q)), rel=1e-5
    )
    assert detectable_shift(np.full(10, 0.5), np.full(10, 10.0)) == pytest.approx(gap)


def test_few_rows_show_nothing_and_many_show_little():
    assert detectable_shift(np.full(4, 0.1), np.ones(4)) > 0.6
    assert detectable_shift(np.full(1, 0.5), np.ones(1)) == pytest.approx(0.5)
    assert detectable_shift(np.full(1_000_000, 0.1), np.ones(1_000_000)) < 0.002


@pytest.mark.parametrize("seed", [0, 1])
def test_so_large_an_offset_is_seen_in_19_of_20_samples(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, 1.0, 400)
    p, ones = sigmoid(z), np.ones(400)
    gap = detectable_shift(p, ones)
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (sigmoid(z + middle) - p).mean() < gap else (low, middle)
    drawn = (rng.random((2000, 400)) < sigmoid(z + high)).sum(axis=1)
    seen = np.abs(drawn - p.sum()) > 1.959964 * np.sqrt((p * (1.0 - p)).sum())
    assert seen.mean() >= 0.935
