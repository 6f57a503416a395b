"""``calibrant report``: write a page with a verdict, numbers and figures."""

import json
import shlex
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FAILED,
    FILE,
    bins_option,
    cluster_option,
    column_options,
    cost_options,
    features_option,
    force_option,
    gate_option,
    method_options,
    next_command,
    output_option,
    reference_option,
    refuse_existing,
    test_options,
    weight_kind_option,
)
from calibrant.cli.wording import say

__all__ = ["report"]


@click.command()
@click.argument("file", metavar="TABLE", type=FILE)
@output_option("report.html", "Output file: an HTML page, or .json or .md by its suffix.")
@method_options
@test_options
@gate_option('"ece>0.02" (uncalibrated predictions) or "after.ece>0.02"')
@click.option(
    "--time",
    metavar="NAME",
    help="Column of dates: show calibration over time, and test whether it has changed.",
)
@click.option(
    "--groups",
    metavar="A,B",
    help=(
        "Columns of groups to audit, with their combinations; the automatic choice may calibrate by"
        " them, and --method group does."
    ),
)
@reference_option
@features_option("columns in which to look for miscalibrated regions, one column at a time; ")
@cluster_option
@weight_kind_option
@cost_options
@click.option("--title", help="Title of the page (default: the name of TABLE).")
@bins_option
@click.option("--json", "as_json", is_flag=True, help="Also print the results as JSON.")
@column_options()
@force_option
@click.pass_context
def report(
    ctx: Any, file: Path, output: Path, gates: Any, as_json: bool, force: bool, **asked: Any
) -> None:
    """Write one offline HTML page on TABLE: verdict, numbers before and after calibration, figures,
    remaining miscalibration.

    TABLE is a file, a folder or a quoted pattern of files. "After" is out-of-fold
    calibration, unless --test or --calibrator is given. A table of more than a million rows is read
    in parts, and the page names the numbers that come from a sample. With --reference the page
    shows how far the rows are from those that the model was trained on.

    \b
    Examples:
      calibrant report predictions.npz -o report.html
      calibrant report fit.csv --test test.csv --method isotonic
      calibrant report test.npz --calibrator model.calibrant --force
      # Compare several
      calibrant report log.csv --method temperature,beta,isotonic
      calibrant report log.csv --method by-class  # which classes can I believe?
      calibrant report "logs/*.parquet" --fail-if "event_ece>0.02"
      calibrant report log.parquet --time when --groups model
      calibrant report loans.csv --groups sex,age_band --method group \\
          --fail-if "after.group_gap>0.05"
      calibrant report loans.csv --features age,income
      calibrant report log.parquet --reference train.parquet --method geometric
      calibrant report loans.csv --cost-false-positive 1 --cost-false-negative 20
      calibrant report visits.csv --label outcome --cluster patient
      calibrant report forecasts.csv --fail-if "ence>0.1" \\
          --fail-if "after.coverage<0.88"
    """
    from calibrant.cli.gate import failed
    from calibrant.cli.measuring import Asked, measured
    from calibrant.reporting.report import require_page

    require_page(output)
    refuse_existing(output, force)
    found = measured(file, Asked(**asked))
    found.save(output, overwrite=force)
    summary = found.to_dict()
    verdict, classes = summary["verdict"], summary["by_class"]
    told = [
        verdict["state"].capitalize(),
        verdict["sentence"],
        f"→ {verdict['action']}",
        *(f"! {caution}" for caution in summary["cautions"]),
        *([] if classes is None else [classes["sentence"]]),
        str(output),
    ]
    say(json.dumps({"file": str(file), **summary}, indent=1) if as_json else "\n".join(told))
    if verdict["state"] == "calibrate" and asked["calibrator"] is None and not as_json:
        next_command(f"fit {shlex.quote(str(file))}")
    if failed(gates, summary):
        ctx.exit(FAILED)
