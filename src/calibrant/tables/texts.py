"""Columns of text and their distinct values; CSV by pyarrow where both readers agree, and by
Python's strict reader elsewhere, which words the errors.
"""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from calibrant.core.extras import import_extra
from calibrant.core.labels import NUMBER, level_of
from calibrant.errors import InputError
from calibrant.tables.row_text import decoded, distinct, encoding_of

__all__ = ["PART_CELLS", "Texts", "csv_tables", "utf8_blocks"]

FEATURE = "reading tables"
#: Separators of the values of a line.
SEPARATORS = (",", ";", "\t")
#: First line by which Excel is told the separator.
SEPARATOR_LINE = re.compile(r"\s*sep=([,;\t])\s*", re.IGNORECASE)
#: Largest number of values in one part of a file, and of characters in one value of a part.
PART_CELLS, LONGEST_VALUE, MOST_CHARACTERS = 2**21, 2**24, 2**31 - 1
#: Bytes that are read and that are parsed at a time.
BLOCK, FEWEST_BYTES, PARSED = 2**24, 2**16, 2**22
#: A number with a decimal comma, a whole number, or nothing; points may group the thousands.
DECIMAL = (
    r"^\s*([+-]?(([0-9]+|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?)?\s*$"
)
#: What a column must hold entirely to be whole numbers; other digits, such as 007, are codes.
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
CODE = r"^\s*([+-]?0[0-9]+|[+-]?[0-9]{19,})\s*$"
#: Whole numbers that a float may not tell apart.
MANY_DIGITS = r"^\s*[+-]?[0-9]{16,}\s*$"
LONG, FRACTIONS, TEXT = 1, 2, 4
#: Whole numbers whose points group the thousands, or that have three decimals.
GROUPED = r"^\s*[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+\s*$"


class Texts:
    """A column of text cells. What depends on a text alone is computed once for each distinct one.

    Examples
    --------
    >>> cells = Texts.of(["2", "0.5", "2"])
    >>> cells.distinct, cells.numbers.tolist(), cells.each(len).tolist()
    (['2', '0.5'], [2.0, 0.5, 2.0], [1, 3, 1])
    """

    def __init__(self, cells: Any) -> None:
        self.cells: Any = cells

    @classmethod
    def of(cls, texts: list[str]) -> "Texts":
        """Return a column of these texts."""
        arrow = _arrow()[0]
        return cls(arrow.chunked_array([arrow.array(texts, arrow.string())]))

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __getitem__(self, rows: slice) -> list[str]:
        return self.cells[rows].to_pylist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.distinct, dtype=dtype)[self.codes]

    def tolist(self) -> list[str]:
        """Return every text."""
        return self.cells.to_pylist()

    @cached_property
    def _encoded(self) -> tuple[list[str], np.ndarray]:
        encoded = self.cells.combine_chunks().dictionary_encode()
        chunk = encoded.chunk(0) if hasattr(encoded, "chunk") else encoded
        # Arrow's own to_numpy would load pandas.
        return chunk.dictionary.to_pylist(), np.from_dlpack(chunk.indices)

    @property
    def distinct(self) -> list[str]:
        """The distinct texts, in the order in which they appear."""
        return self._encoded[0]

    @property
    def codes(self) -> np.ndarray:
        """(n,) position of each row's text among the distinct ones."""
        return self._encoded[1]

    def each(self, function: Callable[[str], Any], dtype: Any = object) -> np.ndarray:
        """Return (n,) the function of each text."""
        values = [function(text) for text in self.distinct]
        return np.fromiter(values, dtype=dtype, count=len(values))[self.codes]

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """(n,) numbers; None if a text is none, is missing, or is one to Python alone, as " 1"."""
        arrow, _ = _arrow()
        if self.cells.null_count:
            return None
        try:
            numbers = self.cells.cast(arrow.float64())
        except arrow.ArrowInvalid:
            return None
        values = np.concatenate([np.empty(0), *map(np.from_dlpack, numbers.chunks)])
        # Arrow reads more texts than Python as NaN.
        return None if np.isnan(values).any() else values

    @cached_property
    def with_points(self) -> "Texts":
        """The column with decimal points for commas, and without points between thousands, if the
        whole column holds such numbers; any other column as it is.
        """
        (_, compute), cells = _arrow(), self.cells
        if not compute.any(compute.match_substring(cells, ",")).as_py():
            return self
        if not compute.all(compute.match_substring_regex(cells, DECIMAL)).as_py():
            return self
        whole = compute.replace_substring(cells, ".", "")
        return Texts(compute.replace_substring(whole, ",", "."))

    def levels(self) -> np.ndarray:
        """Convert each text separately, so that a value means the same in every file: to a number,
        or by ``levels.level_of``.

        Examples
        --------
        >>> Texts.of(["2", "0.5", "", "007", "a"]).levels().tolist()
        [2, 0.5, None, '007', 'a']
        """
        return self.each(_level)

    @cached_property
    def kind(self) -> int:
        """The kind of the column, a sum that its parts join by "or": 1 for whole numbers that are
        too long for a float, 2 for other numbers, 4 for text, such as 007.
        """
        (_, compute), cells = _arrow(), self._present

        def some(pattern: str) -> bool:
            return compute.any(compute.match_substring_regex(cells, pattern)).as_py() is True

        if some(CODE):
            return TEXT
        if compute.all(compute.match_substring_regex(cells, WHOLE)).as_py() is not False:
            return LONG * some(MANY_DIGITS)
        return TEXT if self._numbers_of(cells) is None else FRACTIONS + LONG * some(MANY_DIGITS)

    def of_kind(self, kind: int) -> Any:
        """Return the Arrow column of this kind; blank texts are missing."""
        arrow, _ = _arrow()
        if kind in (0, LONG):
            return self._present.cast(arrow.int64())
        return self._numbers_of(self._present) if kind == FRACTIONS else self._present

    @cached_property
    def has_commas(self) -> bool:
        """Whether the column is one of numbers with decimal commas."""
        return self.with_points is not self

    @cached_property
    def may_be_grouped(self) -> bool:
        """Whether the points of a number may stand between thousands."""
        (_, compute), cells = _arrow(), self.cells
        return compute.any(compute.match_substring_regex(cells, GROUPED)).as_py() is True and (
            compute.all(compute.match_substring_regex(cells, DECIMAL)).as_py() is True
        )

    @cached_property
    def _present(self) -> Any:
        """The cells, null if blank."""
        arrow, compute = _arrow()
        blank = compute.equal(compute.utf8_trim_whitespace(self.cells), "")
        return compute.if_else(blank, arrow.scalar(None, arrow.string()), self.cells)

    @staticmethod
    def _numbers_of(cells: Any) -> Any:
        """The cells as numbers, with nulls; None if one is no number."""
        arrow, compute = _arrow()
        with suppress(arrow.ArrowInvalid):
            numbers = cells.cast(arrow.float64())
            if compute.all(compute.is_finite(numbers)).as_py() is not False:
                return numbers
        texts = Texts(cells.drop_null())
        try:
            number = np.fromiter(map(_number, texts.distinct), np.float64, len(texts.distinct))
        except ValueError:
            return None
        values = np.full(len(cells), np.nan)
        values[cells.is_valid().to_numpy()] = number[texts.codes]
        return arrow.array(values, from_pandas=True)


def _arrow() -> tuple[Any, Any]:
    return import_extra("pyarrow", FEATURE, "cli"), import_extra("pyarrow.compute", FEATURE, "cli")


def _level(text: str) -> Any:
    match = NUMBER.fullmatch(text.strip())
    if match is None:
        return level_of(text)
    return int(text) if match[2] is None and match[3] is None else float(text)


def _number(text: str) -> float:
    value = float(text)
    if not np.isfinite(value) or "_" in text:
        raise ValueError(text)
    return value


def utf8_blocks(
    file: IO[bytes], path: Path, cells: int | None = None
) -> Iterator[tuple[bytes, str, int]]:
    """Yield (whole lines as UTF-8, the file's own encoding, number of lines before) for about
    ``cells`` values at a time (None: many).
    """
    size = BLOCK if cells is None else min(BLOCK, max(FEWEST_BYTES, 8 * cells))
    first, done = file.read(size), 0
    encoding = encoding_of(first)
    if not encoding.startswith("utf-8"):
        yield decoded(first + file.read(), path)[0].encode(), encoding, 0
        return
    for block in _whole_lines(chain([first], iter(lambda: file.read(size), b""))):
        decoded(block, path, done)
        yield block if done else block.removeprefix(codecs.BOM_UTF8), encoding, done
        done += block.count(b"\n")


def csv_tables(file: IO[bytes], path: Path, cells: int | None) -> Iterator[tuple[Any, str, str]]:
    """Yield (an Arrow table of texts, the separator, the encoding) for about ``cells`` values of a
    CSV file at a time (None: many).
    """
    rows, blocks = Rows(path, cells), utf8_blocks(file, path, cells)
    for data, encoding, _ in blocks:
        table = rows.plain(data)
        if table is None:
            rest = chain([data], (block for block, *_ in blocks))
            lines = (line for block in rest for line in io.StringIO(block.decode(), newline=""))
            yield from ((table, rows.separator, encoding) for table in rows.strict(lines))
            return
        if table.num_rows:
            yield table, rows.separator, encoding
    rows.require_some()


class Rows:
    """Rows of a CSV file in order, with the names of its columns and what has been read so far."""

    def __init__(self, path: Path, cells: int | None) -> None:
        self.path: Path = path
        self.cells: int | None = cells
        self.header: list[str] | None = None
        self.separator: str = ","
        #: Numbers of lines and of rows read.
        self.done: int = 0
        self.count: int = 0

    def plain(self, data: bytes) -> Any:
        """Parse whole lines by pyarrow; None if their quotes or ends leave a doubt, or a line is
        damaged.
        """
        if data.count(b"\r") != data.count(b"\r\n"):
            return None
        (arrow, _), reader = _arrow(), import_extra("pyarrow.csv", FEATURE, "cli")
        body, header = data, self.header
        if header is None:
            first, _, body = data.lstrip(b"\r\n").partition(b"\n")
            named = SEPARATOR_LINE.fullmatch(first.decode())
            if named is not None:
                first, _, body = body.partition(b"\n")
            self.separator = separator_of(first.decode()) if named is None else named[1]
            if not first.strip() or not _is_clear(first, self.separator):
                return None
            header = distinct(
                next(csv.reader([first.decode()], delimiter=self.separator)), self.path
            )
        if not _is_clear(body, self.separator):
            return None
        if not body.strip(b"\r\n"):
            table = arrow.table({name: arrow.array([], arrow.string()) for name in header})
        else:
            options = {
                "read_options": reader.ReadOptions(column_names=header, block_size=PARSED),
                "parse_options": reader.ParseOptions(
                    delimiter=self.separator, newlines_in_values=b'"' in body
                ),
                "convert_options": reader.ConvertOptions(
                    column_types=dict.fromkeys(header, arrow.string()),
                    strings_can_be_null=False,
                ),
            }
            try:
                table = reader.read_csv(arrow.BufferReader(body), **options)
            except arrow.ArrowInvalid:
                return None
        self.header, self.count = header, self.count + table.num_rows
        self.done += data.count(b"\n") + (not data.endswith(b"\n"))
        return table

    def strict(self, lines: Iterable[str]) -> Iterator[Any]:
        """Read the remaining lines by Python, whose errors name the line."""
        lines = iter(lines)
        if self.header is None:
            start: list[str] = []
            for line in lines:
                start.append(line)
                if line.strip():
                    break
            first = start[-1] if start else ""
            named = SEPARATOR_LINE.fullmatch(first)
            self.separator = separator_of(first) if named is None else named[1]
            self.done = 0 if named is None else len(start)
            lines = chain(start if named is None else (), lines)
        arrow, _ = _arrow()
        for rows in self._rows(lines):
            columns = zip(self.header or [], zip(*rows, strict=True), strict=True)
            self.count += len(rows)
            yield arrow.table({name: arrow.array(values) for name, values in columns})
        self.require_some()

    def _rows(self, lines: Iterator[str]) -> Iterator[list[list[str]]]:
        longest = MOST_CHARACTERS if self.cells is None else LONGEST_VALUE
        limit = csv.field_size_limit(max(longest, csv.field_size_limit()))
        # Strict, because an unclosed quote would otherwise silently swallow all rows after it.
        reader = csv.reader(lines, delimiter=self.separator, strict=True)
        before, rows = self.done, []
        try:
            for row in reader:
                self.done = before + reader.line_num
                if self.header is None:
                    self.header = distinct(row, self.path) if row else None
                elif row:
                    self._require_length(row)
                    rows.append(row)
                    if len(rows) * len(row) >= (PART_CELLS if self.cells is None else self.cells):
                        yield rows
                        rows = []
        except csv.Error as error:
            raise InputError(
                f"{self.path} is not valid CSV after line {self.done} ({error}); close every quote"
                " there, and double those inside values."
            ) from None
        finally:
            csv.field_size_limit(limit)
        if rows:
            yield rows

    def _require_length(self, row: list[str]) -> None:
        names = len(self.header or [])
        if len(row) != names:
            raise InputError(
                f"{self.path} has {names} column names and {len(row)} values in line {self.done};"
                " repair that line."
            )

    def require_some(self) -> None:
        """Refuse a file without a row."""
        if self.count == 0:
            raise InputError(
                f"{self.path} must have a line of column names and at least one row; it has"
                f" {self.done} lines."
            )


def separator_of(line: str) -> str:
    """Return the separator that splits the line of names into the most of them."""
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Join and cut blocks so that each ends where a line does."""
    rest = b""
    for block in blocks:
        whole, end, after = block.rpartition(b"\n")
        if end:
            yield rest + whole + end
            rest = after
        else:
            rest += block
    if rest:
        yield rest


def _is_clear(data: bytes, separator: str) -> bool:
    """Whether every quote opens a whole value, closes one, or is half of a doubled one inside: then
    any two readers agree on the values.
    """
    if b'"' not in data:
        return True
    characters = np.frombuffer(b"\n" + data + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(characters == ord('"'))
    # After an even number of quotes the text is outside of quoted values.
    first = np.flatnonzero(np.diff(quotes, prepend=-2) > 1)
    after = np.append(first[1:], len(quotes))
    before, behind = characters[quotes[first] - 1], characters[quotes[after - 1] + 1]
    beside = np.concatenate([before[first % 2 == 0], behind[after % 2 == 0]])
    ends = np.frombuffer(f"{separator}\r\n".encode(), dtype=np.uint8)
    return len(quotes) % 2 == 0 and bool(np.isin(beside, ends).all())
