"""``calibrant evaluate``: measure accuracy and calibration."""

import json
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FAILED,
    FILE,
    Columns,
    bins_option,
    cluster_option,
    column_options,
    features_option,
    gate_option,
    json_option,
    method_options,
    reference_option,
    refuse_unused,
    table_options,
    test_options,
    weight_kind_option,
)

__all__ = ["evaluate"]


@click.command()
@click.argument("source", metavar="TABLE", type=FILE)
@method_options
@test_options
@gate_option('"event_ece>0.02", or "after.log_loss>=0.3" with --method')
@reference_option
@features_option("")
@column_options()
@table_options
@bins_option
@cluster_option
@weight_kind_option
@json_option
@click.pass_context
def evaluate(
    ctx: Any,
    source: Path,
    method: Any,
    target: Any,
    calibrator: Any,
    test: Any,
    test_label: Any,
    test_weight: Any,
    reference: Any,
    features: Any,
    gates: Any,
    columns: Columns,
    bins: Any,
    cluster: Any,
    weight_kind: Any,
    as_json: bool,
    **slices: Any,
) -> None:
    """Measure the predictions in TABLE, each number with an interval.

    TABLE is a file, a folder or a quoted pattern of files. With two classes the metrics are those
    of the event's risk: log loss, Brier score, D², O/E, calibration in the large and slope, ECE,
    ICI, AUROC. With more classes, or --target answer, they are those of the predicted label:
    accuracy, log loss, Brier score, ECE. --target LABEL takes one class as the event. Forecasts get
    NLL, CRPS, ENCE and coverage.

    With --calibrator or --method it prints the numbers before and after calibration, and the paired
    change. With --by or --time it prints the numbers of each slice, counted in one pass and bounded
    memory. A table of more than a million rows is read in parts.

    \b
    Examples:
      calibrant evaluate predictions.npz
      calibrant evaluate risks.csv --risk p_default --label outcome --positive bad
      calibrant evaluate answers.jsonl --confidence said --inputs percent \\
          --label correct
      calibrant evaluate "logs/*.parquet" --label outcome --json
      calibrant evaluate predictions.csv --fail-if "event_ece>0.02"
      # 5-fold out-of-fold
      calibrant evaluate predictions.parquet --method isotonic
      # Which classes can I believe?
      calibrant evaluate predictions.csv --method by-class
      calibrant evaluate test.npz --calibrator model.calibrant
      calibrant evaluate log.csv --method geometric --reference train.csv
      calibrant evaluate forecasts.csv  # columns mean, std, y
      calibrant evaluate forecasts.csv --by store
      calibrant evaluate visits.csv --label outcome --cluster patient
      calibrant evaluate logs/ --by model,day --resume sums.calibrant \\
          -o slices.parquet
    """
    if slices["time"] is None:
        refuse_unused("needs --time, the column of times", "every")
    if any(slices[name] is not None for name in ("by", "time", "engine", "resume", "output")):
        given = {
            "--method": method,
            "--calibrator": calibrator,
            "--test": test,
            "--test-label": test_label,
            "--test-weight": test_weight,
            "--cluster": cluster,
            "--reference": reference,
            "--features": features,
        }
        given["--weight-kind"] = None if weight_kind == "frequency" else weight_kind
        _refuse_of_rows(next((name for name, value in given.items() if value is not None), None))
        from calibrant.cli.slices import Tables, evaluate_tables

        failing = evaluate_tables(source, Tables(**slices), columns, bins, as_json, target, gates)
    else:
        asked = {
            "method": method,
            "calibrator": calibrator,
            "target": target,
            "bins": bins,
            "cluster": cluster,
            "weight_kind": weight_kind,
            "test": test,
            "test_label": test_label,
            "test_weight": test_weight,
            "reference": reference,
            "features": features,
        }
        failing = _whole(source, as_json, gates, columns, **asked)
    if failing:
        ctx.exit(FAILED)


def _refuse_of_rows(option: str | None) -> None:
    if option is not None:
        raise click.UsageError(
            f"{option} needs rows, but slices are computed from sums; leave it out, or leave out"
            " --by, --time, --engine, --resume and -o."
        )


def _whole(source: Path, as_json: bool, gates: Any, columns: Columns, **asked: Any) -> bool:
    """Print the numbers of the whole table, and return whether a gate fails."""
    import calibrant
    from calibrant.cli.gate import failed
    from calibrant.cli.measuring import Asked, measured
    from calibrant.cli.tables import print_summary

    # A gate may be on a metric of the predicted label, in a section.
    page, default = as_json or bool(gates), calibrant.calibrators.Identity
    summary = measured(source, Asked(columns, default=default, page=page, **asked)).to_dict()
    if as_json:
        click.echo(json.dumps({"file": str(source), **summary}, indent=1))
    else:
        print_summary(summary)
    return failed(gates, summary)
