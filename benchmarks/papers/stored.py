"""Stored tables of the five papers: ``NAME/stored/TABLE.csv``, which READMEs and pages both show.

    python -m benchmarks.papers.stored    # write the tables into the READMEs again

In a paper's README a table stands under the line ``<!-- stored: TABLE -->``, and a number of the
text before its place, ``<!-- cell: NAME/TABLE; ROW; COLUMN -->``. The documentation shows them by
``.. calibrant-stored:: NAME/TABLE`` and ``:calibrant-cell:`NAME/TABLE; ROW; COLUMN```. A fourth
field, 1 or 2, takes the first or second number of a cell: ours or the published one. The first
README has the numbers of ``docs/papers/index.rst`` as plain text, in the row that links to the
paper. A run stores what it measured with ``keep``, if it ran at the size that the table states.
"""

import csv
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    *("HERE", "PAPERS", "README", "ROLE", "cell", "first_page", "keep", "markdown", "names"),
    *("quoted", "read", "restored", "rows_of_index", "spread", "write"),
]

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
INDEX = HERE.parents[1] / "docs" / "papers" / "index.rst"
PAPERS = ("geometric", "exploratory", "gp", "regression", "hoki")
#: A number and the marker after it; a place in a page; a marker and the table under it.
CELL = re.compile(r"[^\s|>(]+(?=<!-- cell: (.*?) -->)")
ROLE = re.compile(r":calibrant-cell:`(.*?)`")
BLOCK = re.compile(r"^(<!-- stored: (\w+) -->\n)(?:\|.*\n?)*", re.MULTILINE)


def read(paper: str, name: str) -> list[list[str]]:
    """Return the rows of a stored table as text, the heading first."""
    file = HERE / paper / "stored" / f"{name}.csv"
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.reader(text))


def write(paper: str, name: str, rows: list[list[str]]) -> None:
    """Store a table, the heading first."""
    file = HERE / paper / "stored" / f"{name}.csv"
    with file.open("w", newline="", encoding="utf-8") as text:
        csv.writer(text, lineterminator="\n").writerows(rows)


def keep(paper: str, name: str, found: dict[str, dict[str, str]], smaller: str = "") -> None:
    """Store new cells, {row: {column: cell}}, of a table that has those rows and columns.

    A row is named as in ``names``. What the table lacks is printed and not stored; ``smaller`` says
    in what the whole run is less than the table states, and then nothing is stored.
    """
    heading, *body = read(paper, name)
    places = {row: k for k, row in enumerate(names(body))}
    lacking = [row for row in found if row not in places]
    for row in () if smaller else set(found) - set(lacking):
        for column, text in found[row].items():
            body[places[row]][heading.index(column)] = text
    write(paper, name, [heading, *body])
    kept = 0 if smaller else len(found) - len(lacking)
    why = smaller or (f"no such row: {'; '.join(lacking)}" if lacking else "")
    print(f"{paper}/stored/{name}.csv: {kept} of {len(found)} rows stored{why and f' ({why})'}")


def names(body: list[list[str]]) -> list[str]:
    """Return the name of each row: its first cell, or where several rows share that and only the
    first of them shows it, also the second.
    """
    group, out = "", []
    shared = any(not row[0] for row in body[1:])
    for row in body:
        group = row[0] or group
        out.append(f"{group}, {row[1]}" if shared else row[0])
    return out


def cell(place: str) -> str:
    """Return the cell at ``"NAME/TABLE; ROW; COLUMN"``, or one of its numbers, without bold."""
    table, row, column, *number = " ".join(place.split()).split("; ")
    heading, *body = read(*table.split("/"))
    text = body[names(body).index(row)][heading.index(column)].replace("**", "")
    return re.findall(r"[+-]?[\d,]*\.?\d+", text)[int(number[0]) - 1] if number else text


def spread(values: Iterable[float], form: str = ".2f") -> str:
    """Return the range of values over seeds or shuffles, as text."""
    values = list(values)
    return f"{min(values):{form}} to {max(values):{form}}" if len(values) > 1 else ""


def markdown(rows: list[list[str]]) -> str:
    """Return a table as Markdown."""
    heading, *body = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *body, ""])


def restored(paper: str) -> str:
    """Return the README of a paper with its tables as they are stored."""
    text = (HERE / paper / "README.md").read_text(encoding="utf-8")
    text = BLOCK.sub(lambda found: found[1] + markdown(read(paper, found[2])), text)
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text with the numbers before ``<!-- cell: ... -->`` as they are stored."""
    return CELL.sub(lambda found: cell(found[1]), text)


def rows_of_index() -> dict[str, list[str]]:
    """Return {paper: cells of its row} of the table in ``docs/papers/index.rst``, as they stand."""
    rows = [
        [" ".join(part.split()) for part in row.split("\n     - ")]
        for row in INDEX.read_text(encoding="utf-8").split("\n\n")[3].split("\n   * - ")
    ]
    return {
        paper: next(row for row in rows if f"<{paper}>`" in row[0].split("\n")[0])
        for paper in PAPERS
    }


def first_page(text: str) -> str:
    """Return the first README with the number of each paper as it is stored."""
    for paper, row in rows_of_index().items():
        number = ROLE.sub(lambda found: cell(found[1]), row[-1])
        ends = rf"(\(docs/papers/{paper}\.rst\).* \| )\[.*\](\(benchmarks/papers/{paper}/)"
        text = re.sub(ends, lambda found, number=number: f"{found[1]}[{number}]{found[2]}", text)
    return text


if __name__ == "__main__":
    for each in PAPERS:
        (HERE / each / "README.md").write_text(restored(each), encoding="utf-8")
    README.write_text(first_page(README.read_text(encoding="utf-8")), encoding="utf-8")
