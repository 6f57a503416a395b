"""Kuiper's and Kolmogorov-Smirnov's statistics and their nulls, against known values and
simulated Brownian motion.
"""

import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.normal_scores import range_tail, reach_tail

cumulative = metrics.cumulative_test


@pytest.mark.parametrize(
    ("tail", "x", "cdf"),
    [
        (reach_tail, 1, 0.370777),
        (reach_tail, 2, 0.908999),
        (reach_tail, 3, 0.994600),
        (range_tail, 1, 0.063365),
        (range_tail, 2, 0.818506),
        (range_tail, 3, 0.989201),
        (reach_tail, 2.2414, 0.95),
        (range_tail, 2.4977, 0.95),
    ],
)
def test_tails_of_brownian_motion(tail, x, cdf):
    assert 1.0 - tail(x) == pytest.approx(cdf, abs=6e-7 if isinstance(x, int) else 1e-4)


@pytest.mark.parametrize("tail", [reach_tail, range_tail])
def test_tails_fall_from_1_to_0(tail):
    values = [tail(x) for x in np.linspace(0.0, 20.0, 2001)]
    assert values[0] == 1.0
    assert values[-1] < 1e-80
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.parametrize(("y", "known"), [("0101", 0.67082), ("1111", 2.23607), ("0100", 1.34164)])
def test_the_statistic_of_mcgrad(y, known):
    assert cumulative([int(c) for c in y], [0.6, 0.8, 0.2, 0.4]).statistic == pytest.approx(
        known, abs=1e-5
    )


def test_it_is_the_error_over_its_deviation():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(400), 2)
    y = (rng.random(400) < p).astype(int)
    sigma = np.sqrt(np.sum(p * (1 - p))) / 400
    assert cumulative(y, p, statistic="ks").statistic == pytest.approx(
        metrics.ks_calibration_error(y, p, target="event") / sigma
    )


@pytest.mark.parametrize("statistic", ["kuiper", "ks"])
def test_the_simulated_null_nears_that_of_brownian_motion(statistic):
    rng = np.random.default_rng(1)
    p = rng.random(4000)
    y = (rng.random(4000) < p).astype(int)
    drawn, limit = (
        cumulative(y, p, statistic=statistic, method=method).p_value
        for method in ("simulated", "brownian")
    )
    assert drawn == pytest.approx(limit, abs=0.06)
    assert cumulative(np.tile(y, 2), np.tile(p, 2)).method == "kuiper, Brownian motion"


def test_the_order_of_the_rows_changes_nothing():
    rng = np.random.default_rng(2)
    p = rng.random(300)
    y, order = (rng.random(300) < p).astype(int), rng.permutation(300)
    assert cumulative(y[order], p[order]) == cumulative(y, p)


def test_sure_scores():
    assert cumulative([1, 1], [0.0, 0.0]).p_value == 0.0
    assert cumulative([0, 1], [0.0, 1.0]).p_value == 1.0
