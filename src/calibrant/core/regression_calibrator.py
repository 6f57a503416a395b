"""Template of regression calibrators: validation, then one fit for each output."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from calibrant.core.arrays import ArrayLike, column_names
from calibrant.core.calibrator import DomainCalibrator, Tags, require_fitted
from calibrant.core.domain import Domain
from calibrant.core.estimators import one_blas_thread, require_valid, trial
from calibrant.core.expression import (
    Expression,
    SymbolicAverage,
    SymbolicBins,
    SymbolicForecast,
    symbolic_forecast,
)
from calibrant.core.forecast import Forecast, require_level, require_order
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.guarantee import Guarantee
from calibrant.core.joint_normal import join_outputs
from calibrant.core.reading import REGRESSION
from calibrant.errors import InputError, SparseDataWarning

__all__ = ["RegressionCalibrator", "try_forecasts"]


class RegressionCalibrator(DomainCalibrator):
    """Base of all calibrators of predictive distributions.

    A method implements ``_fit_output(record)``, which returns the parameters of one output as a
    dict with the names in ``learns`` (and "status"), and ``_predict_output(forecast, **learned)``;
    or ``_predict_rows(record, **learned)`` if it uses more of a row than its forecast. The template
    reads the input and loops over the outputs. Parameters are stored unchanged for (n,) forecasts,
    and as an array (of numbers) or list with one entry per output for (n, d).

    See Also
    --------
    StdScaling, AutoRegressionCalibrator : two implementations.
    Calibrator : the same for class probabilities.
    """

    domain: ClassVar[Domain] = REGRESSION
    tags: ClassVar[Tags] = Tags(output="distribution")
    learns: ClassVar[tuple[str, ...]] = ()
    #: Names of the d outputs, from a frame in fit; older files have none.
    output_names_: list[str] | None = None
    #: Total weight of the calibration rows; missing in older files.
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
        """Fit on held-out forecasts and outcomes: ``fit(forecast, y)``, or
        ``fit(mean, y, std=std)`` for normal forecasts.

        The columns of a frame of means, else of outcomes, are kept as ``output_names_``;
        ``predict`` raises an error if their order differs.

        Parameters
        ----------
        forecast : Forecast, (mean, std) tuple, frozen scipy distribution; or the means with
            ``std``, (n,) or (n, d)
        y : outcomes, of the shape of the forecast
        std : of the shape of the means, optional
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        groups : (n,) labels, (n, c) of them, or a frame of n rows, for calibrators that use them.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For three positional arguments, so that outcomes are never read as standard deviations.
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
        """The record of the arguments of ``fit``, for methods that take more arguments."""
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
        """Fit on a record."""
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
        """Raise InputError for invalid options."""

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
        """Count the rows with an unseen level by column of groups; empty for a calibrator without
        groups.
        """
        require_fitted(self, "n_outputs_")
        return {}

    def predict_record(self, record: ForecastRecord) -> Forecast:
        """Predict for the forecasts of a record."""
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
        with one_blas_thread(len(record)):
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
        """``_predict_output`` of a normal forecast, in symbols."""
        raise InputError(
            f"{type(self).__name__} cannot be exported as an expression of mean and std; keep it in"
            " Python."
        )

    def express(
        self, forecast: SymbolicForecast
    ) -> SymbolicForecast | SymbolicAverage | SymbolicBins:
        """``predict_record`` of a normal forecast of one output in symbols; InputError if this is
        impossible.
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
        values: list[Any] = [*quantiles] if hasattr(quantiles, "__iter__") else [None]
        if not all(isinstance(level, Real) and 0.0 < float(level) < 1.0 for level in values):
            raise InputError(
                "quantiles must be a list of numbers above 0 and below 1; got"
                f" {quantiles!r}; (0.05, 0.5, 0.95) is usual."
            )
        return self.express(symbolic_forecast()).said([float(level) for level in values])

    def guarantee(self, level: float = 0.9) -> Guarantee | None:
        """The guarantee of the intervals of a level on new rows; None if there is none."""
        require_fitted(self, "n_outputs_")
        require_level(level, usual=0.9)
        return self._guarantee(level)

    def _guarantee(self, level: float) -> Guarantee | None:
        return None

    def _guarantee_in_the_limit(self, level: float) -> Guarantee | None:
        """The guarantee of methods whose outer quantiles are those of the calibration rows."""
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
        # Parameters that an older file lacks are None for all outputs.
        return value[j] if self.n_outputs_ and value is not None else value


def _gathered(values: list[Any], n_outputs: int) -> Any:
    if not n_outputs:
        return values[0]
    return np.array(values) if all(isinstance(v, float) for v in values) else values


def try_forecasts(calibrator: Any, **beside: Any) -> Forecast:
    """Finite predictions of a loaded calibrator for three forecasts; ``beside`` holds its other
    arguments.
    """
    shape = (3, calibrator.n_outputs_) if calibrator.n_outputs_ else (3,)
    forecast = calibrator.predict(
        np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape), np.ones(shape), **beside
    )
    for values in (forecast.mean, forecast.std):
        require_valid(values, shape)
    return forecast


@trial.register
def _(calibrator: RegressionCalibrator) -> None:
    d, held = calibrator.n_outputs_, [getattr(calibrator, name) for name in calibrator.learns]
    if not held:
        return
    if d and any(
        len(values) != d
        for values in (*held, calibrator.output_names_ or range(d))
        if values is not None
    ):
        raise ValueError(f"it declares {d} outputs and holds others")
    forecast = try_forecasts(calibrator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparseDataWarning)
        ends = forecast.interval(float(getattr(calibrator, "levels", (0.8,))[0]))
    for values in ends:
        # With too few rows a conformal end is correctly infinite.
        require_valid(np.where(np.isinf(values), 0.0, values), forecast.shape)
