"""``calibrant methods``: list the calibrators by question or by paper, the metrics, and all that is
public of one of the five papers.
"""

import json
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import click

from calibrant.cli import tables
from calibrant.cli.options import TaskType, json_option
from calibrant.cli.wording import say
from calibrant.core.domain import DOMAINS
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError

__all__ = ["list_methods"]

Row = dict[str, Any]

FACTS = {
    "keeps_argmax": "keeps the label",
    "random": "random",
    "binary_only": "two classes only",
    "uses_groups": "needs --groups",
    "for_features_or_groups": "needs --groups",
    "uses_features": "needs --reference",
}
#: Question -> (heading, note below its list).
QUESTIONS = {
    "event": ("How likely is the event? One column of risks, or each class alone.", ""),
    "classes": ("How likely is each class? A column of probabilities for each.", ""),
    "answer": (
        "How likely is the model's own answer right?",
        "Or a map of the first list: --target answer, or NAME-by-class per class.",
    ),
    REGRESSION.name: ("How large is the error of a forecast?", ""),
}
#: What is listed of a paper.
WORK = ("authors", "title", "year")
#: Marks of reStructuredText in a docstring's first sentence.
MARKUP = re.compile(r"\\ |:\w+:|`")
#: Output in the tags of a calibrator of classes -> question.
ANSWERS = {"probability": "classes", "confidence": "answer"}


@click.command("methods")
@click.option("--task", type=TaskType(), help="Only those of this task (default: all).")
@click.option("--all", "whole", is_flag=True, help="All methods, by family; else the usual ones.")
@click.option(
    "--paper",
    metavar="[NAME]",
    is_flag=False,
    flag_value="all",
    help="By paper; with NAME, all of one: geometric, exploratory, gp, regression, hoki.",
)
@click.option("--metrics", is_flag=True, help="List the metrics instead.")
@json_option
def list_methods(task: Any, whole: bool, paper: str | None, metrics: bool, as_json: bool) -> None:
    """List the calibrators for --method, by the question that they answer.

    \b
    Examples:
      calibrant methods
      calibrant methods --all --task regression
      calibrant methods --paper
      calibrant methods --paper hoki
      calibrant methods --metrics
    """
    from calibrant.cli.methods import all_named

    if paper not in (None, "all"):
        _one_paper(paper, as_json)
        return
    found = {
        one.name: {"calibrators": _calibrators(one, makers), "metrics": _metrics(one)}
        for one, makers in all_named().items()
        if task in (None, one.name)
    }
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    rows = [row for kinds in found.values() for row in kinds["calibrators"]]
    if metrics:
        for name, kinds in found.items():
            _print(f"{name}: metrics", kinds["metrics"])
    elif paper is not None:
        _by_paper(rows, whole)
    else:
        _by_question(rows, whole)


def _calibrators(domain: Any, makers: dict[str, Any]) -> list[Row]:
    """Return the facts of the calibrators of a domain, the default first, then by family."""
    from calibrant.calibrators.multiclass import OneVsRest
    from calibrant.core.cards import works_of
    from calibrant.reporting.calibrate import RESOLVE, resolve, shown_name

    default = type(resolve(None, domain)) if domain in RESOLVE else OneVsRest
    rows = []
    for name, make in makers.items():
        made = make()
        of_map = isinstance(made, OneVsRest)
        part = made.map if of_map else made
        facts = [words for fact, words in FACTS.items() if getattr(made.tags, fact)]
        answers = ANSWERS if domain is CLASSIFICATION else {}
        question = "event" if of_map else answers.get(made.tags.output, domain.name)
        row: Row = {
            "name": name,
            "is": shown_name(made),
            "facts": ", ".join(facts),
            "question": question,
            "family": part.family,
            "use": part.use or shown_name(made),
            "default": not of_map and isinstance(made, default),
            "common": part.common,
            "papers": [{key: work[key] for key in WORK} for work in works_of(type(part))],
        }
        rows.append(row)
    return sorted(rows, key=lambda row: (not row["default"], row["family"], not row["common"]))


def _metrics(domain: Any) -> list[Row]:
    from calibrant import metrics
    from calibrant.core.metric_kinds import Metric

    found = ((name, getattr(metrics, name)) for name in metrics.__all__)
    return [
        {"name": name, "is": metric.name, "facts": ", ".join(_facts(metric))}
        for name, metric in found
        if isinstance(metric, Metric) and metric.domain is domain
    ]


def _facts(metric: Any) -> Iterator[str]:
    yield {
        "minimize": "lower is better",
        "maximize": "higher is better",
        "none": "no better or worse",
    }[metric.direction]
    if metric.proper:
        yield "proper"
    if metric.mergeable:
        yield "adds up"


def _by_question(rows: list[Row], whole: bool) -> None:
    """Print a list for each question: the usual methods, or all by family."""
    for question in dict.fromkeys([*QUESTIONS, *(row["question"] for row in rows)]):
        title, note = QUESTIONS.get(question, ("", ""))
        title = title or f"How sure are {DOMAINS[question].predictions}?"
        # The default for classes is also that for an event.
        asked = (question, "classes" if question == "event" else question)
        found = [row for row in rows if row["question"] == question or _is_default(row, asked)]
        shown = found if whole else [row for row in found if _is_usual(row)] or found
        if len(shown) < len(found):
            note = f"{len(found) - len(shown)} more: --all. {note}".rstrip()
        _print(title, shown, note, by_family=whole)


def _is_default(row: Row, questions: tuple[str, ...]) -> bool:
    return row["default"] and row["question"] in questions


def _is_usual(row: Row) -> bool:
    # Whoever installed an extension wants to see its methods.
    return row["common"] or ":" in row["name"]


def _by_paper(rows: list[Row], whole: bool) -> None:
    """Print the methods of each paper, those of the five reproduced papers first."""
    from calibrant.core.cards import PAPERS

    known = {work["title"].lower(): work for row in rows for work in row["papers"]}
    first = [title for title in PAPERS if title in known]
    others = sorted(known.keys() - PAPERS.keys())
    for title in [*first, *(others if whole else [])]:
        work = known[title]
        year = PAPERS.get(title, work)["year"]
        head = ", ".join(filter(None, (work["authors"], f'"{work["title"]}"', year)))
        _print(head, [row for row in rows if title in [w["title"].lower() for w in row["papers"]]])
    if others and not whole:
        say(f"{len(others)} other papers: --all")


def _one_paper(name: str, as_json: bool) -> None:
    """Print the methods, metrics and displays whose references name one of the five papers."""
    from calibrant import calibrators, displays, metrics, regression
    from calibrant.core.cards import PAPER_NAMES, PAPERS

    if name not in PAPER_NAMES:
        raise InputError(f"--paper must be one of {', '.join(PAPER_NAMES)}; got {name!r}.")
    title, facts = list(PAPERS.items())[PAPER_NAMES.index(name)]
    listed = {
        "methods": _named_after(title, calibrators),
        "methods for error bars": _named_after(title, regression),
        "metrics and curves": _named_after(title, metrics),
        "displays": _named_after(title, displays),
    }
    if as_json:
        click.echo(json.dumps(listed, indent=1))
        return
    say(f'"{facts["title"]}", {facts["year"]}')
    for kind, rows in listed.items():
        _print(kind, rows)


def _named_after(title: str, room: ModuleType) -> list[Row]:
    """Return the public calls of a module whose references have that title, with their places."""
    from calibrant.core.cards import works_of

    return [
        {
            "name": f"{room.__name__.rpartition('.')[2]}.{name}",
            "is": getattr(value, "use", "") or _first_sentence(value),
            "facts": work["place"],
        }
        for name in room.__all__
        for value in [getattr(room, name)]
        for work in works_of(value)
        if work["title"].lower() == title
    ]


def _first_sentence(value: Any) -> str:
    text = " ".join((value.__doc__ or "").split("\n\n")[0].split())
    return MARKUP.sub("", text).rstrip(".")


def _print(title: str, rows: list[Row], note: str = "", by_family: bool = False) -> None:
    """Print a heading, a line for each method, and a note; nothing without methods."""
    if not rows:
        return
    width, column = tables.width(), 6 + max(len(row["name"]) for row in rows)
    lines, family = textwrap.wrap(title, width, subsequent_indent="  "), ""
    for row in rows:
        if by_family and row["family"] != family:
            family = row["family"]
            lines.append(f"  {family}")
        start = f"    {row['name']}".ljust(column)
        indent = " " * column
        lines += textwrap.wrap(_words(row), width, initial_indent=start, subsequent_indent=indent)
    say("\n".join([*lines, *([f"    {note}"] if note else []), ""]))


def _words(row: Row) -> str:
    """Return what a row is or does, and what it needs beside predictions and labels."""
    if "use" not in row:
        return f"{row['is']} ({row['facts']})"
    needs = [fact[6:] for fact in row["facts"].split(", ") if fact.startswith("needs ")]
    return ("Default. " if row["default"] else "") + row["use"] + "".join(f" [{n}]" for n in needs)
