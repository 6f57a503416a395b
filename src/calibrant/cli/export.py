"""``calibrant export``: a saved calibrator in another language."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from calibrant import export as emitters
from calibrant._support.extras import import_extra
from calibrant._support.files import replacing
from calibrant.cli.choosing import saved
from calibrant.cli.options import FILE, force_option, output_option, refuse_existing
from calibrant.cli.wording import say
from calibrant.contracts.calibrator import Calibrator
from calibrant.errors import InputError

__all__ = ["export"]


@click.command()
@click.argument("calibrator", type=FILE)
@output_option(None, "Where to write; its ending says what: .onnx, .c, .js, .mjs, .json, .sql or .pt.")
@click.option("--name", default="calibrate", show_default=True, help="C, JavaScript: name of the function.")
@click.option("--table", metavar="NAME", help="SQL: the table that holds the predictions.")
@click.option("--columns", metavar="NAMES", help="SQL: its columns, a,b,... in the order of the classes (default p_CLASS).")
@click.option("--keep", metavar="NAMES", help="SQL: columns to carry along, such as a key.")
@click.option("--groups", metavar="NAMES", help="SQL: its columns of groups, for calibrators that take them (default as in fit).")
@click.option("--dialect", default="duckdb", show_default=True, help="SQL: any that sqlglot writes.")
@force_option
def export(
    calibrator: Path, output: Path, name: str, table: str | None, columns: str | None, keep: str | None, groups: str | None, dialect: str,
    force: bool,
) -> None:  # fmt: skip
    """Write a saved CALIBRATOR as ONNX, C, JavaScript, JSON, SQL or a torch module.

    What it computes is the same to the rounding of the target; what cannot be said there (signals with a training set) is refused.

    \b
    Examples:
      calibrant export model.calibrant -o calibrator.onnx
      calibrant export model.calibrant -o calibrate.c --name calibrate_churn
      calibrant export model.calibrant -o calibrate.sql --table predictions --columns p_no,p_yes --keep id
    """
    refuse_existing(output, force, calibrator)
    kind = output.suffix.lower()
    if kind not in WRITERS:
        raise click.UsageError(f"the output must end in {', '.join(WRITERS)}; got {output.name}.")
    if (table is None) != (kind != ".sql"):
        raise click.UsageError("--table is for SQL, and SQL needs it: the table that holds the predictions.")
    fitted = saved(calibrator)
    sql = {"table": table, "columns": _names(columns), "keep": _names(keep) or [], "groups": _names(groups), "dialect": dialect}
    content = WRITERS[kind](fitted, name, sql)
    with replacing(output, overwrite=force) as temporary:
        temporary.write_bytes(content)
    say(f"{type(fitted).__name__} written: {output}")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _sql(fitted: Any, name: str, asked: dict[str, Any]) -> bytes:
    columns = asked["columns"]
    if columns is None:
        if not isinstance(fitted, Calibrator):
            raise InputError("--columns must name the column of scores, or those of mean and std.")
        columns = [f"p_{label}" for label in fitted.classes_.tolist()]
    return f"{emitters.to_sql(fitted, **asked | {'columns': columns})}\n".encode()


def _torch(fitted: Any, *_: Any) -> bytes:
    torch, held = import_extra("torch", "the torch export", "torch"), io.BytesIO()
    torch.jit.save(torch.jit.script(emitters.to_torch(fitted)), held)
    return held.getvalue()


def _script(fitted: Any, name: str, *_: Any) -> bytes:
    return emitters.to_javascript(fitted, name=name).encode()


#: By ending: the file's content, of what is fitted, a function's name, and what SQL is asked for.
WRITERS: dict[str, Callable[..., bytes]] = {
    ".onnx": lambda fitted, *_: emitters.to_onnx(fitted).SerializeToString(),
    ".c": lambda fitted, name, *_: emitters.to_c(fitted, name=name).encode(),
    ".js": _script,
    ".mjs": _script,
    ".json": lambda fitted, *_: emitters.to_json(fitted).encode(),
    ".sql": _sql,
    ".pt": _torch,
}
