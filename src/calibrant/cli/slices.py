"""Metrics by slice of tables, counted in one pass, out of core for Parquet, and resumable."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from calibrant.cli.gate import failed
from calibrant.cli.options import Columns, refuse_existing
from calibrant.cli.tables import own_words, print_table, progress
from calibrant.cli.wording import say
from calibrant.core.saving import replacing
from calibrant.errors import InputError
from calibrant.monitoring.claims import PitClaim, ScoreClaim
from calibrant.monitoring.monitor import drift_curve
from calibrant.tables.data_file import kind_of
from calibrant.tables.engines.choosing import choose, columns_of
from calibrant.tables.engines.parts_engine import Parts
from calibrant.tables.evaluate import evaluate
from calibrant.tables.readers import as_numbers, labelled, parts_to_read
from calibrant.tables.roles import refuse_absent
from calibrant.tables.sources import Named

__all__ = ["Tables", "check_output", "count_tables", "evaluate_tables", "write_result"]

#: Binned calibration errors, and most slices whose errors are shown with their intervals.
ERRORS, MOST_INTERVALS = ("ece", "event_ece", "quantile_error"), 40
#: Below so many rows of a slice its error is no more than noise.
FEWEST_ROWS = 30
SHOWN = (
    "n",
    "mean_risk",
    "event_rate",
    "observed_expected_ratio",
    "accuracy",
    "confidence",
    "log_loss",
    "confidence_log_loss",
    "brier_score",
    "event_brier_score",
    "confidence_brier_score",
    "ece",
    "event_ece",
    "ece_bound",
    "nll",
    "crps",
    "rmse",
    "mae",
    "coverage",
    "width",
    "ence",
)


@dataclass(frozen=True)
class Tables:
    """Options of slices: their columns, the engine, and the files of sums and results."""

    by: str | None = None
    time: str | None = None
    every: str = "day"
    engine: str | None = None
    resume: Path | None = None
    output: Path | None = None
    force: bool = False


def check_output(tables: Tables) -> None:
    """Stop before the work if ``-o`` cannot be written."""
    if tables.output is None:
        return
    if tables.output.suffix.lower() not in (".json", ".parquet"):
        raise click.UsageError(
            f"the output must be a .json or .parquet file; got {tables.output.name}."
        )
    refuse_existing(tables.output, tables.force)


def count_tables(
    source: Any, tables: Tables, columns: Columns, bins: Any, target: str | None = None
) -> Any:
    """Count each file once for --target and return (the evaluation, number of files)."""
    if columns.inputs == "score":
        raise click.UsageError(
            "slices need probabilities; --inputs is score; turn the scores into risks first, with"
            " `calibrant fit` and `apply`."
        )
    paths, engine = labelled(source, columns), tables.engine or "auto"
    unit = None if columns.inputs == "probability" else columns.inputs
    in_parts = columns.skip_missing or unit is not None
    if in_parts and tables.resume is not None:
        raise click.UsageError(
            "--resume needs files with probabilities in every row; leave out --resume,"
            " --skip-missing and --inputs."
        )
    table: Any = Parts(parts_to_read(source, paths, columns)) if in_parts else list(paths)
    with own_words():
        names = Named("the table", columns_of(table, choose(table, engine)))
        asked = kind_of(names, columns).sliced(names, columns, target)
    if unit is not None:
        risk = [asked["score"]] if "score" in asked else asked["probabilities"]
        table.change = partial(as_numbers, risk, unit)
    with own_words(), progress("files", len(paths)) as step:
        found = evaluate(
            table,
            by=[name.strip() for name in (tables.by or "").split(",") if name],
            time=tables.time,
            every=tables.every,
            weight=columns.weight,
            n_bins=bins,
            engine=engine,
            checkpoint=tables.resume,
            progress=None if in_parts else step,
            **asked,
        )
    if not found.overall():
        raise InputError(f"{source} has no rows to count; name files that have rows.")
    rate = "accuracy" if columns.confidence and not columns.predicted else "event_rate"
    if not found.overall().get(rate, 1.0):
        refuse_absent(source, table, asked["label"], columns, asked["target"])
    return found, len(paths)


def evaluate_tables(
    source: Any,
    tables: Tables,
    columns: Columns,
    bins: Any,
    as_json: bool,
    target: str | None = None,
    gates: Any = (),
) -> bool:
    """Evaluate the slices, print or write them, and return whether a gate fails."""
    check_output(tables)
    found, n_files = count_tables(source, tables, columns, bins, target)
    if tables.output is not None:
        write_result(found, tables)
    if as_json:
        click.echo(json.dumps({"files": n_files, **found.to_dict()}, indent=1, default=str))
    elif tables.output is None:
        _print(found, n_files)
    else:
        files = f"{n_files} file{'s' * (n_files != 1)}"
        say(f"{found.overall()['n']:,.0f} rows of {files}: {tables.output}")
    return failed(gates, _as_summary(found))


def _as_summary(found: Any) -> dict[str, list[Any]]:
    """Return the metrics of all rows in the form that gates read."""
    values = found.overall().items()
    rows = [{"key": k, "name": k, "before": {"value": v}, "after": None} for k, v in values]
    return {"metrics": rows}


def write_result(found: Any, tables: Any) -> None:
    """Write a result's frame as .parquet, or else its dictionary as JSON."""
    with replacing(tables.output, overwrite=tables.force) as temporary:
        if tables.output.suffix.lower() == ".parquet":
            found.frame().to_parquet(temporary, index=False)
        else:
            text = json.dumps(found.to_dict(), indent=1, default=str)
            temporary.write_text(text, encoding="utf-8", newline="\n")


def _print(found, n_files):
    made = found.to_dict()
    names = [name for name in SHOWN if name in made["overall"]]
    slices, sums = found.calibration_sums(lambda slice_: slice_)
    whole = found.calibration_sums(lambda _: ())[1]
    rows = [
        [*(str(row[name]) for name in found.by), *(_number(name, row[name]) for name in names)]
        for row in made["slices"]
    ]
    of_all = [_number(name, made["overall"][name]) for name in names]
    if found.by:
        rows.append(["all", *[""] * (len(found.by) - 1), *of_all])
    title = f"{made['overall']['n']:,.0f} rows of {n_files} file{'s' * (n_files != 1)}"
    if found.by and len(rows) <= MOST_INTERVALS:
        # The error of few rows is mostly noise: its interval says how much.
        title += "; the intervals are of the calibration error without noise"
        forecast = found.target == "forecast"
        names += ["quantile_error"] if forecast else []
        at = next(j for j, name in enumerate(names) if name in ERRORS) + len(found.by)
        claim = PitClaim(found.levels) if forecast else ScoreClaim()
        batches = np.concatenate([sums, whole])
        curve = drift_curve(claim, batches, [*slices, ()], np.zeros(len(batches)), np.inf)
        for row, error, n, low, high in zip(
            rows, curve.ece, curve.n, curve.low, curve.high, strict=True
        ):
            row[at:] = row[at:] or [_number("quantile_error", error)]
            row[at] += f" [{low:.3f}, {high:.3f}]" if n >= FEWEST_ROWS else " (few rows)"
    print_table(title, [*map(str, found.by), *(name.replace("_", " ") for name in names)], rows)


def _number(name, value):
    if value is None:
        return ""
    if name == "n":
        return f"{value:,.0f}"
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"
