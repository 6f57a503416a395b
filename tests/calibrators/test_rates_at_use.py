"""Class rates of unlabelled rows: what chance explains, intervals, and the test of the mixture."""

import numpy as np
import pytest

from calibrant.calibrators.label_shift import (
    MixtureGaps,
    believed,
    believed_change,
    likely_rates,
    resampled_rates,
)


def test_a_model_that_knows_nothing_keeps_the_rates_it_was_calibrated_at():
    flat = np.full((500, 2), [0.7, 0.3])
    counts, own = np.array([70.0, 30.0]), flat[:100]
    np.testing.assert_allclose(
        likely_rates(flat, counts, own, np.ones(100)) / 100.0, counts / 100.0, atol=0.005
    )


def test_a_difference_that_chance_explains_leaves_the_rates():
    rng = np.random.default_rng(0)
    own = rng.uniform(0.2, 0.8, 300)
    counts, own = np.array([150.0, 150.0]), np.column_stack([1.0 - own, own])
    # The means differ by 1.7 standard errors of their difference: the square of it is below three
    # times what chance gives it.
    moved = 1.7 * own[:, 1].std() * np.sqrt(2.0 / 300.0)
    np.testing.assert_array_equal(
        likely_rates(own + np.array([-moved, moved]), counts, own, np.ones(300)), counts
    )
    twice = likely_rates(own + 2.0 * np.array([-moved, moved]), counts, own, np.ones(300))
    assert twice[1] > 1.05 * twice[0]


def test_the_part_that_chance_explains_is_left_out_by_hand():
    assert believed(1.0, 6.0) == pytest.approx(0.5)
    assert believed(1.0, 2.0) == 0.0
    assert believed(0.0, 0.0) == 0.0
    own = np.array([[0.2, 0.8], [0.6, 0.4]])
    share, rates = np.full(2, 0.5), np.array([0.4, 0.6])
    assert believed_change(own, own, np.ones(2), rates, share) == 0.0
    assert (
        believed_change(own[[1, 1]], np.repeat(own, 500, axis=0), np.ones(1000), rates, share) < 1
    )


def test_gaps_of_the_mixture_by_hand():
    own = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    gaps = MixtureGaps(own, np.array([0, 0, 1]), np.array([[0.8, 0.2], [0.2, 0.8]]))
    found = gaps.of(np.ones(3), np.ones(2), np.array([0.5, 0.5]))
    # At scores 0.1, 0.2, 0.4, 0.7, 0.8: shares below of the new rows, less those of the mixture.
    assert found == pytest.approx(np.array([0.0, 0.5, 0.5, 0.5, 1.0]) - [0.25, 0.25, 0.5, 1.0, 1.0])
    low, high, p = resampled_rates(
        *(gaps, np.ones(3), np.ones(2), np.array([0.5, 0.5])),
        lambda w, v: np.array([0.5, 0.5]),
        level=0.9,
        n_resamples=20,
    )
    assert low.tolist() == high.tolist() == [0.5, 0.5]
    assert 1.0 / 21.0 <= p <= 1.0
