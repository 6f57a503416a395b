"""What the arenas' pages are made of, as lines of reStructuredText: tables, and pictures side by
side.
"""


def list_table(rows, kind="sortable"):
    """Cells as the lines of a table that readers sort and filter; one of the kind "arena" is
    drawn too.
    """
    cells = [
        f"   {'*' if c == 0 else ' '} - {cell}".rstrip()
        for row in rows
        for c, cell in enumerate(row)
    ]
    return [".. list-table::", "   :header-rows: 1", f"   :class: {kind}", "", *cells, ""]


def images(stem, said):
    """The lines of the page that show a picture for each section: what each shows, in words;
    side by side where there is room.
    """
    lines = [".. container:: panels", ""]
    for i, words in enumerate(said):
        lines += [f"   .. image:: _static/{stem}_{i + 1}.png", f"      :alt: {words}", ""]
    return lines
