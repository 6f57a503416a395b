"""``calibrant rate``: estimate a rate from a judge's scores and few labels."""

import json
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import FILE, cluster_option, json_option
from calibrant.cli.wording import say

__all__ = ["rate"]


@click.command()
@click.argument("file", metavar="TABLE", type=FILE)
@click.option(
    "--judge",
    default="judge",
    show_default=True,
    metavar="A,B",
    help="Columns of a judge's scores of every row, higher for better answers.",
)
@click.option(
    "--label",
    default="label",
    show_default=True,
    metavar="NAME",
    help="Column of labels from 0 to 1, empty where a row has none.",
)
@click.option("--chance", metavar="NAME", help="Column of the probability of being labelled.")
@click.option(
    "--swapped",
    metavar="NAME",
    help="Pairs: column of the scores of the first answer when it was shown second.",
)
@click.option(
    "--length",
    metavar="NAME",
    help="Column of the length of each answer: does the judge prefer long ones?",
)
@click.option(
    "--calibrate", is_flag=True, help="Calibrate the judge first, for scores on a bent scale."
)
@click.option(
    "--population",
    type=click.Choice(["new", "log"]),
    default="new",
    show_default=True,
    help="Whether the interval is for new rows, or for those of TABLE only.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the interval.")
@click.option("--width", type=float, help="Compute how many labels an interval this wide needs.")
@cluster_option
@json_option
def rate(
    file: Path,
    judge: str,
    label: str,
    width: float | None,
    level: float,
    as_json: bool,
    **asked: Any,
) -> None:
    """Estimate the rate of right answers, or a win rate, from a judge's scores of all rows of TABLE
    and labels of some.

    The labelled rows must be a random sample, or --chance states their probabilities. The labels
    correct the judge, which may be biased. The interval needs 10 labels or more.

    \b
    Examples:
      calibrant rate scores.csv --judge judge --label human
      calibrant rate scores.csv --judge gpt,claude --label human --cluster item
      # How many labels are needed
      calibrant rate scores.csv --label human --width 0.05
    """
    import numpy as np

    from calibrant.questions.rates import estimate_rate, labels_for_width
    from calibrant.tables.opening import open_source
    from calibrant.tables.readers import names_in_option
    from calibrant.tables.roles import as_floats, missing_in

    source = open_source(file)

    def column(name: str, of: Any = source) -> Any:
        return as_floats(of.column(source.require(name)), name, file)

    scores = np.column_stack([column(name) for name in names_in_option(source, judge)])
    seen = np.flatnonzero(~missing_in(source, source.require(label), ()))
    labels = np.full(len(scores), np.nan)
    labels[seen] = column(label, source.take(seen))
    given = {"judge": scores if scores.shape[1] > 1 else scores[:, 0], "labels": labels}
    asked |= {name: column(asked[name]) for name in ("chance", "swapped", "length") if asked[name]}
    if asked["cluster"] is not None:
        asked["cluster"] = np.asarray(source.column(source.require(asked["cluster"])))
    found = estimate_rate(**given, level=level, **asked)
    design = {name: asked[name] for name in ("chance", "cluster", "swapped", "calibrate")}
    needed = None if width is None else labels_for_width(width, **given, level=level, **design)
    words = f"\nAn interval of width {width} takes about {needed} labels." if width else ""
    told = json.dumps({**found.to_dict(), "labels_needed": needed}, indent=1)
    say(told if as_json else f"{found}{words}")
