"""Options that several commands share: where the columns are, and whether files may be replaced."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from calibrant._support.files import target
from calibrant.cli.event import UNITS
from calibrant.errors import InputError

__all__ = [
    "FILE", "STDIN", "Columns", "bins_option", "cluster_option", "column_options", "force_option", "groups_option", "output_option",
    "refuse_existing",
]  # fmt: skip

#: The path that stands for standard input.
STDIN = Path("-")
NAMED = ("risk", "inputs", "positive", "probabilities", "logits", "classes", "task", "mean", "std", "quantiles")
FORECASTS = (
    click.option("--quantiles", metavar="NAMES", help='Forecasts as quantiles: columns whose star is the level (default "q_*").'),
    click.option("--std", metavar="NAMES", help="Standard deviations of the forecasts, named as for --mean (default std)."),
    click.option(
        "--mean", metavar="NAMES",
        help="Means of the forecasts: a column or array, or several as a,b (default mean, or mean_NAME for several outputs).",
    ),
    click.option(
        "--task", type=click.Choice(["classification", "regression"]),
        help="What FILE is about, where its columns do not tell: mean and std, or q_0.05, ..., are forecasts of a number.",
    ),
)  # fmt: skip
RISK = (
    click.option(
        "--inputs", type=click.Choice(list(UNITS)),
        help="What a column of risks holds (default probability); a score is any number, higher where the event is likelier.",
    ),
    click.option("--risk", metavar="NAME", help="The one column of the risk of the event, or of a score of it."),
)  # fmt: skip
SEVERAL = click.option("--risk", "risks", metavar="NAME", multiple=True, help="A column of risks, or of scores of one; once for each.")
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@dataclass(frozen=True)
class Columns:
    """Names of columns or arrays as the user gave them; None means the usual ones."""

    label: str | None = None
    risk: str | None = None
    inputs: str | None = None
    positive: str | None = None
    probabilities: str | None = None
    logits: str | None = None
    weight: str | None = None
    classes: str | None = None
    task: str | None = None
    mean: str | None = None
    std: str | None = None
    quantiles: str | None = None


def column_options(labels: bool = True, forecasts: bool = True, several: bool = False, risk: bool = True) -> Callable[..., Any]:
    """Decorator that gathers the options into one argument ``columns``; without those of ``labels``, of ``forecasts``, or of one ``risk``.

    With ``several``, --risk may be repeated and is an argument of its own, ``risks``.
    """

    def decorate(command):
        @wraps(command)
        def gathered(*args, label=None, weight=None, **options):
            named = {name: options.pop(name) for name in NAMED if name in options and (risk or name != "risk")}
            _refuse_two_ways(named | {"risk": named.get("risk") or options.get("risks")})
            return command(*args, columns=Columns(label=label, weight=weight, **named), **options)

        decorated = gathered
        for option in FORECASTS if forecasts else ():
            decorated = option(decorated)
        decorated = click.option(
            "--classes", metavar="A,B,C", help="Labels in column order, where the file does not name them."
        )(decorated)  # fmt: skip
        decorated = click.option(
            "--logits", metavar="NAMES", help='The logits, named as for --probabilities (default "logit_*").'
        )(decorated)  # fmt: skip
        decorated = click.option(
            "--probabilities", metavar="NAMES",
            help='Array of an npz file; or columns, as "p_*" (the default) or "a,b,c". One column: probability of the second class.',
        )(decorated)  # fmt: skip
        for option in (RISK[0], SEVERAL if several else RISK[1]) if risk else ():
            decorated = option(decorated)
        if labels:
            decorated = click.option(
                "--positive", metavar="LABEL",
                help="The label of the event; must be said where labels are not 0 and 1, booleans, or no and yes.",
            )(decorated)  # fmt: skip
            decorated = click.option("--weight", metavar="NAME", help="Array or column of sample weights.")(decorated)
            decorated = click.option(
                "--label",
                metavar="NAME",
                help="Array or column of true labels or outcomes (default labels, label, y or target); for npy, a file.",
            )(decorated)
        return decorated

    return decorate


def _refuse_two_ways(named):
    """Predictions named twice, or an event said twice."""
    other = next((n for n in ("probabilities", "logits", "mean", "std", "quantiles") if named.get("risk") and named.get(n)), None)
    if other is not None or (named.get("risk") and named.get("task") == "regression"):
        raise click.UsageError(f"--risk and --{other or 'task regression'} exclude each other; pass one.")
    if named.get("positive") is not None and named.get("classes") is not None:
        raise click.UsageError("--positive and --classes exclude each other; with one column of risks the last of --classes is the event.")


def cluster_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--cluster``."""
    words = "Rows that hang together, as the visits of one patient: intervals and tests count clusters, not rows."
    return click.option("--cluster", metavar="COLUMN", help=words)(command)


def groups_option(words: str) -> Callable[..., Any]:
    """``--groups``."""
    return click.option("--groups", metavar="A,B", help=words)


def output_option(default: str | None, words: str) -> Callable[..., Any]:
    """``-o/--output``."""
    return click.option(
        "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=default, required=default is None,
        show_default=default is not None, help=words,
    )  # fmt: skip


def force_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--force``."""
    return click.option("--force", is_flag=True, help="Replace the output file if it exists.")(command)


def refuse_existing(path: Path, force: bool, *read: Any) -> None:
    """Stop before the work, not after it, where the output would not be written, or would take the place of what is ``read``."""
    try:
        found = target(path, overwrite=force)
    except FileExistsError as error:
        raise InputError(str(error).replace("pass overwrite=True or another path", "pass --force or another -o")) from None
    if any(found.exists() and found.samefile(one) for one in read if one not in (None, STDIN)):
        raise InputError(f"{path} is a file that this command reads, which would be lost; write to another -o.")


def bins_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--bins``; None for the default of the task."""
    words = "Bins of the curves and calibration errors (default 15; 10 of error bars)."
    return click.option("--bins", type=click.IntRange(1), help=words)(command)
