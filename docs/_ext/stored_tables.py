"""Tables of benchmarks, read from where the runs' results are stored, so that no page repeats a
number by hand.

``.. calibrant-stored:: PAPER/TABLE`` shows one table of a paper, and ``scale/TABLE`` one of
``benchmarks/scale/costs.py``; ``:columns:`` names some, separated by semicolons, and ``:rows:``
keeps the rows whose first cell matches a regular expression. The role
``:calibrant-cell:`PAPER/TABLE; ROW; COLUMN``` shows one cell in the text.
"""

import re
from typing import ClassVar

from benchmarks.papers.stored import cell, read
from benchmarks.scale.costs import table as scale_table
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

__all__ = ["StoredCell", "StoredTable", "chosen", "setup"]


def chosen(table, columns="", rows=""):
    """The rows of a stored table, the heading first: all columns, or those named."""
    paper, name = table.split("/")
    heading, *body = scale_table(name) if paper == "scale" else read(paper, name)
    named = [name.strip() for name in columns.split(";")] if columns else heading
    kept = [heading.index(name) for name in named]
    body = [row for row in body if re.search(rows, row[0])]
    return [[row[k] for k in kept] for row in (heading, *body)]


def _cell(text):
    return re.sub(r"`+", "``", text)


class StoredTable(SphinxDirective):
    """One table; a table of many columns is set in a box that scrolls."""

    required_arguments = 1
    option_spec: ClassVar = {"columns": directives.unchanged, "rows": directives.unchanged}

    def run(self):
        heading, *body = chosen(self.arguments[0], **self.options)
        # A screen reader says a heading with each cell, so that none is left empty.
        heading = [word.strip() or ("result" if k else "method") for k, word in enumerate(heading)]
        lines = [".. list-table::", "   :header-rows: 1", "   :class: stored", ""]
        for row in (heading, *body):
            lines += [
                f"   {' ' if k else '*'} - {_cell(cell)}".rstrip() for k, cell in enumerate(row)
            ]
        made = self.parse_text_to_nodes("\n".join(lines))
        for entry in (entry for node in made for entry in node.findall(nodes.entry)):
            # Numbers stay on one line; words may wrap.
            if re.search(r"\d", entry.astext()) and not re.search(r"[^\W\d_]{3}", entry.astext()):
                entry["classes"].append("number")
        return made


class StoredCell(SphinxRole):
    """One cell of a table, or one of its numbers."""

    def run(self):
        return [nodes.Text(cell(self.text))], []


def setup(app):
    """Register the directive and the role."""
    app.add_directive("calibrant-stored", StoredTable)
    app.add_role("calibrant-cell", StoredCell())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
