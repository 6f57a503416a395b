"""``calibrant decide``: certify a rule that accepts answers with a bounded share of errors."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FILE,
    SHARE,
    Columns,
    cluster_option,
    column_options,
    force_option,
    next_apply,
    output_option,
    refuse_existing,
    refuse_unused,
    share_options,
    version_option,
)
from calibrant.cli.wording import say
from calibrant.core.text_table import percent

__all__ = ["decide", "right_of"]

#: The file of a rule, if -o names no other.
RULE = "rule.calibrant"
#: Values of --when-uncertain -> values of ``when_uncertain`` in Python.
UNCERTAIN: dict[str, Any] = {"refuse": "raise", "accept-none": "accept_none"}
#: What is decided -> the options that have no effect on it.
UNUSED: dict[str, tuple[str, ...]] = {
    "a lock and NEW": (
        *("max_error", "certainty", "target", "recall", "when_uncertain", "sets", "level"),
        "cluster",
    ),
    "a log": ("recall", "sets", "level", "cluster"),
    "sets": ("max_error", "certainty", "recall", "when_uncertain"),
    "a table": ("level",),
}


@click.command()
@click.argument("file", metavar="TABLE", type=FILE)
@click.argument("new", metavar="[NEW]", required=False, type=FILE)
@share_options[0]
@share_options[1]
@click.option(
    "--target",
    metavar="TARGET",
    help="Certify alerts instead of answers: rows flagged as the event, or as this class.",
)
@click.option(
    "--recall",
    type=SHARE,
    help="With --target: the least share of all such rows that must be flagged.",
)
@click.option(
    "--when-uncertain",
    type=click.Choice(list(UNCERTAIN)),
    default="refuse",
    show_default=True,
    help=(
        "If no threshold can be certified: fail with the number of rows needed, or save a rule that"
        " accepts no answer."
    ),
)
@click.option(
    "--sets",
    is_flag=True,
    help="Predict sets of classes that contain the true one, instead of accepting answers.",
)
@click.option(
    "--level",
    type=SHARE,
    default=0.9,
    show_default=True,
    help="With --sets: the coverage, the share of sets that contain the true class.",
)
@click.option(
    "--allow-other-version",
    is_flag=True,
    help="With NEW: decide on rows of a version of the model that the lock does not name.",
)
@output_option(RULE, "Where to save the rule; with NEW: the decided log (NEW.decided.jsonl).")
@version_option
@cluster_option
@column_options(forecasts=False)
@force_option
def decide(
    file: Path,
    new: Path | None,
    max_error: float,
    certainty: float,
    target: str | None,
    recall: float | None,
    when_uncertain: str,
    sets: bool,
    level: float,
    output: Path,
    cluster: str | None,
    columns: Columns,
    force: bool,
    **of_kind: Any,
) -> None:
    """Certify on TABLE a threshold of confidence above which answers are accepted, and save the
    rule.

    TABLE must hold predictions for rows that neither the model nor a calibrator was fitted on, and
    the true labels. The rule accepts an answer whose probability, or --confidence or score, is
    above the threshold. `calibrant apply` adds a column `accept`, or `set` with --sets. If no
    threshold can be certified, the error names the best evidence and what would be enough.

    The promise for answers is one for all of them: of a rare event nearly all alerts may be wrong.
    --target event limits the wrong ones among the rows that are flagged as it.

    -o NAME.json makes a lock file, JSON that is bound to --model-version. With a lock file as
    TABLE, each row of the table NEW gets a decision.

    \b
    Examples:
      calibrant decide log.csv --max-error 0.05 -o rule.calibrant
      calibrant decide loans.csv --risk p_default --label outcome --positive bad
      calibrant decide answers.jsonl --confidence said --label correct \\
          --max-error 0.1 --certainty 0.9
      calibrant decide answers.jsonl --confidence margin --inputs score \\
          --label correct
      calibrant decide predictions.npz --cluster patient
      # Alerts
      calibrant decide fraud.csv --target event --max-error 0.2 --recall 0.5
      calibrant decide predictions.npz --sets --level 0.9
      calibrant apply rule.calibrant new.csv -o decided.csv
      # A lock of one threshold
      calibrant decide log.csv -o lock.json --model-version v1
    """
    import calibrant
    from calibrant.cli.applying import CERTIFIED, apply_to_file, caution_columns
    from calibrant.cli.choosing import keep, store_unit
    from calibrant.cli.tables import working
    from calibrant.tables.readers import column_of, read_file

    if new is not None:
        refuse_unused("has no effect on a lock and NEW", *UNUSED["a lock and NEW"], *of_kind)
        output = new.with_suffix(".decided.jsonl") if output == Path(RULE) else output
        apply_to_file(file, new, output, (), "", columns, force)
        return
    refuse_unused("needs NEW, a table to decide on", "allow_other_version")
    if output.suffix != ".json":
        refuse_unused("needs a lock file, -o NAME.json", "model_version")
    refuse_existing(output, force)
    data: Any = read_file(file, columns)
    of_answers = columns.confidence is not None or data.inputs == "score"
    _require_classes(data, target, sets, of_answers or sets, of_kind)
    uncertain = UNCERTAIN[when_uncertain]
    if data.domain in CERTIFIED:
        options = {"risk": max_error, "confidence": certainty, **of_kind}
        answer = uncertain.replace("accept", "answer")
        CERTIFIED[data.domain](data, output, force, when_uncertain=answer, **options)
        return
    rule: Any = calibrant.SelectiveClassifier(
        *(max_error, certainty),
        target=target or "answer",
        recall=recall,
        when_uncertain=uncertain,
    )
    with working("certifying"):
        rows = {"cluster": column_of(data, cluster), "sample_weight": data.weight}
        rule = _fitted(rule, data, of_answers, rows, level if sets else None)
    if cluster is None and not of_answers:
        caution_columns(data)
    store_unit(rule, data)
    keep(rule, output, columns.model_version, force, None if of_answers else data.record())
    _tell(rule, data, output)
    next_apply(output, file, "decided")


def _require_classes(
    data: Any, target: str | None, sets: bool, other: bool, of_kind: Iterable[str]
) -> None:
    """Raise a usage error for a table without decisions, or with alerts that are none, and for
    options without effect; ``other``: of answers at a confidence, or of sets; ``of_kind``: the
    options of kinds with certified rules.
    """
    from calibrant.cli.applying import CERTIFIED, RULED

    if data.domain not in RULED:
        raise click.UsageError(
            f"decide needs predictions of classes; {data.path.name} holds"
            f" {data.domain.predictions}; pass another table."
        )
    if target is not None and (other or data.domain in CERTIFIED):
        raise click.UsageError(
            "--target needs a table of probabilities of classes, and no --sets; leave it out."
        )
    if data.domain in CERTIFIED:
        refuse_unused(f"has no effect on {data.domain.predictions}", *UNUSED["a log"])
        return
    decided = "sets" if sets else "a table"
    refuse_unused(f"has no effect on {decided}", *UNUSED[decided], *of_kind)


def _tell(rule: Any, data: Any, output: Path) -> None:
    """Print the promise and where the rule is saved."""
    if hasattr(rule, "certificate_"):
        proof = str(rule.certificate_).replace("target=", "--target ")
        say(
            f"{proof}\nThe guarantee holds if {rule.guarantee_.assumes}.\nThreshold"
            f" {rule.threshold_:.6g}: {output}"
        )
        return
    sizes = rule.predict_set(data.values).sum(axis=1)
    say(
        f"{rule.guarantee_}.\n{sizes.mean():.2f} classes per set on average here;"
        f" {percent((sizes == 1).mean())} of the sets hold one class.\n{output}"
    )


def _fitted(
    rule: Any, data: Any, of_answers: bool, rows: dict[str, Any], level: float | None
) -> Any:
    """Return the rule, or with a level conformal sets, fitted on the file's rows."""
    import calibrant

    if level is not None and of_answers:
        raise click.UsageError(
            "--sets needs class probabilities; name them with --probabilities instead of"
            " --confidence or a score."
        )
    if of_answers:
        predicted = 1.0 - data.values if data.inputs == "probability" else None
        return rule.fit_scores(data.values, ~right_of(data), predicted=predicted, **rows)
    rule = rule if level is None else calibrant.ConformalSets(level=level)
    rule.set_params(inputs=data.inputs, classes=data.classes)
    return rule.fit(data.values, data.labels, **rows)


def right_of(data: Any) -> Any:
    """Return (n,) whether each answer was right. The values are read as logits, because any number
    may be a score.
    """
    from calibrant.core.predictions import read

    return read(data.values, data.labels, inputs="logit", classes=data.classes).labels == 1
