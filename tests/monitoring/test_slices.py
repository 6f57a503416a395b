"""The worst slices: p-values that are valid for any number of rows, and the number of slices taken into account."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring.slices import _adjusted, _p_value

pandas = pytest.importorskip("pandas")


def sums(rng, rows, gap=0.0, n_bins=15):
    """(B, 3) of rows with scores of their own; right at the rate of the score less the gap."""
    p = rng.beta(4, 1, rows)
    hit = rng.uniform(size=rows) < np.clip(p - gap, 0.0, 1.0)
    place = np.minimum((p * n_bins).astype(int), n_bins - 1)
    return np.stack([np.bincount(place, weights=w, minlength=n_bins) for w in (np.ones(rows), p, hit)], axis=1)


@pytest.mark.parametrize("rows", [1, 5, 40, 1000])
def test_p_values_of_calibrated_slices_are_valid(rows):
    rng = np.random.default_rng(rows)
    p = np.array([_p_value(sums(rng, rows), 0.0) for _ in range(600)])
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p <= level) <= level + 3.0 * np.sqrt(level * (1.0 - level) / 600)


def test_they_are_small_where_a_slice_is_off_and_not_within_the_tolerance():
    rng = np.random.default_rng(0)
    assert np.median([_p_value(sums(rng, 1000, 0.08), 0.0) for _ in range(50)]) < 1e-6
    assert np.median([_p_value(sums(rng, 1000, 0.08), 0.1) for _ in range(50)]) > 0.2
    assert _p_value(np.array([[100.0, 100.0, 98.0]]), 0.0) < 1e-10


def test_holm_by_hand():
    np.testing.assert_allclose(_adjusted(np.array([0.01, 0.04, 0.03, 0.5]), "holm"), [0.04, 0.09, 0.09, 0.5])
    np.testing.assert_allclose(_adjusted(np.array([0.01, 0.04, 0.03, 0.5]), "bh"), [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.5])


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(40), 300)
    p = rng.uniform(0.5, 1.0, len(site))
    rate = np.where(site < 4, p - 0.15, p)
    frame = pandas.DataFrame({"p": p, "label": (rng.uniform(size=len(p)) < rate).astype(int), "site": site, "day": np.arange(len(p)) % 3})
    return cb.evaluate(frame, probabilities="p", by=["site", "day"])


@pytest.mark.parametrize("method", ["bh", "holm"])
def test_the_slices_that_are_off_come_first(evaluation, method):
    found = cb.worst_slices(evaluation, by="site", method=method)
    assert {s for (s,) in found.slices[:4]} == {0, 1, 2, 3}
    assert found.flagged.tolist() == [True] * 4 + [False] * 36
    assert (found.gap[:4] < -0.08).all()
    assert found.frame().columns.tolist() == ["site", "n", "confidence", "accuracy", "gap", "p_value", "adjusted", "flagged"]
    assert found.to_dict()["slices"][0]["site"] in (0, 1, 2, 3)


def test_every_name_of_the_evaluation_is_the_default(evaluation):
    found = cb.worst_slices(evaluation)
    assert (found.by, len(found.slices), found.n.sum()) == (["site", "day"], 120, 12_000.0)
    with pytest.raises(InputError, match="by must be some of"):
        cb.worst_slices(evaluation, by="model")
    with pytest.raises(InputError, match="method must be"):
        cb.worst_slices(evaluation, method="none")


def test_forecasts_are_refused():
    frame = pandas.DataFrame({"m": [0.0, 1.0], "s": [1.0, 1.0], "label": [0.5, 1.5], "day": [1, 2]})
    evaluation = cb.evaluate(frame, mean="m", std="s", by="day")
    for function in (cb.worst_slices, cb.monitor):
        with pytest.raises(InputError, match="got a ForecastEvaluation"):
            function(evaluation)


@pytest.mark.slow
def test_the_share_of_false_ones_is_as_said():
    """Of 60 slices 15 are off: of those flagged at most a tenth are false on average (bh); any false one in at most a tenth (holm)."""
    rng = np.random.default_rng(0)
    off = np.arange(60) < 15
    shares, any_false, power = [], [], []
    for _ in range(200):
        p = np.array([_p_value(sums(rng, 200, 0.15 * o), 0.0) for o in off])
        bh, holm = (_adjusted(p, method) <= 0.1 for method in ("bh", "holm"))
        shares.append((bh & ~off).sum() / max(bh.sum(), 1))
        any_false.append((holm & ~off).any())
        power.append(bh[off].mean())
    assert np.mean(shares) <= 0.1
    assert np.mean(any_false) <= 0.1
    assert np.mean(power) > 0.8
