"""Audits of many rows, from sums over cells and parts of the predictions: the numbers of the rows,
and the law of their draws.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant._numerics.bootstrap import binomial_gaps
from calibrant._numerics.clusters import dense
from calibrant.audits import nulls
from calibrant.audits import sample as samples
from calibrant.core.groups import distinct

N = 12_000
#: What draws decide: p-values, the intervals they widen, and what is said from these.
DRAWN = {"p_value", "low", "high", "outcome"}


def rows(seed, n=N):
    """Skewed risks, some of them 0 or 1 and some impossible outcomes; groups of unequal sizes."""
    rng = np.random.default_rng(seed)
    p = 1.0 / (1.0 + np.exp(-rng.normal(-3.0, 2.0, n)))
    p[:40], p[40:60] = 0.0, 1.0
    y = (rng.random(n) < p).astype(int)
    y[:2] = 1
    site = np.array(["a", "b", "c", "d"])[np.minimum(rng.geometric(0.5, n) - 1, 3)]
    return rng, y, p, {"site": site, "old": rng.random(n) < 0.2}


def both(monkeypatch, *args, **options):
    """The audit by rows, and from sums."""
    by_rows = cb.audit(*args, **options)
    monkeypatch.setattr(samples, "MANY_ROWS", 1_000)
    return by_rows, cb.audit(*args, **options)


def numbers(audit):
    """What does not come from draws, by group and question."""
    groups = [*audit.groups, *audit.overall]
    return {
        (str(one.where), one.question): {
            name: value
            for name, value in vars(one).items()
            if name not in DRAWN | {"where", "question"} and isinstance(value, float)
        }
        for one in groups
    }


@pytest.mark.parametrize("null", ["strong", "weak"])
@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.filterwarnings("ignore:sample_weight holds numbers")
def test_events_have_the_numbers_of_the_rows(monkeypatch, null, weights):
    rng, y, p, groups = rows(0)
    weight = {"none": None, "whole": rng.integers(1, 4, N), "fractional": rng.gamma(2.0, 0.5, N)}
    options = {"null": null, "sample_weight": weight[weights], "n_draws": 400}
    by_rows, pooled = both(monkeypatch, y, p, groups, **options)
    assert numbers(pooled).keys() == numbers(by_rows).keys()
    for key, own in numbers(by_rows).items():
        assert numbers(pooled)[key] == pytest.approx(own, rel=1e-9, abs=1e-12), key
    wide = [{str(g.where): g.high - g.low for g in a.groups} for a in (by_rows, pooled)]
    assert wide[1] == pytest.approx(wide[0], rel=0.1)
    assert pooled.multicalibration.value == pytest.approx(by_rows.multicalibration.value, rel=1e-9)


def test_forecasts_have_the_numbers_of_the_rows(monkeypatch):
    rng, _, _, groups = rows(1)
    mean, std = rng.normal(size=N), rng.gamma(5.0, 0.2, N)
    y = mean + std * rng.standard_t(3, N)
    for null in ("weak", "strong"):
        by_rows, pooled = both(monkeypatch, y, mean, groups, std=std, null=null, n_draws=200)
        for key, own in numbers(by_rows).items():
            assert numbers(pooled)[key] == pytest.approx(own, rel=1e-9, abs=1e-12), key
        monkeypatch.undo()


def test_neither_the_order_of_rows_nor_names_count(monkeypatch):
    rng, y, p, groups = rows(2)
    monkeypatch.setattr(samples, "MANY_ROWS", 1_000)
    order = rng.permutation(N)
    names = dict(zip("abcd", "zkxw", strict=True))
    renamed = {
        "site": np.array([names[one] for one in groups["site"]])[order],
        "old": ~groups["old"][order],
    }
    audits = cb.audit(y, p, groups, n_draws=50), cb.audit(y[order], p[order], renamed, n_draws=50)
    first, second = ([one.to_dict()["p_value"] for one in each.groups] for each in audits)
    assert first == second
    assert audits[0].multicalibration.p_value == audits[1].multicalibration.p_value


def samples_of(seed, n, kind):
    """(by rows, pooled) samples of one cell for each of six groups, and their family."""
    rng = np.random.default_rng(seed)
    cell = np.minimum(rng.geometric(0.4, n) - 1, 5)
    column = samples.Column("group", list("abcdef"), cell)
    ones = np.ones(n)
    if kind == "scores":
        score = rng.standard_t(3, n)
        pooled = samples.pooled_scores(score, ones, cell)
        came = np.column_stack([score, samples.central(score)])
        said, variance = np.tile([0.0, 0.5], (n, 1)), np.tile([1.0, 1.0 / 12.0], (n, 1))
        single = samples.ScoreSample(
            ("mean", "spread"), ones, said, came, variance, None, np.arange(n)
        )
    else:
        p = 1.0 / (1.0 + np.exp(-rng.normal(-3.0, 2.0, n)))
        hit = (rng.random(n) < p).astype(np.float64)
        pooled = samples.pooled_outcomes(p, hit, ones, cell)
        single = samples.of_outcomes(p, hit, ones, cell)
    return [
        (one, samples.family([samples.Column("group", column.levels, cell[one.rows])], 1))
        for one in (single, pooled)
    ]


@pytest.mark.parametrize(
    ("kind", "null"), [("events", "strong"), ("events", "weak"), ("scores", "weak")]
)
def test_the_largest_statistics_have_the_law_of_the_rows(kind, null):
    # Rare events, and errors with long tails, in groups of 1,000 rows down to less than 100.
    by_rows, pooled = (
        nulls.tested_groups(one, family, null, 30_000, 0, "any")
        for one, family in samples_of(3, 2_500, kind)
    )
    assert by_rows.tested.sum() >= 3
    assert stats.ks_2samp(by_rows.maxima, pooled.maxima).pvalue > 1e-3
    assert stats.ks_2samp(by_rows.range_[1], pooled.range_[1]).pvalue > 1e-3
    high = np.quantile(by_rows.maxima, [0.9, 0.95, 0.99])
    share = [(pooled.maxima >= limit).mean() for limit in high]
    assert share == pytest.approx([0.1, 0.05, 0.01], rel=0.25)


@pytest.mark.parametrize("null", ["strong", "weak"])
def test_true_groups_are_found_off_at_the_level(monkeypatch, null):
    # Rare events in most rows and sure ones in some, and groups down to the fewest that are tested.
    monkeypatch.setattr(samples, "MANY_ROWS", 1_000)
    false = 0
    for seed in range(200):
        rng = np.random.default_rng([7, seed])
        p = np.where(rng.random(4_000) < 0.8, rng.beta(0.5, 8.0, 4_000), rng.beta(8.0, 0.5, 4_000))
        group = np.minimum(rng.geometric(0.25, 4_000), 10)
        y = (rng.random(4_000) < p).astype(int)
        found = cb.audit(y, p, group, null=null, n_draws=199)
        false += any(one.outcome == "off" for one in found.groups)
    assert stats.binom.sf(false - 1, 200, 0.05) > 1e-3
    assert false >= 2


@pytest.mark.parametrize("risk", [0.001, 0.03, 0.3, 0.5])
@pytest.mark.parametrize("times", [5.0, 40.0, 600.0, 40_000.0])
def test_binomial_gaps_have_the_binomial_law(times, risk):
    draws = binomial_gaps(np.array([times]), np.array([risk]), 40_000, np.random.default_rng(4))[0]
    hits = draws + times * risk
    assert hits == pytest.approx(np.rint(hits), abs=1e-6)
    law = stats.binom(int(times), risk)
    for share in (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999):
        at = law.ppf(share)
        observed, expected = (hits <= at + 0.5).sum(), 40_000 * law.cdf(at)
        spread = np.sqrt(max(expected * law.sf(at), 1.0))
        assert abs(observed - expected) < 5.0 * spread + 1.0, share


def test_a_fraction_of_a_draw_varies_as_its_share():
    draws = binomial_gaps(np.array([0.3, 7.6]), np.full(2, 0.2), 100_000, np.random.default_rng(5))
    assert draws.mean(axis=1) == pytest.approx([0.0, 0.0], abs=0.02)
    assert draws.var(axis=1) == pytest.approx([0.3 * 0.16, 7.6 * 0.16], rel=0.03)


def test_codes_are_numbered_in_their_order():
    for code in (np.array([7, 3, 7, 0]), np.array([10**9, 3, 10**9, 0])):
        index, count = dense(code)
        assert (index.tolist(), count) == ([2, 1, 2, 0], 3)


@pytest.mark.parametrize("late", [[], [4, 5]])
def test_labels_are_numbered_alike_whether_or_not_all_are_sorted(late):
    # The first look, at every fourth row, misses the 5.
    labels = np.array([3, 1, 4] * 20_000 + late)
    expected = np.unique(labels, return_inverse=True)
    for one, names in ((labels, expected[0]), (labels.astype(str), expected[0].astype(str))):
        groups = distinct(one)
        assert groups.names.tolist() == names.tolist()
        assert (groups.index == expected[1]).all()
