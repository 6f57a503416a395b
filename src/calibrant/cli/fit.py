"""``calibrant fit``: learn a calibrator from predictions and true labels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from calibrant.cli.choosing import chosen, method_option
from calibrant.cli.event import QUESTIONS, viewed
from calibrant.cli.large_report import large_fit, read_any
from calibrant.cli.options import FILE, Columns, column_options, force_option, groups_option, output_option, refuse_existing
from calibrant.cli.reading import columns_of
from calibrant.cli.scores import fit_scores
from calibrant.cli.tables import working
from calibrant.cli.wording import say
from calibrant.compare.given import shown_name
from calibrant.folds.out_of_fold import fit_clone

__all__ = ["fit"]

#: By task, what is said beside the number of rows.
ALSO: dict[str, Callable[[Any], str]] = {
    "classification": lambda record: f", {record.n_classes} classes",
    "regression": lambda record: f", {record.forecast.shape[1]} outputs" if record.several else "",
}


@click.command()
@click.argument("file", type=FILE)
@output_option("model.calibrant", "Where to save the calibrator.")
@method_option("Calibrator (default: the automatic choice); a wrong name lists all.", "What a map named by --method is fitted to")
@groups_option("Columns of groups, each set right as far as its rows say; the saved calibrator then reads them by name.")
@column_options()
@force_option
def fit(file: Path, output: Path, method: str | None, target: Any, groups: str | None, columns: Columns, force: bool) -> None:
    """Fit a calibrator on FILE and save it.

    FILE must hold predictions for rows that the model was not trained on, and their true labels; or forecasts, and the outcomes.
    A table of more than a million rows is read in parts: a map of two classes is fitted on all rows, merged in narrow cells of the
    risk, any other calibrator on a seeded sample of rows.

    \b
    Examples:
      calibrant fit predictions.npz -o model.calibrant
      calibrant fit predictions.csv --label outcome --method isotonic       the event, or each class
      calibrant fit answers.csv --method isotonic --target answer           whether the answer is right
      calibrant fit log.jsonl --risk margin --inputs score --label correct  a map from a score to the risk
      calibrant fit logits.npz --logits logits --force
      calibrant fit loans.csv --groups sex,age_band                         the automatic choice, groups among what it tries
      calibrant fit loans.csv --groups sex,age_band --method group
      calibrant fit forecasts.csv --method interval -o bars.calibrant
    """
    refuse_existing(output, force, file)
    made = None if groups else large_fit(file, columns, method, target, _check_target)
    fitted, said = made or _fitted(file, columns, method, target, groups)
    fitted.save(output, overwrite=force)
    status = f" ({fitted.status_})" if getattr(fitted, "status_", None) else ""
    say(f"{shown_name(fitted)} fitted on {said}{status}: {output}")


def _fitted(file, columns, method, target, groups):
    """(the calibrator fitted on rows in memory, words on what)."""
    data: Any = read_any(file, columns)
    _check_target(target, method, data)
    with working("fitting"):
        if data.inputs == "score":
            if groups is not None:
                raise click.UsageError("--groups is for calibrators of probabilities, and a score is mapped alone; leave it out.")
            return fit_scores(data, method), f"{len(data.values):,} scores"
        of_rows = None if groups is None else columns_of(data, groups, "--groups")
        calibrator, record = _taking(chosen(method, None, data, target=target, groups=groups), groups), data.record(of_rows)
        return fit_clone(calibrator, record), f"{len(record):,} rows{ALSO[data.task](record)}"


def _taking(calibrator, groups):
    """The calibrator, if it can use groups where there are some."""
    if groups is not None and not calibrator.tags.takes_groups:
        raise click.UsageError(f"--groups is for calibrators by group, which {shown_name(calibrator)} is not; leave one of the two out.")
    return calibrator


def _check_target(target, method, data):
    """Refuse a question that no calibrator of this file would answer."""
    if target is None or data.task == "regression":
        return
    if target == "answer" and method is None:
        raise click.UsageError("--target answer says what the map of --method is fitted to; name one, such as --method isotonic.")
    if target == "answer" and data.inputs == "score":
        raise click.UsageError("--target answer is of probabilities; a score has no answer of its own, so leave it out.")
    if target not in QUESTIONS:
        viewed(data, target)
    if target not in ("answer", "classes") and len(data.own_classes) > 2:
        name = "LABEL" if target == "event" else target
        raise click.UsageError(
            f"--target {target} fits one event of two classes, and {data.path.name} has {len(data.own_classes)}; "
            f"name the column of its probability: --risk NAME --positive {name}."
        )
