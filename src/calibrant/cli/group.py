"""All commands, each imported when it is run; every error becomes one sentence."""

import importlib
import inspect
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import click

from calibrant.cli.wording import on_lines, said, say
from calibrant.core.exports import __version__, of_kinds
from calibrant.core.text_table import shown
from calibrant.errors import (
    CalibrationWarning,
    InputError,
    MissingDependencyError,
    Note,
    SavedFileError,
    UsageError,
)

__all__ = ["COMMANDS", "group"]

#: All commands: name -> (module of this folder, or of a kind's, its purpose).
COMMANDS = {
    "demo": ("demo", "Calibrate real models by every method, and write a report."),
    "evaluate": ("evaluate", "Measure predictions: each number with an interval."),
    "report": ("report", "Write a page: a verdict, before and after, figures."),
    "fit": ("fit", "Learn a calibrator and save it."),
    "apply": ("apply", "Calibrate new predictions."),
    "decide": ("decide", "Certify which answers to accept."),
    "check": ("check", "Test a lock file on a new version of the model."),
    "export": ("export", "Write a calibrator as ONNX, C, JavaScript, JSON, SQL or torch."),
    "audit": ("audit", "Test the calibration of every group."),
    "compare": ("compare", "Test whether one prediction is better than another."),
    "estimate": ("estimate", "Estimate how good a model is on rows without labels."),
    "monitor": ("monitor", "Raise an alarm when the calibration changes."),
    "plan": ("plan", "Compute how many rows a study needs."),
    "methods": ("list_methods", "List all calibrators and metrics."),
}
#: What a person wants -> its commands, as the help lists them.
WANTED: dict[str, tuple[str, ...]] = {
    "See what it does": ("demo", "methods"),
    "Measure": ("evaluate", "report", "audit", "compare"),
    "Calibrate": ("fit", "apply", "export"),
    "Decide": ("decide", "check"),
    "Watch": ("monitor", "estimate"),
    "Plan": ("plan",),
}
for _kind in of_kinds("commands"):
    for _name, (_module, _purpose, _heading) in _kind.COMMANDS.items():
        COMMANDS[_name] = _module, _purpose
        WANTED[_heading] += (_name,)
#: Sections of the help of a command with more than FEW options, and their parameters; the first
#: section, "Options", holds those of the command itself.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Table": (
        *("label", "positive", "risk", "risks", "confidence", "predicted", "inputs"),
        *("probabilities", "logits", "classes", "mean", "std", "quantiles", "task"),
        *("groups", "by", "time", "every", "cluster", "weight", "weight_kind", "skip_missing"),
        *("features", "reference", "engine", "resume", "model_version"),
    ),
    "Calibration": ("method", "calibrator", "test", "test_label", "test_weight"),
    "Output": ("output", "title", "as_json", "whole", "lines", "force"),
}
FEW = 12
#: Errors that a user can cause; any other is a bug of ours or of a library.
EXPECTED = (InputError, SavedFileError, MissingDependencyError, OSError)
INTERRUPTED = 130
BUG = "this is a bug in calibrant"


class _Stopped(click.ClickException):
    """An error in one sentence."""

    def show(self, file: Any = None) -> None:
        say(f"Error: {self.message}", err=True)


class _Interrupted(_Stopped):
    """Interruption by Ctrl-C; each output file is complete or absent."""

    exit_code = INTERRUPTED

    def show(self, file: Any = None) -> None:
        say(self.message, err=True)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Turn any error into one sentence and an exit code; with CALIBRANT_DEBUG a bug keeps its
    traceback.
    """
    try:
        yield
    except (click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except click.ClickException as error:
        vars(error)["message"] = shown(error.message)
        text = on_lines(f"Error: {error.format_message()}", err=True).removeprefix("Error: ")
        vars(error)["format_message"] = lambda: text
        raise
    except KeyboardInterrupt as error:
        raise _Interrupted("Interrupted.") from error
    except EXPECTED as error:
        raise _Stopped(said(error)) from error
    except MemoryError as error:
        raise _Stopped(
            "there is not enough memory for this table; pass fewer rows or fewer columns."
        ) from error
    except Exception as error:
        # By its name, because a part of others raises scikit-learn's.
        if type(error).__name__ == "NotFittedError":
            raise _Stopped(said(error)) from error
        if os.environ.get("CALIBRANT_DEBUG"):
            raise
        words = (
            f"{BUG} ({type(error).__name__}: {said(error)}); set CALIBRANT_DEBUG=1 for its"
            " traceback and report it."
        )
        raise _Stopped(words) from error


class _Text(type(click.STRING)):
    """Text of an option, such as the name of a column; an empty one is a usage error."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not str(value).strip():
            self.fail("it must not be empty; write a name, or leave the option out.", param, ctx)
        return super().convert(value, param, ctx)


class _Command(click.Command):
    """Command whose help lists many options in sections; it reads tables of every kind that is
    installed.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; options that a table excludes are a usage error."""
        from calibrant.cli.methods import import_extensions

        import_extensions()
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        section = {name: title for title, names in SECTIONS.items() for name in names}
        order = {name: place for place, name in enumerate(section)}
        found: dict[str, list[Any]] = {title: [] for title in (*SECTIONS, "Options")}
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        options.sort(key=lambda one: order.get(one.name or "", len(order)))
        for one in options if len(options) > FEW else ():
            found[section.get(one.name or "", "Options")].append(one.get_help_record(ctx))
        if len(options) <= FEW:
            super().format_options(ctx, formatter)
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(30), words) for name, words in records])


class _Group(click.Group):
    """Group of commands, imported when they are run so that help and usage errors are fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        path = module if "." in module else f"calibrant.cli.{module}"
        command = getattr(importlib.import_module(path), path.rpartition(".")[2])
        kinds = of_kinds("commands")
        params = [*command.params, *(p for kind in kinds for p in kind.OPTIONS.get(cmd_name, ()))]
        texts = [command.help, *(kind.HELP.get(cmd_name, "") for kind in kinds)]
        words = "\n\n".join(inspect.cleandoc(text) for text in texts)
        for param in params:
            if type(param.type) is type(click.STRING) and param.default != "":
                param.type = _Text()
        return _Command(cmd_name, callback=command.callback, params=params, help=words)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            meant = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(COMMANDS)}."
            ctx.fail(f"No such command {args[0]!r}. {meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for wanted, names in WANTED.items():
            with formatter.section(wanted):
                formatter.write_dl([(name.ljust(8), COMMANDS[name][1]) for name in names])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            click.echo(ctx.get_help())
            ctx.exit()
        with _one_sentence():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _one_sentence(), warnings.catch_warnings():
            warnings.simplefilter("always", CalibrationWarning)
            warnings.showwarning = _once_each()
            return super().invoke(ctx)


def _once_each() -> Any:
    """Return a function that shows each warning once."""
    told = set()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        kind = "Warning" if issubclass(category, CalibrationWarning) else category.__name__
        words = said(message) if issubclass(category, Note) else f"{kind}: {said(message)}"
        if words not in told:
            told.add(words)
            say(words, err=True)

    return show


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="calibrant")
def group() -> None:
    """Know when to trust a prediction: measure, calibrate and monitor it.

    \b
    calibrant evaluate log.csv --risk p --label y  # each number, its interval
    calibrant report log.csv --risk p --label y  # a page with a verdict
    calibrant fit log.csv --risk p --label y  # learn a calibrator
    calibrant apply model.calibrant new.csv --risk p -o calibrated.csv
    calibrant decide log.csv --max-error 0.05  # which answers to accept
    calibrant check lock.json new.jsonl  # does the rule hold for a new model?
    calibrant monitor "logs/*.parquet" --time when  # an alarm for changes
    calibrant estimate new.csv --reference labelled.csv  # without labels

    A table is a file (CSV, Parquet, JSON lines, npz or npy), a folder or a quoted pattern of files,
    or - for standard input. Installed packages that add methods are imported by their entry points.

    Exit codes: 0 success; 1 an error, in one line, or a failed check; 2 wrong usage; 3 a --fail-if
    gate failed; 130 interrupted.
    """
