"""The levels of an audit where a statistic is met exactly, by numbers worked by hand.

Plain functions: ``tools/mutants/hand.py`` runs them on sources that are wrong on purpose.
"""

import math

import numpy as np

import calibrant as cb
from calibrant._numerics.step_down import share_adjusted, step_down


def test_step_down_by_hand():
    """Of three draws: one has a largest statistic of 3 or more; two have one of 1 or more in the
    test that is left.
    """
    adjusted, maxima = step_down(
        np.array([1.0, 3.0]), [np.array([[2.0, 0.0, 1.0], [1.0, 4.0, 2.0]])]
    )
    assert adjusted.tolist() == [0.75, 0.5]
    assert maxima.tolist() == [2.0, 4.0, 2.0]


def test_a_draw_as_large_as_what_was_observed_counts():
    assert step_down(np.array([2.0]), [np.array([[2.0, 1.0, 2.0 * (1.0 - 1e-12)]])])[
        0
    ].tolist() == [0.75]
    assert step_down(np.array([2.0]), [np.array([[2.0 * (1.0 - 1e-9)]])])[0].tolist() == [0.5]


def test_no_p_value_is_below_one_before_it_nor_below_one_over_the_draws():
    draws = np.array([[0.0, 0.0, 9.0], [0.0, 0.0, 0.0]])
    assert step_down(np.array([5.0, 4.0]), [draws])[0].tolist() == [0.5, 0.5]
    assert step_down(np.array([9.5]), [np.zeros((1, 19))])[0].tolist() == [0.05]
    assert step_down(np.array([9.5]), [])[0].tolist() == [1.0]
    assert step_down(np.array([2.0]), [np.full((1, 1), 3.0), np.zeros((1, 2))])[0].tolist() == [0.5]


def test_share_of_false_finds_by_hand():
    """Of 19 draws one reaches 3 with one statistic, and two reach 2, one of them with both.

    Step-down finds the first test from 2 / 20 on. With it found, the second is found from twice the
    share of 1 / 20 (itself), 1 / 2 / 20 (one statistic, beside one found) and 2 / 3 / 20 (two
    statistics) on.
    """
    draws = np.zeros((2, 19))
    draws[0, 0], draws[:, 1] = 3.5, 2.5
    observed = np.array([3.0, 2.0])
    assert step_down(observed, [draws])[0].tolist() == [0.1, 0.1]
    above = np.array([[1, *[0] * 18], [1, 2, *[0] * 17]])
    expected = 2.0 * (1.0 + 1.0 / 2.0 + 2.0 / 3.0) / 20.0
    np.testing.assert_allclose(share_adjusted(np.array([0.1, 0.5]), above), [0.1, expected])
    assert step_down(observed, [draws[:, :5], draws[:, 5:]], True)[0].tolist() == [0.1, 0.1]
    # Where step-down asks for less, that is what is asked for.
    np.testing.assert_allclose(share_adjusted(np.array([0.1, 0.2]), above), [0.1, 0.2])


def _outcomes(n, hits, **options):
    """Outcome of a group of n rows at one half with so many events, beside one that is too small
    to be tested.
    """
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
