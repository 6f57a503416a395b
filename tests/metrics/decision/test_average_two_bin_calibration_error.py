"""ATB against its definition, and truthful: no report does better in expectation, by enumeration
of small problems.
"""

from itertools import product

import numpy as np
import pytest

from calibrant import metrics

atb = metrics.average_two_bin_calibration_error
REPORTS = (0.0, 0.05, 0.3, 0.5, 0.6, 0.95, 1.0)
P = np.array([0.1, 0.3, 0.6, 0.9])


def expected(metric, truth, said):
    """Over all outcomes, each with its probability."""
    value = 0.0
    for y in product((0, 1), repeat=len(truth)):
        chance = np.prod(np.where(y, truth, 1.0 - np.asarray(truth)))
        value += chance * metric(y, np.asarray(said))
    return value


def test_equals_the_integral_over_cuts():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(50), 2)
    y, weight, theta = (
        rng.integers(0, 2, 50),
        rng.integers(1, 4, 50),
        (np.arange(100_000) + 0.5) / 100_000,
    )
    below = (weight * (y - p)) @ (p[:, None] < theta)
    squares = below**2 + ((weight * (y - p)).sum() - below) ** 2
    assert atb(y, p, sample_weight=weight) == pytest.approx(
        squares.mean() / weight.sum() ** 2, abs=1e-12
    )


@pytest.mark.parametrize("cells", [0, 8])
@pytest.mark.parametrize("truth", [(0.1, 0.35, 0.6), (0.5, 0.5, 0.9), (0.0, 0.2, 1.0)])
def test_nobody_gains_by_misreporting(cells, truth):
    metric = atb.with_options(cells=cells)
    best = expected(metric, truth, truth)
    assert best == pytest.approx(np.sum(np.array(truth) * (1 - np.array(truth))) / 9)
    assert min(expected(metric, truth, said) for said in product(REPORTS, repeat=3)) >= best - 1e-12


def test_rounding_games_the_ece_and_not_atb():
    ece = metrics.positive_class_calibration_error.with_options(n_bins=1000)
    rounded, pushed = [0.0, 0.5, 0.5, 1.0], [0.05, 0.3, 0.6, 0.95]
    assert [expected(atb, P, said) for said in (P, rounded, pushed)] == pytest.approx(
        [0.039375, 0.04125, 0.03965625]
    )
    assert [expected(ece, P, said) for said in (P, rounded, np.full(4, P.mean()))] == pytest.approx(
        [0.315, 0.165, 0.1491], abs=1e-4
    )


MEASURES = {
    name: metric
    for name in metrics.__all__
    if hasattr(metric := getattr(metrics, name), "promises")
}
#: Of every measure that is not truthful: what is reported in place of P and lowers it.
COARSE = (P, (0.2, 0.2, 0.75, 0.75))


@pytest.mark.parametrize("name", MEASURES)
def test_truthful_as_declared(name):
    metric = MEASURES[name]
    # Of binned ones, that of P(class 1), with a bin for each distinct value.
    binned = hasattr(metric, "norm") and metrics.positive_class_calibration_error.with_options(
        n_bins=1000, norm=metric.norm
    )
    metric = binned or metric.with_options(target="event")
    truth, said = COARSE if name != "smooth_calibration_error" else (P, (0.0, 0.5, 0.5, 1.0))
    gains = expected(metric, truth, said) < expected(metric, truth, truth) - 1e-6
    assert gains == (MEASURES[name].promises.truthful == "no")


@pytest.mark.parametrize("name", MEASURES)
def test_testable_as_declared(name):
    """Of calibrated scores that are all distinct, what can be estimated is next to 0."""
    rng = np.random.default_rng(5)
    p = rng.random(4000)
    y = (rng.random(4000) < p).astype(int)
    options = {"n_bins": 10**6} if hasattr(MEASURES[name], "norm") else {"target": "event"}
    assert (MEASURES[name](y, p, **options) < 0.03) == (MEASURES[name].promises.testable == "yes")


def test_the_grid_is_within_what_is_said():
    rng = np.random.default_rng(1)
    for _ in range(20):
        p = rng.beta(*rng.uniform(0.2, 3, 2), 300)
        y = (rng.random(300) < np.clip(p + rng.normal(0, 0.3), 0, 1)).astype(int)
        bound = 2.0 * np.mean(np.abs(y - p)) ** 2 / 64
        assert abs(atb(y, p, cells=64) - atb(y, p)) <= bound
