"""Families of groups: how far their intervals reach, what their rows say, and how they share the
error rate.
"""

import numpy as np
import pytest
from scipy import stats

from calibrant._numerics.clusters import membership
from calibrant.audits import nulls
from calibrant.audits.audit import _critical, _multicalibration, audited
from calibrant.audits.nulls import Totals, gaps, sorted_gaps
from calibrant.audits.result import GroupGap
from calibrant.audits.sample import Column, Family, OutcomeSample, ScoreSample, of_outcomes


def outcomes() -> OutcomeSample:
    return of_outcomes(
        np.array([0.2, 0.5, 0.8]), np.array([0.0, 1.0, 1.0]), np.ones(3), np.zeros(3, dtype=int)
    )


def of_tests(statistic, tested, n, freedom=50.0, maxima=()):
    """Tests with these numbers, of groups of ``n`` rows."""
    n, tested = np.array(n, dtype=float)[:, None], np.array(tested)[:, None]
    each, maxima = n[..., None], np.array(maxima)
    totals = Totals(
        n, 0.3 * n, 0.2 * n, 0.21 * n, 0.01 * n, 0.0 * n, each, 0.3 * each, -0.1 * each, 0.21 * each
    )
    p, freedom = np.where(tested, 0.03, np.nan), np.array(freedom) + 0.0 * n
    return nulls.Tested(
        totals,
        tested,
        np.array(statistic)[:, None],
        np.sqrt(0.21 * n),
        freedom,
        p,
        maxima,
        (2.0, maxima),
    )


def test_intervals_reach_as_far_as_the_test_does():
    """Of 19 draws the 19th largest statistic is that of 5 %, the 18th that of 10 %; groups that
    were not tested share the rate of all.
    """
    sample, maxima = outcomes(), np.arange(1.0, 20.0)[::-1]
    found = of_tests(
        [3.0, 1.0, 0.0],
        [True, False, False],
        [100, 20, 0],
        freedom=[[9.0], [3.0], [0.0]],
        maxima=maxima,
    )
    assert _critical(found, 0.05, "strong", sample)[:, 0].tolist() == [
        19.0,
        *[pytest.approx(stats.norm.ppf(1.0 - 0.0125))] * 2,
    ]
    assert _critical(found, 0.1, "strong", sample)[0, 0] == 18.0
    assert _critical(found, 0.01, "strong", sample)[0, 0] == 19.0
    weak = _critical(found, 0.05, "weak", sample)[:, 0]
    np.testing.assert_allclose(
        weak, [19.0, stats.t.ppf(1.0 - 0.0125, 3.0), stats.t.ppf(1.0 - 0.0125, 0.5)]
    )
    none = of_tests([1.0], [False], [30], freedom=7.0)
    np.testing.assert_allclose(_critical(none, 0.05, "weak", sample), [[stats.t.ppf(0.975, 7.0)]])
    scores = ScoreSample(
        ("mean",),
        np.ones(1),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
        np.ones((1, 1)),
        None,
        np.arange(1),
    )
    np.testing.assert_allclose(_critical(none, 0.05, "strong", scores), [[stats.t.ppf(0.975, 7.0)]])


def test_the_error_of_all_groups_is_held_against_its_draws():
    found = _multicalibration(of_tests([1.0], [True], [30], maxima=[1.0, 2.0, 2.0 - 1e-13, 3.0]))
    assert (found.value, found.expected, found.p_value) == (2.0, pytest.approx(2.0), 4.0 / 5.0)


def test_rows_of_an_audit_are_their_sums_in_means():
    found = of_tests([3.0, 1.0, 0.0], [True, True, False], [100, 400, 0], maxima=[1.0])
    sample, where = outcomes(), [{"g": "a"}, {"g": "b"}, {"g": "c"}]
    group = Family(
        where, membership(np.zeros(0, dtype=int), np.zeros(0, dtype=int), (3, len(sample)))
    )
    p_value, critical = np.array([[0.05], [0.051], [np.nan]]), np.full((3, 1), 2.0)

    def made(tolerance):
        return gaps(sample, group, found, p_value, critical, 0.05, tolerance, True)

    first, second, empty = made(1.0)
    assert [one.outcome for one in (first, second, empty)] == ["off", "holds", "not enough data"]
    assert first.p_value == 0.05
    assert (first.n, first.events, first.found) == (100.0, pytest.approx(20.0), True)
    numbers = [
        first.said,
        first.came,
        first.gap,
        first.ratio,
        first.error,
        first.error_by_chance,
        first.score_gap,
    ]
    np.testing.assert_allclose(
        numbers, [0.3, 0.2, 0.1, 2.0 / 3.0, 0.1, np.sqrt(2.0 / np.pi * 0.21 / 100.0), 0.01]
    )
    assert [empty.said, empty.ratio, empty.p_value] == [None] * 3
    # The second holds where its whole interval is within the tolerance.
    reach = max(abs(second.low), abs(second.high))
    assert [made(reach + off)[1].outcome for off in (1e-9, -1e-9)] == ["holds", "not enough data"]
    assert second.low < 0.1 < second.high


def test_groups_are_listed_by_what_is_surest():
    def one(name, outcome, p, low, high, shrunk):
        return GroupGap(
            {"group": name},
            "",
            9.0,
            3.0,
            0.3,
            0.2,
            0.1,
            low,
            high,
            1.0,
            0.1,
            0.1,
            0.0,
            shrunk,
            p,
            outcome,
            False,
        )

    rows = [
        one("few", "not enough data", None, -0.4, -0.3, 0.0),
        one("far", "holds", 0.9, -0.2, -0.1, 0.0),
        one("near", "holds", 0.2, -0.1, 0.1, 0.1),
        one("nearer", "holds", 0.3, -0.1, 0.1, -0.2),
        one("b", "off", 0.01, 0.1, 0.2, 0.1),
        one("a", "off", 0.01, 0.1, 0.2, -0.1),
        one("last", "off", 0.02, 0.5, 0.6, 0.5),
        one("first", "off", 0.01, -0.4, -0.3, 0.0),
    ]
    assert [row.name for row in sorted_gaps(rows)] == [
        "first",
        "a",
        "b",
        "last",
        "few",
        "far",
        "nearer",
        "near",
    ]


def test_families_share_the_error_rate():
    """Groups given beside some that are found have half of it, those found a quarter for each
    half; alone all, and a half.
    """
    rng = np.random.default_rng(7)
    x, site = rng.random(800), rng.integers(0, 3, 800)
    came = (rng.random(800) < 0.5 + 0.12 * (x > 0.5) + 0.06 * (site == 1)).astype(float)
    sample = of_outcomes(np.full(800, 0.5), came, np.ones(800), np.arange(800))
    columns, features = (
        [Column("site", ["a", "b", "c"], site[sample.rows])],
        (["x"], x[sample.rows][:, None]),
    )

    def told(columns, found):
        audit = audited(
            sample, columns, features, "event", 0.9, "strong", found, 2, 0.02, "any", 99, 0
        )
        assert (audit.multicalibration is not None) == bool(columns)
        return {
            (one.name, one.found, one.n): one for one in audit.groups if one.p_value is not None
        }

    given, alone, both = told(columns, None), told([], "tree"), told(columns, "tree")
    apart = given | alone
    assert {key: one.p_value for key, one in both.items()} == {
        key: min(2.0 * one.p_value, 1.0) for key, one in apart.items()
    }
    assert (len(given), sum(one.p_value < 0.2 for one in alone.values()) > 0) == (3, True)
    # Intervals are as wide as the error rate left to them asks for, and groups are off where the
    # p-value is at most all of it.
    assert all(both[key].low <= one.low < one.high <= both[key].high for key, one in apart.items())
    assert any(both[key].low < one.low - 1e-3 for key, one in apart.items())
    assert all(
        (one.outcome == "off") == (one.p_value <= 0.1) for one in [*apart.values(), *both.values()]
    )
