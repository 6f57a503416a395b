"""Tables of the evidence are folded where they are long: a page shows its findings, and the rows on
request.

``folded_tables_pages`` of conf.py names the pages. Each of their tables of more than ``MOST_ROWS``
rows is put into a ``<details>``, whose summary states its size and its first columns.
"""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

__all__ = ["MOST_ROWS", "FoldTables", "setup", "summary_of"]

#: A table of as many rows is seen at a glance.
MOST_ROWS = 12
#: Columns that the summary names.
NAMED = 4


def _heading(table):
    head = next(table.findall(nodes.thead), None)
    return [] if head is None else [entry.astext() for entry in head.findall(nodes.entry)]


def _rows(table):
    return sum(len(body.children) for body in table.findall(nodes.tbody))


def summary_of(table):
    """Return what a reader sees of a folded table: its rows, and its first columns."""
    columns = _heading(table)
    more = f" and {len(columns) - NAMED} more" if len(columns) > NAMED else ""
    named = f": {', '.join(columns[:NAMED])}{more}" if columns else ""
    return f"Table of {_rows(table)} rows{named}"


class FoldTables(SphinxPostTransform):
    """Fold the long tables of the pages in ``folded_tables_pages``."""

    default_priority = 200
    formats = ("html",)

    def run(self):
        if self.env.docname not in self.config.folded_tables_pages:
            return
        for table in list(self.document.findall(nodes.table)):
            if _rows(table) > MOST_ROWS:
                before = nodes.raw("", '<details class="folded"><summary>', format="html")
                between = nodes.raw("", "</summary>", format="html")
                after = nodes.raw("", "</details>", format="html")
                words = nodes.inline("", summary_of(table))
                # replace_self would hand the table's classes on to the first of these nodes.
                at = table.parent.index(table)
                table.parent[at : at + 1] = [before, words, between, table.deepcopy(), after]


def setup(app):
    """Register the transform and the list of pages."""
    app.add_config_value("folded_tables_pages", (), "env", types=(tuple, list))
    app.add_post_transform(FoldTables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
