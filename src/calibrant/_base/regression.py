"""The template of a regression calibrator: the door, then one fit for each output."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._base.calibrator import require_fitted
from calibrant._base.saving import Saved
from calibrant._base.tags import Tags
from calibrant._base.trial import require_valid, trial
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.outputs import join_outputs
from calibrant.forecasts.read import ForecastRecord, as_forecast, read_forecast

__all__ = ["RegressionCalibrator"]


class RegressionCalibrator(Saved, BaseEstimator, ABC):
    """Base of all calibrators of predictive distributions.

    A method writes ``_fit_output(record)``, which returns what it learned from one output as a dict with the names in ``learns`` (and
    "status"), and ``_predict_output(forecast, **learned)``. The template reads the input and goes through the outputs: what is learned is
    stored as it is for (n,) forecasts, and as an array (of numbers) or list with one entry for each output for (n, d).
    """

    tags: ClassVar[Tags] = Tags(output="distribution")
    learns: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _examples(cls) -> list["RegressionCalibrator"]:
        """Instances for the contract suite: one for each way of working that differs in code."""
        return [cls()]

    @abstractmethod
    def _fit_output(self, record: ForecastRecord) -> dict: ...

    @abstractmethod
    def _predict_output(self, forecast: Forecast, **learned) -> Forecast: ...

    def fit(self, forecast, *rest, sample_weight=None):
        """Fit on held-out forecasts and what came true: ``fit(forecast, y)``, or ``fit(mean, std, y)`` for normal forecasts.

        Parameters
        ----------
        forecast : Forecast, (mean, std) tuple, frozen scipy distribution; or the means, (n,) or (n, d)
        *rest : y; or std and y, of the shape of the forecast
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.

        Returns
        -------
        self
        """
        if len(rest) not in (1, 2):
            raise InputError(f"fit takes (forecast, y) or (mean, std, y); got {1 + len(rest)} arguments.")
        y = rest[-1]
        if y is None:
            raise InputError("y must be the outcomes, of the shape of the forecast; got None.")
        record = read_forecast(forecast, rest[0] if len(rest) == 2 else None, y, sample_weight=sample_weight)
        self._check()
        self.n_outputs_ = 0 if len(record.forecast.shape) == 1 else record.forecast.shape[1]
        learned = [self._fit_output(output) for output in record.outputs()]
        self.status_ = "; ".join(dict.fromkeys(each.pop("status", "exact") for each in learned))
        for name in self.learns:
            setattr(self, name, _gathered([each[name] for each in learned], self.n_outputs_))
        return self

    def _check(self):
        """Options that cannot work raise InputError here."""

    def predict(self, forecast, std=None) -> Forecast:
        """The calibrated predictive distributions: ``predict(forecast)``, or ``predict(mean, std)`` for normal forecasts.

        Returns
        -------
        Forecast
            With ``mean``, ``std``, ``quantile(q)``, ``cdf(y)``, ``interval(level)`` and ``sample(n, random_state)``.
        """
        require_fitted(self, "n_outputs_")
        forecast = as_forecast(forecast, std)
        if (len(forecast.shape) == 1) != (self.n_outputs_ == 0) or (self.n_outputs_ and forecast.shape[1] != self.n_outputs_):
            fitted = f"(n, {self.n_outputs_})" if self.n_outputs_ else "(n,)"
            raise InputError(f"the forecast must be {fitted}, as in fit; got shape {forecast.shape}.")
        columns = [
            self._predict_output(forecast.column(j), **{name.rstrip("_"): self._of(name, j) for name in self.learns})
            for j in range(max(self.n_outputs_, 1))
        ]
        return join_outputs(columns, forecast.shape)

    def _of(self, name, j):
        value = getattr(self, name)
        return value[j] if self.n_outputs_ else value


def _gathered(values, n_outputs):
    if not n_outputs:
        return values[0]
    return np.array(values) if all(isinstance(v, float) for v in values) else values


@trial.register
def _(calibrator: RegressionCalibrator):
    d, held = calibrator.n_outputs_, [getattr(calibrator, name) for name in calibrator.learns]
    if not held:
        return
    if d and any(len(values) != d for values in held):
        raise ValueError(f"it says {d} outputs and holds others")
    forecast = calibrator.predict(np.linspace(-1.0, 1.0, 3 * max(d, 1)).reshape((3, d) if d else 3), np.ones((3, d) if d else 3))
    for values in (forecast.mean, forecast.std, *forecast.interval(0.8)):
        require_valid(values, forecast.shape)
