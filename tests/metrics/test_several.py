import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(2)
P = RNG.dirichlet(np.ones(10), 30_000).astype(np.float32)
Y = RNG.integers(0, 10, len(P))


def test_equals_the_metrics_one_by_one():
    chosen = [metrics.log_loss, metrics.brier_score, metrics.expected_calibration_error]
    together = metrics.compute(chosen, Y, P)
    assert together == {m.key: m(Y, P) for m in chosen}


def test_two_metrics_of_one_key_are_told_apart():
    ece = metrics.expected_calibration_error
    assert (
        len(
            metrics.compute(
                [ece, ece.with_options(n_bins=5), ece.with_options(strategy="mass")], Y, P
            )
        )
        == 3
    )


def test_bad_rows_late_in_the_data_are_found_and_named():
    bad = P.copy()
    bad[29_999, 3] = np.nan
    with pytest.raises(InputError, match="row 29999"):
        metrics.compute([metrics.log_loss], Y, bad)
    with pytest.raises(InputError, match="row 29999"):
        metrics.log_loss(Y, bad)
    with pytest.raises(InputError, match="row 29999"):
        metrics.log_loss.state(Y, bad)
    bad[29_999] = 0.2
    with pytest.raises(InputError, match="row 29999 sums to 2"):
        metrics.brier_score(Y, bad)


def _forecasts(shape):
    rng = np.random.default_rng(3)
    mean, std = rng.normal(size=shape), np.exp(0.4 * rng.normal(size=shape))
    return mean + 1.2 * std * rng.normal(size=shape), mean, std


REGRESSION = [
    metrics.negative_log_likelihood,
    metrics.continuous_ranked_probability_score,
    metrics.coefficient_of_variation,
    metrics.interval_calibration_error,
    metrics.expected_normalized_calibration_error,
    metrics.expected_normalized_calibration_error.with_options(cells=64),
    metrics.quantile_calibration_error,
    metrics.mean_absolute_error,
]


def test_regression_metrics_equal_those_one_by_one():
    y, mean, std = _forecasts(70_000)
    weight = np.arange(70_000) % 3
    together = metrics.compute(REGRESSION, y, mean, std, sample_weight=weight)
    assert len(together) == len(REGRESSION)
    for metric, value in zip(REGRESSION, together.values(), strict=True):
        assert value == pytest.approx(metric(y, mean, std, sample_weight=weight), rel=1e-12), (
            metric.name
        )
    assert together == metrics.compute(REGRESSION, y, (mean, std), sample_weight=weight)


def test_several_outputs_have_a_number_each():
    y, mean, std = _forecasts((500, 3))
    for metric, value in zip(
        REGRESSION, metrics.compute(REGRESSION, y, mean, std).values(), strict=True
    ):
        np.testing.assert_allclose(value, metric(y, mean, std), rtol=1e-12)
    assert metrics.compute([], y, mean, std) == {}
