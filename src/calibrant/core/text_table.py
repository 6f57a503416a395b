"""Tables of plain text, for what is printed of a result: a list or value that is cut says so, and
numbers have four decimals, or more for the small errors of a rare event.
"""

import math
import re
from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

__all__ = [
    "MOST_SHOWN",
    "abridged",
    "counted",
    "cut_note",
    "few",
    "p_text",
    "percent",
    "rounded",
    "shown",
    "text_table",
    "wrapped",
]


#: Rows of a table that are printed; its ``frame()`` and ``to_dict()`` have all.
MOST_SHOWN = 12
#: Blanks between columns.
BETWEEN = 2
#: Beginning of a cell of a column of numbers.
NUMBER = re.compile(r"(< )?[-+−]?[0-9.]|[–\[]|$")

#: Control characters, line separators, marks of text direction, and bytes of file names that are
#: not text.
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def abridged(value: Any) -> str:
    """Return a user's value for an error: quoted, and not longer than a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}... ({len(text):,} characters)"


def shown(text: str) -> str:
    """Return a text on one line, with codes for characters that a terminal would act on or cannot
    write.

    Examples
    --------
    >>> shown("a\\x1b[31mred")
    'a\\\\x1b[31mred'
    """
    return UNSHOWN.sub(_code, str(text))


def _code(match):
    number = ord(match[0])
    # A byte that is not UTF-8 appears as a lone surrogate.
    number -= 0xDC00 if 0xDC80 <= number <= 0xDCFF else 0
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def few(names: Any) -> str:
    """Return a user's names for an error; of many only the first are listed."""
    listed = [shown(name)[:60] for name in names]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")


def cut_note(shown: int, count: int, where: str = "frame() has all") -> list[str]:
    """The line below a list of which the first are shown, in a list; none where all are.

    Examples
    --------
    >>> cut_note(12, 124), cut_note(3, 3)
    (['12 of 124 shown: frame() has all'], [])
    """
    return [f"{shown:,} of {count:,} shown: {where}"] if count > shown else []


def wrapped(text: str, width: int, indent: str = "", most: int | None = None) -> list[str]:
    """Lines of at most ``width`` characters, broken at blanks, not before %, the later ones
    indented; only a word that is longer than a line is broken.

    Examples
    --------
    >>> wrapped("one two three", 8, "  ")
    ['one two', '  three']
    """
    lines = wrap(
        text.replace(" %", "\xa0%"),
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" …",
    )
    return [line.replace("\xa0%", " %") for line in lines]


def text_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int | None = None,
    *,
    width: int | None = None,
    where: str = "frame() has all",
) -> list[str]:
    """Lines of a table whose columns are as wide as their longest entry, numbers to the right;
    below the first ``most`` rows it says how many there are.

    In a ``width`` that is too narrow, entries continue below, broken at blanks (a no-break blank
    holds an interval together); where even that is too wide, each row becomes a paragraph.

    Examples
    --------
    >>> rows = [("a", "10"), ("long", "2"), ("b", "3")]
    >>> print("\\n".join(text_table(("name", "n"), rows, most=2)))
    name   n
    a     10
    long   2
    2 of 3 shown: frame() has all
    >>> print("\\n".join(text_table(("name", "n"), [("a b c", "10")], width=8)))
    name   n
    a b   10
    c
    """
    kept = rows if most is None else rows[:most]
    lines = [head, *kept]
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [len(kept) > 0 and all(map(NUMBER.match, column[1:])) for column in columns]
    note = cut_note(len(kept), len(rows), where)
    fitting = widths if width is None else _narrowed(columns, widths, width)
    if fitting is None:
        made = [line for row in kept for line in _paragraph(head, row, width or 0)]
    else:
        made = [line for row in lines for line in _folded(row, fitting, right)]
    return [line.replace("\xa0", " ") for line in made] + note


def _narrowed(columns: Sequence[Sequence[str]], widths: list[int], width: int) -> list[int] | None:
    """Return widths of columns that fit, or None where the longest words do not; intervals are
    broken last.
    """
    widths, room = list(widths), width - BETWEEN * (len(widths) - 1)
    for blanks in ("[ \n]", "[ \n\xa0]"):
        least = [max(_longest_word(cell, blanks) for cell in column) for column in columns]
        while sum(widths) > room and widths != least:
            place = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
            widths[place] -= 1
    return widths if sum(widths) <= room else None


def _longest_word(cell: str, blanks: str = "[ \n]") -> int:
    return max(map(len, re.split(blanks, cell)))


def _folded(row: Sequence[str], widths: list[int], right: list[bool]) -> list[str]:
    whole = (
        cell if _longest_word(cell) <= width else cell.replace("\xa0", " ")
        for cell, width in zip(row, widths, strict=True)
    )
    parts = [
        wrapped(cell, width) if len(cell) > width else [cell]
        for cell, width in zip(whole, widths, strict=True)
    ]
    return [
        (" " * BETWEEN)
        .join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, right, strict=True)
        )
        .rstrip()
        for line in zip_longest(*parts, fillvalue="")
    ]


def _paragraph(head: Sequence[str], row: Sequence[str], width: int) -> list[str]:
    lines = wrapped(row[0], width, "  ")
    for name, cell in zip(head[1:], row[1:], strict=True):
        lines += wrapped(f"  {name}: {cell}", width, "    ") if cell else []
    return lines


# -- Numbers ---------------------------------------------------------------------------------------

#: Smaller numbers are rounding errors of sums.
LEAST = 1e-7


def p_text(value: float, equal: str = "") -> str:
    """Write a p-value with two digits; a very small one, which nobody can know so well, by a bound.

    Examples
    --------
    >>> p_text(0.0312, "= "), p_text(3e-9, "= ")
    ('= 0.031', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{equal}{value:.2g}"


def rounded(value: float | None, sign: str = "") -> str:
    """Format a value with four decimals, or as many as show two digits; None is a dash.

    Examples
    --------
    >>> (
    ...     rounded(0.5),
    ...     rounded(0.00204),
    ...     rounded(0.0000213),
    ...     rounded(-0.0000213, "+"),
    ...     rounded(1e-17),
    ...     rounded(None),
    ... )
    ('0.5000', '0.0020', '0.000021', '-0.000021', '0.0000', '–')
    """
    if value is None:
        return "–"
    few = not LEAST <= abs(value) < 1e-3
    return f"{value:{sign}.{4 if few else 1 - math.floor(math.log10(abs(value)))}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share in per cent, with two significant digits for small ones; None is a dash.

    Examples
    --------
    >>> percent(0.304), percent(0.00123), percent(0.0), percent(0.64, 0), percent(None)
    ('30.4 %', '0.12 %', '0.0 %', '64 %', '–')
    """
    if value is None:
        return "–"
    return f"{100.0 * value:.2g} %" if 0.0 < value < 0.01 else f"{100.0 * value:.{digits}f} %"


def counted(n: float, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1.0, "row"), counted(2000.0, "event")
    ('1 row', '2,000 events')
    """
    return f"{n:,.0f} {what}{'' if round(n) == 1 else 's'}"
