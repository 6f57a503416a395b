"""Calibrated within a margin, with a p-value."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

equivalent = metrics.calibration_equivalence_test


def drawn(seed, n, shift=0.0, tilt=0.0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.35, n)
    y = (rng.random(n) < np.clip(p + shift + tilt * (p > 0.29), 0.0, 1.0)).astype(int)
    return y, p


def test_at_the_margin_it_says_so_in_at_most_5_of_100_samples():
    said = [
        equivalent(*drawn(seed, 1500, shift=side * 0.05), margin=0.05, n_bins=1).p_value < 0.05
        for seed in range(200)
        for side in (-1, 1)
    ]
    assert np.mean(said) <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / len(said))


def test_one_bin_that_is_off_is_enough_against_it():
    assert (
        np.mean(
            [
                equivalent(*drawn(seed, 4000, tilt=0.12), margin=0.05).p_value < 0.05
                for seed in range(40)
            ]
        )
        <= 0.1
    )


def test_many_calibrated_rows_say_it():
    found = equivalent(*drawn(0, 30_000), margin=0.03)
    assert found.p_value < 1e-3
    assert found.statistic < 0.02
    assert found.method == "5 bins of equal weight"
    assert equivalent(*drawn(0, 60), margin=0.03).p_value > 0.05


def test_rows_of_a_cluster_say_less_and_a_weight_is_a_repetition():
    y, p = drawn(1, 4000)
    alone = equivalent(y, p, margin=0.05, n_bins=2).p_value
    again = np.tile(np.arange(4000), 3)
    assert equivalent(
        y[again], p[again], margin=0.05, n_bins=2, cluster=again
    ).p_value == pytest.approx(alone, rel=0.2)
    assert equivalent(y, p, margin=0.05, sample_weight=np.full(4000, 3.0)).p_value == pytest.approx(
        equivalent(y[again], p[again], margin=0.05).p_value
    )


def test_wrong_options_are_refused():
    y, p = drawn(0, 50)
    with pytest.raises(InputError, match="margin"):
        equivalent(y, p, margin=0.0)
    with pytest.raises(InputError, match="n_bins must be at most"):
        equivalent(y[:3], p[:3])
