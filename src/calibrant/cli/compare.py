"""``calibrant compare``: is one model, or calibrator, better than another on the same rows?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from calibrant import metrics
from calibrant.cli.choosing import of_scores, target_option
from calibrant.cli.event import refuse_target, viewed
from calibrant.cli.options import FILE, Columns, cluster_option, column_options
from calibrant.cli.reading import column_of, read_source
from calibrant.cli.sources import open_source
from calibrant.cli.wording import few, say
from calibrant.contracts.metric import Metric
from calibrant.errors import InputError
from calibrant.groups import read_clusters
from calibrant.labels import places
from calibrant.metrics.comparison import CORRECTIONS, OF_CLASSES, OF_NUMBERS

__all__ = ["compare"]

#: As in the report, the Brier score of an event is of one column.
OF_EVENTS = (metrics.log_loss, metrics.event_brier_score)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@target_option("What is asked")
@click.option("--metric", "keys", metavar="KEY", multiple=True,
              help="Compare by this metric; may be repeated (default log loss and Brier score; of forecasts CRPS and NLL).")  # fmt: skip
@click.option("--baseline", metavar="NAME", help="The one that the others are compared with; by default every pair is.")
@cluster_option
@click.option("--correction", type=click.Choice(list(CORRECTIONS)), default="holm", show_default=True, help="For the number of pairs.")
@click.option(
    "--level", default=0.95, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Of the intervals."
)
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON instead of a table.")
@column_options(several=True)
def compare(
    files: tuple[Path, ...], target: Any, keys: tuple[str, ...], cluster: str | None, as_json: bool, columns: Columns,
    risks: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Test whether one prediction is better than another on the same rows: those of several FILEs, or several --risk columns of one.

    Each pair gets the difference of each metric with an interval and a test, corrected for the number of pairs. Calibration errors are
    shown and not compared: where one of two is near 0 no test of them holds its level; decide by a proper score.

    \b
    Examples:
      calibrant compare model_a.csv model_b.csv --label outcome
      calibrant compare log.csv --risk model_a --risk model_b --label y --positive bad
      calibrant compare log.jsonl --risk a --risk b --risk c --baseline a --cluster patient
      calibrant compare forecasts_a.csv forecasts_b.csv --metric crps --json
    """
    read_of = {name: (data, *_record(data, target)) for name, data in _read(files, columns, risks).items()}
    (data, whole, _), *_ = read_of.values()
    for other, record, _ in read_of.values():
        _require_same_rows(data, whole, other, record)
    records = {name: record for name, (_, _, record) in read_of.items()}
    one = next(iter(records.values()))
    usual = OF_NUMBERS if data.task == "regression" else OF_EVENTS if one is not whole else OF_CLASSES
    drawn = None if cluster is None else read_clusters(column_of(data, cluster), whole)
    found = metrics.compare.of(records, _metrics(keys, data.task) or usual, cluster=drawn, **options)
    say(json.dumps({"files": [str(file) for file in files], **found.to_dict()}, indent=1) if as_json else str(found))


def _read(files, columns, risks):
    """{name: file} of two predictions or more."""
    paths = [file.name for file in files] if len({file.name for file in files}) == len(files) else [str(file) for file in files]
    names = risks if len(files) == 1 else paths if len(risks) < 2 else [f"{path}:{risk}" for path in paths for risk in risks]
    if len(names) < 2 or len(set(names)) < len(names):
        found = f"got {few(names or paths)}"
        raise click.UsageError(f"compare takes two different predictions or more, two FILEs or --risk twice; {found}.")
    found = (read_source(source, replace(columns, risk=risk)) for source in map(open_source, files) for risk in risks or (None,))
    return dict(zip(names, map(_as_risks, found), strict=True))


def _as_risks(data):
    scored = of_scores(data, None, None)
    return scored[1] if scored else data


def _record(data, target):
    """(the record of a file, the one that is measured): of the event, where it is asked for, that of yes and no."""
    refuse_target(data, target)
    if data.task == "regression":
        return (whole := data.record().one_output()), whole
    whole, asked = data.record(), viewed(data, target)
    return whole, whole if asked in ("answer", "classes") else whole.as_pair(asked)


def _require_same_rows(first, ours, other, theirs):
    """The same outcomes and weights, row by row, so that rows can be paired."""
    if first.task != other.task:
        raise InputError(f"{other.path} must be of the same task as {first.path}; got {other.task} and {first.task}; say --task.")
    if len(ours) != len(theirs):
        raise InputError(f"{other.path} must have the rows of {first.path}, {len(ours):,}; got {len(theirs):,}; compare on the same rows.")
    if first.task == "classification":
        same = np.array(places(theirs.classes, ours.classes))[theirs.labels] == ours.labels
    else:
        same = ours.y == theirs.y
    for what, agree in (("labels", same), ("weights", ours.weights == theirs.weights)):
        if not agree.all():
            said = f"the {what} of {other.path} must be those of {first.path}, row by row"
            raise InputError(f"{said}; {np.sum(~agree):,} of {len(ours):,} differ; give both the same rows in the same order.")


def _metrics(keys, task):
    known = (getattr(metrics, name) for name in metrics.__all__)
    of_task = {one.key: one for one in known if isinstance(one, Metric) and one.task == task}
    unknown = next((key for key in keys if key not in of_task), None)
    if unknown is not None:
        raise click.UsageError(f"--metric must be one of {', '.join(of_task)}; got {unknown!r}.")
    return [of_task[key] for key in keys]
