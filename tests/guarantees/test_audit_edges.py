"""The levels of an audit where a statistic is met exactly, by numbers worked by hand.

Plain functions: ``tools/mutants/hand.py`` runs them on sources that are wrong on purpose.
"""

import math

import numpy as np
from scipy import sparse

import calibrant as cb
from calibrant._kernels.group_bets import SHIFTS, STAKES, by_adjusted, e_adjusted, log_bets
from calibrant._kernels.step_down import step_down


def test_step_down_by_hand():
    """Of three draws: one has a largest statistic of 3 or more; two have one of 1 or more in the test that is left."""
    adjusted, maxima = step_down(np.array([1.0, 3.0]), [np.array([[2.0, 0.0, 1.0], [1.0, 4.0, 2.0]])])
    assert adjusted.tolist() == [0.75, 0.5]
    assert maxima.tolist() == [2.0, 4.0, 2.0]


def test_a_draw_as_large_as_what_was_observed_counts():
    assert step_down(np.array([2.0]), [np.array([[2.0, 1.0, 2.0 * (1.0 - 1e-12)]])])[0].tolist() == [0.75]
    assert step_down(np.array([2.0]), [np.array([[2.0 * (1.0 - 1e-9)]])])[0].tolist() == [0.5]


def test_no_p_value_is_below_one_before_it_nor_below_one_over_the_draws():
    draws = np.array([[0.0, 0.0, 9.0], [0.0, 0.0, 0.0]])
    assert step_down(np.array([5.0, 4.0]), [draws])[0].tolist() == [0.5, 0.5]
    assert step_down(np.array([9.5]), [np.zeros((1, 19))])[0].tolist() == [0.05]
    assert step_down(np.array([9.5]), [])[0].tolist() == [1.0]
    assert step_down(np.array([2.0]), [np.full((1, 1), 3.0), np.zeros((1, 2))])[0].tolist() == [0.5]


def test_e_values_adjusted_by_hand():
    """m / (k e): 2 / 40 and 2 / (2 x 10); a later one that is smaller helps those before it; none is above 1."""
    np.testing.assert_allclose(e_adjusted(np.log([40.0, 10.0])), [0.05, 0.1])
    np.testing.assert_allclose(e_adjusted(np.log([39.0, 40.0])), [1.0 / 39.0, 1.0 / 39.0])
    np.testing.assert_allclose(e_adjusted(np.log([0.5, 50.0, 2.0])), [1.0, 0.06, 0.75])


def test_p_values_adjusted_by_hand():
    """Two-sided; Benjamini and Yekutieli's factor of two tests is 1 + 1/2."""
    np.testing.assert_allclose(by_adjusted(np.array([2.5758293035489004, 2.0537489106318225]), None), [0.03, 0.06])
    np.testing.assert_allclose(by_adjusted(np.array([0.0]), None), [1.0])
    # Student's with one degree of freedom: P(|t| >= 1) = 1/2.
    np.testing.assert_allclose(by_adjusted(np.array([1.0]), 1.0), [0.5])


def test_bets_are_worth_one_on_average():
    """Over all outcomes of three rows, at their own probabilities, or at others of the same mean where the stakes are on errors."""
    everyone = sparse.csr_array(np.ones((1, 3)))
    for said, true, of_rows in (((0.2, 0.5, 0.7), (0.2, 0.5, 0.7), True), ((0.4, 0.4, 0.4), (0.4, 0.4, 0.4), False)):
        mean = 0.0
        for outcome in np.ndindex(2, 2, 2):
            y = np.array(outcome, dtype=float)
            probability = np.prod(np.where(y == 1.0, true, 1.0 - np.array(true)))
            mean += probability * math.exp(float(log_bets(everyone, np.array(said), y, 1.0 - y, of_rows)[0]))
        assert math.isclose(mean, 1.0, rel_tol=1e-12)


def test_bets_written_out():
    """A hit at .2 and two misses at .5; each row multiplies what is staked on a shift, or on an error."""
    member, p = sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]])), np.array([0.2, 0.5])
    hits, misses = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    found = np.exp(log_bets(member, p, hits, misses, True))
    grown = [np.exp(s) / (1.0 + 0.2 * np.expm1(s)) for s in SHIFTS], [1.0 / (1.0 + 0.5 * np.expm1(s)) ** 2 for s in SHIFTS]
    np.testing.assert_allclose(found, [np.mean(np.multiply(*grown)), np.mean(grown[1])])
    found = np.exp(log_bets(member, p, hits, misses, False))
    grown = [1.0 + 0.8 * s for s in STAKES], [(1.0 - 0.5 * s) ** 2 for s in STAKES]
    np.testing.assert_allclose(found, [np.mean(np.multiply(*grown)), np.mean(grown[1])])
    assert np.abs(STAKES).max() < 1.0


def _outcomes(n, hits, **options):
    """Outcome of a group of n rows at one half with so many events, beside one that is too small to be tested."""
    y = np.concatenate([np.arange(n) < hits, [0, 1]]).astype(int)
    found = cb.audit(y, np.full(n + 2, 0.5), ["a"] * n + ["b"] * 2, n_draws=200, **options)
    return {one.name: one for one in found.groups}["a"]


def test_a_group_is_tested_from_a_variance_of_five_on():
    """n / 4 at one half."""
    assert _outcomes(20, 10).p_value is not None
    assert _outcomes(19, 10).p_value is None


def test_the_weak_null_takes_thirty_of_either_kind():
    assert _outcomes(60, 30, null="weak").p_value is not None
    assert _outcomes(61, 30, null="weak").p_value is not None
    assert _outcomes(61, 32, null="weak").p_value is None
    assert _outcomes(61, 29, null="weak").p_value is None


def test_an_event_that_was_said_to_be_impossible_is_found_whatever_the_numbers():
    y = np.concatenate([[1], np.zeros(9), [0, 1]]).astype(int)
    p = np.concatenate([np.zeros(10), [0.5, 0.5]])
    row = {one.name: one for one in cb.audit(y, p, ["a"] * 10 + ["b"] * 2, n_draws=99).groups}["a"]
    assert row.p_value == 0.01
    assert row.outcome == "off"


def test_the_p_value_counts_what_was_observed_among_the_draws():
    """Nothing drawn of 99 is as far off as all of 40 events: one of 100."""
    assert math.isclose(_outcomes(40, 40).p_value, 1.0 / 201.0)
    assert _outcomes(40, 20).p_value == 1.0
