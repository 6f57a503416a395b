"""``calibrant export``: write a saved calibrator in another language."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from calibrant import export as emitters
from calibrant.cli.options import SAVED, force_option, output_option, refuse_existing, refuse_unused
from calibrant.cli.wording import say
from calibrant.core.expression import RISKS
from calibrant.core.extras import import_extra
from calibrant.core.saving import replacing
from calibrant.errors import InputError

__all__ = ["export"]


@click.command()
@click.argument("calibrator", type=SAVED)
@output_option(
    None, "Output file; its ending sets the format: .onnx, .c, .js, .mjs, .json, .sql or .pt."
)
@click.option(
    "--name", default="calibrate", show_default=True, help="C, JavaScript: name of the function."
)
@click.option("--table", metavar="NAME", help="SQL: the table that holds the predictions.")
@click.option(
    "--columns",
    metavar="NAMES",
    help="SQL: columns of the predictions, as a,b,... in class order (default p_CLASS).",
)
@click.option(
    "--risk",
    metavar="NAME",
    help="The one column of the risk (default as in fit); the function then maps one number.",
)
@click.option(
    "--inputs",
    type=click.Choice(tuple(RISKS)),
    help="Unit of that one column (default as in fit, or probability).",
)
@click.option("--keep", metavar="NAMES", help="SQL: further columns to select, such as a key.")
@click.option(
    "--groups",
    metavar="NAMES",
    help="SQL: columns of groups, for calibrators that use groups (default as in fit).",
)
@click.option("--dialect", default="duckdb", show_default=True, help="SQL: any dialect of sqlglot.")
@force_option
def export(
    calibrator: Path,
    output: Path,
    name: str,
    table: str | None,
    columns: str | None,
    risk: str | None,
    inputs: str | None,
    keep: str | None,
    groups: str | None,
    dialect: str,
    force: bool,
) -> None:
    """Write a saved CALIBRATOR as ONNX, C, JavaScript, JSON, SQL or a torch module.

    A calibrator fitted on one column of risks is written as a function from that risk to the
    calibrated risk. The results agree up to the rounding of the target language. Calibrators that
    need data at run time (signals with a training set) are refused.

    \b
    Examples:
      calibrant export model.calibrant -o calibrator.onnx
      calibrant export model.calibrant -o calibrate.c --name calibrate_churn
      calibrant export model.calibrant -o calibrate.sql --table predictions \\
          --columns p_no,p_yes --keep id
      calibrant export model.calibrant -o calibrate.sql --table predictions \\
          --risk score --keep id
    """
    from calibrant.cli.choosing import saved

    refuse_existing(output, force)
    kind = output.suffix.lower()
    if kind not in WRITERS:
        raise click.UsageError(f"the output must end in {', '.join(WRITERS)}; got {output.name}.")
    if (table is None) != (kind != ".sql"):
        raise click.UsageError(
            "--table names the table of predictions, required for SQL and refused otherwise; pass"
            " it with a .sql output only."
        )
    if kind != ".sql":
        refuse_unused("needs SQL, an output that ends in .sql", "keep", "groups", "dialect")
    if kind not in (".c", ".js", ".mjs"):
        refuse_unused("needs C or JavaScript, an output that ends in .c, .js or .mjs", "name")
    if columns is not None and (risk or inputs):
        raise click.UsageError("--columns and --risk (or --inputs) exclude each other; pass one.")
    fitted = saved(calibrator)
    one, unit = (None, None) if columns else _one_column(fitted, risk, inputs)
    sql = {
        "table": table,
        "columns": _names(columns or one),
        "keep": _names(keep) or [],
        "groups": _names(groups),
        "dialect": dialect,
    }
    content = WRITERS[kind](fitted, name, unit, sql)
    with replacing(output, overwrite=force) as temporary:
        temporary.write_bytes(content)
    takes = f", which takes {unit} of {fitted.classes_[1]}" if unit else ""
    say(f"{type(fitted).__name__} written{takes}: {output}")


def _one_column(fitted: Any, risk: str | None, inputs: str | None) -> tuple[str | None, str | None]:
    """Return (name of the one column of risks, its unit), by the options or as ``fit`` read it;
    None if there are several.
    """
    name, unit = getattr(fitted, "risk_column_", None) or (None, None)
    name = risk or name
    own = getattr(fitted, "inputs", None)
    if own is None or (name is None and inputs is None):
        return name, None
    return name, inputs or unit or own


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _sql(fitted: Any, name: str, unit: str | None, asked: dict[str, Any]) -> bytes:
    columns = asked["columns"]
    if columns is None:
        if not hasattr(fitted, "classes_"):
            raise InputError(
                "the columns have no default here; name the column of scores with --risk, or those"
                " of mean and std with --columns."
            )
        if unit is not None:
            raise InputError("--inputs needs the column of the risk; name it with --risk NAME.")
        columns = [f"p_{label}" for label in fitted.classes_.tolist()]
    return f"{emitters.to_sql(fitted, risk=unit, **asked | {'columns': columns})}\n".encode()


def _torch(fitted: Any, name: str, unit: str | None, *_: Any) -> bytes:
    torch, held = import_extra("torch", "the torch export", "torch"), io.BytesIO()
    torch.jit.save(torch.jit.script(emitters.to_torch(fitted, risk=unit)), held)
    return held.getvalue()


def _script(fitted: Any, name: str, unit: str | None, *_: Any) -> bytes:
    return emitters.to_javascript(fitted, name=name, risk=unit).encode()


#: Writers of a file's content by its ending; they take the calibrator, a function's name, the unit
#: of one risk and the options of SQL.
WRITERS: dict[str, Callable[..., bytes]] = {
    ".onnx": lambda fitted, name, unit, *_: emitters.to_onnx(fitted, risk=unit).SerializeToString(),
    ".c": lambda fitted, name, unit, *_: emitters.to_c(fitted, name=name, risk=unit).encode(),
    ".js": _script,
    ".mjs": _script,
    ".json": lambda fitted, name, unit, *_: emitters.to_json(fitted, risk=unit).encode(),
    ".sql": _sql,
    ".pt": _torch,
}
