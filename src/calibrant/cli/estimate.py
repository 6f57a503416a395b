"""``calibrant estimate``: how good a model is on new rows without labels."""

import json
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FAILED,
    FILE,
    SHARE,
    Columns,
    column_options,
    gate_option,
    json_option,
    refuse_unused,
)
from calibrant.cli.wording import say

__all__ = ["estimate"]


@click.command()
@click.argument("file", metavar="NEW", type=FILE)
@click.option(
    "--reference",
    metavar="TABLE",
    type=FILE,
    required=True,
    help="Labelled rows of the same model, which it did not learn from.",
)
@click.option(
    "--metric",
    "keys",
    metavar="KEY",
    multiple=True,
    help="What to estimate; may be repeated (default accuracy; for forecasts mae).",
)
@click.option(
    "--features",
    metavar="A,B",
    help="Columns of the inputs in both tables, by which the new rows may differ.",
)
@click.option(
    "--estimand",
    type=click.Choice(["realised", "expected"]),
    default="realised",
    show_default=True,
    help="Whether the interval is for the labels of these rows, or for rows like them.",
)
@click.option("--level", type=SHARE, default=0.95, show_default=True, help="Level of the interval.")
@column_options()
@gate_option('"accuracy<0.9"')
@json_option
@click.pass_context
def estimate(
    ctx: Any,
    file: Path,
    reference: Path,
    keys: tuple[str, ...],
    features: str | None,
    estimand: Any,
    level: float,
    columns: Columns,
    gates: Any,
    as_json: bool,
) -> None:
    """Estimate how good a model is on NEW, rows without labels, from labelled rows of --reference.

    The labels given the inputs must not have changed; a change of that kind cannot be seen. The
    sentence says "cannot tell" where the labelled rows say too little about the new ones.

    \b
    Examples:
      calibrant estimate new.parquet --reference labelled.parquet
      calibrant estimate new.csv --reference labelled.csv --features age,site \\
          --metric log_loss
      calibrant estimate new.csv --reference labelled.csv --fail-if "accuracy<0.9"
    """
    from calibrant.cli.gate import failed, metric_key
    from calibrant.core.reading import CLASSIFICATION, REGRESSION
    from calibrant.monitoring.estimates import estimates
    from calibrant.tables.readers import features_of, names_in_option, read_file

    refuse_unused("has no effect: rows are weighted by how they differ from the new ones", "weight")
    old: Any = read_file(reference, columns)
    if old.domain not in (CLASSIFICATION, REGRESSION):
        raise click.UsageError(
            "estimate needs predictions of classes or forecasts of a number;"
            f" {reference.name} holds {old.domain.predictions}; pass other tables."
        )
    if old.weight is not None:
        say(f"Warning: the weights of {reference} are not used: an estimate takes none.", err=True)
    new: Any = read_file(file, columns, labels=False, prefer=old.inputs)
    given: dict[str, Any] = {"level": level, "target": estimand}
    if old.domain is not REGRESSION:
        given |= {"inputs": old.inputs, "classes": old.classes}
    if features is not None:
        names = names_in_option(old.source, features)
        given["X"] = tuple(features_of(one.source, names, texts=True) for one in (old, new))
    usual = ("mae",) if old.domain is REGRESSION else ("accuracy",)
    P = new.said_like(old)
    keys = tuple(map(metric_key, keys)) or usual
    found = estimates(P, keys, reference=(old.said, old.labels), **given)
    told = json.dumps([one.to_dict() for one in found], indent=1)
    say(told if as_json else "\n".join(map(str, found)))
    values = [
        {"key": one.metric, "name": one.metric, "before": {"value": one.value}, "after": None}
        for one in found
    ]
    if failed(gates, {"metrics": values}):
        ctx.exit(FAILED)
