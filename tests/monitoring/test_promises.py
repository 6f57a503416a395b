"""Tests of what a rule or calibrator promises on a new version: by hand, and by simulation."""

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring.promises import check_promise, read_rows


def classes(n, seed, bend=1.0):
    """(P, y) of two classes; the log-odds of P are those of y, times ``bend``."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.0, 2.0, n)
    p = 1.0 / (1.0 + np.exp(-odds))
    return 1.0 / (1.0 + np.exp(-bend * odds)), (rng.random(n) < p).astype(int)


def test_the_test_of_a_rule_is_the_binomial_one_by_hand():
    P, y = classes(2000, 0)
    rule = cb.SelectiveClassifier(0.1).fit(P, y)
    new, truth = classes(500, 3)
    (one,) = check_promise(rule, read_rows(rule, new, truth), 0.05)
    used = rule.accept(new)
    assert one.n == used.sum()
    assert one.errors == ((new > 0.5) != truth)[used].sum()
    assert one.answered == pytest.approx(used.mean())
    assert one.p_value == pytest.approx(binom.cdf(one.errors, one.n, 0.1))
    with pytest.raises(InputError, match="rule must be a fitted rule or calibrator"):
        check_promise(object(), None)


def test_a_broken_rule_is_rarely_said_to_hold():
    # A true risk of exactly the promised one: a certificate may be given in 5 % of tests.
    rng, said = np.random.default_rng(3), 0
    P, y = classes(2000, 0)
    rule = cb.SelectiveClassifier(0.1).fit(P, y)
    runs = 400
    for _ in range(runs):
        wrong = rng.random(200) < 0.1
        record = read_rows(rule, np.full(200, 0.999), np.where(wrong, 0, 1))
        said += check_promise(rule, record, 0.05)[0].state == "holds"
    assert said / runs <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / runs)


def test_a_calibrator_that_holds_is_rarely_said_to_be_broken():
    # Fitted where it is used: any gain of a re-fit is chance.
    rule, said, runs = cb.TemperatureScaling().fit(*classes(20_000, 0)), 0, 100
    for seed in range(runs):
        record = read_rows(rule, *classes(300, 1 + seed))
        said += check_promise(rule, record, 0.05)[0].state == "broken"
    assert said / runs <= 0.05


def test_a_refit_that_improves_every_row_alike_is_a_gain():
    # Every answer is right, and every row says 70 %: a re-fit lowers each loss by the same.
    y = np.tile([0, 1], 200)
    P = np.where(y == 1, 0.7, 0.3)
    (one,) = check_promise(None, read_rows(None, P, y), 0.05, cb.TemperatureScaling())
    assert one.state == "broken"
    assert 0.5 < one.gain_low <= one.gain <= one.gain_high <= 1.0 + 1e-9
