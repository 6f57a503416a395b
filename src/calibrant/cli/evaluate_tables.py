"""``calibrant evaluate`` over many files, by slice: counted out of core, resumable."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from calibrant._support.files import replacing
from calibrant.cli.columns import ARRAYS, PATTERNS, SINGLE
from calibrant.cli.event import event_of, refuse_unsaid
from calibrant.cli.forecasts import OUTCOMES
from calibrant.cli.options import STDIN, Columns, force_option, refuse_existing
from calibrant.cli.tables import as_text, console, own_words, progress
from calibrant.cli.text_tables import table_of
from calibrant.cli.wording import say
from calibrant.errors import InputError
from calibrant.frames.columns import starred
from calibrant.frames.engines.choosing import choose, columns_of, files
from calibrant.frames.evaluate import evaluate

__all__ = ["Tables", "check_output", "count_tables", "evaluate_tables", "table_options", "write_result"]

SHOWN = (
    "n", "mean_risk", "event_rate", "observed_expected_ratio", "accuracy", "confidence", "log_loss", "confidence_log_loss",
    "brier_score", "event_brier_score", "confidence_brier_score", "ece", "event_ece", "ece_bound", "nll", "crps", "rmse", "mae",
    "coverage", "width", "ence",
)  # fmt: skip


@dataclass(frozen=True)
class Tables:
    """Options that ask for slices, an engine, or files by pattern."""

    by: str | None = None
    time: str | None = None
    every: str = "day"
    engine: str | None = None
    score: str | None = None
    predicted: str | None = None
    resume: Path | None = None
    output: Path | None = None
    force: bool = False

    def asked(self, source: str) -> bool:
        """Whether the files are to be counted as tables rather than read whole."""
        given = (self.by, self.time, self.engine, self.score, self.resume, self.output)
        pattern = any(c in source for c in "*?[") and not Path(source).exists()
        return any(v is not None for v in given) or pattern or Path(source).is_dir()


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of :class:`Tables`."""
    path = click.Path(dir_okay=False, path_type=Path)
    for option in (
        click.option("-o", "--output", type=path, help="Tables: write the result to this .json or .parquet file."),
        click.option("--resume", type=path, metavar="PATH", help="Tables: keep the sums there after each file, and go on from them."),
        click.option("--predicted", metavar="NAME", help="Tables: column of predicted classes, with --score."),
        click.option("--score", metavar="NAME", help="Tables: column of the predicted class's probability, in place of all of them."),
        click.option("--engine", metavar="NAME", help="Tables: auto, polars, duckdb, pyarrow, dask, spark or ray."),
        click.option("--every", default="day", show_default=True, metavar="UNIT", help="Tables: hour, day, week, month, quarter or year."),
        click.option("--time", metavar="NAME", help="Tables: column of times to slice by as well."),
        click.option("--by", metavar="A,B", help="Tables: columns to slice by."),
    ):
        command = option(command)
    return force_option(command)


def check_output(tables: Tables, *sources: Any) -> None:
    """Stop before the work where ``-o`` would not be written."""
    if tables.output is None:
        return
    if tables.output.suffix.lower() not in (".json", ".parquet"):
        raise click.UsageError(f"the output must be a .json or .parquet file; got {tables.output.name}.")
    read = [path for source in sources if source is not None for path in _paths(source)]
    refuse_existing(tables.output, tables.force, *read, *([tables.resume] if tables.resume and tables.resume.exists() else []))


def count_tables(source: str, tables: Tables, columns: Columns, bins: Any, target: str | None = None) -> Any:
    """(the evaluation, number of files) of the files, each counted once, for the question of --target."""
    paths = _paths(source)
    table = table_of(paths, tables.time)
    if table is not paths and tables.resume is not None:
        raise click.UsageError("--resume goes with Parquet files; leave it out, or convert the others first.")
    engine = tables.engine or "auto"
    with own_words():
        asked = _asked(columns_of(table, choose(table, engine)), tables, columns, target)
    with own_words(), progress("files", len(paths)) as step:
        found = evaluate(
            table, predicted=tables.predicted, by=_listed(tables.by) or (), time=tables.time, every=tables.every, weight=columns.weight,
            classes=_listed(columns.classes), n_bins=bins, engine=engine, checkpoint=tables.resume,
            progress=step if table is paths else None, **asked,
        )  # fmt: skip
    if not found.overall():
        raise InputError(f"{source} has no rows to count; name files that have some.")
    if columns.positive is not None and not found.overall().get("event_rate", 1.0):
        say(f"Warning: no row of {source} has the label {columns.positive!r}, which --positive names.", err=True)
    return found, len(paths)


def _paths(source):
    return [source] if source == str(STDIN) else files(source)


def _asked(kinds, tables, columns, target):
    """The columns of predictions and of what came true, as arguments of ``evaluate``; by their usual names where none are given."""
    if columns.quantiles or columns.logits or "," in (columns.mean or "") + (columns.std or ""):
        raise click.UsageError("slices are counted from probabilities, or from one mean and std; other predictions are read whole.")
    if columns.inputs not in (None, "probability"):
        raise click.UsageError(f"slices are counted from probabilities; make them of the {columns.inputs}s first, with `calibrant apply`.")
    given = columns.risk or columns.probabilities or tables.score
    usual = next((pattern for pattern in PATTERNS["probability"] if starred(kinds, pattern)), None)
    looks = not (columns.task or given or usual) and {"mean", "std"} <= {*kinds}
    if columns.task == "regression" or columns.mean or columns.std or looks:
        if target is not None:
            raise click.UsageError("--target is for predictions of classes; these are forecasts of a number; leave it out.")
        label = columns.label or next((name for name in OUTCOMES if name in kinds), "y")
        return {"label": label, "mean": columns.mean or "mean", "std": columns.std or "std"}
    label = columns.label or next((name for name in ARRAYS["label"] if name in kinds), "label")
    if tables.score:
        if target not in (None, "answer"):
            raise click.UsageError("--score is the probability of the model's own answer, so it takes --target answer alone; leave it out.")
        return {"label": label, "score": tables.score, "probabilities": columns.probabilities}
    probabilities = columns.risk or columns.probabilities or usual or next((name for name in SINGLE if name in kinds), "p_*")
    names = _listed(probabilities) if "," in probabilities and not columns.risk else probabilities
    return {"label": label, "probabilities": names, "target": _question(names, kinds, columns, target)}


def _question(names, kinds, columns, target):
    """What --target asks of these columns: by default the event of one column of risks, or of two classes."""
    found = names if isinstance(names, list) else list(starred(kinds, names)) if "*" in names else [names]
    several = len(found) > 2 or kinds.get(found[0] if found else None) == "list"
    if target in ("answer", "classes") or (target is None and several):
        if columns.positive is not None and len(found) == 1 and not several:
            other = f"name both labels, the event last: --classes OTHER,{columns.positive}"
            raise click.UsageError(f"--positive alone does not tell --target {target} which label the other answer is; {other}.")
        return None
    if target not in (None, "event"):
        return target
    if len(found) == 2 and columns.classes is None:
        named = list(starred(kinds, names).values()) if isinstance(names, str) else names
        return event_of(named, columns.positive, "the files") or refuse_unsaid(named, "the files")
    return columns.positive or "event"


def _listed(text):
    return [part.strip() for part in text.split(",")] if text else None


def evaluate_tables(source: str, tables: Tables, columns: Columns, bins: Any, as_json: bool, target: str | None = None) -> None:
    """Evaluate, then print or write."""
    check_output(tables, source)
    found, n_files = count_tables(source, tables, columns, bins, target)
    if tables.output is not None:
        write_result(found, tables)
    if as_json:
        click.echo(json.dumps({"files": n_files, **found.to_dict()}, indent=1, default=str))
    elif tables.output is None:
        _print(found, n_files)
    else:
        say(f"{found.overall()['n']:,.0f} rows of {n_files} files: {tables.output}")


def write_result(found: Any, tables: Any) -> None:
    """The frame of a result as .parquet, or else its dictionary as JSON."""
    with replacing(tables.output, overwrite=tables.force) as temporary:
        if tables.output.suffix.lower() == ".parquet":
            found.frame().to_parquet(temporary, index=False)
        else:
            temporary.write_text(json.dumps(found.to_dict(), indent=1, default=str), encoding="utf-8", newline="\n")


def _print(found, n_files):
    made = found.to_dict()
    table = Table(title=f"{made['overall']['n']:,.0f} rows of {n_files} files", title_justify="left")
    names = [name for name in SHOWN if name in made["overall"]]
    for name in [*found.by, *names]:
        table.add_column(as_text(name), justify="left" if name in found.by else "right")
    for row in made["slices"]:
        table.add_row(*(as_text(row[name]) for name in found.by), *(_number(name, row[name]) for name in names))
    if found.by:
        table.add_row("all", *[""] * (len(found.by) - 1), *(_number(name, made["overall"][name]) for name in names), style="bold")
    console().print(table)


def _number(name, value):
    return "" if value is None else f"{value:,.0f}" if name == "n" else f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"
