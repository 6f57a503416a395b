"""What each measure of calibration promises, by enumeration of small problems."""

from itertools import product

import numpy as np
import pytest

from calibrant import metrics

P = np.array([0.1, 0.3, 0.6, 0.9])


def expected(metric, truth, said):
    """Over all outcomes, each with its probability."""
    value = 0.0
    for y in product((0, 1), repeat=len(truth)):
        chance = np.prod(np.where(y, truth, 1.0 - np.asarray(truth)))
        value += chance * metric(y, np.asarray(said))
    return value


def test_rounding_games_the_ece_and_not_the_brier_score():
    ece = metrics.positive_class_calibration_error.with_options(n_bins=1000)
    reports = P, [0.0, 0.5, 0.5, 1.0], np.full(4, P.mean())
    assert [expected(ece, P, said) for said in reports] == pytest.approx(
        [0.315, 0.165, 0.1491], abs=1e-4
    )
    assert [expected(metrics.event_brier_score, P, said) for said in reports] == pytest.approx(
        [0.1575, 0.175, 0.249375]
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
