"""All commands, and what goes wrong in any of them as one line."""

import sys
import warnings

import click
from sklearn.exceptions import NotFittedError

import calibrant
from calibrant.cli.apply import apply
from calibrant.cli.demo import demo
from calibrant.cli.evaluate import evaluate
from calibrant.cli.fit import fit
from calibrant.cli.list_methods import list_methods
from calibrant.cli.monitor import monitor
from calibrant.cli.report import report
from calibrant.errors import CalibrationWarning, InputError, MissingDependencyError, SavedFileError

__all__ = ["group"]

#: What a user can cause; anything else is a bug and keeps its traceback.
EXPECTED = (InputError, SavedFileError, MissingDependencyError, NotFittedError, OSError)


class _Group(click.Group):
    """Commands in the order of a first day's work; expected errors end with exit code 1 and one line."""

    def list_commands(self, ctx):
        return list(self.commands)

    def invoke(self, ctx):
        with warnings.catch_warnings():
            warnings.simplefilter("always", CalibrationWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except EXPECTED as error:
                raise click.ClickException(" ".join(str(error).split()) or type(error).__name__) from error


def _show_warning(message, category, filename, lineno, file=None, line=None):
    click.echo(f"Warning: {message}" if issubclass(category, CalibrationWarning) else f"{category.__name__}: {message}", file=sys.stderr)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(calibrant.__version__, prog_name="calibrant")
def group():
    """Know when to trust a prediction: measure, calibrate and look.

    \b
    calibrant demo                                       real data, every method, report.html
    calibrant evaluate predictions.npz                   accuracy, log loss, Brier, ECE with intervals
    calibrant report predictions.npz -o report.html      before and after, figures, a verdict
    calibrant fit predictions.npz -o model.calibrant     learn a calibrator
    calibrant apply model.calibrant new.npz -o out.npz   calibrate new predictions
    calibrant monitor "logs/*.parquet" --time when       an alarm when the calibration changes
    calibrant methods                                    all calibrators and metrics

    Exit codes: 0 done; 1 an error, in one line; 2 wrong usage; 3 a --fail-if gate failed, or an alarm with --fail.
    """


for command in (demo, evaluate, report, fit, apply, monitor, list_methods):
    group.add_command(command)
