"""Formulas of the peers of adaptive intervals, and the forecasters of their series, by hand."""

import numpy as np
import pytest
from benchmarks.time.peers import PEERS, darts, enbpi, mapie, split
from benchmarks.time.series import autoregression, naive, rolling_std, smoothed

SCORES = np.concatenate([np.arange(-9.0, 11.0), [30.0, 0.0, 0.0]])


def test_split_takes_the_conformal_rank_of_absolute_scores():
    low, high = split(SCORES, 20, 0.9)
    assert high.tolist() == [9.0, 9.0, 9.0]  # the 19th of 0, 1, 1, ..., 9, 9, 10
    assert np.array_equal(low, -high)


def test_mapie_moves_its_miscoverage_by_the_rate():
    low, high = mapie(SCORES, 20, 0.8, rate=0.1)
    # ceil(21 * .9) = 19; the miss lowers .2 to .12, so the rank is ceil(21 * .94) = 20.
    assert high.tolist() == [9.0, 10.0, 10.0]
    assert low.tolist() == [-8.0, -9.0, -9.0]
    late = mapie(SCORES, 20, 0.8, rate=0.1, delay=1)
    assert late[1].tolist() == [9.0, 9.0, 10.0]
    renewed = mapie(SCORES, 20, 0.8, rate=0.1, renewed=True)
    assert renewed[1].tolist() == [9.0, 30.0, 30.0]


def test_windows_hold_the_last_scores():
    low, high = enbpi(SCORES, 20, 0.5, size=4)
    assert (low[0], high[0]) == (7.75, 9.25)
    assert enbpi(SCORES, 20, 0.5, size=4, delay=2)[1].tolist() == [high[0]] * 3
    rolling, whole = darts(SCORES, 20, 0.5, rolling=True), darts(SCORES, 20, 0.5, rolling=False)
    assert rolling[1][0] == whole[1][0] == 5.0
    assert np.array_equal(darts(SCORES, 20, 0.5, rolling=True, delay=1)[1][1:], rolling[1][:-1])


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_covers_rows_that_do_not_change(name):
    scores = np.random.default_rng(0).normal(size=2_300)
    low, high = PEERS[name](scores, 300, 0.9)
    assert abs(np.mean((low <= scores[300:]) & (scores[300:] <= high)) - 0.9) < 0.035


def test_forecasters_see_the_past_alone():
    y = np.random.default_rng(1).normal(size=400).cumsum()
    for make in (
        lambda v: naive(v, 12),
        lambda v: autoregression(v, (1, 2)),
        lambda v: smoothed(v, 0.5),
    ):
        changed = y.copy()
        changed[300:] += 5.0
        assert np.array_equal(make(y)[:301], make(changed)[:301], equal_nan=True)
    assert smoothed(np.array([2.0, 4.0, 0.0]), 0.5).tolist()[1:] == [2.0, 3.0]
    spread = rolling_std(np.array([1.0, 3.0, 9.0]), 2)
    assert np.isnan(spread[:2]).all()
    assert spread[2] == pytest.approx(np.sqrt(2.0))
