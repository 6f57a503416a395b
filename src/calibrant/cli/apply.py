"""``calibrant apply``: calibrate new predictions."""

from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FILE,
    SAVED,
    Columns,
    column_options,
    force_option,
    output_option,
    refuse_unused,
    version_option,
)

__all__ = ["apply"]


@click.command()
@click.argument("calibrator", type=SAVED)
@click.argument("file", type=FILE)
@output_option(None, "Output file; it must be of the same kind as FILE.")
@click.option(
    "--interval",
    "levels",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    multiple=True,
    default=(0.9,),
    show_default=True,
    metavar="LEVEL",
    help="Forecasts: add the ends of the central interval of this level; may be repeated.",
)
@click.option(
    "--suffix",
    default="",
    metavar="TEXT",
    help="Append this to the names of added columns, if FILE already has such columns.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Geometric separation: add the zone and the nearest training rows of each row.",
)
@click.option(
    "--allow-other-version",
    is_flag=True,
    help="Lock files: decide on rows of a version of the model that the lock does not name.",
)
@version_option
@column_options(labels=False)
@force_option
def apply(
    calibrator: Path,
    file: Path,
    output: Path,
    levels: Any,
    suffix: str,
    explain: bool,
    columns: Columns,
    force: bool,
) -> None:
    """Apply a saved CALIBRATOR to the predictions in FILE.

    The output has all columns of FILE. Calibrated probabilities replace the predictions, and logits
    become probabilities. The new column `confidence` is the probability that the predicted label is
    right. With --risk the calibrated risk replaces that column. The file of a calibrator holds the
    unit that its column had in `fit`, and that unit is used here. If it is not probability, that
    column stays, and the calibrated risk, from 0 to 1, is added as `risk` (`calibrated_risk` if the
    column itself is called so). For forecasts, calibrated mean and std (or
    quantiles) replace the old ones, and the ends of the intervals are added as `low_0.9` and
    `high_0.9`. If FILE already has a column that would be added, rename the added ones with
    --suffix. A calibrator by group reads its columns of groups from FILE under the names used in
    `fit`, and one of distances to training rows its features. A rule from `calibrant decide`
    changes no column and adds `accept`: whether the answer is accepted.

    With --explain, a calibrator of distances adds `separation`, `zone` (safe, or dangerous: nearer
    to another class) and the nearest training rows: of the predicted class (`same_distance`,
    `same_row`) and of another (`other_distance`, `other_row`, `other_class`). Rows count from 0.

    A table of more than a million rows is read and written in parts. The output file appears only
    when it is complete: an interrupted run leaves an existing file as it was.

    \b
    Examples:
      calibrant apply model.calibrant new.npz -o calibrated.npz
      calibrant apply model.calibrant new.parquet -o calibrated.parquet --force
      calibrant apply model.calibrant log.jsonl -o risks.jsonl --risk margin \\
          --inputs score
      calibrant apply model.calibrant new.csv -o explained.csv --explain
      calibrant apply rule.calibrant new.csv -o decided.csv
      calibrant apply bars.calibrant forecasts.csv -o calibrated.csv \\
          --interval 0.5 --interval 0.95
    """
    from calibrant.cli.applying import apply_to_file

    if calibrator.read_bytes()[:1] != b"{":
        refuse_unused("needs a lock file as CALIBRATOR", "model_version", "allow_other_version")
    apply_to_file(calibrator, file, output, levels, suffix, columns, force, explain)
