"""Our calibrators of error bars, found by themselves: what calibrant exports. A new export is in
the arena.
"""

import numpy as np
from benchmarks.arena.calibrators import Method, code_of
from benchmarks.regression_arena import answers

NOTHING = "ForecastIdentity"
#: Entered once more with these options; everything else has its default settings.
VARIANTS = {
    "ConformalIntervals": (
        {"score": "absolute"},
        {"score": "quantile", "levels": (0.5, 0.9, 0.99)},
    ),
    "DistributionRecalibration": ({"spread_by": "mean"},),
}


class Ours:
    """``fit(said)`` and ``answer(said)`` around one of our calibrators."""

    def __init__(self, calibrator):
        self.calibrator = calibrator

    def fit(self, said):
        self.calibrator.fit(said.forecast(), said.y)
        return self

    @property
    def status_(self):
        return self.calibrator.status_

    def answer(self, said):
        forecast = self.calibrator.predict(said.forecast())
        low, high = forecast.interval(answers.LEVEL)
        others = np.array([forecast.interval(level) for level in answers.OTHERS])
        answer = answers.Answer(low, high, forecast.mean, forecast.std, others=others)
        # Conformal intervals have no density, and where calibration rows are few no outer quantiles
        # either.
        if not type(forecast).__name__.startswith("Conformal"):
            answer.quantiles, answer.log_density = (
                forecast.quantile(answers.LEVELS),
                forecast.log_density(said.y),
            )
        return answer


def discovered():
    """Every exported calibrator of forecasts with its defaults and its variants, doing nothing
    among them.
    """
    import calibrant as cb
    from calibrant.core.estimators import offered

    methods = []
    for cls in offered(cb.core.RegressionCalibrator):
        name = cls.__name__
        for options in ({}, *VARIANTS.get(name, ())):
            label = f"{name}({next(iter(options.values()))})" if options else name
            methods.append(Method(label, _maker(cls, options), code=code_of(cls)))
    return methods


def _maker(cls, options):
    return lambda: Ours(cls(**options))
