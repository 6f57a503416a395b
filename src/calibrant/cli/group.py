"""All commands, and what goes wrong in any of them as one line."""

import os
import warnings
from contextlib import contextmanager

import click
from sklearn.exceptions import NotFittedError

import calibrant
from calibrant.cli.apply import apply
from calibrant.cli.audit import audit
from calibrant.cli.compare import compare
from calibrant.cli.decide import decide
from calibrant.cli.demo import demo
from calibrant.cli.evaluate import evaluate
from calibrant.cli.export import export
from calibrant.cli.extensions import import_extensions
from calibrant.cli.fit import fit
from calibrant.cli.list_methods import list_methods
from calibrant.cli.monitor import monitor
from calibrant.cli.report import report
from calibrant.cli.wording import said, say, shown
from calibrant.errors import CalibrationWarning, InputError, MissingDependencyError, SavedFileError

__all__ = ["group"]

#: What a user can cause; anything else is a bug of ours, or of a library.
EXPECTED = (InputError, SavedFileError, MissingDependencyError, NotFittedError, OSError)
INTERRUPTED = 130
BUG = "this is a bug in calibrant"


class _Interrupted(click.ClickException):
    """The user pressed Ctrl-C; files are whole or not there."""

    exit_code = INTERRUPTED

    def show(self, file=None):
        say(self.message, err=True)


@contextmanager
def _one_sentence():
    """What goes wrong ends the command with one sentence and an exit code; with CALIBRANT_DEBUG a bug keeps its traceback."""
    try:
        yield
    except (click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except click.ClickException as error:
        vars(error)["message"] = shown(error.message)
        raise
    except KeyboardInterrupt as error:
        raise _Interrupted("Interrupted.") from error
    except EXPECTED as error:
        raise click.ClickException(said(error)) from error
    except MemoryError as error:
        raise click.ClickException("there is not enough memory for this; give it fewer rows, or fewer columns, at a time.") from error
    except Exception as error:
        if os.environ.get("CALIBRANT_DEBUG"):
            raise
        words = (
            f"this is a bug in calibrant ({type(error).__name__}: {said(error)}); set CALIBRANT_DEBUG=1 for its traceback and report it."
        )
        raise click.ClickException(words) from error


class _Group(click.Group):
    """Commands in the order of a first day's work."""

    def list_commands(self, ctx):
        return list(self.commands)

    def parse_args(self, ctx, args):
        with _one_sentence():
            return super().parse_args(ctx, args)

    def invoke(self, ctx):
        with _one_sentence(), warnings.catch_warnings():
            warnings.simplefilter("always", CalibrationWarning)
            warnings.showwarning = _once_each()
            return super().invoke(ctx)


def _once_each():
    """Show each warning, the first time that it is given."""
    told = set()

    def show(message, category, filename, lineno, file=None, line=None):
        words = f"{'Warning' if issubclass(category, CalibrationWarning) else category.__name__}: {said(message)}"
        if words not in told:
            told.add(words)
            say(words, err=True)

    return show


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(calibrant.__version__, prog_name="calibrant")
def group() -> None:
    """Know when to trust a prediction: measure, calibrate and look.

    \b
    calibrant demo                                       real data, every method, report.html
    calibrant evaluate predictions.npz                   accuracy, log loss, Brier, ECE with intervals
    calibrant report predictions.npz -o report.html      before and after, figures, a verdict
    calibrant fit predictions.npz -o model.calibrant     learn a calibrator
    calibrant apply model.calibrant new.npz -o out.npz   calibrate new predictions
    calibrant decide log.csv --risk 0.05                 which answers to accept, with a promise
    calibrant export model.calibrant -o calibrator.onnx  ONNX, C, JavaScript, JSON, SQL, torch
    calibrant audit log.csv --groups sex,age             is it calibrated in every group?
    calibrant compare a.csv b.csv --label y              is one better? paired intervals and tests
    calibrant monitor "logs/*.parquet" --time when       an alarm when the calibration changes
    calibrant methods                                    all calibrators and metrics

    Packages that add methods of their own are imported, by their entry points.

    Exit codes: 0 done; 1 an error, in one line; 2 wrong usage; 3 a --fail-if gate failed, or an alarm with --fail; 130 interrupted.
    """
    import_extensions()


for command in (demo, evaluate, report, fit, apply, decide, export, audit, compare, monitor, list_methods):
    group.add_command(command)
