"""The worst slices: p-values that are valid for any number of rows, and the number of slices
taken into account.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.core.forecast_record import PIT_LEVELS, pit_counts, read_forecast
from calibrant.errors import InputError
from calibrant.monitoring.over_time import _adjusted, _forecast_p_value, _p_values, _tail

pandas = pytest.importorskip("pandas")


def sums(rng, rows, gap=0.0, n_bins=15):
    """(B, 3) of rows with scores of their own; right at the rate of the score less the gap."""
    p = rng.beta(4, 1, rows)
    hit = rng.uniform(size=rows) < np.clip(p - gap, 0.0, 1.0)
    place = np.minimum((p * n_bins).astype(int), n_bins - 1)
    return np.stack(
        [np.bincount(place, weights=w, minlength=n_bins) for w in (np.ones(rows), p, hit)], axis=1
    )


@pytest.mark.parametrize("rows", [1, 5, 40, 1000])
def test_p_values_of_calibrated_slices_are_valid(rows):
    rng = np.random.default_rng(rows)
    p = _p_values(np.array([sums(rng, rows) for _ in range(600)]), 0.0)
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p <= level) <= level + 3.0 * np.sqrt(level * (1.0 - level) / 600)


def test_they_are_small_where_a_slice_is_off_and_not_within_the_tolerance():
    rng = np.random.default_rng(0)
    assert np.median(_p_values(np.array([sums(rng, 1000, 0.08) for _ in range(50)]), 0.0)) < 1e-6
    assert np.median(_p_values(np.array([sums(rng, 1000, 0.08) for _ in range(50)]), 0.1)) > 0.2
    assert _p_values(np.array([[[100.0, 100.0, 98.0]]]), 0.0)[0] < 1e-10


def test_holm_by_hand():
    np.testing.assert_allclose(
        _adjusted(np.array([0.01, 0.04, 0.03, 0.5]), "holm"), [0.04, 0.09, 0.09, 0.5]
    )
    np.testing.assert_allclose(
        _adjusted(np.array([0.01, 0.04, 0.03, 0.5]), "bh"), [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.5]
    )


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(40), 300)
    p = rng.uniform(0.5, 1.0, len(site))
    rate = np.where(site < 4, p - 0.15, p)
    frame = pandas.DataFrame(
        {
            "p": p,
            "label": (rng.uniform(size=len(p)) < rate).astype(int),
            "site": site,
            "day": np.arange(len(p)) % 3,
        }
    )
    return cb.evaluate(frame, probabilities="p", by=["site", "day"])


@pytest.mark.parametrize("method", ["bh", "holm"])
def test_the_slices_that_are_off_come_first(evaluation, method):
    found = cb.monitoring.worst_slices(evaluation, by="site", method=method)
    assert {s for (s,) in found.slices[:4]} == {0, 1, 2, 3}
    assert found.flagged.tolist() == [True] * 4 + [False] * 36
    assert (found.gap[:4] < -0.08).all()
    assert found.frame().columns.tolist() == [
        "site",
        "n",
        "mean_risk",
        "event_rate",
        "gap",
        "p_value",
        "adjusted",
        "flagged",
    ]
    assert found.to_dict()["slices"][0]["site"] in (0, 1, 2, 3)


def test_every_name_of_the_evaluation_is_the_default(evaluation):
    found = cb.monitoring.worst_slices(evaluation)
    assert (found.by, len(found.slices), found.n.sum()) == (["site", "day"], 120, 12_000.0)
    with pytest.raises(InputError, match="by must be some of"):
        cb.monitoring.worst_slices(evaluation, by="model")
    with pytest.raises(InputError, match="method must be"):
        cb.monitoring.worst_slices(evaluation, method="none")


def forecasts(rng, rows, off):
    """(C, C) counts of rows whose outcomes spread ``off`` times as much as they should."""
    record = read_forecast(np.zeros(rows), np.ones(rows), off * rng.normal(size=rows))
    return pit_counts(record, np.array(PIT_LEVELS))[0]


@pytest.mark.parametrize("rows", [1, 12, 300])
def test_p_values_of_forecasts_are_valid_and_small_where_bars_are_off(rows):
    rng = np.random.default_rng(rows)
    p = np.array(
        [
            _forecast_p_value(forecasts(rng, rows, 1.0), np.array(PIT_LEVELS), 0.0)
            for _ in range(400)
        ]
    )
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p <= level) <= level + 3.0 * np.sqrt(level * (1.0 - level) / 400)
    assert _forecast_p_value(forecasts(rng, 300, 1.6), np.array(PIT_LEVELS), 0.0) < 1e-4


def test_slices_of_forecasts():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"m": 0.0, "s": 1.0, "store": rng.choice(["a", "b", "c"], 3000)})
    frame["y"] = rng.normal(size=3000) * np.where(frame["store"] == "b", 1.5, 1.0)
    found = cb.monitoring.worst_slices(cb.evaluate(frame, label="y", mean="m", std="s", by="store"))
    assert found.slices[0] == ("b",)
    assert found.flagged.tolist() == [True, False, False]
    table = found.columns()
    rows = frame["store"] == "b"
    assert table["coverage"][0] == pytest.approx(np.mean(np.abs(frame["y"][rows]) <= 1.959964))
    assert table["level"][0] == pytest.approx(0.95)
    with pytest.raises(InputError, match="a result of calibrant"):
        cb.monitoring.worst_slices(frame)


@pytest.mark.slow
def test_the_share_of_false_ones_is_as_said():
    """Of 60 slices 15 are off: of those flagged at most a tenth are false on average (bh); any
    false one in at most a tenth (holm).
    """
    rng = np.random.default_rng(0)
    off = np.arange(60) < 15
    shares, any_false, power = [], [], []
    for _ in range(200):
        p = _p_values(np.array([sums(rng, 200, 0.15 * o) for o in off]), 0.0)
        bh, holm = (_adjusted(p, method) <= 0.1 for method in ("bh", "holm"))
        shares.append((bh & ~off).sum() / max(bh.sum(), 1))
        any_false.append((holm & ~off).any())
        power.append(bh[off].mean())
    assert np.mean(shares) <= 0.1
    assert np.mean(any_false) <= 0.1
    assert np.mean(power) > 0.8


def test_p_values_of_bins_by_the_binomial_distribution():
    """Bins whose hits vary by less than three are one; both sides; Fisher's sum over bins."""
    sums = np.array(
        [
            [40.0, 20.0, 30.0],
            [100.0, 80.0, 70.0],
            [10.0, 9.0, 6.0],
            [8.0, 1.0, 2.0],
            [0.0, 0.0, 0.0],
        ]
    )
    joined = [(40, 0.5, 30), (100, 0.8, 70), (18, 10 / 18, 8)]
    for tolerance in (0.0, 0.05):
        each = []
        for n, score, hits in joined:
            above = (
                stats.binom.sf(hits - 1, n, score + tolerance)
                if hits >= n * (score + tolerance) + 1
                else 1.0
            )
            below = (
                stats.binom.cdf(hits, n, score - tolerance)
                if n - hits >= n * (1 - score + tolerance) + 1
                else 1.0
            )
            each.append(min(2 * min(above, below), 1.0))
        np.testing.assert_allclose(
            _p_values(sums[None], tolerance)[0],
            stats.chi2.sf(-2 * np.log(each).sum(), 6),
            rtol=1e-9,
        )


def test_tails_hold_from_one_hit_above_what_is_expected():
    found = _tail(np.array([6.0, 5.9, 0.0, 10.0]), np.full(4, 10.0), 0.5)
    np.testing.assert_allclose(found, [stats.binom.sf(5, 10, 0.5), 1.0, 1.0, 0.5**10])


def test_p_values_of_levels_by_the_binomial_distribution():
    """Rows surely below the level .5: 18 of 20; those that may be: 19. Below .9: 20 and 20."""
    counts = np.array([[18.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = _forecast_p_value(counts, np.array([0.5, 0.9]), 0.0)
    expected = [stats.binom.sf(17, 20, 0.5), 0.9**20]
    np.testing.assert_allclose(found, 2 * 2 * min(expected))
    late = np.zeros((3, 3))
    late[2, 2], late[1, 2] = 15.0, 5.0
    # At least as few as are below .5 (none) and below .9 (five that may be).
    np.testing.assert_allclose(
        _forecast_p_value(late, np.array([0.5, 0.9]), 0.0),
        4 * min(0.5**20, stats.binom.cdf(5, 20, 0.9)),
    )
