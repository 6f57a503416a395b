"""Options that several commands share, each with one meaning everywhere; modules that check them
are imported when an option is used.
"""

import shlex
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import wraps
from glob import glob
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from calibrant.cli.wording import say
from calibrant.core.stores import Address, located
from calibrant.errors import MOST_COUNT, InputError
from calibrant.tables.names import Columns
from calibrant.tables.paths import STDIN, is_pattern, paths_of

__all__ = [
    "FAILED",
    "FILE",
    "SAVED",
    "SHARE",
    "Columns",
    "TablePath",
    "all_option",
    "bins_option",
    "cluster_option",
    "column_options",
    "cost_options",
    "features_option",
    "force_option",
    "gate_option",
    "groups_option",
    "json_option",
    "method_option",
    "method_options",
    "next_apply",
    "next_command",
    "output_option",
    "reference_option",
    "refuse_existing",
    "refuse_unused",
    "share_options",
    "table_options",
    "target_option",
    "test_options",
    "version_option",
    "weight_kind_option",
]


def next_apply(saved: Path, file: Path, named: str) -> None:
    """Print the command that applies what was saved to a new table like ``file``."""
    kind = file.suffix or ".csv"
    written = ".jsonl" if kind in (".eval", ".json") else kind
    words = f"apply {shlex.quote(str(saved))} new{kind} -o {named}{written}"
    next_command(words, "label", "positive", "predicted", "model_version")


def next_command(words: str, *without: str) -> None:
    """Print the command to run next: its words, and the columns that this one names."""
    ctx = click.get_current_context()
    for param in ctx.command.params:
        name, value = param.name or "", ctx.params.get(param.name or "")
        if name in {"label", *NAMED} - {*without} and isinstance(value, str):
            words += f" {max(param.opts, key=len)} {shlex.quote(value)}"
    say(f"Next:\n  calibrant {words}")


class PlacePath(click.Path):
    """Path of a file, or its address in a store, which is looked up when it is read."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the path."""
        place = located(value)
        if isinstance(place, Address):
            return place
        return super().convert(value if isinstance(value, Path) else str(place), param, ctx)


class TablePath(PlacePath):
    """Table of predictions: an existing file, a folder of files of one kind, or a pattern that
    matches files; or its address in a store.
    """

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the path; a pattern stays as it is written."""
        place = located(value)
        if not isinstance(place, Address) and is_pattern(place):
            if not glob(str(place), recursive=True):
                self.fail(f"no file matches {str(value)!r}.", param, ctx)
            return place
        return super().convert(value, param, ctx)


#: Types of the arguments: a table of predictions, and a file that calibrant saved.
FILE = TablePath()
SAVED = PlacePath(exists=True, dir_okay=False, path_type=Path)
#: Exit code of a failed gate.
FAILED = 3
#: Type of a share.
SHARE = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)
#: Units of a column of risks, the values of --inputs.
INPUTS = ("probability", "percent", "log_probability", "logit", "score")
NAMED = (
    "risk",
    "confidence",
    "predicted",
    "inputs",
    "positive",
    "probabilities",
    "logits",
    "classes",
    "task",
    "mean",
    "std",
    "quantiles",
    "skip_missing",
    "model_version",
    "allow_other_version",
)


class TaskType(click.ParamType):
    """Name of a task, including those of extensions, which are slow to load."""

    name = "kind"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the name."""
        from calibrant.cli.methods import all_named

        known = [domain.name for domain in all_named()]
        if value not in known:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, known))}.", param, ctx)
        return value


FORECASTS = (
    click.option(
        "--quantiles",
        metavar="NAMES",
        help=(
            'Quantile forecasts: columns with a star for the level ("q_*"), ends of intervals'
            ' ("lower=0.1,upper=0.9"), or one series of Darts or Nixtla. Found by themselves:'
            " q_0.1, 0.1 (AutoGluon), NAME_q0.1 (Darts), NAME-lo-80 (Nixtla)."
        ),
    ),
    click.option(
        "--std",
        metavar="NAMES",
        help="Standard deviations of the forecasts, named as for --mean (default std).",
    ),
    click.option(
        "--mean",
        metavar="NAMES",
        help=(
            "Means of the forecasts: a column or array, or several as a,b (default mean, or"
            " mean_NAME for several outputs)."
        ),
    ),
    click.option(
        "--task",
        type=TaskType(),
        help=(
            "Task of TABLE, if its columns do not show it: mean and std, or q_0.05, ..., are"
            " forecasts of a number."
        ),
    ),
)
RISK = (
    click.option(
        "--inputs",
        type=click.Choice(INPUTS),
        help=(
            "Unit of that one column (default probability); a score is any number that is higher"
            " where the event is likelier."
        ),
    ),
    click.option(
        "--confidence",
        metavar="NAME",
        help="The one column of the probability that the answer is right, as recorded in --label.",
    ),
    click.option(
        "--risk",
        metavar="NAME",
        help="The one column of the predicted risk of the event, or of a score for it.",
    ),
)
PREDICTED = click.option(
    "--predicted",
    metavar="NAME",
    help="With --confidence: the column of answers; an answer is right if it equals --label.",
)
SEVERAL = click.option(
    "--risk",
    "risks",
    metavar="NAME",
    multiple=True,
    help="A column of risks or scores; repeat it for each column.",
)
#: The version of the model that a lock is bound to.
version_option: Callable[..., Any] = click.option(
    "--model-version",
    metavar="NAME",
    help="Lock files: the version of the model, unless the rows themselves name it.",
)
#: The promise of a certified rule.
share_options: tuple[Callable[..., Any], ...] = (
    click.option(
        "--max-error",
        type=SHARE,
        default=0.05,
        show_default=True,
        help="Largest share of errors among accepted answers.",
    ),
    click.option(
        "--certainty",
        type=SHARE,
        default=0.95,
        show_default=True,
        help="Confidence with which the share of errors stays below --max-error.",
    ),
)
SKIP = click.option(
    "--skip-missing",
    is_flag=True,
    help="Leave out rows without a prediction, label or weight, and print their number.",
)


def column_options(
    labels: bool = True, forecasts: bool = True, several: bool = False
) -> Callable[..., Any]:
    """Return a decorator that gathers the options of columns into one argument ``columns``.

    Without ``labels`` or ``forecasts`` it omits their options. With ``several``, --risk may be
    repeated and becomes an argument ``risks``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(*args: Any, label: Any = None, weight: Any = None, **options: Any) -> Any:
            named = {name: options.pop(name) for name in NAMED if name in options}
            _refuse_two_ways(named | {"risk": named.get("risk") or options.get("risks")})
            return command(*args, columns=Columns(label=label, weight=weight, **named), **options)

        decorated = SKIP(gathered)
        for option in FORECASTS if forecasts else ():
            decorated = option(decorated)
        decorated = click.option(
            "--classes",
            metavar="A,B,C",
            help="Labels in column order, where the file does not name them.",
        )(decorated)
        decorated = click.option(
            "--logits",
            metavar="NAMES",
            help='The logits, named as for --probabilities (default "logit_*").',
        )(decorated)
        decorated = click.option(
            "--probabilities",
            metavar="NAMES",
            help=(
                'Array of an npz file, or columns as "p_*" (the default) or "a,b,c". One column'
                " holds the probability of the second class."
            ),
        )(decorated)
        ways = (*RISK[:-1], SEVERAL if several else RISK[-1])
        for option in (PREDICTED, *ways) if labels else ways:
            decorated = option(decorated)
        return _truth_options(decorated) if labels else decorated

    return decorate


def _truth_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--label``, ``--weight`` and ``--positive``."""
    positive = (
        "The label of the event; required if labels are not 0 and 1, booleans, or no and yes."
    )
    label = (
        "Array or column of true labels or outcomes (default labels, label, y or target); with npy,"
        " a file."
    )
    command = click.option("--positive", metavar="LABEL", help=positive)(command)
    command = click.option("--weight", metavar="NAME", help="Array or column of sample weights.")(
        command
    )
    return click.option("--label", metavar="NAME", help=label)(command)


def _refuse_two_ways(named: dict[str, Any]) -> None:
    """Refuse predictions named twice, an event named twice, or fewer than two classes."""
    one = next((name for name in ("risk", "confidence") if named.get(name)), None)
    others = ("confidence", "probabilities", "logits", "mean", "std", "quantiles")
    other = next(
        (name for name in others if one is not None and name != one and named.get(name)), None
    )
    if other is not None:
        raise click.UsageError(f"--{one} and --{other} exclude each other; pass one.")
    if named.get("positive") is not None and named.get("classes") is not None:
        raise click.UsageError(
            "--positive and --classes exclude each other, because the last of --classes is the"
            " event; pass one."
        )
    _refuse_too_few(named.get("classes"))
    if named.get("predicted") and one != "confidence":
        raise click.UsageError(
            "--predicted needs the column of confidences of its answers; name it with --confidence."
        )
    if named.get("predicted") and named.get("positive") is not None:
        raise click.UsageError(
            "--predicted and --positive exclude each other, because the event is then a right"
            " answer; pass one."
        )


def _refuse_too_few(classes: str | None) -> None:
    """Refuse ``--classes`` with fewer than two different labels."""
    if classes is not None and len({part.strip() for part in classes.split(",")} - {""}) < 2:
        raise click.UsageError(
            f"--classes must name two classes or more, separated by commas; got {classes!r}; name"
            " all, in column order."
        )


class _MethodType(click.ParamType):
    """Name of a method, or several separated by commas; an unknown name is a usage error that lists
    all names.
    """

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the names; ``by-class`` becomes those that it stands for."""
        from calibrant.cli.methods import BY_CLASS, EXPLORATORY, all_named

        known, names = all_named(), EXPLORATORY if value == "by-class" else value.split(",")
        for name in names:
            if not any(name.removesuffix(BY_CLASS) in own for own in known.values()):
                near = get_close_matches(
                    name, [word for own in known.values() for word in own], n=1
                )
                listed = (f"{', '.join(own)} ({one.predictions})" for one, own in known.items())
                remedy = f"did you mean {near[0]}?" if near else f"choose from: {'; '.join(listed)}"
                self.fail(f"{name!r} is not a method; {remedy}", param, ctx)
        return ",".join(names)


class _SavedType(PlacePath):
    """Existing file; the error on a method's name suggests --method."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the path."""
        place = located(value)
        if isinstance(place, Address) or place.exists():
            return super().convert(value, param, ctx)
        from calibrant.cli.methods import all_named

        if any(value in names for names in all_named().values()):
            self.fail(
                f"{value!r} is a method, not a file of `calibrant fit`; write --method {value}.",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


class _GateType(click.ParamType):
    """Gate of a command; one that cannot be parsed is a usage error."""

    name = "condition"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Parse the gate."""
        from calibrant.cli.gate import Gate

        try:
            return value if isinstance(value, Gate) else Gate.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def gate_option(words: str) -> Callable[..., Any]:
    """Add ``--fail-if``, as the argument ``gates``."""
    words = f"Exit with code 3 if this holds: {words}; may be repeated."
    return click.option(
        "--fail-if", "gates", type=_GateType(), multiple=True, metavar="CONDITION", help=words
    )


def target_option(words: str) -> Callable[..., Any]:
    """Add ``--target``."""
    return click.option(
        "--target",
        metavar="TARGET",
        help=f"{words}: event (of two classes, by default), answer, classes, or a class's label.",
    )


def method_option(
    words: str,
    target: str = "What to measure, and what a map named by --method is fitted to",
    metavar: str = "NAME",
) -> Callable[..., Any]:
    """Add ``--method NAME`` and ``--target``."""
    return lambda command: click.option(
        "--method", type=_MethodType(), metavar=metavar, help=words
    )(target_option(target)(command))


def method_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--method`` and ``--target``, and ``--calibrator``, which excludes ``--method``."""
    saved_file = _SavedType(exists=True, dir_okay=False, path_type=Path)
    words = "Use a calibrator saved by `calibrant fit`, without fitting it again."
    command = click.option("--calibrator", type=saved_file, metavar="FILE", help=words)(command)
    words = (
        "Calibrate by this method, 5-fold out-of-fold, or compare several (A,B); by-class compares"
        " those for single predicted classes; a wrong name lists all."
    )
    return method_option(words, metavar="A,B")(command)


def cost_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--cost-false-positive`` and ``--cost-false-negative``."""
    for name, what in (("negative", "a missed event"), ("positive", "a false alarm")):
        words = f"Cost of {what}, in any unit; the two costs set the decision threshold."
        command = click.option(
            f"--cost-false-{name}",
            type=click.FloatRange(0.0, min_open=True),
            metavar="NUMBER",
            help=words,
        )(command)
    return command


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of slices: their columns, the engine and the output file."""
    path = PlacePath(dir_okay=False, path_type=Path)
    for option in (
        click.option(
            "-o",
            "--output",
            type=path,
            help="Slices: write the result to this .json or .parquet file.",
        ),
        click.option(
            "--resume",
            type=path,
            metavar="PATH",
            help="Slices: save the sums to this file after each input file, and resume from them.",
        ),
        click.option(
            "--engine",
            metavar="NAME",
            help="Slices: auto, polars, duckdb, pyarrow, dask, spark or ray.",
        ),
        click.option(
            "--every",
            default="day",
            show_default=True,
            metavar="UNIT",
            help="With --time: hour, day, week, month, quarter or year.",
        ),
        click.option("--time", metavar="NAME", help="Column of times to slice by, too."),
        click.option(
            "--by",
            metavar="A,B",
            help="Columns to slice by: one row of numbers for each combination.",
        ),
    ):
        command = option(command)
    return force_option(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json``, as the argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(
        command
    )


def all_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--all``, as the argument ``whole``."""
    return click.option(
        "--all", "whole", is_flag=True, help="Show every list in full, not only its first rows."
    )(command)


def cluster_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--cluster``."""
    words = (
        "Column that identifies clusters of dependent rows, such as the patient of several visits:"
        " intervals then count clusters, not rows."
    )
    return click.option("--cluster", metavar="NAME", help=words)(command)


def test_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--test``, ``--test-label`` and ``--test-weight``."""
    for what in ("weight", "label"):
        words = f"The {what}s of --test, if they are named otherwise than those of TABLE."
        command = click.option(f"--test-{what}", metavar="NAME", help=words)(command)
    words = "Fit on all of TABLE and evaluate on this table instead of out of fold."
    return click.option("--test", type=FILE, metavar="TABLE", help=words)(command)


def weight_kind_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--weight-kind``."""
    words = (
        "Weights count repeated rows (frequency, the default), or correct a sampling design or"
        " importance (sampling)."
    )
    return click.option(
        "--weight-kind",
        type=click.Choice(["frequency", "sampling"]),
        default="frequency",
        help=words,
    )(command)


def reference_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--reference``."""
    words = (
        "The rows that the model was trained on, with their labels and features: for --method"
        " geometric, which measures distances to them in the columns of --features."
    )
    return click.option("--reference", type=FILE, metavar="TABLE", help=words)(command)


def features_option(words: str) -> Callable[..., Any]:
    """Add ``--features``."""
    words += (
        "with --reference, the columns, or the one array, in which distances are measured instead"
        " (default: all columns of numbers that both tables share)."
    )
    return click.option("--features", metavar="A,B", help=words[0].upper() + words[1:])


def groups_option(words: str) -> Callable[..., Any]:
    """Add ``--groups``."""
    return click.option("--groups", metavar="A,B", help=words)


def output_option(default: str | None, words: str, required: bool = True) -> Callable[..., Any]:
    """Add ``-o/--output``, which is ``required`` unless it has a default."""
    return click.option(
        "-o",
        "--output",
        type=PlacePath(dir_okay=False, path_type=Path),
        default=default,
        required=required and default is None,
        show_default=default is not None,
        help=words,
    )


def force_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace the output file if it exists.")(
        command
    )


def refuse_existing(path: Path, force: bool) -> None:
    """Stop before the work if the output cannot be written, or would replace a file that the
    command reads.
    """
    from calibrant.core.saving import require_unread, target

    try:
        target(path, overwrite=force)
        require_unread(path, _files_read())
    except (FileExistsError, InputError) as error:
        words = str(error).replace("overwrite=True", "--force")
        raise InputError(words.replace("another path", "another -o")) from None


def _files_read() -> Iterator[Any]:
    """Files in the parameters of the command that runs: all but its output."""
    context = click.get_current_context()
    for param in context.command.params:
        value = context.params.get(param.name or "")
        for one in value if isinstance(value, tuple) else (value,):
            if param.name == "output" or one in (None, STDIN):
                continue
            if isinstance(param.type, TablePath):
                yield from paths_of(one)
            # Labels and weights may be in files of their own.
            elif isinstance(param.type, PlacePath) or str(one).lower().endswith(".npy"):
                yield one


def refuse_unused(why: str, *names: str) -> None:
    """Raise a usage error if one of these parameters was passed, which would have no effect."""
    context = click.get_current_context()
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{max(param.opts, key=len)} {why}; leave it out.")


def bins_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--bins``; None is the default of the task."""
    words = "Number of bins of curves and calibration errors (default 15; 10 for forecasts)."
    return click.option("--bins", type=click.IntRange(1, MOST_COUNT), help=words)(command)
