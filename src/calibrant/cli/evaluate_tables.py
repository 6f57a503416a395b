"""``calibrant evaluate`` over many files, by slice: counted out of core, resumable."""

import json
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table

from calibrant._base.files import replacing
from calibrant.cli.tables import console, progress
from calibrant.frames.engines.choosing import files
from calibrant.frames.evaluate import evaluate

__all__ = ["Tables", "count_tables", "evaluate_tables", "table_options", "write_result"]

SHOWN = ("n", "accuracy", "confidence", "log_loss", "confidence_log_loss", "brier_score", "confidence_brier", "ece", "ece_bound")


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

    def asked(self, source):
        """Whether the files are to be counted as tables rather than read whole."""
        given = (self.by, self.time, self.engine, self.score, self.resume, self.output)
        return any(v is not None for v in given) or any(c in source for c in "*?[") or Path(source).is_dir()


def table_options(command):
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
    return command


def count_tables(source, tables, columns, bins):
    """(the evaluation, number of files) of the files, each counted once."""
    paths = files(source)
    probabilities = columns.probabilities or (None if tables.score else "p_*")
    if probabilities and "," in probabilities:
        probabilities = [part.strip() for part in probabilities.split(",")]
    with progress("files", len(paths)) as step:
        found = evaluate(
            paths, label=columns.label or "label", probabilities=probabilities, score=tables.score, predicted=tables.predicted,
            by=[part.strip() for part in tables.by.split(",")] if tables.by else (), time=tables.time, every=tables.every,
            weight=columns.weight, classes=None if columns.classes is None else [part.strip() for part in columns.classes.split(",")],
            n_bins=bins, engine=tables.engine or "auto", checkpoint=tables.resume, progress=step,
        )  # fmt: skip
    return found, len(paths)


def evaluate_tables(source, tables, columns, bins, as_json):
    """Evaluate, then print or write."""
    found, n_files = count_tables(source, tables, columns, bins)
    if tables.output is not None:
        write_result(found, tables.output)
    if as_json:
        click.echo(json.dumps({"files": n_files, **found.to_dict()}, indent=1))
    elif tables.output is None:
        _print(found, n_files)
    else:
        click.echo(f"{found.overall()['n']:,.0f} rows of {n_files} files: {tables.output}")


def write_result(found, output):
    """The frame of a result as .parquet, or else its dictionary as JSON."""
    with replacing(output, overwrite=True) as temporary:
        if output.suffix.lower() == ".parquet":
            found.frame().to_parquet(temporary, index=False)
        else:
            temporary.write_text(json.dumps(found.to_dict(), indent=1, default=str), encoding="utf-8")


def _print(found, n_files):
    made = found.to_dict()
    table = Table(title=f"{made['overall']['n']:,.0f} rows of {n_files} files", title_justify="left")
    names = [name for name in SHOWN if name in made["overall"]]
    for name in [*found.by, *names]:
        table.add_column(name, justify="left" if name in found.by else "right")
    for row in made["slices"]:
        table.add_row(*(str(row[name]) for name in found.by), *(_number(name, row[name]) for name in names))
    if found.by:
        table.add_row("all", *[""] * (len(found.by) - 1), *(_number(name, made["overall"][name]) for name in names), style="bold")
    console().print(table)


def _number(name, value):
    return "" if value is None else f"{value:,.0f}" if name == "n" else f"{value:.4f}"
