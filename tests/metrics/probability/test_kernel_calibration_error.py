import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

skce = metrics.kernel_calibration_error
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 60)
Y = RNG.integers(0, 3, 60)


def pairs(P, y, width):
    gaps = np.eye(P.shape[1])[y] - P
    kernel = np.exp(-np.linalg.norm(P[:, None] - P, axis=2) / width)
    return kernel * (gaps @ gaps.T)


def test_both_estimators_by_their_sums():
    h = pairs(P, Y, 0.5)
    n = len(Y)
    assert skce(Y, P, bandwidth=0.5) == pytest.approx(
        (h.sum() - np.trace(h)) / (n * (n - 1)), rel=1e-9
    )
    assert skce(Y, P, bandwidth=0.5, estimator="biased") == pytest.approx(h.mean(), rel=1e-9)


def test_the_median_width_is_the_median_distance():
    apart = np.linalg.norm(P[:, None] - P, axis=2)[np.triu_indices(60, 1)]
    assert skce(Y, P) == pytest.approx(skce(Y, P, bandwidth=float(np.median(apart))), rel=0.05)


def test_without_bias_a_calibrated_model_is_0_on_average():
    values, within = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        Q = rng.dirichlet(np.ones(3), 80)
        y = (rng.random((80, 1)) > np.cumsum(Q, axis=1)[:, :-1]).sum(axis=1)
        got = skce.interval(y, Q, bandwidth=0.5)
        values.append(got.value)
        within.append(got.low <= 0.0 <= got.high)
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(150)
    assert np.mean(within) > 0.9


@pytest.mark.parametrize(
    "options", [{"bandwidth": 0}, {"bandwidth": "wide"}, {"estimator": "fast"}]
)
def test_refusals(options):
    with pytest.raises(InputError, match="must be"):
        skce(Y, P, **options)
