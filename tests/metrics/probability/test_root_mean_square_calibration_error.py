"""Root mean square gap over the bins: known answers, and where it lies among the other norms."""

import numpy as np
import pytest

from calibrant import metrics

rmsce = metrics.root_mean_square_calibration_error
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 200)
Y = RNG.integers(0, 3, 200)


def test_by_hand():
    Q = [[0.6, 0.3, 0.1], [0.55, 0.35, 0.1], [0.1, 0.9, 0.0]]
    # Bins [.5, .6), [.6, .7), [.9, 1]: gaps .55 - 1, .6 - 0, .9 - 1.
    assert rmsce([1, 0, 1], Q, n_bins=10) == pytest.approx(np.sqrt((0.45**2 + 0.6**2 + 0.1**2) / 3))
    # One bin: the gaps cancel before they are squared.
    assert rmsce([1, 0, 1], Q, n_bins=1) == pytest.approx(abs((0.6 + 0.55 + 0.9) / 3 - 2 / 3))


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_by_loops(strategy):
    confidence, right = P.max(axis=1), P.argmax(axis=1) == Y
    order = np.argsort(confidence)
    width = [order[np.floor(confidence[order] * 5).clip(max=4) == b] for b in range(5)]
    parts = np.array_split(order, 5) if strategy == "mass" else width
    total = sum(len(i) * (confidence[i].mean() - right[i].mean()) ** 2 for i in parts if len(i))
    assert rmsce(Y, P, strategy=strategy, n_bins=5) == pytest.approx(np.sqrt(total / len(Y)))


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_it_is_the_expected_error_with_another_norm_and_between_mean_and_maximum(strategy):
    options = {"strategy": strategy}
    assert rmsce(Y, P, **options) == metrics.expected_calibration_error(Y, P, norm=2, **options)
    assert rmsce(Y, P, norm=1, **options) == metrics.expected_calibration_error(Y, P, **options)
    mean, largest = (
        metrics.expected_calibration_error(Y, P, **options),
        metrics.maximum_calibration_error(Y, P, **options),
    )
    assert mean < rmsce(Y, P, **options) < largest


def test_edges():
    assert rmsce([0, 0, 0, 1], np.tile([0.75, 0.25], (4, 1))) == 0.0
    assert rmsce([0, 1, 1, 0], np.eye(2)[[0, 1, 0, 0]]) == pytest.approx(0.25)
    assert rmsce([1], [0.3]) == pytest.approx(0.7)


def test_weights_are_repetition():
    weight = RNG.integers(0, 4, 200)
    assert rmsce(Y, P, sample_weight=weight) == pytest.approx(
        rmsce(np.repeat(Y, weight), np.repeat(P, weight, axis=0))
    )


def test_a_planted_error_is_found():
    """Right 0.2 less often than said above 0.8, as often as said below: 0.2 times the root of
    that share.
    """
    rng = np.random.default_rng(2)
    p = rng.uniform(0.5, 1.0, 40_000)
    y = (rng.random(40_000) < p - 0.2 * (p >= 0.8)).astype(int)
    assert rmsce(y, p, n_bins=10) == pytest.approx(0.2 * np.sqrt(0.4), abs=0.01)
