"""The template of a regression calibrator: the door, then one fit for each output."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.trial import require_valid, trial
from calibrant.arrays import column_names
from calibrant.contracts.calibrator import require_fitted
from calibrant.contracts.domain import Domain
from calibrant.contracts.domain_calibrator import DomainCalibrator
from calibrant.contracts.expression import Expression
from calibrant.contracts.guarantee import Guarantee
from calibrant.contracts.reading import REGRESSION
from calibrant.contracts.symbolic_forecast import (
    SymbolicAverage,
    SymbolicBins,
    SymbolicForecast,
    symbolic_forecast,
)
from calibrant.contracts.tags import Tags
from calibrant.errors import InputError, SparseDataWarning
from calibrant.forecasts.forecast import Forecast, require_level
from calibrant.forecasts.normal import require_order
from calibrant.forecasts.parts import join_outputs
from calibrant.forecasts.read import ForecastRecord, read_forecast

__all__ = ["RegressionCalibrator", "try_forecasts"]


class RegressionCalibrator(DomainCalibrator):
    """Base of all calibrators of predictive distributions.

    A method writes ``_fit_output(record)``, which returns what it learned from one output as a dict
    with the names in ``learns`` (and "status"), and ``_predict_output(forecast, **learned)``; or
    ``_predict_rows(record, **learned)`` where it looks at more of a row than its forecast. The
    template reads the input and goes through the outputs: what is learned is stored as it is for
    (n,) forecasts, and as an array (of numbers) or list with one entry for each output for (n, d).

    See Also
    --------
    StdScaling, AutoRegressionCalibrator : two that are ready.
    Calibrator : the same for class probabilities.
    """

    domain: ClassVar[Domain] = REGRESSION
    tags: ClassVar[Tags] = Tags(output="distribution")
    learns: ClassVar[tuple[str, ...]] = ()
    #: Names of the d outputs, where a frame said them in fit; older files have none.
    output_names_: list[str] | None = None
    #: Calibration rows, by weight; older files do not say.
    n_rows_: float | None = None

    @abstractmethod
    def _fit_output(self, record: ForecastRecord) -> dict[str, Any]: ...

    def _predict_output(self, forecast: Forecast, **learned: Any) -> Forecast:
        raise TypeError(f"{type(self).__name__} must write _predict_output or _predict_rows.")

    def fit(
        self,
        forecast: Any,
        y: ArrayLike,
        *more: Any,
        std: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
    ) -> Self:
        """Fit on held-out forecasts and what came true: ``fit(forecast, y)``, or
        ``fit(mean, y, std=std)`` for normal forecasts.

        The columns of a frame of means, else of outcomes, are kept as ``output_names_``;
        ``predict`` refuses them in another order.

        Parameters
        ----------
        forecast : Forecast, (mean, std) tuple, frozen scipy distribution; or the means with
            ``std``, (n,) or (n, d)
        y : outcomes, of the shape of the forecast
        std : as the means, optional
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        groups : (n,) labels, (n, c) of them, or a frame of n rows, for calibrators that use them.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For three positional arguments, which were (mean, std, y) once: nobody's outcomes are
            taken for standard deviations.
        """
        return self.fit_record(self._read_to_fit(forecast, y, more, std, sample_weight, groups))

    def _read_to_fit(
        self,
        forecast: Any,
        y: ArrayLike,
        more: tuple[Any, ...],
        std: Any,
        sample_weight: Any,
        groups: Any = None,
        X: Any = None,
    ) -> ForecastRecord:
        """The record of what ``fit`` was given, for methods whose ``fit`` is told more of the
        rows.
        """
        self._refuse_unused(groups)
        if more:
            raise InputError(
                "fit takes (forecast, y), or (mean, y, std=std) for normal forecasts; got"
                f" {2 + len(more)} positional arguments; pass the standard deviations by name,"
                " std=."
            )
        return read_forecast(forecast, std, y, sample_weight=sample_weight, groups=groups, X=X)

    def _refuse_unused(self, groups: Any) -> None:
        if groups is not None and not self.tags.takes_groups:
            raise InputError(f"{type(self).__name__} does not use groups; leave them out.")

    def _require_given(self, record: ForecastRecord) -> None:
        if self.tags.uses_groups and record.groups is None:
            raise InputError(
                f"{type(self).__name__} needs groups=, the groups of the rows; got None."
            )

    def fit_record(self, record: ForecastRecord) -> Self:
        """``fit`` on a record that has been read already."""
        if record.y is None:
            raise InputError("y must be the outcomes, of the shape of the forecast; got None.")
        self._check()
        self._require_given(record)
        if self.tags.takes_groups:
            names = None if record.groups is None else column_names(record.groups, "groups")
            self.group_names_: list[str] | None = (
                None if names is None else [str(name) for name in names]
            )
        self.n_outputs_: int = record.forecast.shape[1] if record.several else 0
        self.output_names_ = record.names if record.several else None
        self.n_rows_ = float(record.weights.sum())
        learned = [self._fit_output(output) for output in record.outputs()]
        self.status_: str = "; ".join(
            dict.fromkeys(each.pop("status", "exact") for each in learned)
        )
        for name in self.learns:
            setattr(self, name, _gathered([each[name] for each in learned], self.n_outputs_))
        return self

    def _check(self) -> None:
        """Options that cannot work raise InputError here."""

    def predict(
        self, forecast: Any, std: ArrayLike | None = None, *, groups: Any = None
    ) -> Forecast:
        """The calibrated predictive distributions: ``predict(forecast)``, or ``predict(mean, std)``
        for normal forecasts.

        ``groups`` are the groups of the rows, for calibrators that use them.

        Returns
        -------
        Forecast
            With ``mean``, ``std``, ``quantile(q)``, ``cdf(y)``, ``interval(level)`` and
            ``sample(n, random_state)``.
        """
        self._refuse_unused(groups)
        return self.predict_record(read_forecast(forecast, std, groups=groups))

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count by column of groups the rows whose level the fit had not seen; empty for a
        calibrator that uses no groups.
        """
        require_fitted(self, "n_outputs_")
        return {}

    def predict_record(self, record: ForecastRecord) -> Forecast:
        """``predict`` for the forecasts of a record that has been read already."""
        require_fitted(self, "n_outputs_")
        self._require_given(record)
        forecast = record.forecast
        if (len(forecast.shape) == 1) != (self.n_outputs_ == 0) or (
            self.n_outputs_ and forecast.shape[1] != self.n_outputs_
        ):
            fitted = f"(n, {self.n_outputs_})" if self.n_outputs_ else "(n,)"
            raise InputError(
                f"the forecast must be {fitted}, as in fit; got shape {forecast.shape}."
            )
        require_order(record.names, "the forecast", self.output_names_, "the forecast of fit")
        columns = [
            self._predict_rows(
                output, **{name.rstrip("_"): self._of(name, j) for name in self.learns}
            )
            for j, output in enumerate(record.outputs())
        ]
        return join_outputs(columns, forecast.shape)

    def _predict_rows(self, record: ForecastRecord, **learned: Any) -> Forecast:
        return self._predict_output(record.forecast, **learned)

    def _expression(
        self, forecast: SymbolicForecast, **learned: Any
    ) -> SymbolicForecast | SymbolicAverage | SymbolicBins:
        """What ``_predict_output`` makes of a normal forecast."""
        raise InputError(
            f"{type(self).__name__} cannot be said as an expression of mean and std; keep it in"
            " Python."
        )

    def express(
        self, forecast: SymbolicForecast
    ) -> SymbolicForecast | SymbolicAverage | SymbolicBins:
        """``predict_record`` of a normal forecast of one output in symbols; InputError where it
        cannot be said.
        """
        require_fitted(self, "n_outputs_")
        if self.n_outputs_:
            raise InputError(
                f"only calibrators of one output are exported; this one has {self.n_outputs_}; fit"
                " one for each output."
            )
        return self._expression(
            forecast, **{name.rstrip("_"): getattr(self, name) for name in self.learns}
        )

    def expression(self, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Expression:
        """Mean, std and quantiles of ``predict(mean, std)``, as an expression of rows (mean,
        std), for export.
        """
        levels = [float(level) for level in quantiles]
        if not all(0.0 < level < 1.0 for level in levels):
            raise InputError(f"quantiles must be numbers above 0 and below 1; got {quantiles!r}.")
        return self.express(symbolic_forecast()).said(levels)

    def guarantee(self, level: float = 0.9) -> Guarantee | None:
        """What the intervals of a level promise of new rows; None where nothing is."""
        require_fitted(self, "n_outputs_")
        require_level(level, usual=0.9)
        return self._guarantee(level)

    def _guarantee(self, level: float) -> Guarantee | None:
        return None

    def _guarantee_in_the_limit(self, level: float) -> Guarantee | None:
        """The promise of methods whose quantiles at the ends are those of the calibration rows."""
        if self.n_rows_ is None:
            return None
        return Guarantee(
            "asymptotic",
            f"coverage of the {100 * level:g} % intervals",
            "new rows",
            "rows and their forecasts are independent draws",
            n=self.n_rows_,
            least=level,
            most=level,
            method="consistent recalibration",
        )

    def _of(self, name: str, j: int) -> Any:
        value = getattr(self, name)
        # What an older file does not know yet is None for all outputs.
        return value[j] if self.n_outputs_ and value is not None else value


def _gathered(values: list[Any], n_outputs: int) -> Any:
    if not n_outputs:
        return values[0]
    return np.array(values) if all(isinstance(v, float) for v in values) else values


def try_forecasts(calibrator: Any, **beside: Any) -> Forecast:
    """What a loaded calibrator says of three forecasts, finite; ``beside`` is what it takes of
    the rows.
    """
    shape = (3, calibrator.n_outputs_) if calibrator.n_outputs_ else (3,)
    forecast = calibrator.predict(
        np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape), np.ones(shape), **beside
    )
    for values in (forecast.mean, forecast.std):
        require_valid(values, shape)
    return forecast


@trial.register
def _(calibrator: RegressionCalibrator):
    d, held = calibrator.n_outputs_, [getattr(calibrator, name) for name in calibrator.learns]
    if not held:
        return
    if d and any(
        len(values) != d
        for values in (*held, calibrator.output_names_ or range(d))
        if values is not None
    ):
        raise ValueError(f"it says {d} outputs and holds others")
    forecast = try_forecasts(calibrator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparseDataWarning)
        ends = forecast.interval(float(getattr(calibrator, "levels", (0.8,))[0]))
    for values in ends:
        # Of too few rows a conformal end is infinite, and rightly so.
        require_valid(np.where(np.isinf(values), 0.0, values), forecast.shape)
