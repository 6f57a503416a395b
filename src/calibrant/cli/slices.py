"""Metrics by slice of tables, counted in one pass, out of core for Parquet, and resumable."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from calibrant._numerics.logistic import sigmoid
from calibrant.cli.columns import (
    ARRAYS,
    PATTERNS,
    SINGLE,
    as_floats,
    as_risk,
    event_of,
    find,
    refuse_absent,
    refuse_other,
    refuse_unsaid,
)
from calibrant.cli.data_file import kind_of
from calibrant.cli.forecasts import OUTCOMES
from calibrant.cli.gate import failed
from calibrant.cli.large import parts_to_read
from calibrant.cli.options import Columns, refuse_existing
from calibrant.cli.predictions import labelled
from calibrant.cli.tables import own_words, print_table, progress
from calibrant.cli.wording import say
from calibrant.core.domain import Facet
from calibrant.core.extras import import_extra
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.core.saving import replacing
from calibrant.errors import InputError
from calibrant.monitoring.claims import PitClaim, ScoreClaim
from calibrant.monitoring.monitor import drift_curve
from calibrant.tables.columns import quantile_levels, starred
from calibrant.tables.engines.choosing import choose, columns_of
from calibrant.tables.engines.parts_engine import Parts
from calibrant.tables.evaluate import evaluate
from calibrant.tables.paths import STDIN

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


def check_output(tables: Tables, *sources: Any) -> None:
    """Stop before the work if ``-o`` cannot be written."""
    if tables.output is None:
        return
    if tables.output.suffix.lower() not in (".json", ".parquet"):
        raise click.UsageError(
            f"the output must be a .json or .parquet file; got {tables.output.name}."
        )
    read = [source for source in sources if source is not None]
    refuse_existing(
        tables.output,
        tables.force,
        *read,
        *([tables.resume] if tables.resume and tables.resume.exists() else []),
    )


def count_tables(
    source: Any, tables: Tables, columns: Columns, bins: Any, target: str | None = None
) -> Any:
    """Count each file once for --target and return (the evaluation, number of files)."""
    paths, engine = labelled(source, columns), tables.engine or "auto"
    table = _table_of(source, paths, columns)
    in_parts = isinstance(table, list)
    if not in_parts and tables.resume is not None:
        raise click.UsageError(
            "--resume needs files with probabilities in every row; leave out --resume,"
            " --skip-missing and --inputs."
        )
    with own_words():
        asked = _asked(columns_of(table, choose(table, engine)), columns, target)
    with own_words(), progress("files", len(paths)) as step:
        found = evaluate(
            table,
            predicted=columns.predicted,
            by=_listed(tables.by) or (),
            time=tables.time,
            every=tables.every,
            weight=columns.weight,
            classes=_listed(columns.classes),
            n_bins=bins,
            engine=engine,
            checkpoint=tables.resume,
            progress=step if in_parts else None,
            **asked,
        )
    if not found.overall():
        raise InputError(f"{source} has no rows to count; name files that have rows.")
    rate = "accuracy" if columns.confidence and not columns.predicted else "event_rate"
    if not found.overall().get(rate, 1.0):
        refuse_absent(source, table, asked["label"], columns, asked["target"])
    return found, len(paths)


def _table_of(source: Any, paths: list[Path], columns: Columns) -> Any:
    """Return the paths of files, which an engine reads; or the parts of the table, without the rows
    to skip and with risks in place of the unit of --inputs.
    """
    if columns.inputs == "score":
        raise click.UsageError(
            "slices need probabilities; --inputs is score; turn the scores into risks first, with"
            " `calibrant fit` and `apply`."
        )
    changed = columns.skip_missing or columns.inputs not in (None, "probability")
    if paths != [STDIN] and not changed:
        return list(paths)
    risks = None if columns.inputs in (None, "probability") else partial(_risks, columns=columns)
    return Parts(parts_to_read(source, paths, columns), risks)


def _risks(made: Any, part: Any, columns: Columns) -> Any:
    """Replace the one column of predictions by the risks that it means."""
    names = find(part, columns, None)[0]
    if len(names) > 1:
        raise InputError(
            f"--inputs needs one column of predictions; {part.path} has {len(names)} columns of"
            " predictions; name one of them with --risk."
        )
    if names[0] not in made.column_names:
        return made
    floats = as_floats(part.column(names[0]), names[0], part.path)
    values, kind = as_risk(floats, columns.inputs or "probability", names[0], part.path)
    risks = import_extra("pyarrow", "counting files by slice", "cli").array(
        sigmoid(values) if kind == "logit" else values
    )
    return made.set_column(made.column_names.index(names[0]), names[0], risks)


def _asked(kinds: dict[str, str], columns: Columns, target: Any) -> dict[str, str]:
    """Return the columns of predictions and outcomes as arguments of ``evaluate``, with usual names
    as the default.
    """
    if columns.logits or "," in (columns.mean or "") + (columns.std or ""):
        raise click.UsageError(
            "slices need probabilities, or forecasts of one output; leave out --by, --time,"
            " --engine, --resume and -o, or name other columns."
        )
    source = SimpleNamespace(path="the table", content=kinds, kind="parquet")
    return SLICED[kind_of(source, columns).domain](kinds, columns, target)


def _of_numbers(kinds, columns, target):
    if target is not None:
        raise click.UsageError(
            "--target needs predictions of classes; these are forecasts of a number; leave it out."
        )
    label = columns.label or next((name for name in OUTCOMES if name in kinds), "y")
    normal = columns.mean or columns.std or {"mean", "std"} <= {*kinds}
    if columns.quantiles or (not normal and len(quantile_levels(kinds)) > 1):
        return {"label": label, "quantiles": columns.quantiles or "auto"}
    return {"label": label, "mean": columns.mean or "mean", "std": columns.std or "std"}


def _of_classes(kinds: dict[str, str], columns: Columns, target: Any) -> Any:
    usual = next((pattern for pattern in PATTERNS["probability"] if starred(kinds, pattern)), None)
    label = columns.label or next((name for name in ARRAYS["label"] if name in kinds), "label")
    if columns.confidence:
        if target not in (None, "answer"):
            raise click.UsageError(
                "--confidence is the probability that the answer is right, which is --target"
                " answer; leave out --target."
            )
        return {"label": label, "score": columns.confidence, "target": columns.positive}
    probabilities = (
        columns.one
        or columns.probabilities
        or usual
        or next((name for name in SINGLE if name in kinds), "p_*")
    )
    names = _listed(probabilities) if "," in probabilities and not columns.one else probabilities
    return {
        "label": label,
        "probabilities": names,
        "target": _question(names, kinds, columns, target),
    }


#: Arguments of ``evaluate`` for the names of columns, by domain.
SLICED: Facet[Any] = Facet("slices")
SLICED.register(CLASSIFICATION, lambda: _of_classes)
SLICED.register(REGRESSION, lambda: _of_numbers)


def _question(names: str | list[str], kinds: dict[str, str], columns: Columns, target: Any) -> str:
    """Resolve --target for these columns: by default the event of one column of risks, or of two
    classes.
    """
    found = (
        names
        if isinstance(names, list)
        else list(starred(kinds, names))
        if "*" in names
        else [names]
    )
    several = len(found) > 2 or kinds.get(found[0] if found else None) == "list"
    if target in ("answer", "classes") or (target is None and several):
        if columns.positive is not None and len(found) == 1 and not several:
            other = f"name both, the event last: --classes OTHER,{columns.positive}"
            raise click.UsageError(
                f"--target {target} needs both labels; --positive names only the event; {other}."
            )
        return "answer"
    if target not in (None, "event"):
        if len(found) == 1:
            refuse_other(target, columns)
        return target
    if len(found) == 2 and columns.classes is None:
        named = list(starred(kinds, names).values()) if isinstance(names, str) else names
        return event_of(named, columns.positive, "the files") or refuse_unsaid(named, "the files")
    return columns.positive or "event"


def _listed(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",")] if text else None


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
    check_output(tables, source)
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
