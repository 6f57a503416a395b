"""Rows that a stated precision needs, and the smallest miscalibration that a sample would show."""

import numpy as np
import pytest
from scipy import special, stats

from calibrant._numerics.intervals import squared_limits
from calibrant._numerics.planning import (
    auroc_rows,
    beta_law,
    class_laws,
    normal_law,
    ratio_standard_error,
    true_rates,
    typical_parts,
    typical_rows,
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


@pytest.mark.parametrize(("risk", "margin"), [(0.5, 0.02), (0.1, 0.02), (0.002, 0.002)])
def test_rows_of_a_typical_error_solve_their_own_equation(risk, margin):
    risks, ones = risk * np.linspace(0.999, 1.001, 2000), np.ones(2000)
    rows = typical_rows(risks, ones, margin)
    parts = typical_parts(rows)
    noise = np.full(parts, risk * (1.0 - risk) / rows)
    assert squared_limits(float(noise.sum()), noise)[1] == pytest.approx(margin, rel=1e-3)


def test_a_margin_that_no_sample_misses_needs_few_rows():
    risks, ones = np.linspace(0.1, 0.9, 100), np.ones(100)
    assert typical_rows(risks, ones, 0.3) < 30.0
    assert typical_rows(risks, ones, 0.01) > 3.0 * typical_rows(risks, ones, 0.02)
