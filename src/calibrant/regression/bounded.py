"""Calibration of bounded outcomes on a transformed scale without bounds."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from calibrant.core.calibrator import Tags
from calibrant.core.estimators import require_valid, trial
from calibrant.core.forecast_record import read_forecast
from calibrant.core.kinds import require_regression_calibrator
from calibrant.core.quantile_forecast import BoundedForecast, Bounds
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError
from calibrant.regression.variance import StdScaling

__all__ = ["BoundedOutcomes"]


class BoundedOutcomes(
    RegressionCalibrator,
    family="whole distributions",
    use="A calibrator for outcomes with bounds",
):
    r"""Fit a calibrator on a scale where outcomes have no bounds, and map its forecasts back inside
    the bounds.

    .. math:: x = \log(y - a), \quad x = -\log(b - y), \quad \text{or} \quad x =
        \Phi^{-1}\left(\frac{y - a}{b - a}\right)

    with a lower bound a, an upper bound b, or both.

    Parameters
    ----------
    calibrator : RegressionCalibrator, optional
        Default ``StdScaling()``.
    lower : float or None, default 0.0
    upper : float or None
        Every outcome lies strictly between the bounds; the same ones for all outputs.

    Attributes
    ----------
    calibrator_ : fitted RegressionCalibrator, or a list with one for each of d outputs
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : the status of the calibrator.

    Raises
    ------
    InputError
        For outcomes, means, quantiles or draws at or beyond a bound, and for a std that no
        distribution within the bounds has.

    See Also
    --------
    StdScaling, QuantileRecalibration : calibrators to use inside.
    metrics.randomised_pit : for counts.

    Notes
    -----
    Use it for positive amounts, prices, durations, and for shares. Mean and std are read as those
    of a lognormal distribution, or of a normal score between two bounds; the uncalibrated forecast
    keeps both. Quantiles and samples are mapped directly. Outcomes that are often exactly 0 or 1
    need a separate model of these values and are refused.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.uniform(1.0, 5.0, 200)
    >>> y = mean * np.exp(rng.normal(size=200))
    >>> cal = BoundedOutcomes().fit(mean, y, std=0.2 * mean)
    >>> low, high = cal.predict([1.0], [0.2]).interval(0.99)
    >>> bool(low[0] > 0.0), bool(high[0] > 5.0)
    (True, True)
    """

    tags: ClassVar[Tags] = Tags(
        output="distribution",
        label="calibration on a scale without bounds",
        exceptions={
            "units": "the bounds are in the units of the outcomes and must be set anew",
            "extreme_forecasts": "forecasts beyond the bounds are refused",
        },
    )
    learns: ClassVar[tuple[str, ...]] = ("calibrator_",)
    calibrator_: Any

    def __init__(
        self,
        calibrator: RegressionCalibrator | None = None,
        *,
        lower: float | None = 0.0,
        upper: float | None = None,
    ) -> None:
        self.calibrator: RegressionCalibrator | None = calibrator
        self.lower: float | None = lower
        self.upper: float | None = upper

    @classmethod
    def _examples(cls) -> "list[BoundedOutcomes]":
        return [cls(lower=-1e5), cls(lower=None, upper=1e5), cls(lower=-1e5, upper=1e5)]

    def _check(self) -> None:
        if self.calibrator is not None:
            require_regression_calibrator(self.calibrator)
        ends = [end for end in (self.lower, self.upper) if end is not None]
        numbers = all(
            isinstance(end, float | int) and not isinstance(end, bool) and np.isfinite(end)
            for end in ends
        )
        if not (ends and numbers and ends == sorted(set(ends))):
            raise InputError(
                "lower and upper must be numbers in this order, with at most one None; got"
                f" {self.lower!r} and {self.upper!r}; without bounds use the calibrator directly."
            )

    @property
    def _bounds(self) -> Bounds:
        return Bounds(self.lower, self.upper)

    def _fit_output(self, record: Any) -> dict[str, Any]:
        self._bounds.require_inside(record.y, "y")
        opened = replace(
            record, forecast=self._bounds.opened(record.forecast), y=self._bounds.forward(record.y)
        )
        inner = clone(StdScaling() if self.calibrator is None else self.calibrator).fit_record(
            opened
        )
        return {"calibrator_": inner, "status": inner.status_}

    def _predict_output(self, forecast: Any, calibrator: StdScaling) -> BoundedForecast:
        return BoundedForecast(
            calibrator.predict_record(read_forecast(self._bounds.opened(forecast))), self._bounds
        )


@trial.register
def _(bounded: BoundedOutcomes) -> None:
    bounds, d = Bounds(bounded.lower, bounded.upper), max(bounded.n_outputs_, 1)
    x = np.linspace(-1.0, 1.0, 3 * d).reshape((3, d) if bounded.n_outputs_ else 3)
    forecast = bounded.predict(
        bounds.back(x),
        np.full(
            x.shape, 1e-3 * (bounds.width if None not in (bounds.lower, bounds.upper) else 1.0)
        ),
    )
    require_valid(forecast.mean, x.shape)
