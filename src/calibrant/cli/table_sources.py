"""Tables: CSV, Parquet and JSON lines, opened whole or in parts, and written again with new predictions."""

import csv
import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._support.extras import import_extra
from calibrant.cli.csv_text import decoded, rows_in, rows_of
from calibrant.cli.json_lines import columns_of, objects_of
from calibrant.cli.source import Source, distinct, reading_file, replaced
from calibrant.cli.wording import abridged
from calibrant.errors import InputError
from calibrant.labels import label_array

__all__ = ["CsvSource", "JsonlSource", "ParquetSource"]

#: Values of a part, and its rows at most, of a file that is read in parts.
PART_CELLS, PART_ROWS = 2**21, 2**17


class TableSource(Source):
    """Rows, which may be read in parts, joined from them, and written part by part."""

    @classmethod
    def holding(cls, path: Path, content: Any, **own: Any) -> Any:
        """A source of this content, such as a part of a file."""
        made = object.__new__(cls)
        vars(made).update(path=path, content=content, **own)
        return made

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """As its only part."""
        with self.appending(path) as append:
            append(self, columns, renamed)

    @abstractmethod
    def appending(self, path: Path) -> AbstractContextManager[Callable[..., None]]:
        """A context that gives a function which writes a source, as ``write`` does, behind those before it."""


class CsvSource(TableSource):
    """Columns of text, so that what is not a prediction is written again letter by letter, in the encoding it came in."""

    kind = "csv"
    encoding: str

    def _open(self, path, file):
        text, self.encoding = decoded(file.read(), path)
        return self._columns(path, *rows_of(text, path))

    @staticmethod
    def _columns(path, header, rows):
        return {name: list(values) for name, values in zip(distinct(header, path), zip(*rows, strict=True), strict=True)}

    @classmethod
    def parts(cls, path: Path, lines: Any, encoding: str) -> Iterator[Any]:
        """Sources of some rows each."""
        for header, rows in rows_in(lines, path, PART_CELLS):
            yield cls.holding(path, cls._columns(path, header, rows), encoding=encoding)

    @classmethod
    def joined(cls, path: Path, parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
        """One source of some rows of parts."""
        names = list(parts[0][0].content)
        content = {name: [part.content[name][i] for part, rows in parts for i in rows.tolist()] for name in names}
        return cls.holding(path, content, encoding=parts[0][0].encoding)

    @contextmanager
    def appending(self, path: Path) -> Iterator[Callable[..., None]]:
        """What is not replaced is written letter by letter."""
        with open(path, "w", newline="", encoding=self.encoding) as file:
            writer, header = csv.writer(file, lineterminator="\n"), []

            def append(source: Any, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
                texts = {name: [v if isinstance(v, str) else repr(v) for v in values.tolist()] for name, values in columns.items()}
                content = replaced(source.content, texts, renamed)
                if not header:
                    header.extend(content)
                    writer.writerow(header)
                writer.writerows(zip(*content.values(), strict=True))

            yield append


class ParquetSource(TableSource):
    """An Arrow table."""

    kind = "parquet"

    def _open(self, path, file):
        parquet = import_extra("pyarrow.parquet", "reading parquet", "cli")
        with reading_file(path, "a parquet file", "write it again"):
            self.table: Any = parquet.read_table(file)
            self.table.validate(full=True)
        names = distinct(self.table.column_names, path)
        return {name: self.table.column(name) for name in names}

    def column(self, name: str) -> np.ndarray:
        """As NumPy, strings as objects."""
        with reading_file(self.path, f"a file whose column {name!r} holds plain values", "write that column again"):
            return self.content[name].to_numpy()

    @classmethod
    def parts(cls, path: Path) -> Iterator[Any]:
        """Sources of some rows each."""
        pyarrow, parquet = (import_extra(name, "reading parquet", "cli") for name in ("pyarrow", "pyarrow.parquet"))
        with reading_file(path, "a parquet file", "write it again"), open(path, "rb") as opened, parquet.ParquetFile(opened) as file:
            names = distinct(file.schema_arrow.names, path)
            rows = max(1, min(PART_ROWS, PART_CELLS // max(len(names), 1)))
            for batch in file.iter_batches(batch_size=rows):
                table = pyarrow.Table.from_batches([batch])
                yield cls.holding(path, {name: table.column(name) for name in names}, table=table)

    @classmethod
    def joined(cls, path: Path, parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
        """One source of some rows of parts."""
        table = import_extra("pyarrow", "reading parquet", "cli").concat_tables([part.table.take(rows) for part, rows in parts])
        return cls.holding(path, {name: table.column(name) for name in table.column_names}, table=table)

    @contextmanager
    def appending(self, path: Path) -> Iterator[Callable[..., None]]:
        """What is not replaced keeps its type."""
        pyarrow, parquet = (import_extra(name, "writing parquet", "cli") for name in ("pyarrow", "pyarrow.parquet"))
        writers = []

        def append(source: Any, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
            content = replaced(source.content, {name: pyarrow.array(values) for name, values in columns.items()}, renamed)
            own = source.table.schema
            fields = [pyarrow.field(name, content[name].type) if name in columns else own.field(name) for name in content]
            schema = writers[0].schema if writers else pyarrow.schema(fields, metadata=own.metadata)
            if not writers:
                writers.append(parquet.ParquetWriter(path, schema))
            writers[0].write_table(pyarrow.table(list(content.values()), schema=schema))

        try:
            yield append
        finally:
            for writer in writers:
                writer.close()


class JsonlSource(TableSource):
    """One JSON object a line; what lies deeper has the keys on its way as its name, as in ``model.score``."""

    kind = "jsonl"

    def _open(self, path, file):
        self.objects = objects_of(decoded(file.read(), path)[0], path)
        columns, self.ways = columns_of(self.objects, path)
        return columns

    @classmethod
    def of_objects(cls, objects: list[dict[str, Any]], path: Path) -> Any:
        """A source of these objects."""
        columns, ways = columns_of(objects, path)
        return cls.holding(path, columns, objects=objects, ways=ways)

    @classmethod
    def parts(cls, path: Path, lines: Any, encoding: str) -> Iterator[Any]:
        """Sources of some rows each."""
        given = False
        while text := "".join(islice(lines, PART_ROWS)):
            if text.strip() or not given:
                yield cls.of_objects(objects_of(text, path), path)
                given = True

    def column(self, name):
        """As NumPy, values of several kinds as objects."""
        values = self.content[name]
        listed = next((value for value in values if isinstance(value, list | dict)), None)
        if listed is not None:
            raise InputError(f"{self.path}: {name!r} must hold one value a line; it holds {abridged(listed)}; name another.")
        return label_array(values, name)

    @classmethod
    def joined(cls, path: Path, parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
        """One source of some rows of parts."""
        return cls.of_objects([part.objects[i] for part, rows in parts for i in rows.tolist()], path)

    @contextmanager
    def appending(self, path: Path) -> Iterator[Callable[..., None]]:
        """What is not replaced stays as it is."""
        with open(path, "w", newline="\n", encoding="utf-8", errors="backslashreplace") as file:

            def append(source: Any, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
                lists = {name: values.tolist() for name, values in columns.items()}
                for i, old in enumerate(source.objects):
                    new = {renamed.get(name, name): value for name, value in old.items()}
                    for name, values in lists.items():
                        *outer, last = source.ways.get(name, (name,))
                        reduce(getitem, outer, new)[last] = values[i]
                    file.write(json.dumps(new, ensure_ascii=False) + "\n")

            yield append
