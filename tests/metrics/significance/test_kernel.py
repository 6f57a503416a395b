"""The kernel test: its statistic and p-value in loops, whole vectors, more rows than it takes."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant._kernels.softmax import softmax

kernel_test = metrics.kernel_calibration_test
RNG = np.random.default_rng(1)


def slow_statistic(y, P, bandwidth):
    """Mean over ordered pairs of distinct rows of exp(-|P_i - P_j| / bandwidth) <e_i - P_i, e_j
    - P_j>.
    """
    gaps, n = np.eye(P.shape[1])[y] - P, len(P)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    return sum(
        np.exp(-np.linalg.norm(P[i] - P[j]) / bandwidth) * (gaps[i] @ gaps[j]) for i, j in pairs
    ) / len(pairs)


def test_statistic_in_loops_and_as_the_metric():
    P, y = RNG.dirichlet(np.ones(3), 25), RNG.integers(0, 3, 25)
    found = kernel_test(y, P, bandwidth=0.4, n_draws=19)
    assert found.statistic == pytest.approx(slow_statistic(y, P, 0.4))
    assert found.statistic == pytest.approx(metrics.kernel_calibration_error(y, P, bandwidth=0.4))


def test_two_rows_by_hand():
    # Both gaps are (-.8, .8) and the distance is 0: the kernel is 1, the product 1.28.
    assert kernel_test(
        [1, 1], [[0.8, 0.2], [0.8, 0.2]], bandwidth=0.4, n_draws=19
    ).statistic == pytest.approx(1.28)


def test_the_p_value_is_the_share_of_drawn_labels_that_look_worse():
    """Four rows, all 16 labellings in turn: the exact p-value, which the drawn one must be near."""
    p, y = np.array([0.2, 0.4, 0.6, 0.9]), [1, 0, 1, 1]
    P = np.column_stack([1 - p, p])
    observed, exact = slow_statistic(np.array(y), P, 0.3), 0.0
    for code in range(16):
        labels = (code >> np.arange(4)) & 1
        chance = np.prod(np.where(labels == 1, p, 1 - p))
        exact += chance * (slow_statistic(labels, P, 0.3) >= observed - 1e-12)
    found = kernel_test(y, P, bandwidth=0.3, n_draws=4000).p_value
    assert 0.02 < exact < 0.98
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))


def test_calibrated_is_let_pass_and_planted_sharpness_is_not():
    rng = np.random.default_rng(2)
    logits = 2.0 * rng.normal(size=(300, 4))
    y = (rng.random((300, 1)) > softmax(logits).cumsum(axis=1)[:, :-1]).sum(axis=1)
    assert kernel_test(y, softmax(logits), n_draws=99).p_value > 0.05
    assert kernel_test(y, softmax(3.0 * logits), n_draws=99).p_value == 0.01


def test_weights_are_repetition():
    P, y, weight = RNG.dirichlet(np.ones(3), 30), RNG.integers(0, 3, 30), RNG.integers(0, 4, 30)
    weighted = kernel_test(y, P, sample_weight=weight, n_draws=39, classes=[0, 1, 2])
    assert weighted == kernel_test(
        np.repeat(y, weight), np.repeat(P, weight, axis=0), n_draws=39, classes=[0, 1, 2]
    )
    assert weighted.n == weight.sum()


def test_of_many_rows_a_sample_is_taken():
    P, y = RNG.dirichlet(np.ones(3), 300), RNG.integers(0, 3, 300)
    found = kernel_test(y, P, max_rows=50, n_draws=19)
    assert found.method == "exact, 19 draws of 50 rows"
    assert found.n == 300.0
    assert found == kernel_test(y, P, max_rows=50, n_draws=19)
    assert found.statistic != kernel_test(y, P, max_rows=50, n_draws=19, random_state=1).statistic
