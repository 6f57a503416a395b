"""Softmax and logarithms of probabilities, where they are hard."""

import numpy as np
import pytest
from scipy import special

from calibrant._numerics import logistic as kernel
from calibrant._numerics.logistic import clipped_log_odds, clipped_logs, inner_limits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_scipys(dtype):
    logits = (10 * np.random.default_rng(0).normal(size=(50, 7))).astype(dtype)
    wide = logits.astype(np.float64)
    np.testing.assert_allclose(kernel.softmax(logits), special.softmax(wide, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        kernel.log_softmax(logits), special.log_softmax(wide, axis=1), rtol=1e-9, atol=1e-13
    )
    assert kernel.softmax(logits).dtype == np.float64


def test_huge_logits_do_not_overflow():
    logits = np.array([[1e308, -1e308, 0.0], [-1e4, -1e4, -1e4]]) / 2
    P = kernel.softmax(logits)
    np.testing.assert_allclose(P, [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-15)


def test_log_probabilities_are_the_logarithms():
    P = np.random.default_rng(0).dirichlet(np.full(4, 0.3), 100)
    np.testing.assert_allclose(kernel.log_probabilities(P), np.log(P), rtol=1e-9, atol=1e-12)


def test_the_logarithm_near_1_keeps_its_relative_precision():
    for p in (1e-9, 1e-12, 1e-15):
        logs = kernel.log_probabilities(np.array([[1.0 - p, p]]))
        assert logs[0, 0] == pytest.approx(np.log1p(-p), rel=1e-12, abs=0)


def test_exact_zeros_are_finite_and_below_everything_positive():
    P = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1.0 - 1e-20, 1e-20, 0.0]])
    logs = kernel.log_probabilities(P)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(logs[:2, 2], np.log(1e-12))
    np.testing.assert_allclose(logs[2, 1:], np.log(1e-20))
    assert (logs.argmax(axis=1) == P.argmax(axis=1)).all()


def test_log_odds_are_finite_and_exact_inside():
    p = np.array([0.0, 1e-9, 0.25, 0.5, 1.0 - 1e-9, 1.0])
    odds = kernel.log_odds(p)
    assert np.isfinite(odds).all()
    np.testing.assert_allclose(odds[1:5], special.logit(p[1:5]), rtol=1e-9, atol=1e-15)
    assert (np.diff(odds) > 0).all()


def test_the_rest_is_shared_in_proportion_or_equally():
    P = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0]])
    Q = kernel.share_rest(P, P.argmax(axis=1), np.array([0.7, 0.4]))
    np.testing.assert_allclose(Q, [[0.7, 0.18, 0.12], [0.3, 0.4, 0.3]], rtol=1e-14)


def test_inputs_are_not_written_to():
    P = np.array([[0.5, 0.5, 0.0]])
    before = P.tobytes()
    kernel.log_probabilities(P)
    kernel.normalise_rows(P)
    kernel.softmax(P)
    kernel.share_rest(P, np.array([0]), np.array([0.9]))
    assert P.tobytes() == before


def test_many_entries_are_mixed_in_blocks_as_few_are(monkeypatch):
    logits = np.random.default_rng(0).normal(size=(300, 40)).astype(np.float32) * 5
    whole = kernel.log_softmax_mixed(logits, 0.01, 1.7)
    np.testing.assert_allclose(
        np.exp(whole), 0.99 * kernel.softmax(logits * 1.7) + 0.01 / 40, rtol=1e-6
    )
    monkeypatch.setattr(kernel, "SINGLE_ENTRIES", 1_000)
    monkeypatch.setattr(kernel, "BLOCK_ENTRIES", 4_000)
    blocked = kernel.log_softmax_mixed(logits, 0.01, 1.7)
    assert blocked.dtype == np.float32
    np.testing.assert_allclose(blocked, whole, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        kernel.log_softmax_mixed(logits.astype(np.float64), 0.01, 1.7), whole, atol=1e-5
    )


@pytest.mark.parametrize(
    ("shape", "turned"),
    [((32, 4), True), ((31, 4), False), ((256, 32), True), ((2000, 33), False), ((8, 1), True)],
)
def test_many_rows_of_few_classes_are_laid_out_class_by_class(shape, turned):
    values = np.arange(float(np.prod(shape))).reshape(shape)
    found = kernel.by_class(values)
    np.testing.assert_array_equal(found, values)
    assert (found is not values or shape[1] == 1) == turned
    assert found.flags.f_contiguous == turned
    assert kernel.by_class(values[:, 0]).shape == (shape[0],)


# -- exact scores -------------------------------------------------------------------------------
# Where exact zeros and ones are put, by hand.


def test_without_exact_scores_nothing_is_moved():
    assert inner_limits(np.array([0.2, 0.9]), 10.0) == (1e-12, 1e-12)


def test_zeros_are_half_of_the_smallest_score_otherwise():
    assert inner_limits(np.array([0.0, 0.04, 0.9]), 100.0) == (0.02, 1e-12)
    assert inner_limits(np.array([1e-12, 0.04, 0.9]), 100.0)[0] == 0.02
    assert inner_limits(np.array([1.5e-12, 0.04, 0.9]), 100.0)[0] == 0.02
    # Not below 1 / (2 n^2), and at most a quarter.
    assert inner_limits(np.array([0.0, 1e-9, 0.9]), 100.0)[0] == 0.5 / 100.0**2
    assert inner_limits(np.array([0.0, 1e-9, 0.9]), 100.0, 1.0)[0] == 0.5 / 100.0
    assert inner_limits(np.array([0.0, 0.1]), 1.0)[0] == 0.25


def test_ones_are_half_of_the_smallest_gap_otherwise():
    low, gap = inner_limits(np.array([0.3, 0.96, 1.0]), 100.0)
    np.testing.assert_allclose([low, gap], [1e-12, 0.02])
    np.testing.assert_allclose(inner_limits(np.array([0.3, 0.96, 1.0 - 1.5e-12]), 100.0)[1], 0.02)
    assert inner_limits(np.array([0.3, 1.0 - 1e-9, 1.0]), 100.0)[1] == 0.5 / 100.0**2
    np.testing.assert_allclose(inner_limits(np.array([0.0, 0.25, 1.0]), 100.0), (0.125, 0.375))


def test_where_all_scores_are_exact_there_is_nothing_to_halve():
    assert inner_limits(np.array([0.0, 0.0]), 10.0) == (1e-12, 1e-12)
    assert inner_limits(np.array([1.0, 1.0]), 10.0) == (1e-12, 1e-12)
    assert inner_limits(np.array([0.0, 1.0]), 10.0) == (1e-12, 1e-12)


def test_logs_of_what_is_kept_inside():
    s = np.array([0.0, 0.3, 1.0])
    first, second = clipped_logs(s, (0.1, 0.2))
    np.testing.assert_allclose(first, np.log([0.1, 0.3, 0.8]))
    np.testing.assert_allclose(second, np.log([0.9, 0.7, 0.2]))
    np.testing.assert_allclose(clipped_log_odds(s, (0.1, 0.2)), np.log([0.1 / 0.9, 0.3 / 0.7, 4.0]))
