"""Blocks of consecutive rows, and intervals that count them."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.folds import past_and_next, time_ranks
from calibrant.errors import InputError
from calibrant.monitoring import time_blocks


def test_blocks_follow_time_not_row_order():
    times = np.array([5.0, 1.0, 3.0, 3.0, 9.0])
    assert time_blocks(times, length=2).tolist() == [1, 0, 0, 0, 2]
    order = np.random.default_rng(0).permutation(5)
    np.testing.assert_array_equal(
        time_blocks(times[order], length=2), time_blocks(times, length=2)[order]
    )
    assert np.bincount(time_blocks(1000)).tolist() == [10] * 100
    assert time_blocks(
        np.array(["2026-01-02", "2026-01-01"], dtype="datetime64[D]"), length=1
    ).tolist() == [1, 0]


def test_every_step_sees_only_what_came_before():
    times = np.random.default_rng(0).integers(0, 40, 200)
    seen = []
    for past, after in past_and_next(time_ranks(times), 4):
        assert times[past].max() < times[after].min()
        seen.append(after)
    assert len(np.unique(np.concatenate(seen))) == sum(len(each) for each in seen)


def test_intervals_of_blocks_hold_where_those_of_rows_are_too_narrow():
    held = {"rows": 0, "blocks": 0}
    rng = np.random.default_rng(0)
    n, runs = 600, 100
    for _ in range(runs):
        noise = rng.normal(size=n)
        for i in range(1, n):
            noise[i] += 0.8 * noise[i - 1]
        y = np.sign(noise) * 1.0
        # The sign is as often up as down: its mean absolute distance from 1 is 1.
        for name, cluster in (("rows", None), ("blocks", time_blocks(n, length=20))):
            found = metrics.mean_absolute_error.interval(y, np.ones(n), cluster=cluster)
            held[name] += found.low <= 1.0 <= found.high
    assert held["rows"] < 70
    assert held["blocks"] >= 85


@pytest.mark.parametrize(
    ("times", "options", "match"),
    [
        ([1.0, np.nan], {}, "row 1 has none"),
        ([1, None, 2], {}, "row 1 has none"),
        ([[1, 2]], {}, r"times must be \(n,\)"),
        (0, {}, "times"),
        (5, {"length": 0}, "length"),
    ],
)
def test_what_is_no_time_is_refused(times, options, match):
    with pytest.raises(InputError, match=match):
        time_blocks(times, **options)
