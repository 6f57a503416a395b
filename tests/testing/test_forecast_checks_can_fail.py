"""Each check of a calibrator of forecasts catches one that breaks exactly what it is about."""

import math
from typing import ClassVar

import numpy as np
import pytest

import calibrant as cb
from calibrant.core import Guarantee
from calibrant.core.calibrator import Tags
from calibrant.core.forecast import NormalForecast
from calibrant.core.forecast_record import as_forecast
from calibrant.testing import calibrator_checks, check_calibrator


@cb.core.register
class Honest(cb.core.RegressionCalibrator):
    """A small honest one: the root of the weighted mean of squared standardised errors, never 0."""

    tags: ClassVar[Tags] = Tags(output="distribution")
    learns: ClassVar[tuple[str, ...]] = ("factor_",)

    def _fit_output(self, record):
        return {
            "factor_": float(
                np.sqrt(np.average(np.square(record.standardised), weights=record.weights) + 1e-6)
            )
        }

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
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        return super().fit(
            np.asarray(forecast) if std is not None else forecast,
            y,
            *more,
            std=std,
            sample_weight=sample_weight,
        )


class Narrow(Honest):
    def _predict_output(self, forecast, factor):
        return forecast.stretched(0.5 * factor)


class SaysItWrongly(Honest):
    def _expression(self, forecast, factor):
        return forecast.stretched(1.01 * factor)


class RaisesToTheNinth(Honest):
    def _fit_output(self, record):
        return {
            "factor_": float(
                np.average(np.abs(record.standardised) ** 9, weights=record.weights) ** (1.0 / 9.0)
                + 1e-6
            )
        }


class GrowsWithTheRows(Honest):
    def _fit_output(self, record):
        return {
            "factor_": super()._fit_output(record)["factor_"] + 0.0 * math.exp(record.weights.sum())
        }


class FitsAnother(Honest):
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        return Honest().fit(forecast, y, *more, std=std, sample_weight=sample_weight)


class Accumulates(Honest):
    def _fit_output(self, record):
        before = np.mean(getattr(self, "factor_", 0.0))
        return {"factor_": super()._fit_output(record)["factor_"] + before}


class Learned(Honest):
    def __init__(self):
        self.learned_ = 1


class WritesToItsInput(Honest):
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        super().fit(forecast, y, *more, std=std, sample_weight=sample_weight)
        y[:1] += 1.0
        return self


class GlobalGenerator(Honest):
    def _fit_output(self, record):
        return {"factor_": super()._fit_output(record)["factor_"] + 1e-9 * np.random.rand()}  # noqa: NPY002


@cb.core.register
class ForgetsOnSaving(Honest):
    def __getstate__(self):
        return {
            **vars(self),
            **({"factor_": np.ones_like(self.factor_)} if hasattr(self, "factor_") else {}),
        }


class DistrustsNarrowFloats(Honest):
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        super().fit(forecast, y, *more, std=std, sample_weight=sample_weight)
        self.factor_ = self.factor_ * (1.001 if getattr(y, "dtype", None) == np.float32 else 1.0)
        return self


class LooksAtTheBatch(Honest):
    def _predict_output(self, forecast, factor):
        return forecast.stretched(factor * forecast.std.mean())


class NeedsNoFit(Honest):
    def predict(self, forecast, std=None):
        return as_forecast(forecast, std)


class Draws(NormalForecast):
    """Draws another sample each time."""

    def sample(self, n=1, random_state=None):
        return np.random.default_rng().normal(size=(*self.shape, n))


class SamplesAnew(Honest):
    def predict(self, forecast, std=None):
        out = super().predict(forecast, std)
        return Draws(out.mean, out.std) if isinstance(out, NormalForecast) else out


class KnowsNoPairs(Honest):
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        super().fit(forecast, y, *more, std=std, sample_weight=sample_weight)
        self.factor_ = self.factor_ * (1.001 if isinstance(forecast, tuple) else 1.0)
        return self


class MixesOutputs(Honest):
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        super().fit(forecast, y, *more, std=std, sample_weight=sample_weight)
        self.factor_ = (
            np.full_like(self.factor_, np.mean(self.factor_)) if self.n_outputs_ else self.factor_
        )
        return self


class NeedsThreeRows(Honest):
    def _fit_output(self, record):
        return {"factor_": super()._fit_output(record)["factor_"] if len(record) > 2 else 0.0}


class NeedsDistinctStd(Honest):
    def _fit_output(self, record):
        return {
            "factor_": super()._fit_output(record)["factor_"]
            if np.ptp(record.std) > 0.0
            else np.nan
        }


class NeedsErrors(Honest):
    def _fit_output(self, record):
        return {
            "factor_": float(
                np.sqrt(np.average(np.square(record.standardised), weights=record.weights))
            )
        }


class CutsWildErrors(Honest):
    def _fit_output(self, record):
        return {"factor_": min(super()._fit_output(record)["factor_"], 10.0)}


class TakesAnyStd(Honest):
    def fit(self, forecast, y=None, *more, std=None, sample_weight=None):
        std = None if std is None else np.where(np.asarray(std) > 0.0, std, 1.0)
        return super().fit(forecast, y, *more, std=std, sample_weight=sample_weight)


class Promises(Honest):
    """Says of intervals that hold about what they say for normal errors that they do for any."""

    def _guarantee(self, level):
        return Guarantee(
            "marginal",
            "coverage",
            "new rows",
            "rows are exchangeable",
            n=self.n_rows_,
            least=level,
            most=level,
        )


BROKEN = {
    "output_is_valid": FitsAnother,
    "weights_are_repetition": IgnoresWeights,
    "row_order": LikesTheFirstRows,
    "fit_twice": Accumulates,
    "clone_and_parameters": Learned,
    "inputs_untouched": WritesToItsInput,
    "determinism": GlobalGenerator,
    "saving": ForgetsOnSaving,
    "narrow_floats": DistrustsNarrowFloats,
    "rows_are_independent": LooksAtTheBatch,
    "unfitted": NeedsNoFit,
    "containers": ForgetsTheMask,
    "sampling": SamplesAnew,
    "shorthand": KnowsNoPairs,
    "outputs_are_independent": MixesOutputs,
    "units": KnowsItsUnit,
    "few_rows": NeedsThreeRows,
    "constant_std": NeedsDistinctStd,
    "no_error": NeedsErrors,
    "wild_errors": CutsWildErrors,
    "coverage": Narrow,
    "bad_std": TakesAnyStd,
    "extreme_forecasts": RaisesToTheNinth,
    "extreme_weights": GrowsWithTheRows,
    "promise": Promises,
    "forecast_expression": SaysItWrongly,
}


def test_the_honest_one_passes():
    check_calibrator(Honest())


@pytest.mark.parametrize("name", BROKEN)
def test_each_break_is_caught(name):
    found = {check.name: check for check in calibrator_checks(BROKEN[name]())}
    with pytest.raises(AssertionError):
        found[name]()


def test_every_check_has_its_break():
    assert {check.name for check in calibrator_checks(Honest())} == set(BROKEN)
