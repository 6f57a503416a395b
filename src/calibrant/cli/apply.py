"""``calibrant apply``: calibrate new predictions."""

from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import FILE, SAVED, Columns, column_options, force_option, output_option

__all__ = ["apply"]


@click.command()
@click.argument("calibrator", type=SAVED)
@click.argument("file", type=FILE)
@output_option(None, "Where to write; the same kind of file as FILE.")
@click.option(
    "--interval",
    "levels",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    multiple=True,
    default=(0.9,),
    show_default=True,
    metavar="LEVEL",
    help="Forecasts: add the ends of central intervals; may be repeated.",
)
@click.option(
    "--suffix",
    default="",
    metavar="TEXT",
    help="Put this behind the names of added columns, where FILE has such columns.",
)
@column_options(labels=False)
@force_option
def apply(
    calibrator: Path,
    file: Path,
    output: Path,
    levels: Any,
    suffix: str,
    columns: Columns,
    force: bool,
) -> None:
    """Apply a saved CALIBRATOR to the predictions in FILE.

    The output holds all that FILE holds, with calibrated probabilities in place of the predictions,
    and `confidence`: the probability that the model's own label is right. Logits become
    probabilities. Of one column named by --risk the calibrated risk takes its place; where --inputs
    says that it holds something else, it stays, and the risk is a column `risk`. Of forecasts, mean
    and std (or quantiles) are calibrated in place, and the ends of intervals added as `low_0.9`,
    `high_0.9`. Other columns stay as they are: where FILE has one that would be added, name those
    added by --suffix. A calibrator by group reads its columns of groups from FILE, by the names of
    its fit. A rule of `calibrant decide` changes nothing and adds `accept`, whether the answer is
    accepted.

    A table of more than a million rows is read and written in parts. The output takes its place
    when all of it is there: an interrupted run leaves nothing behind, and what was there before.

    \b
    Examples:
      calibrant apply model.calibrant new.npz -o calibrated.npz
      calibrant apply model.calibrant new.parquet -o calibrated.parquet --force
      calibrant apply model.calibrant log.jsonl -o risks.jsonl --risk margin --inputs score
      calibrant apply rule.calibrant new.csv -o decided.csv
      calibrant apply bars.calibrant forecasts.csv -o calibrated.csv --interval 0.5 --interval 0.95
    """
    from calibrant.cli.applying import apply_to_file

    apply_to_file(calibrator, file, output, levels, suffix, columns, force)
