"""``calibrant decide``: a rule that says which answers can be accepted, with the share of errors that it promises."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import calibrant
from calibrant.cli.options import FILE, Columns, column_options, force_option, output_option, refuse_existing
from calibrant.cli.reading import column_of, read_file
from calibrant.cli.tables import working
from calibrant.cli.wording import say
from calibrant.predictions import read

__all__ = ["decide"]

SHARE = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)
METHODS = ("fixed_sequence", "sgr", "learn_then_test")


@click.command()
@click.argument("file", type=FILE)
@click.option("--risk", type=SHARE, default=0.05, show_default=True, help="Share of errors allowed among accepted rows.")
@click.option("--confidence", type=SHARE, default=0.95, show_default=True, help="How surely the share is not exceeded.")
@click.option("--score", metavar="NAME", help="A column of any score of the answer; --label then says whether the answer was right.")
@click.option("--cluster", metavar="NAME", help="Column of what rows hang together by; clusters are counted, not rows.")
@click.option("--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True, help="How thresholds are tried.")
@click.option("--sets", is_flag=True, help="Sets of classes that hold the true one, in place of answers to accept.")
@click.option("--level", type=SHARE, default=0.9, show_default=True, help="Of --sets: the share that holds the true class.")
@output_option("rule.calibrant", "Where to save the rule.")
@column_options(risk=False)
@force_option
def decide(
    file: Path, risk: float, confidence: float, score: str | None, cluster: str | None, method: str, sets: bool, level: float,
    output: Path, columns: Columns, force: bool,
) -> None:  # fmt: skip
    """Certify on FILE from which confidence on answers can be accepted, and save the rule.

    FILE must hold predictions for rows that neither the model nor a calibrator was fitted on, and their true labels. The rule accepts
    an answer where its probability is above the threshold; `calibrant apply` adds a column `accept`, or, of --sets, `set`. Where
    nothing can be promised it says how many rows it would take.

    \b
    Examples:
      calibrant decide log.csv --risk 0.05 -o rule.calibrant
      calibrant decide answers.jsonl --score confidence --label correct --risk 0.1 --confidence 0.9
      calibrant decide predictions.npz --cluster patient
      calibrant decide predictions.npz --sets --level 0.9
      calibrant apply rule.calibrant new.csv -o decided.csv
    """
    refuse_existing(output, force, file)
    if score is not None and sets:
        raise click.UsageError("--sets and --score exclude each other: sets are made of class probabilities.")
    if score is not None:
        columns = replace(columns, risk=score, inputs="score")
    data: Any = read_file(file, columns)
    if data.task == "regression":
        raise click.UsageError(f"{data.path.name} holds forecasts of a number; rules of this kind accept answers among classes.")
    options: dict[str, Any] = {"cluster": column_of(data, cluster), "sample_weight": data.weight}
    if sets:
        _of_sets(data, level, options).save(output, overwrite=force)
        say(str(output))
        return
    rule = calibrant.SelectiveClassifier(risk, confidence, method=method)
    with working("certifying"):
        if score is not None:
            right = read(data.values, data.labels, inputs="logit", classes=data.classes).labels == 1
            rule.fit_scores(data.values, ~right, **options)
        else:
            rule.set_params(inputs=data.inputs, classes=data.classes).fit(data.values, data.labels, **options)
    rule.save(output, overwrite=force)
    say(f"{rule.certificate_}\nIt holds if {rule.guarantee_.assumes}.\nThreshold {rule.threshold_:.6g}: {output}")


def _of_sets(data: Any, level: float, options: dict[str, Any]) -> Any:
    """Conformal sets of the file's rows, with what they promise said."""
    rule = calibrant.ConformalSets(level=level, inputs=data.inputs, classes=data.classes)
    with working("certifying"):
        rule.fit(data.values, data.labels, **options)
    sizes = rule.predict_set(data.values).sum(axis=1)
    say(f"{rule.guarantee_}.\n{sizes.mean():.2f} classes a set on average here; {(sizes == 1).mean():.1%} hold one alone.")
    return rule
