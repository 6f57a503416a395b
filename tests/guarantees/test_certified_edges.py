"""Certified thresholds where a proof just holds, by fractions: at a risk of one half every binomial
tail is a whole number of 2^-n.

Plain functions: ``tools/mutants/hand.py`` runs them on sources that are wrong on purpose.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

import calibrant as cb
from calibrant._numerics.certificates import (
    STAKES,
    Blocks,
    allowed_errors,
    betting_p_values,
    binomial_p_value,
    certified_place,
    fewest_rows,
    fixed_sequence,
    hoeffding_bentkus,
    ladder,
    rows_for_rate,
    share_count,
    simultaneous_limits,
    upper_bound,
)
from calibrant._numerics.intervals import clopper_pearson, unseen_share
from calibrant.errors import InputError


def refused(call):
    """The error's sentence, or None."""
    try:
        call()
    except InputError as error:
        return str(error)
    return None


def tail(errors, n):
    """P(Bin(n, 1/2) <= errors)."""
    return Fraction(sum(math.comb(n, k) for k in range(errors + 1)), 2**n)


def test_binomial_tails_are_exact():
    for n in range(1, 12):
        for errors in range(n + 1):
            assert math.isclose(
                float(binomial_p_value(errors, n, 0.5)), tail(errors, n), rel_tol=1e-13
            )
    assert math.isclose(float(binomial_p_value(0, 3, 0.1)), 0.729)
    assert math.isclose(float(binomial_p_value(1, 3, 0.1)), 0.972)


def test_the_fewest_rows_at_equality():
    assert [fewest_rows(0.5, delta) for delta in (0.5, 0.25, 0.125, 0.126, 0.124)] == [
        1,
        2,
        3,
        3,
        4,
    ]
    assert [fewest_rows(0.05, 0.05), fewest_rows(0.1, 0.1), fewest_rows(0.5, 0.9)] == [59, 22, 1]


def test_the_most_errors_at_equality():
    """A proof holds where the tail is delta itself, and for one error more it does not."""
    for n in range(1, 12):
        for errors in range(n):
            delta = float(tail(errors, n))
            assert allowed_errors(n, 0.5, delta * (1.0 + 1e-12)) == errors
            assert allowed_errors(n, 0.5, delta * (1.0 - 1e-9)) == errors - 1
    assert [allowed_errors(n, 0.5, 0.25) for n in (1, 2, 3)] == [-1, 0, 0]
    assert [allowed_errors(n, 0.05, 0.05) for n in (58, 59, 92, 93, 123, 124)] == [
        -1,
        0,
        0,
        1,
        1,
        2,
    ]


def test_the_rows_that_a_rate_takes():
    assert [rows_for_rate(0.0, 0.5, delta) for delta in (0.25, 0.24)] == [2.0, 3.0]
    # One of four errs: two rows have none, with a tail of 1/4; seven have one, ten two.
    assert [rows_for_rate(0.25, 0.5, float(tail(e, n))) for e, n in ((0, 2), (1, 7), (2, 10))] == [
        2.0,
        7.0,
        10.0,
    ]
    assert rows_for_rate(0.5, 0.5, 0.1) == math.inf


def test_exact_limits_of_a_rate():
    low, high = clopper_pearson(np.array([0.0, 2.0, 1.0]), np.array([2.0, 2.0, 2.0]), 0.5)
    # Tails of a quarter: (1 - h)^2, l^2; and of one of two 1 - (1 - l)^2 and 1 - h^2.
    np.testing.assert_allclose(low, [0.0, 0.5, 1.0 - math.sqrt(0.75)])
    np.testing.assert_allclose(high, [0.5, 1.0, math.sqrt(0.75)])
    np.testing.assert_array_equal(clopper_pearson(0.0, 0.0), (0.0, 1.0))
    assert math.isclose(unseen_share(59, 0.9), 1.0 - 0.05 ** (1.0 / 59.0))


def _blocks(loss):
    return Blocks.of(
        -np.arange(float(len(loss))), np.asarray(loss, dtype=float), np.ones(len(loss))
    )


def _sequences(loss, starts):
    """The last row up to which every number of rows from its start on is proved, and at what
    share; each start that is reached without a failure adds its own.
    """
    last, level, carried = -1, sum(share for _, share in starts), Fraction(0)
    ends = [first for first, _ in starts[1:]] + [len(loss) + 1]
    for (first, share), end in zip(starts, ends, strict=True):
        carried += share
        for n in range(first, end):
            if tail(sum(loss[:n]), n) > carried:
                carried = Fraction(0)
                break
            last, level = n - 1, carried
    return last, float(level)


def test_sequences_from_several_starts_by_fractions():
    """Every pattern of losses of nine rows, at shares that tails meet exactly."""
    quarter, eighth = Fraction(1, 4), Fraction(1, 8)
    for starts in (
        [(2, quarter)],
        [(3, eighth)],
        [(2, quarter), (3, eighth)],
        [(3, eighth), (5, Fraction(1, 16)), (7, Fraction(1, 16))],
        [(2, quarter), (2, eighth), (6, eighth)],
    ):
        for loss in itertools.product((0, 1), repeat=9):
            found = certified_place(
                _blocks(loss), 0.5, [(float(n), float(share)) for n, share in starts], "binomial"
            )
            assert found == _sequences(loss, starts), (starts, loss)


def test_a_sequence_ends_at_its_first_failure():
    """One error among six would pass again, but the sequence ended at the third row; a later start
    goes on with its own share.
    """
    blocks = _blocks([0, 0, 1, 0, 0, 0])
    assert tail(1, 6) <= Fraction(1, 4)
    assert certified_place(blocks, 0.5, [(2.0, 0.25)], "binomial") == (1, 0.25)
    assert certified_place(blocks, 0.5, [(7.0, 0.25)], "binomial") == (-1, 0.25)
    assert certified_place(_blocks([0] * 6), 0.5, [(6.0, 0.25)], "binomial") == (5, 0.25)
    assert certified_place(blocks, 0.5, [(2.0, 0.25), (6.0, 0.125)], "binomial") == (5, 0.125)
    # Seven rows with one error are 8/128.
    loss = [0, 0, 1, 0, 0, 0, 0]
    assert certified_place(_blocks(loss), 0.5, [(2.0, 0.5), (7.0, 1 / 16)], "binomial") == (
        6,
        0.5625,
    )
    assert certified_place(_blocks(loss), 0.5, [(3.0, 0.25), (7.0, 1 / 16)], "binomial") == (
        6,
        1 / 16,
    )
    assert certified_place(_blocks(loss), 0.5, [(3.0, 0.25), (7.0, 0.06)], "binomial") == (-1, 0.31)


def test_ties_are_one_block_and_accepted_together():
    blocks = Blocks.of(
        np.array([0.5, 0.9, 0.5, 0.7]),
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.array([1.0, 2.0, 1.0, 1.0]),
    )
    assert (blocks.score.tolist(), blocks.covered.tolist(), blocks.total_loss.tolist()) == (
        [0.9, 0.7, 0.5],
        [2.0, 3.0, 5.0],
        [0.0, 0.0, 1.0],
    )
    assert blocks.binary
    assert blocks.n == 5.0
    assert certified_place(blocks, 0.5, [(3.0, 0.125)], "binomial") == (1, 0.125)
    assert certified_place(blocks, 0.5, [(3.0, 0.25)], "binomial") == (2, 0.25)


def test_where_the_sequences_begin():
    """At a risk of one half and a share of 1/4 two rows prove it, and the first start is at 1.5
    times that, three rows, which allow no more errors than two.

    Two starts have the parts 1 and .95. The first has .128, which three rows prove (1/8): it is at
    4.5 rows, and four rows allow no error (5/16) as three do not. The second has .122, which four
    rows prove: it is at 1.5 2^(1/4) 4 = 7.13, and seven rows allow one error (8/128) as six do
    (7/64) and five do not (6/32).
    """
    assert ladder(2.0, 0.5, 0.25) == ladder(7.0, 0.5, 0.25) == [(2.0, 0.25)]
    assert ladder(1.0, 0.5, 0.25) == [(2.0, 0.25)]
    assert ladder(8.0, 0.5, 0.25) == [(3.0, 0.25 / 1.95), (6.0, 0.25 * 0.95 / 1.95)]
    assert [count for count, _ in ladder(8.0, 0.5, 0.25, False)] == [4.0, 7.0]
    # The first has no less than .3, whatever the number of the others.
    assert math.isclose(ladder(1e6, 0.5, 0.25)[0][1], 0.3 * 0.25)
    # Five of five have probability 1/32 at a share of one half, four or five 6/32.
    assert [
        share_count(5.0, delta, 0.5) for delta in (1 / 32 + 1e-12, 6 / 32 + 1e-12, 16 / 32 + 1e-12)
    ] == [5, 4, 3]
    assert share_count(5.0, 1 / 32 - 1e-9, 0.5) == 6


def test_the_bound_of_one_threshold_is_one_sided():
    """No error among two at a quarter: (1 - r)^2 = 1/4."""
    assert math.isclose(upper_bound(_blocks([0, 0]), 1, 0.25, "binomial"), 0.5)
    some = Blocks.of(-np.arange(2.0), np.zeros(2), np.ones(2), bets=True)
    assert math.isclose(upper_bound(some, 1, 0.25, "hoeffding_bentkus"), 0.5, abs_tol=1e-9)


def test_a_fixed_sequence_of_settings():
    assert fixed_sequence(np.array([0.05, 0.05, 0.0500001, 0.01]), 0.05).tolist() == [0, 1]
    assert fixed_sequence(np.array([0.06, 0.01, 0.05, 0.05]), 0.1, 2).tolist() == [2, 3]
    assert fixed_sequence(np.array([0.04, 0.05, 0.05, 0.06, 0.01]), 0.1, 2).tolist() == [0, 1, 2]
    assert fixed_sequence(np.array([0.0500001]), 0.05).tolist() == []


def test_certified_settings_at_equality():
    """Two rows without a loss prove a risk of one half at 75 %; one row does not, and a third
    with a loss undoes it.
    """
    found = cb.decisions.certified_settings(np.array([[0.0, 0.0], [0.0, np.nan]]), 0.5, 0.75)
    assert (found.settings.tolist(), found.p_values.tolist(), found.n.tolist()) == (
        [0],
        [0.25, 0.5],
        [[2.0, 1.0]],
    )
    assert (
        cb.decisions.certified_settings(
            np.array([[0.0], [0.0], [1.0]]), 0.5, 0.75
        ).settings.tolist()
        == []
    )
    # A second risk that only just fails decides for both; a setting that no row speaks of is never
    # certified.
    both = cb.decisions.certified_settings([np.zeros((2, 1)), np.array([[0.0], [1.0]])], 0.5, 0.75)
    assert (both.settings.tolist(), both.p_values.tolist(), both.losses.tolist()) == (
        [],
        [0.75],
        [[0.0], [0.5]],
    )
    nothing = cb.decisions.certified_settings(np.full((2, 1), np.nan), 0.5, 0.75)
    assert (nothing.settings.tolist(), nothing.p_values.tolist()) == ([], [1.0])
    twice = cb.decisions.certified_settings(np.zeros((1, 1)), 0.5, 0.75, sample_weight=[2])
    assert (twice.settings.tolist(), twice.n.tolist()) == ([0], [[2.0]])
    shared = cb.decisions.certified_settings(np.zeros((2, 2)), 0.5, 0.75, n_starts=2)
    assert shared.settings.tolist() == []


def test_hoeffding_and_bentkus_by_hand():
    """No loss among n: (1 - risk)^n. At the risk itself nothing is proved. 4 of 200 at 5 %: e
    times the binomial tail.
    """
    assert math.isclose(float(hoeffding_bentkus(0.0, 10, 0.5)), 0.5**10)
    assert float(hoeffding_bentkus(5.0, 10, 0.5)) == 1.0
    assert math.isclose(
        float(hoeffding_bentkus(4.0, 200, 0.05)), math.e * float(binomial_p_value(4, 200, 0.05))
    )
    assert math.isclose(
        float(hoeffding_bentkus(3.9, 200, 0.05)), math.e * float(binomial_p_value(4, 200, 0.05))
    )
    kl = 0.1 * math.log(0.1 / 0.5) + 0.9 * math.log(0.9 / 0.5)
    assert math.isclose(
        float(hoeffding_bentkus(1.0, 10, 0.5)), min(math.exp(-10.0 * kl), math.e * 11 / 1024)
    )


def test_the_capital_of_bets_by_hand():
    """A mean over stakes of the product of 1 + stake (risk - loss): half on one stake, the rest
    evenly on that and higher ones.
    """
    loss, risk, delta = np.array([0.0, 0.5, 0.0, 0.25, 0.0, 0.0]), 0.4, 0.1
    low, high = 0.0, risk
    for _ in range(60):
        middle = 0.5 * (low + high)
        kl = middle * math.log(middle / risk) + (1 - middle) * math.log((1 - middle) / (1 - risk))
        low, high = (middle, high) if 6 * kl >= -math.log(delta) else (low, middle)
    first = min(int(np.sum((risk - low) / risk > STAKES)), len(STAKES) - 1)
    money = np.array(
        [np.prod(1.0 + share / (1.0 - risk) * (risk - loss)) for share in STAKES[first:]]
    )
    capital = 0.5 * money.mean() + 0.5 * money[0]
    found = betting_p_values(loss, np.ones(6), np.array([6]), risk, delta)
    assert math.isclose(float(found[0]), 1.0 / capital, rel_tol=1e-9)
    assert float(betting_p_values(np.ones(6), np.ones(6), np.array([6]), risk, delta)[0]) == 1.0


def test_the_stakes_of_bets_are_below_what_ruins():
    """Losses of 1 leave 1 - share of the capital: at the largest stake 2 %."""
    assert STAKES[-1] < 1.0
    assert 0.0 < STAKES[0] < STAKES[-1]
    assert 1.0 + STAKES[-1] / (1.0 - 0.4) * (0.4 - 1.0) > 0.0


def test_simultaneous_limits_by_hand():
    """24 exact intervals share the failure probability; the upper end holds down to fewer rows,
    the lower one to more.
    """
    low, high = simultaneous_limits(np.array([1.0]), np.array([0.0]), 0.95)
    assert low.tolist() == [0.0]
    assert math.isclose(float(high[0]), 1.0 - 0.05 / 48.0)
    covered, wrong = np.arange(1.0, 101.0), np.cumsum(np.arange(100) >= 40).astype(float)
    low, high = simultaneous_limits(covered, wrong, 0.9)
    places = sorted(
        {min(int(np.sum(covered < count - 1e-9)), 99) for count in np.geomspace(1.0, 100.0, 24)}
    )
    exact = [clopper_pearson(wrong[p], covered[p], 1.0 - 0.1 / 24.0) for p in places]
    for row in range(100):
        before = [float(one[0]) for p, one in zip(places, exact, strict=True) if p <= row]
        after = [float(one[1]) for p, one in zip(places, exact, strict=True) if p >= row]
        assert math.isclose(low[row], max([0.0, *before]), abs_tol=1e-15)
        assert math.isclose(high[row], min(after))


def test_a_certified_threshold_is_the_score_of_the_row_left_out():
    """59 right answers prove 5 % at 95 %; the 60th names the threshold, and its own score is not
    accepted.
    """
    score = 1.0 - np.arange(60.0) / 100.0
    loss = np.zeros(60)
    rule = cb.SelectiveClassifier().fit_scores(score, loss)
    assert (rule.threshold_, rule.accepted_, rule.n_) == (-math.inf, 60.0, 60.0)
    loss[59] = 1.0
    rule = cb.SelectiveClassifier().fit_scores(score, loss)
    assert (rule.threshold_, rule.accepted_, rule.errors_) == (score[59], 59.0, 0.0)
    assert rule.accept_scores([score[58], score[59]]).tolist() == [True, False]
    assert math.isclose(rule.bound_, 1.0 - 0.05 ** (1.0 / 59.0))
    said = refused(lambda: cb.SelectiveClassifier().fit_scores(score[:58], loss[:58]))
    assert said is not None
    assert "needs at least 59 rows" in said
    loss[58] = 1.0
    assert refused(lambda: cb.SelectiveClassifier().fit_scores(score, loss)) is not None


def test_a_share_that_must_be_accepted_has_half_of_the_failure():
    """Three rows without an error prove one half at 1/8, and all three of three are accepted
    with 1/8 at a share of one half.
    """
    score, loss = np.arange(3.0), np.zeros(3)
    rule = cb.SelectiveClassifier(0.5, 0.75, accepted_share=0.5 - 1e-6).fit_scores(score, loss)
    assert rule.accepted_ == 3.0
    assert (
        refused(
            lambda: cb.SelectiveClassifier(0.5, 0.76, accepted_share=0.5).fit_scores(score, loss)
        )
        is not None
    )


def test_neyman_pearson_takes_the_order_statistic_that_its_rate_allows():
    """59 rows without the event allow no error at 5 % and 95 %, 93 one: the largest of their
    scores, and the second largest.
    """
    for n, errors in ((59, 0), (92, 0), (93, 1), (124, 2)):
        score = np.append(np.arange(1.0, n + 1.0), 0.5)
        rule = cb.decisions.NeymanPearsonClassifier(0.05).fit_scores(
            score, np.append(np.zeros(n), 1.0)
        )
        assert rule.high_ == rule.low_ == n - errors
        assert rule.decide_scores([n - errors + 0.5, n - errors, 0.0]).tolist() == [1, 0, 0]
        assert (rule.n_negative_, rule.n_positive_) == (n, 1.0)
    few = np.append(np.arange(58.0), 99.0)
    said = refused(
        lambda: cb.decisions.NeymanPearsonClassifier(0.05).fit_scores(
            few, np.append(np.zeros(58), 1.0)
        )
    )
    assert said is not None
    assert "needs at least 59 rows of a kind" in said


def test_neyman_pearson_of_events_alone():
    """The row on the threshold is one of the events: it is not said to be none."""
    score = np.append(np.arange(1.0, 60.0), 0.5)
    rule = cb.decisions.NeymanPearsonClassifier(None, 0.05).fit_scores(
        score, np.append(np.ones(59), 0.0)
    )
    assert rule.decide_scores([0.99, 1.0, 1.01]).tolist() == [0, 1, 1]


def test_neyman_pearson_shares_the_failure_between_two_rates():
    """Two of a kind at one half take a quarter each: a confidence of one half for both together;
    .51 takes three.
    """
    score, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 0, 1])
    rule = cb.decisions.NeymanPearsonClassifier(0.5, 0.5, 0.5).fit_scores(score, event)
    # The ends are 3 (of those without the event) and 2 (of the events): between them and on them it
    # is left open.
    assert (rule.high_, rule.low_) == (3.0, 2.0)
    assert rule.decide_scores([1.9, 2.0, 2.5, 3.0, 3.1]).tolist() == [0, -1, -1, -1, 1]
    assert (
        refused(
            lambda: cb.decisions.NeymanPearsonClassifier(0.5, 0.5, 0.51).fit_scores(score, event)
        )
        is not None
    )
    assert (
        cb.decisions.NeymanPearsonClassifier(0.5, None, 0.75).fit_scores(score, event).high_ == 3.0
    )
    apart = cb.decisions.NeymanPearsonClassifier(0.5, 0.5, 0.5).fit_scores(score, [0, 0, 1, 1])
    assert (apart.high_, apart.low_) == (2.5, 2.5)
    assert apart.decide_scores([2.4, 2.5, 2.6]).tolist() == [0, 0, 1]
