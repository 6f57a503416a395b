"""Results in short: a badge, a sentence, what to do and a few numbers, as text for a terminal and
as HTML for a notebook; and the references of a method, read from its docstring.
"""

import html
import inspect
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.core.exports import __version__
from calibrant.core.text_table import MOST_SHOWN, text_table, wrapped

__all__ = [
    "MOST_COLUMNS",
    "MOST_LINES",
    "PAPERS",
    "PAPER_NAMES",
    "PROMISED",
    "Card",
    "Citations",
    "Shown",
    "Tile",
    "cite",
    "plain_line",
    "works_of",
]


# -- Cards -----------------------------------------------------------------------------------------

#: Largest size of what ``repr`` returns.
MOST_LINES, MOST_COLUMNS = 15, 100
#: Longest entry of a table or a tile.
LONGEST = 44
#: Least width of names that are cut to make a table fit.
FEWEST = 12
#: Colours of badges: white text on them is legible, and they are so on a light and a dark page.
BADGES = {"good": "#1a6b3c", "act": "#1b5e92", "bad": "#a3330b", "unknown": "#566070"}
#: How each kind of guarantee is called in short.
PROMISED = {
    "marginal": "Guaranteed on average",
    "pac": "Certified",
    "long run": "Guaranteed in the long run",
    "asymptotic": "Guaranteed in the limit",
}
#: Everything else takes the text colour of the notebook's theme, whatever that is. Curves have
#: colours that are seen on white and on black.
STYLE = """
.calibrant-card{font:14px/1.45 system-ui,sans-serif;max-width:62rem;border:1px solid #8887;\
border-radius:8px;padding:.8rem 1rem;margin:.3rem 0;display:flex;flex-wrap:wrap;gap:.5rem 1.5rem}
.calibrant-card>div{flex:1 1 22rem;min-width:0;overflow-wrap:anywhere}
.calibrant-card>.picture{flex:0 1 20rem}
.calibrant-card p{margin:.25rem 0;white-space:pre-line}
.calibrant-card .facts,.calibrant-card small{opacity:.75;font-size:.85em;font-weight:400}
.calibrant-card .badge{display:inline-block;color:#fff;border-radius:6px;padding:.1rem .6rem;\
font-weight:700}
.calibrant-card .sentence{font-size:1.1em}
.calibrant-card .action{font-weight:600}
.calibrant-card dl{display:flex;flex-wrap:wrap;gap:.4rem;margin:.5rem 0 0}
.calibrant-card dl div{border:1px solid #8887;border-radius:6px;padding:.25rem .6rem}
.calibrant-card dt{opacity:.75;font-size:.85em;font-weight:400}
.calibrant-card dd{margin:0;font-weight:600}
.calibrant-card table{border-collapse:collapse;margin:.4rem 0 0;font-size:.92em}
.calibrant-card :is(th,td){text-align:left;padding:.15rem .8rem .15rem 0;\
border-bottom:1px solid #8884;background:none}
.calibrant-card svg{width:100%;height:auto;display:block}
.calibrant-card svg :is(text,[fill="#1f2933"],[fill="#6b7280"]){fill:currentColor}
.calibrant-card svg [fill="#ffffff"]{fill:#8884}
.calibrant-card svg [stroke="#1f2933"]{stroke:currentColor}
.calibrant-card svg :is([stroke="#6b7280"],[stroke="#dfe3e8"]){stroke:#8889}
.calibrant-card svg [fill="#1b6ca8"]{fill:#2b86c9}
.calibrant-card svg [stroke="#1b6ca8"]{stroke:#2b86c9}
.calibrant-card svg [fill="#c2410c"]{fill:#d9622b}
.calibrant-card svg [stroke="#c2410c"]{stroke:#d9622b}
"""


@dataclass(frozen=True)
class Tile:
    """Number of the first band, with its label and a note."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Card:
    """Result in short, of plain texts; all parts but the sentence are optional.

    Attributes
    ----------
    sentence, title, badge, action, where : str
        ``where`` says where the rest of the result is.
    tone : {"good", "act", "bad", "unknown"}, which gives the colour of the badge
    facts : what the result is about
    tiles : list of Tile
    head, rows : a table, of which the first rows are shown
    picture : markup of our own for notebooks, one ``<svg>`` element with its legend

    Examples
    --------
    >>> print(Card("2 of 9 groups are off.", "Audit", "off", tiles=[Tile("Rows", "900")]).text())
    Audit: off
    2 of 9 groups are off.
      Rows  900
    """

    sentence: str
    title: str = ""
    badge: str = ""
    tone: str = "unknown"
    action: str = ""
    facts: Sequence[str] = ()
    tiles: Sequence[Tile] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    where: str = ""
    picture: str = ""

    def text(self) -> str:
        """Return at most 15 lines of at most 100 characters; a table has no badge above it."""
        lines, last = wrapped(self.sentence, MOST_COLUMNS, most=4), []
        if self.where:
            last = wrapped(self.where, MOST_COLUMNS, most=3)
        if self.rows:
            lines += _table_lines(self.head, self.rows, MOST_LINES - len(lines) - len(last))
        else:
            top = ": ".join(filter(None, (_short(self.title, 60), self.badge)))
            lines = wrapped(top, MOST_COLUMNS, most=1) + lines
            lines += wrapped(f"→ {self.action}", MOST_COLUMNS, "  ", 2) if self.action else []
        if self.tiles:
            lines += _aligned([(f"  {one.label}", one.value, one.note) for one in self.tiles])
        return "\n".join(plain_line(line)[:MOST_COLUMNS] for line in [*lines, *last])

    def html(self) -> str:
        """Return one ``<div>`` with a style of its own, without a script; all texts are escaped."""
        back = f' style="background:{BADGES[self.tone]}"'
        parts = [
            _tag("p", _tag("strong", _text(self.title))) if self.title else "",
            f'<p><span class="badge"{back}>{_text(self.badge)}</span></p>' if self.badge else "",
            _tag("p", _text(self.sentence), "sentence"),
            _tag("p", f"→ {_text(self.action)}", "action") if self.action else "",
            _tag("dl", "".join(map(_tile, self.tiles))) if self.tiles else "",
            self._table(),
            _tag("p", _text(" · ".join(self.facts)), "facts") if self.facts else "",
            _tag("p", _text(self.where), "facts") if self.where else "",
        ]
        picture = _tag("div", self.picture, "picture") if self.picture else ""
        return _tag(
            "div", f"<style>{STYLE}</style><div>{''.join(parts)}</div>{picture}", "calibrant-card"
        )

    def _table(self) -> str:
        if not self.rows:
            return ""
        head = "".join(_tag("th", _text(name)) for name in self.head)
        shown = self.rows[:MOST_SHOWN]
        body = (_tag("tr", "".join(_tag("td", _text(_short(v))) for v in row)) for row in shown)
        left = len(self.rows) - len(shown)
        note = _tag("p", f"{len(shown)} of {len(self.rows):,} shown", "facts") if left else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{note}"


class Shown:
    """Mixin of results that are shown by their card."""

    def _card(self) -> Card:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def plain_line(text: str) -> str:
    """Return the text with codes for characters that a terminal would act on.

    Examples
    --------
    >>> plain_line("a\\x1b[31mred")
    'a\\\\x1b[31mred'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[str]:
    """Return a table of as many rows as fit in so many lines; entries of one that is too wide
    continue below, so that no number is cut.
    """
    cells, lines = _fitting(head, rows), list[str]()
    for most in range(min(MOST_SHOWN, len(rows)), 0, -1):
        lines = text_table(head, cells, most, width=MOST_COLUMNS)
        if len(lines) <= room:
            break
    return lines


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows, with the names of the first column cut where that makes the table fit."""
    cells = [["\xa0".join(map(plain_line, _short(v).split("\xa0"))) for v in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    first = MOST_COLUMNS - sum(widths[1:]) - 2 * (len(widths) - 1)
    return [[_short(name, first), *rest] for name, *rest in cells] if first >= FEWEST else cells


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    whole = max(map(len, lines)) <= MOST_COLUMNS
    return lines if whole or len(widths) == 2 else _aligned([row[:2] for row in rows])


def _short(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(value: Any) -> str:
    return html.escape(str(value))


def _tag(name: str, content: str, kind: str = "") -> str:
    own = f' class="{kind}"' if kind else ""
    return f"<{name}{own}>{content}</{name}>"


def _tile(one: Tile) -> str:
    note = f" {_tag('small', _text(one.note))}" if one.note else ""
    return _tag("div", _tag("dt", _text(one.label)) + _tag("dd", _text(one.value) + note))


# -- References ------------------------------------------------------------------------------------

#: The section of a numpydoc docstring, up to the next heading.
SECTION = re.compile(r"^References\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL)
#: A work: authors, "title" and what follows, up to the next sentence or semicolon.
NAME = r"[^\W\d_a-z][\w'-]*"
WORK = re.compile(
    rf'({NAME}(?:(?:, | and | ){NAME})*(?: et al\.)?), "([^"]+)"((?:, [^;"]*?(?=;|\. |\.$|$))?)'
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: What the papers of the five systems print of themselves, by the title in small letters.
PAPERS = {
    "uncertainty estimation based on geometric separation": {
        "author": "Gabriella Chouraqui and Liron Cohen and Gil Einziger and Liel Leman",
        "title": "Uncertainty Estimation based on Geometric Separation",
        "year": "2023",
    },
    "classification confidence in exploratory learning: a user's guide": {
        "author": "Peter Salamon and David Salamon and V. Adrian Cantu and Michelle An and "
        "Tyler Perry and Robert A. Edwards and Anca M. Segall",
        "title": "Classification Confidence in Exploratory Learning: A User's Guide",
        "journal": "Machine Learning and Knowledge Extraction",
        "volume": "5",
        "number": "3",
        "pages": "803--829",
        "year": "2023",
        "doi": "10.3390/make5030043",
    },
    "non-parametric calibration for classification": {
        "author": r"Jonathan Wenger and Hedvig Kjellstr{\"o}m and Rudolph Triebel",
        "title": "Non-Parametric Calibration for Classification",
        "booktitle": "International Conference on Artificial Intelligence and Statistics",
        "year": "2020",
    },
    "evaluating and calibrating uncertainty prediction in regression tasks": {
        "author": "Dan Levi and Liran Gispan and Niv Giladi and Ethan Fetaya",
        "title": "Evaluating and Calibrating Uncertainty Prediction in Regression Tasks",
        "year": "2019",
    },
    "confidence calibration using logits transformations": {
        "author": "Sooyong Jang and Radoslav Ivanov and Insup Lee and James Weimer",
        "title": "Confidence Calibration Using Logits Transformations",
        "year": "2021",
    },
}
#: Short names of the five, in the same order.
PAPER_NAMES = ("geometric", "exploratory", "gp", "regression", "hoki")
#: This library, as CITATION.cff has it.
LIBRARY = {
    "author": "{The calibrant developers}",
    "title": "calibrant: know when to trust a prediction",
    "year": "2026",
    "note": f"Version {__version__}, licence Apache-2.0",
}


@dataclass(frozen=True)
class Citations:
    """References of a method and of this library; ``str`` prints them as a list.

    Attributes
    ----------
    references : tuple of str
        A line for each work, this library last.
    bibtex : str
        The same as BibTeX entries, in that order.
    """

    references: tuple[str, ...]
    bibtex: str

    def __str__(self) -> str:
        return "\n".join(self.references)


def cite(method: Any) -> Citations:
    """Return the references of a calibrator, map, signal, rule or metric, and of this library.

    A wrapper or an automatic choice also cites what it holds: once fitted, the parts that it
    fitted; before that, the parts that it was made of. What is read are the References sections
    of the docstrings, so that the documentation and a citation cannot differ.

    Parameters
    ----------
    method : object or class
        Anything of calibrant, fitted or not. What has no reference yields this library alone.

    Returns
    -------
    Citations

    See Also
    --------
    report : how well a calibrator does, on one page.

    Examples
    --------
    >>> import calibrant as cb
    >>> print(cb.cite(cb.TemperatureScaling()))
    Guo et al., "On calibration of modern neural networks", ICML 2017
    The calibrant developers, "calibrant: know when to trust a prediction", version 0.1.0, 2026
    >>> print(cb.cite(cb.TemperatureScaling()).bibtex.split("\\n\\n")[0])
    @misc{guo2017calibration,
      author = {Guo and others},
      title = {On calibration of modern neural networks},
      howpublished = {ICML 2017},
      year = {2017},
    }
    """
    works = {work["title"].lower(): work for part in _parts(method) for work in works_of(part)}
    library = f'The calibrant developers, "{LIBRARY["title"]}", version {__version__}, 2026'
    entries = [_entry(title, work) for title, work in works.items()]
    lines = [work["line"] for work in works.values()]
    return Citations((*lines, library), "\n\n".join([*entries, _bibtex("calibrant", LIBRARY)]))


def works_of(method: Any) -> list[dict[str, str]]:
    """Return the works in the References section of a class, or of the nearest one it extends.

    Examples
    --------
    >>> from calibrant import calibrators
    >>> [work["authors"] for work in works_of(calibrators.Platt)]
    ['Platt', 'Lin, Lin and Weng']
    """
    documented = inspect.getmro(method) if inspect.isclass(method) else (method,)
    for value in documented:
        section = SECTION.search(inspect.cleandoc(value.__doc__ or ""))
        if section is not None:
            text = " ".join(section[1].split())
            return [_work(*found.groups()) for found in WORK.finditer(text)]
    return []


def _work(authors: str, title: str, after: str) -> dict[str, str]:
    year = YEAR.search(after)
    line = f'{authors}, "{title}"{after.rstrip(" .")}'
    end = year.end() if year else len(after)
    venue = after[:end].strip(" ,")
    return {
        "authors": authors,
        "title": title,
        "venue": "" if year and venue == year[0] else venue,
        "year": year[0] if year else "",
        "place": after[end:].strip(" ,."),
        "line": line,
    }


def _parts(method: Any) -> Iterator[Any]:
    """Yield the classes of a method and of what it holds, outermost first."""
    seen: set[int] = set()
    waiting = deque([method])
    while waiting:
        value = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        named = value if inspect.isclass(value) or inspect.isroutine(value) else type(value)
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        elif (named.__module__ or "").startswith("calibrant."):
            yield named
            if named is not value:
                held = {k: v for k, v in getattr(value, "__dict__", {}).items() if k[0] != "_"}
                fitted = [v for k, v in held.items() if k.endswith("_")]
                waiting.extend(fitted or held.values())


def _entry(title: str, work: Mapping[str, str]) -> str:
    if title in PAPERS:
        facts = PAPERS[title]
    else:
        facts = {
            "author": work["authors"].replace(" et al.", " and others").replace(", ", " and "),
            "title": work["title"],
            "howpublished": work["venue"],
            "year": work["year"],
        }
    first = re.sub(r"\W", "", re.split(r", | and | et al", work["authors"])[0]).lower()
    word = re.findall(r"\w{4,}|$", work["title"])[0].lower()
    return _bibtex(f"{first}{facts['year']}{word}", facts)


def _bibtex(key: str, facts: Mapping[str, str]) -> str:
    kinds = {"journal": "article", "booktitle": "inproceedings"}
    kind = next((kinds[k] for k in kinds if k in facts), "misc")
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in facts.items() if value)
    return f"@{kind}{{{key},\n{fields}}}"
