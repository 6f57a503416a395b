"""``calibrant monitor``: detect a change of calibration, date it and recommend an action."""

import json
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FAILED,
    FILE,
    Columns,
    all_option,
    column_options,
    gate_option,
    json_option,
    refuse_unused,
    table_options,
    target_option,
)
from calibrant.cli.wording import say
from calibrant.errors import MOST_COUNT

__all__ = ["monitor"]

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
#: Target of the monitor -> names of the two columns of numbers of a slice.
SAID = {
    "event": ("predicted risk", "observed"),
    "answer": ("confidence", "accuracy"),
    "forecast": ("level", "coverage"),
}


@click.command()
@click.argument("source", metavar="TABLE", type=FILE)
@target_option("The probability to watch")
@column_options()
@table_options
@click.option(
    "--reference",
    metavar="TABLE",
    type=FILE,
    help="Reference rows: watch for a change from their calibration (default perfect calibration).",
)
@click.option(
    "--alpha",
    default=0.05,
    show_default=True,
    type=SHARE,
    help="Probability that a calibrated stream ever raises a false alarm.",
)
@click.option(
    "--tolerance",
    default=0.01,
    show_default=True,
    type=click.FloatRange(0, 1, max_open=True),
    help="Largest gap between predicted and observed that does not count as drift.",
)
@click.option("--bins", type=click.IntRange(1, MOST_COUNT), help="Bins of the score (default 15).")
@click.option(
    "--by-file",
    is_flag=True,
    help="Each file of TABLE is one batch, in the order of their names; in place of --time.",
)
@click.option(
    "--lines",
    is_flag=True,
    help="Print one JSON object a line, for all rows and each slice: short, for the log of a CI.",
)
@gate_option('"alarms>0" or "discoveries>0"')
@all_option
@json_option
@click.pass_context
def monitor(
    ctx: Any,
    source: Path,
    target: Any,
    columns: Columns,
    reference: Path | None,
    alpha: float,
    tolerance: float,
    bins: Any,
    by_file: bool,
    lines: bool,
    gates: Any,
    whole: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Watch the calibration of TABLE over --time: raise an alarm at a controlled rate of false
    alarms, and give advice.

    With two classes it watches the risk of the event, with more the confidence of the predicted
    label; --target selects another. With forecasts (mean and std, or quantiles) it watches the
    share of outcomes between the levels. Parquet files are counted out of core, by --by and by
    --every of --time; with --resume only new files are read. The rate of false alarms holds however
    often you look.

    \b
    Examples:
      calibrant monitor "logs/*.parquet" --time when --every week
      calibrant monitor logs/ --time when --by model --resume sums.calibrant \\
          --json
      calibrant monitor "logs/2026/*.parquet" --time when \\
          --reference "validation/*.parquet" --fail-if "alarms>0"
      calibrant monitor answers.jsonl --confidence said --label correct \\
          --time when
      calibrant monitor forecasts.csv --time day --by store
      calibrant monitor logs/ --by-file --by model --lines \\
          --fail-if "discoveries>0"
    """
    from calibrant.cli.gate import failed
    from calibrant.cli.slices import Tables, check_output, count_tables, write_result
    from calibrant.monitoring.over_time import monitor as watch
    from calibrant.monitoring.over_time import worst_slices
    from calibrant.tables.readers import labelled

    tables = Tables(**options)
    if (tables.time is None) is not by_file:
        raise click.UsageError(
            "--time is required; name the column of times, such as --time when, or pass --by-file"
            " for one batch a file."
        )
    if by_file:
        refuse_unused("needs --time in place of --by-file", "every")
    if columns.weight is not None:
        raise click.UsageError(
            "the rate of false alarms does not hold with weights; leave --weight out."
        )
    check_output(tables)
    counted: Any = {
        path.name: count_tables(path, tables, columns, bins, target)[0]
        for path in (labelled(source, columns) if by_file else ())
    } or count_tables(source, tables, columns, bins, target)[0]
    evaluation: Any = reduce(add, counted.values()) if by_file else counted
    if evaluation.target == "forecast" and bins is not None:
        raise click.UsageError(
            "--bins applies to probabilities only; forecasts are counted between their levels;"
            " leave it out."
        )
    standard = None
    if reference is not None:
        standard, _ = count_tables(reference, Tables(engine=tables.engine), columns, bins, target)
    found = watch(counted, alpha=alpha, tolerance=tolerance, reference=standard)
    worst = (
        worst_slices(evaluation, by=found.by, alpha=alpha, tolerance=tolerance)
        if found.by
        else None
    )
    if tables.output is not None:
        write_result(found, tables)
    if lines:
        for one in found.lines():
            click.echo(json.dumps(one, default=str))
    elif as_json:
        click.echo(
            json.dumps(
                found.to_dict() | {"worst_slices": None if worst is None else worst.to_dict()},
                indent=1,
                default=str,
            )
        )
    else:
        _print(found, worst, SAID[evaluation.target], whole)
    alarms = len(found.alarms) + int(found.overall.alarm_)
    counts = {"alarms": alarms, "discoveries": len(found.discoveries)}
    values = [
        {"key": key, "name": f"The number of {key}", "before": {"value": count}, "after": None}
        for key, count in counts.items()
    ]
    if failed(gates, {"metrics": values}):
        ctx.exit(FAILED)


def _print(found: Any, worst: Any, said: tuple[str, str], whole: bool) -> None:
    from calibrant.cli.tables import first_of

    if worst is not None:
        _print_slices(found, worst, said, whole)
    say(f"All rows: {found.overall.advice()}")
    alarms, note = first_of(found.alarms, whole)
    for values in alarms:
        say(f"{', '.join(map(str, values))}: {found.slices[values].advice()}")
    if note:
        say(f"Slices with an alarm: {note}")


def _print_slices(found: Any, worst: Any, said: tuple[str, str], whole: bool) -> None:
    from calibrant.cli.tables import print_table

    rows = []
    for i, values in enumerate(worst.slices):
        alarm = found.slices[values].alarm_time_
        rows.append(
            [
                *map(str, values),
                f"{worst.n[i]:,.0f}",
                f"{worst.confidence[i]:.4f}",
                f"{worst.accuracy[i]:.4f}",
                f"{worst.adjusted[i]:.3g}",
                "yes" if worst.flagged[i] else "",
                "" if alarm is None else str(alarm),
            ]
        )
    head = [*map(str, worst.by), "rows", *said, "adjusted p", "flagged", "alarm"]
    title = (
        f"Slices, worst first (expected share of false discoveries among those flagged: at most"
        f" {100.0 * worst.alpha:g} %)"
    )
    print_table(title, head, rows, whole)
