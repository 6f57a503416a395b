"""``calibrant compare``: test whether one model or calibrator is better on the same rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FILE,
    Columns,
    all_option,
    cluster_option,
    column_options,
    force_option,
    json_option,
    output_option,
    refuse_existing,
    refuse_unused,
    target_option,
    weight_kind_option,
)
from calibrant.cli.wording import say
from calibrant.core.text_table import few
from calibrant.errors import InputError

__all__ = ["compare"]

#: Corrections for the number of pairs, under their names in ``metrics.compare``.
CORRECTIONS = ("holm", "bonferroni", "none")
PAGE = "Also write a page with each score, each difference and all curves, or .json or .md."


@click.command()
@click.argument("files", metavar="TABLE...", nargs=-1, required=True, type=FILE)
@target_option("The quantity to compare")
@click.option(
    "--metric",
    "keys",
    metavar="KEY",
    multiple=True,
    help=(
        "Compare by this metric; may be repeated (default log loss and Brier score; for forecasts"
        " CRPS and NLL)."
    ),
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="Compare all others with this one (default: compare every pair).",
)
@cluster_option
@weight_kind_option
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="holm",
    show_default=True,
    help="Correction for the number of pairs.",
)
@click.option(
    "--level",
    default=0.95,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Level of the intervals.",
)
@output_option(None, PAGE, required=False)
@force_option
@all_option
@json_option
@column_options(several=True)
def compare(
    files: tuple[Path, ...],
    target: Any,
    keys: tuple[str, ...],
    cluster: str | None,
    weight_kind: Any,
    output: Path | None,
    force: bool,
    whole: bool,
    as_json: bool,
    columns: Columns,
    risks: tuple[str, ...],
    **options: Any,
) -> None:
    """Test whether one prediction is better than another on the same rows: those of several TABLEs,
    or several --risk columns of one.

    Each pair gets the difference of each metric with an interval and a test, corrected for the
    number of pairs. Calibration errors are shown but not tested, because no test of their
    difference holds its level where one of them is near 0; decide by a proper score. With -o the
    answer is written as a page.

    \b
    Examples:
      calibrant compare model_a.csv model_b.csv --label outcome
      calibrant compare model_a.csv model_b.csv --label outcome -o page.html
      calibrant compare log.csv --risk model_a --risk model_b --label y \\
          --positive bad
      calibrant compare log.jsonl --risk a --risk b --risk c --baseline a \\
          --cluster patient
      calibrant compare forecasts_a.csv forecasts_b.csv --metric crps --json
    """
    from calibrant import metrics
    from calibrant.cli.tables import print_table
    from calibrant.core.groups import clustered
    from calibrant.metrics.several import CHOSEN_BY
    from calibrant.reporting.models import summarise_comparison
    from calibrant.reporting.report import Report, require_page
    from calibrant.tables.readers import column_of

    if output is not None:
        require_page(output)
        refuse_existing(output, force)
    found_of = _read(files, columns, risks)
    if all(data.weight is None for data in found_of.values()):
        refuse_unused("needs weights, by --weight", "weight_kind")
    read_of = {name: (data, *_record(data, target)) for name, data in found_of.items()}
    (data, whole_rows, one, asked), *_ = read_of.values()
    for other, record, *_ in read_of.values():
        _require_same_rows(data, whole_rows, other, record)
    records = {name: record for name, (_, _, record, _) in read_of.items()}
    usual = CHOSEN_BY[data.domain].compared([one], asked)
    drawn = clustered(whole_rows, column_of(data, cluster), weight_kind)
    beside = {"weight": drawn.weight, "cluster": drawn.cluster}
    records = {name: replace(record, **beside) for name, record in records.items()}
    measured = list(_metrics(keys, data.domain) or usual)
    found = metrics.compare.of(records, measured, **options)
    if output is not None:
        Report(summarise_comparison(records, measured, found).to_dict()).save(
            output, overwrite=force
        )
    if as_json:
        say(json.dumps({"files": [str(file) for file in files], **found.to_dict()}, indent=1))
        return
    print_table("", *found.table, whole)
    for note in (*found.notes, *([] if output is None else [output])):
        say(note)


def _read(files, columns, risks):
    """Read two predictions or more, as {name: file}."""
    paths = (
        [file.name for file in files]
        if len({file.name for file in files}) == len(files)
        else [str(file) for file in files]
    )
    names = (
        risks
        if len(files) == 1
        else paths
        if len(risks) < 2
        else [f"{path}:{risk}" for path in paths for risk in risks]
    )
    if len(names) < 2 or len(set(names)) < len(names):
        twice = next((name for name in names if names.count(name) > 1), None)
        listed = few(names or paths) if twice is None else f"{twice} twice"
        raise click.UsageError(
            f"compare needs two different predictions or more; got {listed}; pass two TABLEs, or"
            " one and --risk twice."
        )
    from calibrant.tables.opening import open_source
    from calibrant.tables.readers import labelled, read_source

    sources, risks = (
        [open_source(file, labelled(file, columns)) for file in files],
        risks or (None,),
    )
    if columns.skip_missing:
        sources, columns = (
            _without_missing(sources, columns, risks),
            replace(columns, skip_missing=False),
        )
    found = (
        read_source(source, replace(columns, risk=risk)) for source in sources for risk in risks
    )
    return dict(zip(names, map(_as_risks, found), strict=True))


def _without_missing(sources, columns, risks):
    """Drop every row that lacks a prediction, label or weight in any source, so that all sources
    keep the same rows.
    """
    import numpy as np

    from calibrant.tables.readers import rows_left

    left = [
        rows_left(source, replace(columns, risk=risk), True) for source in sources for risk in risks
    ]
    if len({len(each) for each in left}) > 1:
        counts = ", ".join(f"{len(source):,}" for source in sources)
        raise InputError(
            f"all tables must have the same rows; they have {counts} rows; pass tables of the same"
            " rows."
        )
    kept = np.all(left, axis=0)
    if not kept.all():
        say(
            f"{np.sum(~kept):,} of {len(kept):,} rows are left out, because they lack a prediction,"
            " label or weight in some table.",
            err=True,
        )
    return [source.take(np.flatnonzero(kept)) for source in sources]


def _as_risks(data):
    from calibrant.cli.choosing import of_scores

    scored = of_scores(data, None, None)
    return scored[1] if scored else data


def _record(data, target):
    """Return (the record of a file, the record to measure, the target). For an event the second is
    a record of two classes.
    """
    asked = data.asked(target)
    whole = data.record().one_output()
    event = asked not in (None, "answer", "classes")
    return whole, whole.as_pair(asked) if event else whole, asked


def _require_same_rows(first, ours, other, theirs):
    """Require the same outcomes and weights, row by row, so that rows can be paired."""
    import numpy as np

    if first.domain is not other.domain:
        raise InputError(
            f"{other.path} must be of the same task as {first.path}; got {other.domain.name} and"
            f" {first.domain.name}; set it with --task."
        )
    if len(ours) != len(theirs):
        raise InputError(
            f"{other.path} must have the rows of {first.path}, {len(ours):,}; got {len(theirs):,};"
            " pass tables of the same rows."
        )
    same = first.same_outcomes(ours, theirs)
    for what, agree in (("labels", same), ("weights", ours.weights == theirs.weights)):
        if not agree.all():
            said = f"the {what} of {other.path} must equal those of {first.path}, row by row"
            raise InputError(
                f"{said}; {np.sum(~agree):,} of {len(ours):,} differ; put both tables in the same"
                " order."
            )


def _metrics(keys, domain):
    from calibrant import metrics
    from calibrant.cli.gate import metric_key
    from calibrant.core.metric_kinds import Metric

    known = (getattr(metrics, name) for name in metrics.__all__)
    of_task = {one.key: one for one in known if isinstance(one, Metric) and one.domain is domain}
    keys = [metric_key(word) for word in keys]
    unknown = next((key for key in keys if key not in of_task), None)
    if unknown is not None:
        raise click.UsageError(f"--metric must be one of {', '.join(of_task)}; got {unknown!r}.")
    return [of_task[key] for key in keys]
