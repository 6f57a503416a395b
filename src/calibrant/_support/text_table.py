"""Tables of plain text, for what is printed of a result; a list that is cut says so."""

from collections.abc import Sequence

__all__ = ["MOST_SHOWN", "cut_note", "text_table"]

#: Rows of a table that are printed; its ``frame()`` and ``to_dict()`` have all.
MOST_SHOWN = 12


def cut_note(shown: int, count: int, where: str = "frame() has all") -> list[str]:
    """The line below a list of which the first are shown, in a list; none where all are.

    Examples
    --------
    >>> cut_note(12, 124), cut_note(3, 3)
    (['12 of 124 shown: frame() has all'], [])
    """
    return [f"{shown:,} of {count:,} shown: {where}"] if count > shown else []


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], most: int | None = None
) -> list[str]:
    """Lines of a table whose columns are as wide as their longest entry; below the first ``most``
    rows it says how many there are.

    Examples
    --------
    >>> print(
    ...     "\\n".join(text_table(("name", "n"), [("a", "10"), ("long", "2"), ("b", "3")], most=2))
    ... )
    name  n
    a     10
    long  2
    2 of 3 shown: frame() has all
    """
    kept = rows if most is None else rows[:most]
    lines = [head, *kept]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines] + cut_note(
        len(kept), len(rows)
    )
