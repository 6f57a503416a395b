"""Method cards: what, when and when not, what it needs, keeps and costs, the evidence: as methods
declare it and the arena measured.

``.. calibrant-card:: NAME`` is one card, at the head of its page of the reference.
``.. calibrant-cards:: FOLDER [FOLDER ...]`` is one table of many.
``.. calibrant-which:: QUESTION`` is a table of the usual methods for a question, and a folded one
of all others, as ``calibrant methods`` lists them.
"""

import inspect
import re
from typing import ClassVar

from arena_rows import evidence
from calibrant_docs import exported, has_card, heading, page_name, subject, summary, tags_of
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import calibrant as cb

__all__ = ["Card", "Cards", "Which", "card", "of_question", "setup"]

#: The columns of an arena that a card repeats; what a page lacks is left out.
SCORES = ("win rate, log loss", "win rate, NLL", "win rate, CRPS", "win rate, interval score")
WORSE = ("worse, log loss", "worse, CRPS")


def notes(value):
    """The first paragraph of the Notes, where the docstrings say when to use a method and when
    not.
    """
    found = re.search(
        r"^Notes\n-+\n(.*?)(?:\n\n|\Z)",
        inspect.cleandoc(subject(value).__doc__),
        flags=re.MULTILINE | re.DOTALL,
    )
    return found[1].replace("\n", " ") if found else ""


def needs(value):
    """What it takes besides predictions and labels, in words."""
    tags = tags_of(value)
    said = [
        (getattr(tags, "uses_groups", False), "``groups=``"),
        (getattr(tags, "may_use_groups", False), "``groups=`` if you have them"),
        (getattr(tags, "uses_features", False), "features, ``X=``"),
        (getattr(tags, "needs_reference", False), "the training set, ``reference=``"),
        (getattr(tags, "binary_only", False), "two classes"),
        (getattr(tags, "domain", "") == "unit", "scores in [0, 1]"),
        (getattr(tags, "random", False), "``random_state``: it draws"),
    ]
    return "; ".join(words for holds, words in said if holds)


def keeps(value):
    """What it promises, in words."""
    tags = tags_of(value)
    said = [
        (getattr(tags, "keeps_argmax", False), "the predicted label"),
        (getattr(tags, "monotone", False), "the order of the scores"),
        ("guarantee_" in (value.__doc__ or ""), "a promise that it states: ``guarantee_``"),
    ]
    return "; ".join(words for holds, words in said if holds)


def measured(value):
    """(cost, evidence) from the arena's pages; ("", "") for what does not compete there."""
    cost, lines = [], []
    for table, row in evidence(value.__name__):
        if row.get("fit, ms"):
            cost.append(f"{row['fit, ms']} ms ({table.section.split(' (')[0].lower()})")
        scores = [f"{c.removeprefix('win rate, ')} {row[c]}" for c in SCORES if row.get(c)]
        if not scores:
            continue
        worse = [row[c] for c in WORSE if row.get(c)]
        lines.append(
            f"{table.section.split(' (')[0]}, {row['runs']} runs: win rate in {', '.join(scores)}"
            + (f"; worse than doing nothing in {worse[0]}" if worse else "")
            + f" (:doc:`/{table.page}`)."
        )
    return "; ".join(cost), " ".join(lines)


def card(value):
    """Heading -> text; what is empty is left out."""
    cost, found = measured(value)
    facts = {
        "What": summary(value),
        "When, and when not": notes(value),
        "Needs": needs(value),
        "Keeps": keeps(value),
        "Cost of a fit": f"{cost}, median CPU time in the arena" if cost else "",
        "Evidence": found,
    }
    return {name: text for name, text in facts.items() if text}


class Card(SphinxDirective):
    """One card as a table of two columns."""

    required_arguments = 1

    def run(self):
        value = next(value for _, name, value in exported() if name == self.arguments[0])
        lines = [
            ".. list-table::",
            "   :class: card",
            "   :widths: 20 80",
            "   :stub-columns: 1",
            "",
        ]
        for name, text in card(value).items():
            lines += [f"   * - {name}", f"     - {text}"]
        return self.parse_text_to_nodes("\n".join(lines))


class Cards(SphinxDirective):
    """Many cards, a row each, with what can be sorted and filtered: ``:forecasts:`` for those of
    error bars, without it all others.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"forecasts": directives.flag}

    def run(self):
        lines = [".. list-table::", "   :header-rows: 1", "   :class: sortable methods", ""]
        head = ("method", "what it does", "needs", "keeps", "win rate", "worse", "fit, ms")
        rows = [head, *(self._row(*item) for item in exported() if self._belongs(item[2]))]
        lines += [
            f"   {'*' if i == 0 else ' '} - {cell}".rstrip()
            for row in rows
            for i, cell in enumerate(row)
        ]
        return self.parse_text_to_nodes("\n".join(lines))

    def _belongs(self, value):
        forecasts = has_card(value) and issubclass(value, cb.core.RegressionCalibrator)
        return (
            has_card(value)
            and heading(value) in self.arguments[0].split("; ")
            and forecasts == ("forecasts" in self.options)
        )

    def _row(self, path, name, value):
        found = [row for _, row in evidence(name)]
        row = next((row for row in found if any(row.get(c) for c in SCORES)), {})
        first = [next((row[c] for c in columns if row.get(c)), "") for columns in (SCORES, WORSE)]
        first.append(next((row["fit, ms"] for row in found if row.get("fit, ms")), ""))
        return (
            f":doc:`{name} </reference/generated/{page_name(path, name)}>`",
            summary(value),
            needs(value),
            keeps(value),
            *first,
        )


#: Output in the tags of a calibrator -> its question; maps answer that of an event.
QUESTIONS = {"probability": "classes", "confidence": "answer", "distribution": "regression"}


def of_question(question):
    """(public path, name, class) of the methods of a question: event, classes, answer or
    regression; the usual ones first, then by family.
    """
    found = []
    for path, name, value in exported():
        listed = has_card(value) and getattr(value, "use", "")
        of_map = listed and issubclass(value, cb.core.Map)
        if listed and (QUESTIONS[tags_of(value).output] if not of_map else "event") == question:
            found.append((path, name, value))
    return sorted(found, key=lambda one: (not one[2].common, one[2].family, one[1]))


class Which(SphinxDirective):
    """The usual methods of a question, with their evidence; the others are folded below."""

    required_arguments = 1

    def run(self):
        found = of_question(self.arguments[0])
        usual, others = ([one for one in found if one[2].common == c] for c in (True, False))
        if not others:
            return self._table(usual)
        return [
            *self._table(usual),
            nodes.raw("", f"<details><summary>{len(others)} more</summary>", format="html"),
            *self._table(others),
            nodes.raw("", "</details>", format="html"),
        ]

    def _table(self, found):
        lines = [".. list-table::", "   :header-rows: 1", "   :class: sortable", ""]
        rows = [("method", "family", "what, and when", "needs", "win rate", "worse")]
        for path, name, value in found:
            scores = [row for _, row in evidence(name)]
            cells = [
                next((row[c] for row in scores for c in columns if row.get(c)), "")
                for columns in (SCORES, WORSE)
            ]
            link = f":doc:`{name} </reference/generated/{page_name(path, name)}>`"
            rows.append((link, value.family, value.use, needs(value), *cells))
        lines += [
            f"   {'*' if i == 0 else ' '} - {text}".rstrip()
            for row in rows
            for i, text in enumerate(row)
        ]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    """Register the directives."""
    app.add_directive("calibrant-which", Which)
    app.add_directive("calibrant-card", Card)
    app.add_directive("calibrant-cards", Cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
