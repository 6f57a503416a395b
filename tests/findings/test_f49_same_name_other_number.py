"""F49: the guide and the docstrings say where a name stands for another number elsewhere, and
the numbers are those.
"""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as their_log_loss

from calibrant import metrics

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "guide" / "metrics.rst").read_text(
    encoding="utf-8"
)
RNG = np.random.default_rng(0)


def test_f49_the_brier_score_of_two_classes_is_twice_the_mean_square():
    p, y = RNG.random(50), RNG.integers(0, 2, 50)
    assert metrics.brier_score(y, p) == pytest.approx(2.0 * brier_score_loss(y, p))
    assert "twice mean((p - y)" in GUIDE
    assert "twice" in type(metrics.brier_score).__doc__


def test_f49_an_impossible_event_costs_what_the_guide_says():
    assert round(metrics.log_loss([1], [[1.0, 0.0]]), 1) == 27.6
    assert round(their_log_loss([1], [[1.0, 0.0]], labels=[0, 1]), 1) == 36.0
    for text in (GUIDE, type(metrics.log_loss).__doc__):
        assert "27.6" in text
        assert "36.0" in text


def test_f49_qce_is_one_sided():
    """Outcomes at half of their std above every mean: all quantiles below are too low, the
    central half is full.
    """
    y, mean, std = np.full(100, 0.5), np.zeros(100), np.ones(100)
    assert metrics.quantile_calibration_error(y, mean, std, n_levels=1, n_bins=1) == 0.5
    assert "central" in GUIDE
    assert "netcal" in type(metrics.quantile_calibration_error).__doc__
