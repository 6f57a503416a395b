"""The regression contract catches a calibrator that breaks it."""

import math
from typing import ClassVar

import numpy as np
import pytest

import calibrant as cb
from calibrant.contracts.tags import Tags
from calibrant.testing import check_regression_calibrator, regression_checks


class Honest(cb.RegressionCalibrator):
    """A small honest one: the root of the weighted mean of squared standardised errors, never 0."""

    tags: ClassVar[Tags] = Tags(output="distribution", exceptions={"saving": "a class of another package is in no registry"})
    learns: ClassVar[tuple[str, ...]] = ("factor_",)

    def _fit_output(self, record):
        return {"factor_": float(np.sqrt(np.average(np.square(record.standardised), weights=record.weights) + 1e-6))}

    def _predict_output(self, forecast, factor):
        return forecast.stretched(factor)


class IgnoresWeights(Honest):
    def _fit_output(self, record):
        return {"factor_": float(np.sqrt(np.mean(np.square(record.standardised)) + 1e-6))}


class LikesTheFirstRows(Honest):
    def _fit_output(self, record):
        return super()._fit_output(record.take(slice(0, 40)))


class KnowsItsUnit(Honest):
    def _fit_output(self, record):
        return {"factor_": 1.0 + float(np.average(np.abs(record.error), weights=record.weights))}


class ForgetsTheMask(Honest):
    def fit(self, mean, *rest, std=None, sample_weight=None):
        return super().fit(mean if std is None else np.asarray(mean), *rest, std=std, sample_weight=sample_weight)


class Narrow(Honest):
    def _predict_output(self, forecast, factor):
        return forecast.stretched(0.5 * factor)


class RaisesToTheNinth(Honest):
    def _fit_output(self, record):
        return {"factor_": float(np.average(np.abs(record.standardised) ** 9, weights=record.weights) ** (1.0 / 9.0) + 1e-6)}


class GrowsWithTheRows(Honest):
    def _fit_output(self, record):
        return {"factor_": super()._fit_output(record)["factor_"] + 0.0 * math.exp(record.weights.sum())}


def test_the_honest_one_passes():
    check_regression_calibrator(Honest())


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (IgnoresWeights, "weights_are_repetition"), (LikesTheFirstRows, "row_order"), (KnowsItsUnit, "units"), (Narrow, "coverage"),
        (ForgetsTheMask, "containers"),
        (RaisesToTheNinth, "extreme_forecasts"), (GrowsWithTheRows, "extreme_weights"),
    ],
)  # fmt: skip
def test_each_break_is_caught(broken, check):
    found = {c.name: c for c in regression_checks(broken())}
    with pytest.raises(AssertionError):
        found[check]()
