"""Stored tables of the five papers: ``NAME/stored/TABLE.csv``, which READMEs and pages both show.

    python -m benchmarks.papers.stored    # write the tables into the READMEs again

In a README a table stands under the line ``<!-- stored: TABLE -->``; the documentation shows it by
``.. calibrant-stored:: NAME/TABLE``.
"""

import csv
import re
from pathlib import Path

__all__ = ["HERE", "PAPERS", "markdown", "read", "restored", "write"]

HERE = Path(__file__).resolve().parent
PAPERS = ("geometric", "exploratory", "gp", "regression", "hoki")
#: A marker and the table under it.
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


def markdown(rows: list[list[str]]) -> str:
    """Return a table as Markdown."""
    heading, *body = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *body, ""])


def restored(paper: str) -> str:
    """Return the README of a paper with its tables as they are stored."""
    text = (HERE / paper / "README.md").read_text(encoding="utf-8")
    return BLOCK.sub(lambda found: found[1] + markdown(read(paper, found[2])), text)


if __name__ == "__main__":
    for each in PAPERS:
        (HERE / each / "README.md").write_text(restored(each), encoding="utf-8")
