"""Files of forecasts: mean and std, quantiles or samples of a number, and what came true."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calibrant.cli.columns import ARRAYS, PATTERNS, as_floats
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.normal import NormalForecast
from calibrant.forecasts.quantiles import QuantileForecast
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.forecasts.samples import SampleForecast
from calibrant.frames.columns import starred

if TYPE_CHECKING:
    from calibrant.cli.options import Columns

__all__ = ["ForecastFile", "calibrated_columns", "holds_forecasts", "read_forecasts"]

OUTCOMES = ("y", "y_true", "target", "label", "labels", "outcome")


@dataclass(frozen=True)
class ForecastFile:
    """Forecasts read from a file, and the file's whole content, so that it can be written again with other forecasts.

    Attributes
    ----------
    forecast : Forecast
    labels, weight : (n,) or (n, d) outcomes, (n,) weights, or None
    outputs : list of str, or None
        Names of the outputs where the columns name several.
    names : dict
        What the columns or arrays are called: "mean" and "std", "quantiles" or "samples", each a list.
    outcome : tuple of str
        The columns or arrays that ``labels`` are read from.
    """

    path: Path
    forecast: Forecast
    labels: Any
    weight: Any
    outputs: Any
    source: Any
    names: dict[Any, Any]
    outcome: tuple[str, ...] = ()
    task: ClassVar[str] = "regression"
    inputs: ClassVar[None] = None

    def record(self, groups: Any = None) -> ForecastRecord:
        """The rows, with their outcomes where these were read."""
        record = read_forecast(self.forecast, None, self.labels, sample_weight=self.weight, groups=groups)
        return replace(record, names=self.outputs)


def holds_forecasts(source: Any, columns: "Columns") -> bool:
    """Whether a file is about a number: by --task, by the names given, or by its columns; one that could be both is refused."""
    if columns.task is not None:
        return columns.task == "regression"
    if columns.mean is not None or columns.std is not None or columns.quantiles is not None:
        return True
    given = (columns.risk, columns.inputs, columns.probabilities, columns.logits)
    if any(name is not None for name in given) or source.kind == "npy":
        return False
    forecasts = _looks_like_forecasts(source)
    columns_of_classes = {name for kind in PATTERNS.values() for pattern in kind for name in starred(source.content, pattern)}
    classes = [name for name in source.content if name in (*ARRAYS["probabilities"], *ARRAYS["logits"], *columns_of_classes)]
    if forecasts and classes:
        raise InputError(
            f"{source.path} has both forecasts of a number and predictions of classes ({classes[0]}); "
            "say which with --task regression or --task classification."
        )
    return forecasts


def _looks_like_forecasts(source):
    content = source.content
    return ("mean" in content and "std" in content) or bool(_pairs(source)) or len(_quantiles(source, "q_*")) > 1 or (
        source.kind == "npz" and ("samples" in content or ("quantiles" in content and "levels" in content))
    )  # fmt: skip


def read_forecasts(source: Any, columns: Any, *, labels: bool = True) -> ForecastFile:
    """The forecasts of a file, and outcomes where wanted."""
    forecast, names, outputs = _forecast(source, columns)
    outcome = _outcome_names(source, columns, outputs) if labels else []
    weight = _named(source, columns.weight, ARRAYS["weight"])
    y, weight = (_one(source, own[0]) if len(own) == 1 else _columns(source, own) if own else None for own in (outcome, weight))
    return ForecastFile(source.path, forecast, y, weight if labels else None, outputs, source, names, tuple(outcome))


def _forecast(source, columns):
    """(forecast, names of its columns, names of its outputs), in the order of what is looked for."""
    if source.kind == "npz" and columns.quantiles is None and columns.mean is None:
        if "quantiles" in source.content and "levels" in source.content:
            return QuantileForecast(source.content["levels"], source.content["quantiles"]), {"quantiles": ["quantiles"]}, None
        if "samples" in source.content:
            return SampleForecast(source.content["samples"]), {"samples": ["samples"]}, None
    given = columns.mean is not None or columns.std is not None
    if not given and (columns.quantiles is not None or not ("mean" in source.content or _pairs(source))):
        levels = _quantiles(source, columns.quantiles or "q_*")
        if len(levels) > 1:
            ordered = sorted(levels, key=lambda name: levels[name])
            return QuantileForecast([levels[name] for name in ordered], _columns(source, ordered)), {"quantiles": ordered}, None
    means, stds, outputs = _normal_names(source, columns)
    values = [_columns(source, names) if outputs else _one(source, names[0]) for names in (means, stds)]
    return NormalForecast(*values), {"mean": means, "std": stds}, outputs


def _normal_names(source, columns):
    if columns.mean is None and columns.std is None and "mean" not in source.content and (pairs := _pairs(source)):
        return [f"mean_{name}" for name in pairs], [f"std_{name}" for name in pairs], pairs
    means, stds = (_split(given or usual) for given, usual in ((columns.mean, "mean"), (columns.std, "std")))
    missing = [name for name in (*means, *stds) if name not in source.content]
    if missing or len(means) != len(stds):
        raise InputError(
            f"{source.path} must have columns mean and std, or quantiles q_0.05, q_0.5, ...; it has {source.described()}; "
            "name yours with --mean, --std or --quantiles."
        )
    return means, stds, means if len(means) > 1 else None


def _pairs(source):
    """Names of outputs that have both mean_NAME and std_NAME."""
    return [name[5:] for name in source.content if name.startswith("mean_") and f"std_{name[5:]}" in source.content]


def _quantiles(source, pattern):
    """{column: level} of the columns that match, whose star stands for a level."""
    found = {}
    for name, text in starred(source.content, pattern).items():
        with suppress(ValueError):
            found[name] = float(text)
    return {name: level for name, level in found.items() if 0.0 < level < 1.0}


def _split(text):
    return [part.strip() for part in text.split(",")]


def _one(source, name):
    values = source.column(name)
    return as_floats(values, name, source.path) if source.kind != "npz" else values


def _columns(source, names):
    return np.column_stack([_one(source, name) for name in names])


def _outcome_names(source, columns, outputs):
    own = [f"y_{name}" for name in outputs or ()]
    if own and columns.label is None and all(name in source.content for name in own):
        return own
    found = _named(source, columns.label, OUTCOMES)
    if not found:
        raise InputError(
            f"{source.path} must hold the outcomes as {', '.join(OUTCOMES)}; it holds {source.described()}; name yours with --label."
        )
    return found


def _named(source, given, usual):
    return [name for name in usual if name in source.content][:1] if given is None else list(map(source.require, _split(given)))


def calibrated_columns(data: Any, forecast: Any, levels: Any) -> dict[str, Any]:
    """The file's forecasts, calibrated, by the names of their columns, and ``low_LEVEL`` and ``high_LEVEL`` of central intervals."""
    out = {}
    if "quantiles" in data.names:
        values = forecast.quantile(data.forecast.levels)
        names = data.names["quantiles"]
        out = {names[0]: values} if len(names) == 1 else {name: values[..., j] for j, name in enumerate(names)}
    elif "samples" in data.names:
        out = {"samples": forecast.quantile(data.forecast.levels)}
    else:
        for key, values in (("mean", forecast.mean), ("std", forecast.std)):
            out |= _by_output(data.names[key], values)
    for level in levels:
        for key, values in zip(("low", "high"), forecast.interval(level), strict=True):
            names = [f"{key}_{level}"] if not data.outputs else [f"{key}_{level}_{name}" for name in data.outputs]
            out |= _by_output(names, values)
    return out


def _by_output(names, values):
    return {names[0]: values} if len(names) == 1 else {name: values[:, j] for j, name in enumerate(names)}
