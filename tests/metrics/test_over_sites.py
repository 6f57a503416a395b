"""A metric over sites: what it is made of, what is left out, and whether a new site lies where
it says.
"""

import numpy as np
import pytest
from scipy import special

import calibrant as cb
from calibrant.errors import InputError
from calibrant.metrics import (
    calibration_slope,
    event_auroc,
    log_loss,
    observed_expected_ratio,
    over_sites,
)


def _world(rng, k=8, n=400, spread=0.3, mean=0.0):
    """(y, risk, site, O/E of a site not seen): events happen exp(N(mean, spread)) times as often
    as predicted.
    """
    factors = np.exp(rng.normal(mean, spread, k + 1))
    risk, site = rng.uniform(0.02, 0.3, k * n), np.repeat(np.arange(k), n)
    return (
        (rng.random(k * n) < np.minimum(risk * factors[site], 1)).astype(int),
        risk,
        site,
        factors[k],
    )


def test_it_is_the_metric_of_each_site_pooled():
    y, risk, site, _ = _world(np.random.default_rng(0))
    for metric, scale in (
        (observed_expected_ratio, "log"),
        (event_auroc, "logit"),
        (calibration_slope, "identity"),
        (log_loss, "log"),
    ):
        found = over_sites(metric, y, risk, site)
        each = [metric.interval(y[site == j], risk[site == j]) for j in range(8)]
        assert found.sites.value.tolist() == [one.value for one in each]
        assert found.sites.low.tolist() == [one.low for one in each]
        assert found.pooled == cb.metrics.pool(each, over="sites", scale=scale)
        assert found.left_out == []


def test_a_site_without_events_is_left_out_and_named():
    y, risk, site, _ = _world(np.random.default_rng(1), k=4)
    y[site == 2] = 0
    found = over_sites(observed_expected_ratio, y, risk, np.array(["a", "b", "c", "d"])[site])
    assert found.left_out == ["c"]
    assert found.pooled.count == 3
    assert found.sites.value[2] == 0.0
    assert "new site" in str(found)
    assert found.to_dict()["pooled"]["count"] == 3
    assert found.to_dict()["sites"]["group"] == ["a", "b", "c", "d"]


def test_weights_and_clusters_count_within_sites():
    y, risk, site, _ = _world(np.random.default_rng(2), k=3, n=200)
    twice = over_sites(observed_expected_ratio, y, risk, site, sample_weight=np.full(600, 2.0))
    repeated = over_sites(
        observed_expected_ratio, np.tile(y, 2), np.tile(risk, 2), np.tile(site, 2)
    )
    for name in ("value", "low", "high", "prediction_low", "prediction_high", "n"):
        assert getattr(twice.pooled, name) == pytest.approx(
            getattr(repeated.pooled, name), rel=1e-6
        )
    clustered = over_sites(
        observed_expected_ratio,
        np.tile(y, 2),
        np.tile(risk, 2),
        np.tile(site, 2),
        cluster=np.tile(np.arange(600), 2),
    )
    assert (
        clustered.pooled.high - clustered.pooled.low != repeated.pooled.high - repeated.pooled.low
    )


def test_too_few_sites_are_refused():
    y, risk, site, _ = _world(np.random.default_rng(3), k=2)
    with pytest.raises(
        InputError, match="finite intervals of O/E at three sites or more; got 2 of 2"
    ):
        over_sites(observed_expected_ratio, y, risk, site)
    with pytest.raises(InputError, match="sites"):
        over_sites(observed_expected_ratio, y, risk, site[:-1])


def test_a_new_site_lies_where_the_interval_says():
    """Journey: who reads the interval for a new site is right in about 95 % of worlds; who pools
    all rows in far fewer.
    """
    rng, right, naive, worlds = np.random.default_rng(4), 0, 0, 150
    for _ in range(worlds):
        y, risk, site, new = _world(rng)
        found = over_sites(observed_expected_ratio, y, risk, site).pooled
        whole = observed_expected_ratio.interval(y, risk)
        right += found.prediction_low <= new <= found.prediction_high
        naive += whole.low <= new <= whole.high
    error = 3 * np.sqrt(0.95 * 0.05 / worlds)
    assert 0.95 - error - 0.02 < right / worlds
    assert naive / worlds < 0.5


@pytest.mark.slow
def test_the_mean_over_sites_is_covered():
    """Of the slope, where sites differ by a factor of the log-odds."""
    rng, held, worlds = np.random.default_rng(5), 0, 400
    for _ in range(worlds):
        slopes = 1 + 0.15 * rng.normal(size=10)
        odds, site = rng.normal(-1.5, 1.2, 5000), np.repeat(np.arange(10), 500)
        y = (rng.random(5000) < special.expit(slopes[site] * odds)).astype(int)
        found = over_sites(calibration_slope, y, special.expit(odds), site).pooled
        held += found.low <= 1.0 <= found.high
    assert held / worlds > 0.95 - 3 * np.sqrt(0.95 * 0.05 / worlds)
