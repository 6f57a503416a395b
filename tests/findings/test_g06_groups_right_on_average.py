"""G6: an audit's intervals hold where each group's mean is right and its rows are not."""

import numpy as np
import pytest

import calibrant as cb

REPEATS, N, GROUPS = 80, 600, 6


@pytest.fixture(scope="module")
def audits():
    """Audits of risks 2.5 times too bold in log-odds, with every group's mean right."""
    frames = []
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        z = rng.normal(0.0, 1.0, N)
        y = (rng.random(N) < 1.0 / (1.0 + np.exp(-z))).astype(int)
        said, groups = 1.0 / (1.0 + np.exp(-2.5 * z)), rng.integers(0, GROUPS, N).astype(str)
        frames.append(cb.audit(y, said, groups, n_draws=200).frame())
    return frames


def test_all_intervals_hold_together_as_often_as_said(audits):
    hold = sum(bool(((one["low"] <= 0.0) & (one["high"] >= 0.0)).all()) for one in audits)
    assert hold >= 69  # 95 % of 80 repeats, less what chance takes


def test_no_group_without_a_gap_is_called_off(audits):
    called = sum(bool((one["outcome"] == "off").any()) for one in audits)
    assert called <= 11  # 5 % of 80 repeats, and what chance adds to it
