"""``calibrant fit``: learn a calibrator from predictions and true labels."""

from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FILE,
    Columns,
    cluster_option,
    column_options,
    features_option,
    force_option,
    groups_option,
    method_option,
    next_apply,
    output_option,
    reference_option,
    refuse_existing,
    refuse_unused,
    share_options,
    version_option,
)
from calibrant.cli.tables import working
from calibrant.cli.wording import say

__all__ = ["fit"]


@click.command()
@click.argument("file", metavar="TABLE", type=FILE)
@output_option("model.calibrant", "Where to save the calibrator.")
@method_option(
    "Calibrator (default: the automatic choice); a wrong name lists all.",
    "The event or answer that a map named by --method is fitted to",
)
@cluster_option
@groups_option(
    "Columns of groups, each corrected as far as its rows support it; `apply` then reads them by"
    " name."
)
@reference_option
@features_option("")
@version_option
@share_options[0]
@share_options[1]
@column_options()
@force_option
def fit(
    file: Path,
    output: Path,
    method: str | None,
    target: Any,
    groups: str | None,
    cluster: str | None,
    reference: Path | None,
    features: str | None,
    columns: Columns,
    force: bool,
    max_error: float,
    certainty: float,
) -> None:
    """Fit a calibrator on TABLE and save it.

    TABLE is a file, a folder or a quoted pattern of files. It must hold predictions for rows that
    the model was not trained on, and their true labels; or forecasts, and the outcomes. With
    --cluster, cross-validation keeps rows that share a value of that column in one fold. A table of
    more than a million rows is read in parts. A map of two classes is then fitted on all rows,
    merged in narrow cells of the risk; any other calibrator on a seeded sample of rows. The file
    holds the unit of --inputs, and the other commands read the column in it; in Python,
    predict_proba takes probabilities or logits, whatever the unit was.
    --reference names the rows that the model was trained on; `apply` then reads the features by
    name. -o NAME.json makes a lock file, which is bound to the --model-version of the rows.

    \b
    Examples:
      calibrant fit predictions.npz -o model.calibrant
      # The event, or each class
      calibrant fit predictions.csv --label outcome --method isotonic
      # Whether the answer is right
      calibrant fit answers.csv --method isotonic --target answer
      # From score to risk
      calibrant fit log.jsonl --risk margin --inputs score --label correct
      # How likely the answer is right
      calibrant fit answers.jsonl --confidence said --label correct
      calibrant fit "logs/*.parquet" --label outcome
      calibrant fit visits.csv --label outcome --cluster patient
      calibrant fit logits.npz --logits logits --force
      # The automatic choice, which also tries groups
      calibrant fit loans.csv --groups sex,age_band
      calibrant fit loans.csv --groups sex,age_band --method group
      calibrant fit log.parquet --method geometric --reference train.parquet
      calibrant fit forecasts.csv --method interval -o bars.calibrant
      calibrant fit log.csv -o lock.json --model-version v1
    """
    from calibrant.cli.applying import CERTIFIED
    from calibrant.cli.choosing import chosen, keep, require_reference
    from calibrant.cli.measuring import large_fit
    from calibrant.reporting.calibrate import shown_name
    from calibrant.tables.class_files import WORDS
    from calibrant.tables.readers import read_any

    refuse_existing(output, force)
    if output.suffix == ".json" and (data := read_any(file, columns)).domain in CERTIFIED:
        calibrator = chosen(method, None, data, target=target)
        promise: dict[str, Any] = {"risk": max_error, "confidence": certainty}
        CERTIFIED[data.domain](data, output, force, **promise, calibrator=calibrator)
        return
    refuse_unused(
        "needs a table whose rules are certified by fit, and -o NAME.json", "max_error", "certainty"
    )
    if output.suffix != ".json":
        refuse_unused("needs a lock file, -o NAME.json", "model_version")
    require_reference(features, reference)
    made = (
        None
        if groups or cluster or reference or output.suffix == ".json"
        else large_fit(file, columns, method, target, _check_target)
    )
    fitted: Any
    fitted, said, *rows = made or _fitted(
        file, columns, method, target, groups, cluster, reference, features
    )
    keep(fitted, output, columns.model_version, force, *rows)
    status = f" ({fitted.status_})" if getattr(fitted, "status_", None) else ""
    say(f"{shown_name(fitted)} fitted on {said}{status}: {output}")
    unit = (getattr(fitted, "risk_column_", None) or (None, None))[1]
    if unit not in (None, "score", *WORDS):
        say(
            f"The unit, {unit}, is stored: the other commands read the column in it. In Python,"
            f" predict_proba takes probabilities."
        )
    next_apply(output, file, "calibrated")


def _fitted(
    file: Any,
    columns: Columns,
    method: str | None,
    target: Any,
    groups: str | None,
    cluster: Any,
    reference: Path | None,
    features: str | None,
) -> tuple[Any, ...]:
    """Fit on rows in memory and return (the calibrator, a description of the rows, the rows)."""
    from calibrant.cli.choosing import chosen, store_unit
    from calibrant.cli.methods import fit_scores
    from calibrant.core.folds import fit_clone
    from calibrant.core.groups import clustered
    from calibrant.core.labels import SoftLabels
    from calibrant.tables.readers import column_of, columns_of, read_any
    from calibrant.tables.training import training_of

    data: Any = read_any(file, columns, cluster=cluster)
    _check_target(target, method, data)
    of_rows = None if groups is None else columns_of(data, groups, "--groups")
    others = (cluster, *(of_rows or ()))
    names, training = training_of(data, columns, reference, features, others=others)
    with working("fitting"):
        if data.inputs == "score":
            if groups is not None:
                raise click.UsageError(
                    "--groups needs probabilities, but --inputs is score; leave one of the two out."
                )
            of_scores = fit_scores(data, method)
            store_unit(of_scores, data)
            return of_scores, f"{len(data.values):,} scores"
        calibrator = _taking(
            chosen(method, None, data, target=target, groups=groups, reference=reference),
            groups,
            reference,
        )
        if isinstance(data.labels, SoftLabels):
            training["soft"] = True
        record = clustered(data.record(of_rows, **training), column_of(data, cluster))
        fitted: Any = fit_clone(calibrator, record)
        if names is not None:
            fitted.feature_names_ = names
        store_unit(fitted, data)
        return fitted, f"{len(record):,} rows{data.about(record)}", record


def _taking(calibrator: Any, groups: str | None, reference: Path | None) -> Any:
    """Return the calibrator; refuse one that cannot use the groups or the training rows."""
    from calibrant.cli.choosing import require_reference
    from calibrant.reporting.calibrate import shown_name

    if groups is not None and not calibrator.tags.takes_groups:
        raise click.UsageError(
            f"--groups needs a calibrator by group; {shown_name(calibrator)} takes no groups; leave"
            " one of the two out."
        )
    require_reference(None, reference, calibrator)
    return calibrator


def _check_target(target: Any, method: str, data: Any) -> None:
    """Refuse a --target that no calibrator of this file supports."""
    from calibrant.tables.roles import QUESTIONS

    data.refuse_target(target)
    if target is None:
        return
    if target == "answer" and method is None:
        raise click.UsageError(
            "--target answer needs a map to fit; name one with --method, such as --method isotonic."
        )
    if target == "answer" and data.inputs == "score":
        raise click.UsageError(
            "--target answer needs probabilities, because a score predicts no label; leave it out."
        )
    if target not in QUESTIONS:
        data.asked(target)
    if target not in ("answer", "classes") and len(data.own_classes) > 2:
        name = "LABEL" if target == "event" else target
        raise click.UsageError(
            f"--target {target} fits one event of two classes; {data.path.name} has"
            f" {len(data.own_classes)}; name the column of its probability: --risk NAME --positive"
            f" {name}."
        )
