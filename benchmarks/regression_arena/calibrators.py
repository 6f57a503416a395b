"""Our calibrators of error bars, found by themselves: what calibrant exports. A new export is in the arena."""

import inspect

from benchmarks.arena.calibrators import Method, code_of
from benchmarks.regression_arena import answers

NOTHING = "uncalibrated"
#: Entered once more with these options; everything else has its default settings.
VARIANTS = {"ConformalIntervals": ({"score": "absolute"}, {"score": "quantile"})}


class Ours:
    """``fit(said)`` and ``answer(said)`` around one of our calibrators; None leaves the forecasts as they are."""

    def __init__(self, calibrator=None):
        self.calibrator = calibrator

    def fit(self, said):
        if self.calibrator is not None:
            self.calibrator.fit(said.forecast(), said.y)
        return self

    @property
    def status_(self):
        return getattr(self.calibrator, "status_", "")

    def answer(self, said):
        forecast = said.forecast()
        if self.calibrator is not None:
            forecast = self.calibrator.predict(forecast)
        low, high = forecast.interval(answers.LEVEL)
        answer = answers.Answer(low, high, forecast.mean, forecast.std)
        # Conformal intervals have no density, and where calibration rows are few no outer quantiles either.
        if not type(forecast).__name__.startswith("Conformal"):
            answer.quantiles, answer.log_density = forecast.quantile(answers.LEVELS), forecast.log_density(said.y)
        return answer


def discovered():
    """Doing nothing, and every exported calibrator of forecasts with its defaults and its variants."""
    import calibrant as cb

    methods = [Method(NOTHING, Ours, code=NOTHING)]
    for name in cb.__all__:
        cls = getattr(cb, name)
        if not inspect.isclass(cls) or inspect.isabstract(cls) or not issubclass(cls, cb.RegressionCalibrator):
            continue
        for options in ({}, *VARIANTS.get(name, ())):
            label = f"{name}({', '.join(map(str, options.values()))})" if options else name
            methods.append(Method(label, _maker(cls, options), code=code_of(cls)))
    return methods


def _maker(cls, options):
    return lambda: Ours(cls(**options))
