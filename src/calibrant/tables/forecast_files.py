"""Forecasts of a number in files, as mean and std, quantiles or samples, with the outcomes."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from calibrant.core.domain import Domain
from calibrant.core.forecast import Forecast, NormalForecast, require_order
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.quantile_forecast import QuantileForecast, SampleForecast
from calibrant.core.reading import REGRESSION
from calibrant.errors import InputError, Note, UsageError, warn
from calibrant.tables.columns import quantile_levels, starred
from calibrant.tables.data_file import DataFile
from calibrant.tables.names import ARRAYS, OUTCOMES, Columns
from calibrant.tables.roles import as_floats

__all__ = ["ForecastFile"]

#: Options about classes.
OF_CLASSES = ("predicted", "inputs", "positive", "probabilities", "logits", "classes")


@dataclass(frozen=True, kw_only=True)
class ForecastFile(DataFile):
    """File of forecasts of a number.

    Attributes
    ----------
    forecast : Forecast
    outputs : list of str, or None
        Names of the outputs if there are several.
    names : dict
        Lists of columns or arrays by their content: "mean" and "std", "quantiles" or "samples".
    """

    forecast: Forecast
    outputs: Any
    names: dict[Any, Any]
    domain: ClassVar[Domain] = REGRESSION

    @classmethod
    def named(cls, source: Any, columns: Columns) -> bool:
        """Whether --mean, --std or --quantiles is given."""
        return any(name is not None for name in (columns.mean, columns.std, columns.quantiles))

    @classmethod
    def found_in(cls, source: Any) -> str | None:
        """Find mean and std, two quantiles or more, or samples."""
        usual = _usual(source)
        return None if usual is None else next(iter(usual[0].values()))[0]

    @classmethod
    def names_in(cls, source: Any, columns: Columns, labels: bool, prefer: str | None) -> list[str]:
        """Return the names of forecasts, outcomes and weights."""
        names, outputs, _ = _forecast_names(source, columns)
        found = [name for several in names.values() for name in several]
        if labels:
            found += _outcome_names(source, columns, outputs)
            found += _named(source, columns.weight, ARRAYS["weight"])
        return found

    @classmethod
    def read(
        cls, source: Any, columns: Columns, labels: bool, prefer: str | None
    ) -> "ForecastFile":
        """Read the forecasts of a file, and its outcomes if ``labels``."""
        names, outputs, levels = _forecast_names(source, columns)
        if "mean" in names and not cls.named(source, columns) and starred(source.content, "q_*"):
            warn(
                f"{source.path} has mean and std, which are read, and quantiles;"
                ' --quantiles "q_*" reads these.',
                Note,
            )
        forecast = _forecast(source, names, outputs, levels)
        outcome = _outcome_names(source, columns, outputs) if labels else []
        weight = _named(source, columns.weight, ARRAYS["weight"])
        y, weight = (
            _one(source, own[0]) if len(own) == 1 else _columns(source, own) if own else None
            for own in (outcome, weight)
        )
        return cls(
            path=source.path,
            forecast=forecast,
            labels=y,
            weight=weight if labels else None,
            outputs=outputs,
            source=source,
            names=names,
            outcome=tuple(outcome),
        )

    @classmethod
    def sliced(cls, source: Any, columns: Columns, target: str | None) -> dict[str, Any]:
        """Return the arguments of ``evaluate``; refuse --target and several outputs."""
        if target is not None:
            raise UsageError(
                "--target needs predictions of classes; these are forecasts of a number; leave it"
                " out."
            )
        names, outputs, _ = _forecast_names(source, columns)
        if outputs is not None:
            raise UsageError(
                "slices need probabilities, or forecasts of one output; leave out --by, --time,"
                " --engine, --resume and -o, or name other columns."
            )
        (label,) = _outcome_names(source, columns, None)
        if "quantiles" in names:
            return {"label": label, "quantiles": columns.quantiles or "auto"}
        return {"label": label, "mean": names["mean"][0], "std": names["std"][0]}

    @property
    def said(self) -> Forecast:
        """The forecasts."""
        return self.forecast

    @property
    def columns(self) -> list[str]:
        """The columns of all outputs."""
        return [name for several in self.names.values() for name in several]

    def record(self, groups: Any = None, **beside: Any) -> ForecastRecord:
        """Return the rows, with their outcomes if these were read."""
        record = read_forecast(
            self.forecast, None, self.labels, sample_weight=self.weight, groups=groups
        )
        return replace(record, names=self.outputs)

    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """Compare the outcomes as numbers."""
        return ours.y == theirs.y

    def about(self, record: Any) -> str:
        """Describe the number of outputs if there are several."""
        return f", {record.forecast.shape[1]} outputs" if record.several else ""

    def given(self, calibrator: Any) -> dict[str, Any]:
        """Return the forecast with the names of the outputs."""
        return {"P": self.forecast, "outputs": self.outputs}

    def said_like(self, first: Self) -> Any:
        """Return the forecasts; refuse outputs in another order."""
        require_order(self.outputs, f"{self.path}", first.outputs, f"{first.path}")
        return self.forecast

    def audited(self, target: str | None) -> dict[str, Any]:
        """Return the arguments of an audit; refuse several outputs."""
        if self.outputs is not None:
            raise InputError(
                f"audit needs forecasts of one output; {self.path} has {len(self.outputs)}; name"
                " one with --mean and --std."
            )
        return super().audited(target)

    def calibrated(
        self, fitted: Any, columns: Columns, levels: Any, beside: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the calibrated columns, with ``low_LEVEL`` and ``high_LEVEL`` of central
        intervals.
        """
        out, said = {}, cast(Any, self.forecast)
        forecast = fitted.predict_record(self.record(**beside))
        if "quantiles" in self.names:
            values = forecast.quantile(said.levels)
            names = self.names["quantiles"]
            out = (
                {names[0]: values}
                if len(names) == 1
                else {name: values[..., j] for j, name in enumerate(names)}
            )
        elif "samples" in self.names:
            out = {"samples": forecast.quantile(said.levels)}
        else:
            for key, values in (("mean", forecast.mean), ("std", forecast.std)):
                out |= _by_output(self.names[key], values)
        for level in levels:
            for key, values in zip(("low", "high"), forecast.interval(level), strict=True):
                names = (
                    [f"{key}_{level}"]
                    if not self.outputs
                    else [f"{key}_{level}_{name}" for name in self.outputs]
                )
                out |= _by_output(names, values)
        return out, {}


def _forecast(source: Any, names: dict[str, list[Any]], outputs: Any, levels: Any) -> Any:
    """Build the forecast from these columns."""
    if "samples" in names:
        return SampleForecast(source.content[names["samples"][0]])
    if "quantiles" in names:
        own = names["quantiles"]
        return QuantileForecast(
            levels, source.content[own[0]] if len(own) == 1 else _columns(source, own)
        )
    return NormalForecast(
        *(
            _columns(source, own) if outputs else _one(source, own[0])
            for own in (names["mean"], names["std"])
        )
    )


def _usual(source: Any) -> Any:
    """Return (names of the columns by their content, names of the outputs, levels of quantiles) of
    the first kind of forecast with usual names; None if there is none.
    """
    content, pairs = source.content, []
    if source.kind == "npz" and {"quantiles", "levels"} <= {*content}:
        return {"quantiles": ["quantiles"]}, None, content["levels"]
    if source.kind == "npz" and "samples" in content:
        return {"samples": ["samples"]}, None, None
    if {"mean", "std"} <= {*content}:
        return {"mean": ["mean"], "std": ["std"]}, None, None
    if pairs := [name for name in starred(content, "mean_*").values() if f"std_{name}" in content]:
        return {key: [f"{key}_{name}" for name in pairs] for key in ("mean", "std")}, pairs, None
    return _ordered(quantile_levels(content))


def _ordered(levels: dict[str, float]) -> Any:
    """Return columns of quantiles in the order of their levels; None for fewer than two."""
    names = sorted(levels, key=lambda name: levels[name])
    return None if len(names) < 2 else ({"quantiles": names}, None, [levels[n] for n in names])


def _forecast_names(source: Any, columns: Columns) -> Any:
    """Return what ``_usual`` does, by the options and else by usual names."""
    if of_classes := [name for name in OF_CLASSES if getattr(columns, name) is not None]:
        raise UsageError(
            f"--{of_classes[0]} has no effect on forecasts of a number, which {source.path} holds;"
            " leave it out, or pass another table."
        )
    given = {columns.mean, columns.std} != {None}
    if given and columns.quantiles is not None:
        raise UsageError(
            "--quantiles excludes --mean and --std; pass the columns of one kind of forecast."
        )
    if columns.quantiles is not None:
        levels = quantile_levels(source.content, columns.quantiles)
        if (names := _ordered(levels)) is not None:
            return names
        raise InputError(
            f"--quantiles must name two columns of quantiles or more; {columns.quantiles!r}"
            f" names {len(levels)} of {source.path}, which has {source.described()}."
        )
    if not given and (names := _usual(source)) is not None:
        return names
    means, stds = _split(columns.mean or "mean"), _split(columns.std or "std")
    missing = [name for name in (*means, *stds) if name not in source.content]
    if missing or len(means) != len(stds):
        raise InputError(
            f"{source.path} must have columns mean and std, or quantiles q_0.05, q_0.5, ...; it has"
            f" {source.described()}; name yours with --mean, --std or --quantiles."
        )
    return {"mean": means, "std": stds}, means if len(means) > 1 else None, None


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _one(source: Any, name: str) -> np.ndarray:
    values = source.column(name)
    return as_floats(values, name, source.path) if source.kind != "npz" else values


def _columns(source, names):
    return np.column_stack([_one(source, name) for name in names])


def _outcome_names(source: Any, columns: Columns, outputs: Any) -> list[str]:
    own = [f"y_{name}" for name in outputs or ()]
    if own and columns.label is None and all(name in source.content for name in own):
        return own
    found = _named(source, columns.label, OUTCOMES)
    if not found:
        raise InputError(
            f"{source.path} must hold the outcomes as {', '.join(OUTCOMES)}; it holds"
            f" {source.described()}; name yours with --label."
        )
    return found


def _named(source: Any, given: Any, usual: tuple[Any, ...]) -> Any:
    return (
        [name for name in usual if name in source.content][:1]
        if given is None
        else list(map(source.require, _split(given)))
    )


def _by_output(names: list[str], values: np.ndarray) -> dict[str, np.ndarray]:
    return (
        {names[0]: values}
        if len(names) == 1
        else {name: values[:, j] for j, name in enumerate(names)}
    )
