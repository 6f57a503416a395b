"""``calibrant apply``: calibrate new predictions."""

from contextlib import ExitStack
from functools import partial
from typing import Any

import click
import numpy as np

from calibrant._support.files import replacing
from calibrant.cli.choosing import arranged, fitting, groups_used, saved
from calibrant.cli.forecasts import ForecastFile, calibrated_columns
from calibrant.cli.large import large_rows
from calibrant.cli.options import FILE, column_options, force_option, output_option, refuse_existing
from calibrant.cli.reading import column_order, read_source
from calibrant.cli.rules import RULES, rule_columns
from calibrant.cli.sources import KINDS, open_source, parts_of
from calibrant.cli.tables import progress
from calibrant.cli.wording import say
from calibrant.errors import InputError

__all__ = ["apply"]


@click.command()
@click.argument("calibrator", type=FILE)
@click.argument("file", type=FILE)
@output_option(None, "Where to write; the same kind of file as FILE.")
@click.option("--interval", "levels", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), multiple=True, default=(0.9,),
              show_default=True, metavar="LEVEL", help="Forecasts: add the ends of central intervals; may be repeated.")  # fmt: skip
@click.option("--suffix", default="", metavar="TEXT", help="Put this behind the names of added columns, where FILE has such columns.")
@column_options(labels=False)
@force_option
def apply(calibrator: Any, file: Any, output: Any, levels: Any, suffix: str, columns: Any, force: bool) -> None:
    """Apply a saved CALIBRATOR to the predictions in FILE.

    The output holds all that FILE holds, with calibrated probabilities in place of the predictions, and `confidence`: the
    probability that the model's own label is right. Logits become probabilities. Of one column named by --risk the calibrated risk
    takes its place; where --inputs says that it holds something else, it stays, and the risk is a column `risk`. Of forecasts, mean and
    std (or quantiles) are calibrated in place, and the ends of intervals added as `low_0.9`, `high_0.9`. Other columns stay as they are:
    where FILE has one that would be added, name those added by --suffix. A calibrator by group reads its columns of groups from FILE, by
    the names of its fit. A rule of `calibrant decide` changes nothing and adds
    `accept`, whether the answer is accepted.

    A table of more than a million rows is read and written in parts. The output takes its place when all of it is there: an
    interrupted run leaves nothing behind, and what was there before.

    \b
    Examples:
      calibrant apply model.calibrant new.npz -o calibrated.npz
      calibrant apply model.calibrant new.parquet -o calibrated.parquet --force
      calibrant apply model.calibrant log.jsonl -o risks.jsonl --risk margin --inputs score
      calibrant apply rule.calibrant new.csv -o decided.csv
      calibrant apply bars.calibrant forecasts.csv -o calibrated.csv --interval 0.5 --interval 0.95
    """
    fitted = saved(calibrator, also=tuple(RULES))
    refuse_existing(output, force, calibrator, file)
    rule, count = isinstance(fitted, tuple(RULES)), large_rows(file)
    calibrated = partial(_calibrated, fitted=fitted, columns=columns, levels=levels, suffix=suffix, output=output)
    if count is None:
        source = open_source(file)
        made, renamed, rows = calibrated(source)
        with replacing(output, overwrite=force) as temporary:
            source.write(temporary, made, renamed)
    else:
        say(f"{file} has {count:,} rows: it is read and written in parts.", err=True)
        with replacing(output, overwrite=force) as temporary, progress("rows", count, amounts=True) as step:
            rows = _in_parts(file, temporary, calibrated, step)
    say(f"{rows:,} rows {'decided' if rule else 'calibrated'}: {output}")


def _in_parts(file, temporary, calibrated, step):
    """Write the file part by part; the number of its rows."""
    rows = 0
    with ExitStack() as stack:
        append = None
        for source in parts_of(file):
            try:
                made, renamed, n = calibrated(source)
            except InputError as error:
                raise InputError(f"{error} (rows are counted from row {rows:,})" if rows else str(error)) from None
            append = append or stack.enter_context(source.appending(temporary))
            append(source, made, renamed)
            rows += n
            step(n)
    return rows


def _calibrated(source, fitted, columns, levels, suffix, output):
    """(columns by name, which of the source's names they replace, number of rows)."""
    data: Any = read_source(source, columns, labels=False, prefer=getattr(fitted, "inputs", None))
    rule = isinstance(fitted, tuple(RULES))
    if not rule:
        fitting(fitted, data)
    if KINDS.get(output.suffix.lower()) is not type(source):
        raise click.UsageError(f"the output must be a .{source.kind} file, as FILE is, and not compressed; got {output.name}.")
    if rule:
        made, renamed, replaced, count = rule_columns(fitted, data), {}, [], len(data.values)
    elif isinstance(data, ForecastFile):
        made, renamed = calibrated_columns(data, fitted.predict_record(data.record(groups_used(fitted, data))), levels), {}
        count, replaced = len(data.forecast), [name for names in data.names.values() for name in names]
    else:
        one = columns.risk or columns.inputs
        groups = None if data.inputs == "score" else groups_used(fitted, data)
        made, renamed, count = _of_risk(data, fitted, columns.inputs, groups) if one else _of_classes(data, fitted, groups)
        replaced = data.names
    return *_added(made, renamed, replaced, source, suffix), count


def _added(made, renamed, replaced, source, suffix):
    """The same, with ``suffix`` behind the names that are not of columns replaced; none may be a name that the file has."""
    new = {name: name if name in replaced or source.kind == "npy" else f"{name}{suffix}" for name in made}
    lost = [name for old, name in new.items() if old not in replaced and name in source.content and source.kind != "npy"]
    if lost:
        raise InputError(
            f"{source.path} has a column {lost[0]!r} already, which is not overwritten; "
            f"name the added columns otherwise, for example with --suffix {suffix}_calibrated."
        )
    return {new[name]: values for name, values in made.items()}, {old: new[name] for old, name in renamed.items()}


def _of_risk(data, fitted, inputs, groups):
    """The same of one column of risks, in place; of other scores the risk is a column of its own, and they stay."""
    risk = fitted.predict(data.values) if data.inputs == "score" else fitted.predict_proba(arranged(data, fitted)["P"], groups=groups)[:, 1]
    if data.source.kind == "npy":
        return {"values": risk}, {}, len(risk)
    return {data.names[0] if inputs in (None, "probability") else "risk": risk}, {}, len(risk)


def _of_classes(data, fitted, groups):
    """Columns by name, which of the file's names they replace, and the number of rows."""
    values = arranged(data, fitted)["P"]
    Q, confidence = fitted.predict_proba(values, groups=groups), fitted.predict_confidence(values, groups=groups)
    Q = Q[:, 1] if data.values.ndim == 1 else Q[:, np.argsort(column_order(data, fitted.classes_))]
    if data.source.kind == "npy":
        return {"values": Q}, {}, len(Q)
    if data.source.kind == "npz":
        name = "probabilities" if "logits" in data.names else data.names[0]
        return {name: Q, "confidence": confidence}, {data.names[0]: name}, len(Q)
    renamed = {name: f"p_{name[6:]}" if name.startswith("logit_") else name for name in data.names}
    each = Q[:, None] if Q.ndim == 1 else Q
    made = {renamed[name]: each[:, j] for j, name in enumerate(data.names)}
    return {**made, "confidence": confidence}, renamed, len(Q)
