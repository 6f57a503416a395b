import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

ace = metrics.adaptive_calibration_error
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.full(3, 0.3), 300)
Y = np.array([RNG.choice(3, p=p) for p in P])


def written_out(threshold):
    errors = []
    for k in range(3):
        rows = np.flatnonzero(P[:, k] > threshold)
        rows = rows[np.argsort(P[rows, k])]
        part = ((np.arange(len(rows)) + 0.5) / len(rows) * 10).astype(int)
        errors.append(
            np.mean(
                [
                    abs(np.mean(Y[rows[part == b]] == k) - P[rows[part == b], k].mean())
                    for b in range(10)
                ]
            )
        )
    return np.mean(errors)


@pytest.mark.parametrize("threshold", [0.0, 0.01])
def test_by_its_formula(threshold):
    assert ace(Y, P, n_bins=10, threshold=threshold) == pytest.approx(
        written_out(threshold), abs=1e-12
    )


def test_a_class_below_the_threshold_counts_nothing():
    assert ace([0, 0], [[0.999, 0.001], [0.999, 0.001]], threshold=0.01) == pytest.approx(0.0005)


def test_refusals():
    with pytest.raises(InputError, match="threshold must be"):
        ace(Y, P, threshold=1.0)
