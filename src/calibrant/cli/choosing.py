"""Which calibrator a command works with: a saved one, one by name, or the default."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import calibrant
from calibrant.cli.methods import RENAMED, TARGETS, make, methods, regression_methods
from calibrant.cli.reading import PredictionFile, column_order
from calibrant.cli.tables import progress
from calibrant.compare.given import resolve
from calibrant.contracts.calibrator import Calibrator
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted

if TYPE_CHECKING:
    from calibrant.reporting.report import Report

__all__ = ["arranged", "chosen", "fitting", "fold_progress", "method_options", "reported", "saved"]

N_SPLITS = 5
WORDS: dict[Any, Any] = {"logit": "logits", "probability": "probabilities"}
#: By task: the methods by name, what its calibrators are, and what they calibrate.
TASKS: dict[Any, Any] = {
    "classification": (methods, calibrant.Calibrator, "predictions of classes"),
    "regression": (regression_methods, calibrant.RegressionCalibrator, "forecasts of a number"),
}


class _MethodType(click.ParamType):
    """A method's name; an unknown one is wrong usage and gets the list."""

    name = "name"

    def convert(self, value, param, ctx):
        """The name, checked; an old one as it is called now."""
        if value in RENAMED:
            click.echo(f"Warning: --method {value} is called {RENAMED[value]} now; use that name.", err=True)
            return RENAMED[value]
        if value not in methods() and value not in regression_methods():
            known = f"{', '.join(methods())}; for forecasts: {', '.join(regression_methods())}"
            self.fail(f"{value!r} is no method; choose from: {known}", param, ctx)
        return value


def method_option(words: str) -> Callable[..., Any]:
    """``--method NAME`` and ``--target``, the question that a map answers."""
    target = click.option(
        "--target", type=click.Choice(list(TARGETS)),
        help="What a map named by --method is fitted to: the event (two classes) or each class, by default, or whether the model's own "
        "answer is right.",
    )  # fmt: skip
    return lambda command: click.option("--method", type=_MethodType(), metavar="NAME", help=words)(target(command))


class _SavedType(click.Path):
    """A file that is there; a method's name in its place gets the option for names."""

    def convert(self, value, param, ctx):
        """The path, checked."""
        if value in (*RENAMED, *methods(), *regression_methods()) and not Path(value).exists():
            self.fail(f"{value!r} is a method, not a file of `calibrant fit`; write --method {value}.", param, ctx)
        return super().convert(value, param, ctx)


def method_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--method``, ``--target`` and ``--calibrator``, which excludes them."""
    saved_file = _SavedType(exists=True, dir_okay=False, path_type=Path)
    words = "A calibrator saved by `calibrant fit`, applied as it is."
    command = click.option("--calibrator", type=saved_file, metavar="FILE", help=words)(command)
    return method_option("Calibrate by this method, 5-fold out-of-fold; a wrong name lists all.")(command)


def saved(path: Path | None, method: str | None = None, target: Any = None) -> Calibrator | None:
    """The calibrator of a file, of classes or of forecasts; None for None. A method or target named beside it is wrong usage."""
    for option, value in (("--method", method), ("--target", target)):
        if value is not None and path is not None:
            raise click.UsageError(f"{option} and --calibrator exclude each other; pass one.")
    if path is None:
        return None
    loaded = calibrant.load(path)
    if not isinstance(loaded, tuple(kind for _, kind, _ in TASKS.values())):
        raise InputError(f"{path} holds a {type(loaded).__name__}, not a calibrator; pass a file written by `calibrant fit`.")
    return loaded


def fitting(calibrator: Calibrator | None, data: PredictionFile) -> Any:
    """The file itself, if the calibrator, saved or none, is for what it holds."""
    *_, kind, words = TASKS[data.task]
    if calibrator is not None and not isinstance(calibrator, kind):
        raise InputError(
            f"{data.path} holds {words}, which a {type(calibrator).__name__} does not calibrate; say --task if that is not what it holds, "
            f"or fit one with `calibrant fit {data.path.name}`."
        )
    return data


def chosen(
    method: str | None, loaded: Calibrator | None, data: PredictionFile, default: type[Any] | None = None, target: Any = None
) -> Calibrator:
    """The calibrator of the options for the file: the one loaded, one by name, ``default()``, or that of its task."""
    named, _, words = TASKS[data.task]
    if target is not None:
        _check_target(target, method, data)
    if method is not None and method not in named():
        raise click.UsageError(f"--method {method} is not for {words}, which {data.path.name} holds; choose from: {', '.join(named())}")
    fitting(loaded, data)
    if loaded is not None:
        return loaded
    if method is not None:
        return make(method, data.task, target or "classes")
    return resolve(None if default is None else default(), data.task)


def _check_target(target, method, data):
    if data.task == "regression":
        raise click.UsageError(f"--target is for predictions of classes; {data.path.name} holds forecasts of a number; leave it out.")
    if method is None:
        raise click.UsageError("--target says what the map of --method is fitted to; name one, such as --method isotonic.")
    if target == "event" and data.values.ndim > 1 and data.values.shape[1] > 2:
        raise click.UsageError(
            f"--target event is for two classes; {data.path.name} has {data.values.shape[1]}; leave it out, or say classes."
        )


def reported(
    data: Any, calibrator: Any, *, test: Any = None, n_bins: int | None = None,
    **options: Any,
) -> "Report":  # fmt: skip
    """The report on a file; on ``test``, another file's (labels, predictions, weight), fitted on the file."""
    options |= {"calibrator": calibrator, "sample_weight": data.weight, "test": test} | ({} if n_bins is None else {"n_bins": n_bins})
    if data.task == "regression":
        return calibrant.report(data.labels, data.forecast, outputs=data.outputs, **options)
    return calibrant.report(data.labels, **arranged(data, calibrator), **options)


def arranged(data: PredictionFile, calibrator: Calibrator) -> dict[str, Any]:
    """P, inputs and classes of a file, in the order of a fitted calibrator's classes."""
    if not is_fitted(calibrator):
        return {"P": data.values, "inputs": data.inputs, "classes": data.classes}
    if data.inputs != calibrator.inputs:
        raise InputError(
            f"the calibrator was fitted on {WORDS[calibrator.inputs]} and {data.path} holds {WORDS[data.inputs]}; "
            "name the right ones with --probabilities or --logits."
        )
    return {"P": data.values[..., column_order(data, calibrator.classes_)], "inputs": data.inputs, "classes": calibrator.classes_}


def fold_progress(calibrator: Calibrator) -> Any:
    """A bar over the folds of an unfitted calibrator; nothing for the others."""
    fitted = is_fitted(calibrator)
    if fitted or isinstance(calibrator, calibrant.Identity | calibrant.ForecastIdentity):
        return nullcontext()
    return progress("calibrating out of fold", N_SPLITS)
