"""``calibrant methods``: list the calibrators and the metrics."""

import json
from typing import Any

import click
from rich.table import Table

from calibrant.cli.options import TaskType, json_option
from calibrant.cli.tables import console

__all__ = ["list_methods"]

FACTS = {
    "keeps_argmax": "keeps the label",
    "random": "random",
    "binary_only": "two classes only",
    "uses_groups": "needs --groups",
    "for_features_or_groups": "needs --groups",
}


@click.command("methods")
@click.option("--task", type=TaskType(), help="Only those of this task (default: both).")
@json_option
def list_methods(task: Any, as_json: Any) -> None:
    """List the calibrators for --method, and the metrics, for predictions of classes and forecasts
    of a number.

    \b
    Examples:
      calibrant methods
      calibrant methods --task regression --json
    """
    from calibrant.cli.methods import all_named

    found = {
        one.name: {"calibrators": _calibrators(makers), "metrics": _metrics(one)}
        for one, makers in all_named().items()
        if task in (None, one.name)
    }
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    out = console()
    for name, kinds in found.items():
        for kind, rows in kinds.items():
            out.print(_table(f"{name}: {kind}", rows))


def _calibrators(makers):
    from calibrant.comparison.given import shown_name

    made = {name: make() for name, make in makers.items()}
    return [
        {
            "name": name,
            "is": shown_name(one),
            "facts": ", ".join(words for fact, words in FACTS.items() if getattr(one.tags, fact)),
        }
        for name, one in made.items()
    ]


def _metrics(domain):
    from calibrant import metrics
    from calibrant.contracts.metric import Metric

    found = ((name, getattr(metrics, name)) for name in metrics.__all__)
    return [
        {"name": name, "is": metric.name, "facts": ", ".join(_facts(metric))}
        for name, metric in found
        if isinstance(metric, Metric) and metric.domain is domain
    ]


def _facts(metric):
    yield {
        "minimize": "lower is better",
        "maximize": "higher is better",
        "none": "no better or worse",
    }[metric.direction]
    if metric.proper:
        yield "proper"
    if metric.mergeable:
        yield "adds up"


def _table(title, rows):
    table = Table(title=title, title_justify="left")
    for column in ("name", "is", "facts"):
        table.add_column(column, no_wrap=column == "name")
    for row in rows:
        table.add_row(*row.values())
    return table
