"""The arena's tables, read from its pages, so that no other page repeats a number by hand.

``.. calibrant-arena:: PAGE SECTION`` shows some columns of the rows of one table, the best first.
``:arena:`PAGE; SECTION; METHOD; COLUMN``` is one cell, as a link to the page.
"""

import re
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

__all__ = ["ArenaCell", "ArenaRows", "Table", "cell", "evidence", "setup", "tables"]

DOCS = Path(__file__).parent.parent
PAGES = ("arena", "regression_arena")


class Table(NamedTuple):
    """One table of a page: where it stands, its columns, and its rows as dictionaries; ours are
    in bold there.
    """

    page: str
    section: str
    columns: list[str]
    rows: list[dict[str, str]]


@cache
def tables(page):
    """The tables of a page with the class ``arena`` and a column ``method``."""
    lines, found, section = (DOCS / f"{page}.rst").read_text(encoding="utf-8").splitlines(), [], ""
    for i, line in enumerate(lines):
        if i and line and set(line) <= set("-=~") and len(line) >= len(lines[i - 1]) > 3:
            section = lines[i - 1]
        if line.strip() == ":class: arena":
            found.append(Table(page, section, *_cells(lines[i + 1 :])))
    return [table for table in found if table.columns[0] == "method"]


def _cells(lines):
    rows = []
    for line in lines:
        cell = re.fullmatch(r"   ([* ]) -(?: (.*))?", line)
        if cell is None and line.strip():
            break
        if cell and cell[1] == "*":
            rows.append([])
        if cell:
            rows[-1].append((cell[2] or "").strip())
    columns = rows[0]
    return columns, [dict(zip(columns, row, strict=True)) for row in rows[1:]]


def name_of(row):
    """A method's name, without the marks of ours."""
    return row["method"].strip("*")


def evidence(name):
    """(table, row) of every appearance of ours: itself, or as a map one against the rest."""
    names = {f"**{name}**", f"**OneVsRest({name})**"}
    return [
        (table, row)
        for page in PAGES
        for table in tables(page)
        for row in table.rows
        if row["method"] in names
    ]


class ArenaRows(SphinxDirective):
    """``:columns:`` are separated by semicolons, the first decides the order; ``:ours:`` leaves
    the peers out.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {
        "columns": directives.unchanged_required,
        "rows": directives.positive_int,
        "ours": directives.flag,
    }

    def run(self):
        page, section = self.arguments[0].split(maxsplit=1)
        self.env.note_dependency(str(DOCS / f"{page}.rst"))
        columns = [c.strip() for c in self.options["columns"].split(";")]
        table = next(
            (
                t
                for t in tables(page)
                if t.section.startswith(section) and set(columns) <= set(t.columns)
            ),
            None,
        )
        if table is None:
            raise self.error(
                f"no table of {page}, under {section}, has the columns {', '.join(columns)}; see"
                " what the page has now"
            )
        rows = [
            row
            for row in table.rows
            if row[columns[0]] and (row["method"].startswith("**") or "ours" not in self.options)
        ]
        rows = sorted(rows, key=lambda row: -float(row[columns[0]]))[: self.options.get("rows", 8)]
        lines = [
            f"{table.section}, from :doc:`/{page}`; ours in bold:",
            "",
            ".. list-table::",
            "   :header-rows: 1",
            "",
        ]
        lines += [f"   {'*' if i == 0 else ' '} - {c}" for i, c in enumerate(["method", *columns])]
        for row in rows:
            lines += [
                f"   {'*' if i == 0 else ' '} - {row[c]}".rstrip()
                for i, c in enumerate(["method", *columns])
            ]
        return self.parse_text_to_nodes("\n".join(lines))


def cell(page, section, method, column):
    """The text of one cell: of the row of our METHOD, in the first table under a heading that
    starts with SECTION and has the COLUMN.
    """
    return next(
        row[column]
        for table in tables(page)
        if table.section.startswith(section) and column in table.columns
        for row in table.rows
        if name_of(row) == method and row["method"].startswith("**")
    )


class ArenaCell(SphinxRole):
    """One number of an arena, which leads to its page."""

    def run(self):
        page, *place = (part.strip() for part in self.text.split(";"))
        self.env.note_dependency(str(DOCS / f"{page}.rst"))
        try:
            number = cell(page, *place)
        except StopIteration:
            raise ValueError(f"the arena has no cell {self.text}") from None
        link = addnodes.pending_xref(
            "",
            nodes.inline("", number),
            refdomain="std",
            reftype="doc",
            reftarget=f"/{page}",
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        return [link], []


def setup(app):
    """Register the directive and the role."""
    app.add_directive("calibrant-arena", ArenaRows)
    app.add_role("arena", ArenaCell())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
