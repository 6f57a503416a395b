"""What is compared: nothing, the paper's two methods, and the two it names and does not test."""

import calibrant as cb

METHODS = {
    "before": None,
    "STD scaling": cb.StdScaling(),
    "interval": cb.regression.IntervalCalibration(),
    "isotonic variance": cb.regression.IsotonicVariance(),
    "variance binning": cb.regression.VarianceBinning(),
}


def forecast(name, problem):
    """The forecast of the rows to test, calibrated on the rows to recalibrate by the method
    ``name``.
    """
    mean, std, _, _ = problem.test
    if METHODS[name] is None:
        return cb.NormalForecast(mean, std)
    return METHODS[name].fit(problem.fit[:2], problem.fit[2]).predict(mean, std)
