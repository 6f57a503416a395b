"""``calibrant monitor``: has the calibration changed, since when, and what to do."""

import json
from typing import Any

import click
from rich.table import Table

from calibrant.cli.choosing import target_option
from calibrant.cli.evaluate_tables import Tables, check_output, count_tables, table_options, write_result
from calibrant.cli.gate import FAILED
from calibrant.cli.options import column_options
from calibrant.cli.tables import as_text, console
from calibrant.monitoring.over_time import monitor as watch
from calibrant.monitoring.slices import worst_slices

__all__ = ["monitor"]

#: Slices shown in the terminal; --json has all.
MOST_SHOWN = 20


@click.command()
@click.argument("source", metavar="FILES")
@target_option("Whose probability is watched")
@column_options(forecasts=False)
@table_options
@click.option("--reference", metavar="FILES", help="Rows whose calibration is the standard; default perfect calibration.")
@click.option("--alpha", default=0.05, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="Probability that a calibrated stream ever raises the alarm.")  # fmt: skip
@click.option("--tolerance", default=0.01, show_default=True, type=click.FloatRange(0, 1, max_open=True),
              help="Gaps between accuracy and confidence up to this are no drift.")  # fmt: skip
@click.option("--bins", default=15, show_default=True, type=click.IntRange(1), help="Bins of the score.")
@click.option("--fail", is_flag=True, help="Exit with 3 if an alarm is on.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON instead of a table.")
@click.pass_context
def monitor(
    ctx: Any, source: Any, target: Any, columns: Any, reference: Any, alpha: float, tolerance: float, bins: Any, fail: Any, as_json: Any,
    **options: Any,
) -> None:  # fmt: skip
    """Watch the calibration of FILES over --time: an alarm with a stated rate of false ones, and advice.

    Of two classes the risk of the event is watched, and of more the confidence of the model's own answer; --target says otherwise.
    Parquet files are counted out of core, by --by and by --every of --time; with --resume only new files are read. The alarm holds however
    often you look.

    \b
    Examples:
      calibrant monitor "logs/*.parquet" --time when --every week
      calibrant monitor "logs/*.parquet" --time when --by model --resume sums.calibrant --json
      calibrant monitor "logs/2026/*.parquet" --time when --reference "validation/*.parquet" --fail
    """
    tables = Tables(**options)
    if tables.time is None:
        raise click.UsageError("name the column of times: --time when")
    if columns.weight is not None:
        raise click.UsageError("weights void the rate of false alarms; leave --weight out.")
    check_output(tables, source, reference)
    evaluation, _ = count_tables(source, tables, columns, bins, target)
    standard = None
    if reference is not None:
        alike = Tables(engine=tables.engine, score=tables.score, predicted=tables.predicted)
        standard, _ = count_tables(reference, alike, columns, bins, target)
    found = watch(evaluation, alpha=alpha, tolerance=tolerance, reference=standard)
    worst = worst_slices(evaluation, by=found.by, alpha=alpha, tolerance=tolerance) if found.by else None
    if tables.output is not None:
        write_result(found, tables)
    if as_json:
        click.echo(json.dumps(found.to_dict() | {"worst_slices": None if worst is None else worst.to_dict()}, indent=1, default=str))
    else:
        _print(found, worst, ("risk", "happened") if evaluation.target == "event" else ("confidence", "accuracy"))
    if fail and (found.overall.alarm_ or found.alarms):
        ctx.exit(FAILED)


def _print(found, worst, said):
    out = console()
    if worst is not None:
        table = Table(title=f"Slices, worst first (a false share of at most {worst.alpha:g} among those flagged)", title_justify="left")
        for name in [*worst.by, "rows", *said, "adjusted p", "flagged", "alarm"]:
            table.add_column(as_text(name), justify="left" if name in worst.by else "right")
        for i, values in enumerate(worst.slices[:MOST_SHOWN]):
            numbers = (f"{worst.n[i]:,.0f}", f"{worst.confidence[i]:.4f}", f"{worst.accuracy[i]:.4f}", f"{worst.adjusted[i]:.3g}")
            alarm = found.slices[values].alarm_time_
            table.add_row(*map(as_text, values), *numbers, "yes" if worst.flagged[i] else "", "" if alarm is None else as_text(alarm))
        out.print(table)
    advice = found.overall.advice()
    out.print(as_text(f"All rows: {_said(advice)}"), soft_wrap=True)
    for values in found.alarms[:MOST_SHOWN]:
        advice = found.slices[values].advice()
        out.print(as_text(f"{', '.join(map(str, values))}: {_said(advice)}"), soft_wrap=True)


def _said(advice):
    """The decision, then the reason as a sentence."""
    return f"{advice.decision}. {advice.reason[0].upper()}{advice.reason[1:]}."
