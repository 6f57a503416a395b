"""``calibrant report``: the page to look at."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from calibrant.cli.choosing import chosen, fold_progress, method_options, of_scores, reported, saved
from calibrant.cli.event import viewed
from calibrant.cli.gate import FAILED, Gate, GateType
from calibrant.cli.large_report import large_report, read_any
from calibrant.cli.options import FILE, Columns, bins_option, cluster_option, column_options, force_option, output_option, refuse_existing
from calibrant.cli.reading import column_of, column_order, columns_of
from calibrant.cli.wording import say, shown
from calibrant.forecasts.normal import require_order
from calibrant.reporting.report import require_page

__all__ = ["report"]


@click.command()
@click.argument("file", type=FILE)
@output_option("report.html", "Where to write it: a page, or by suffix .json or .md.")
@method_options
@click.option("--test", type=FILE, metavar="FILE", help="Fit on all of FILE and measure on this file instead of out of fold.")
@click.option("--fail-if", "gates", type=GateType(), multiple=True, metavar="CONDITION",
              help='Exit with 3 if it holds, e.g. "ece>0.02" (predictions as they are) or "after.ece>0.02"; may be repeated.')  # fmt: skip
@click.option("--time", metavar="NAME", help="Column of dates: calibration over time, and whether it has changed.")
@click.option("--groups", "--by", "groups", metavar="A,B",
              help="Columns of groups, looked at with their combinations; --method group calibrates by them, too.")  # fmt: skip
@click.option("--features", metavar="A,B", help="Columns in whose parts the worst places are looked for, one by one.")
@cluster_option
@click.option("--title", help="Title of the page (default: the file's name).")
@bins_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, too.")
@column_options()
@force_option
@click.pass_context
def report(
    ctx: Any, file: Path, output: Path, method: str, target: Any, calibrator: None, test: Path | None, gates: tuple[Gate, ...], time: Any,
    groups: Any, features: Any, cluster: Any, title: str, bins: Any, as_json: bool, columns: Columns, force: bool,
) -> None:  # fmt: skip
    """Write one offline HTML page on FILE: verdict, before and after, figures, where it is still wrong.

    "After" is 5-fold out-of-fold calibration, unless --test or --calibrator is given. A table of more than a million rows is read in
    parts, and the page says what is then of a sample.

    \b
    Examples:
      calibrant report predictions.npz -o report.html
      calibrant report fit.csv --test test.csv --method isotonic
      calibrant report test.npz --calibrator model.calibrant --force
      calibrant report predictions.npz --fail-if "ece>0.02" --fail-if "accuracy<0.9"
      calibrant report log.parquet --time when --groups model
      calibrant report loans.csv --groups sex,age_band --method group --fail-if "after.group_gap>0.05"
      calibrant report loans.csv --features age,income
      calibrant report visits.csv --label outcome --cluster patient
      calibrant report forecasts.csv --fail-if "ence>0.1" --fail-if "after.coverage<0.88"
    """
    loaded = saved(calibrator, method)
    if test is not None and calibrator is not None:
        raise click.UsageError("--test and --calibrator exclude each other; pass the test file as FILE.")
    require_page(output)
    refuse_existing(output, force, file, test, calibrator)
    found = None
    if not any((test, time, groups, features, cluster)):
        asked = {"target": target, "n_bins": bins, "title": shown(title or file.name)}
        found = large_report(file, columns, method, loaded, **asked)
    if found is None:
        found = _reported(file, test, columns, method, loaded, target, time, groups, features, cluster, title, bins)
    found.save(output, overwrite=force)
    summary = found.to_dict()
    told = [*(f"! {caution}" for caution in summary["cautions"]), summary["verdict"]["sentence"], str(output)]
    say(json.dumps({"file": str(file), **summary}, indent=1) if as_json else "\n".join(told))
    reasons = [reason for gate in gates if (reason := gate.reason(summary)) is not None]
    if reasons:
        say(f"Failed: {'; '.join(reasons)}", err=True)
        ctx.exit(FAILED)


def _reported(file, test, columns, method, loaded, target, time, groups, features, cluster, title, bins):
    """The report on rows in memory."""
    own = None if test is not None else cluster
    data = read_any(file, columns, cluster=own, prefer=getattr(loaded, "inputs", None))
    held_out = None
    if test is not None:
        held_out = read_any(test, replace(columns, task=data.task), cluster=cluster, prefer=data.inputs)
    measured, said = (data, None) if held_out is None else (held_out, held_out.source.said)
    options = {
        "times": column_of(measured, time),
        "features": None if features is None else columns_of(measured, features, "--features"),
        "cluster": column_of(measured, cluster),
        "title": shown(title or measured.path.name),
    }
    scored = of_scores(data, method, loaded, held_out)
    if scored:
        fitted, data, held_out = *scored, None
    else:
        fitted = chosen(method, loaded, data, target=target, groups=groups)
    by_groups = groups is not None and held_out is not None and fitted.tags.uses_groups
    options["groups"] = None if groups is None else columns_of(data if by_groups else measured, groups, "--groups")
    options["target"] = viewed(data, target, fitted)
    with fold_progress(fitted) as step:
        test = _test(held_out, data, groups if by_groups else None)
        return reported(data, fitted, test=test, said_of_test=said, n_bins=bins, progress=step, **options)


def _test(test, data, groups):
    """What a report's ``test`` takes of a file, with its groups where the calibrator uses them."""
    if test is None:
        return None
    own = () if groups is None else (columns_of(test, groups, "--groups"),)
    if data.task == "regression":
        require_order(test.outputs, f"{test.path}", data.outputs, f"{data.path}")
        return test.labels, test.forecast, test.weight, *own
    order = column_order(test, data.classes) if data.classes is not None else slice(None)
    return test.labels, test.values[..., order], test.weight, *own
