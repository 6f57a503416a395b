"""Kinds of files, read whole or in parts, and written again with new predictions and all else
unchanged.
"""

import csv
import io
import json
import warnings
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from calibrant.core.extras import import_extra
from calibrant.core.labels import array_of, label_array
from calibrant.core.saving import read_npy
from calibrant.core.text_table import abridged
from calibrant.errors import InputError, MissingDependencyError
from calibrant.tables.engines import arrow_engine
from calibrant.tables.paths import folder_values
from calibrant.tables.row_text import NestedColumns, decoded, distinct, objects_of
from calibrant.tables.texts import Texts, csv_tables, utf8_blocks

__all__ = [
    "CsvSource",
    "JsonlSource",
    "Named",
    "NpySource",
    "NpzSource",
    "ParquetSource",
    "TableSource",
    "no_table",
    "reading_file",
]

#: Largest number of rows in one part of a file.
PART_ROWS = 2**17
#: What every part of a table has of its own.
READ = ("path", "content", "table")


@contextmanager
def reading_file(path: Any, what: str, remedy: str) -> Iterator[None]:
    """Turn any error of a library that reads a file into one that names the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    except (InputError, MissingDependencyError):
        raise
    except MemoryError:
        raise InputError(
            f"{path} needs more memory than is available; split it into files of fewer rows."
        ) from None
    except Exception as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        words = " ".join(said.split())[:200] or type(error).__name__
        raise InputError(f"{path} is damaged or not {what} ({words}); {remedy}.") from None


def no_table(path: Any) -> InputError:
    """The error of a file that is no table of rows."""
    return InputError(
        f"slices need Parquet, CSV or JSON lines; {path} is of another kind; convert it first."
    )


class Named:
    """Names of the columns or arrays of a table."""

    kind: ClassVar[str] = ""

    def __init__(self, path: Any, content: Any) -> None:
        self.path: Any = path
        self.content: Any = content

    def require(self, name: str) -> str:
        """Return the name, or refuse it if the file does not hold it."""
        if name not in self.content:
            raise InputError(f"{self.path} holds no {name!r}; name one of {self.described()}.")
        return name

    def described(self) -> str:
        """List the names in the file, for messages."""
        names = list(self.content)
        return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


class Source(Named, ABC):
    """Content of a file by name; ``column(name)`` returns one array, and
    ``write(path, columns, renamed)`` writes everything with new predictions.
    """

    #: Note for the reader if the source holds a sample of a file's rows.
    said: str | None = None

    def __init__(self, path: Path, file: Any) -> None:
        file.seek(0)
        super().__init__(path, self._open(path, file))

    @abstractmethod
    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """Write the content; ``columns`` replace those of the same name, or those that are
        ``renamed`` to it.
        """

    @abstractmethod
    def _open(self, path, file) -> Any:
        """Read everything in the file, by name."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Any:
        """Return a source of some of the rows."""

    def column(self, name: str) -> Any:
        """Return one array or column."""
        return self.content[name]

    def kinds(self) -> dict[str, str]:
        """Return each column's name -> "list" or "other", as the engines do."""
        raise no_table(self.path)


def replaced(
    content: dict[str, Any], columns: dict[str, Any], renamed: dict[str, str]
) -> dict[str, Any]:
    """Replace columns of the same name, or those ``renamed`` to it, and keep the order; new columns
    come last.
    """
    out = {}
    for name, old in content.items():
        new = renamed.get(name, name)
        out[new] = columns.get(new, old)
    return {**out, **{name: values for name, values in columns.items() if name not in out}}


class NpzSource(Source):
    """File of NumPy arrays by name."""

    kind = "npz"

    def _open(self, path, file):
        with (
            reading_file(path, "an npz file of plain arrays", "save it with numpy.savez"),
            zipfile.ZipFile(file) as archive,
        ):
            members = archive.infolist()
            names = distinct([member.filename.removesuffix(".npy") for member in members], path)
            return {
                name: self._member(archive, member)
                for name, member in zip(names, members, strict=True)
            }

    @staticmethod
    def _member(archive, member):
        with archive.open(member) as file:
            return read_npy(file, member.file_size)

    def take(self, rows: np.ndarray) -> Any:
        """Take the rows of each array that is as long as the longest."""
        made, n = (
            object.__new__(type(self)),
            max((len(array) for array in self.content.values() if array.ndim), default=0),
        )
        content = {
            name: array[rows] if array.ndim and len(array) == n else array
            for name, array in self.content.items()
        }
        vars(made).update(vars(self) | {"content": content})
        return made

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """Write the arrays; the given ones replace those of the same name."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in replaced(self.content, columns, renamed).items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)


class NpySource(Source):
    """File of one NumPy array."""

    kind = "npy"

    def _open(self, path, file):
        with reading_file(path, "an npy file of plain numbers", "save it with numpy.save"):
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            return {"values": read_npy(file, size)}

    def take(self, rows: np.ndarray) -> Any:
        """Refuse, because the labels are in another file."""
        raise InputError(
            f"{self.path} has no labels, so rows cannot be left out; save predictions and labels"
            " together, as .npz."
        )

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """Write the calibrated probabilities only."""
        with open(path, "wb") as file:
            np.save(file, columns["values"])


class TableSource(Source):
    """Table of rows, which can be read in parts, joined from parts, and written in parts."""

    @classmethod
    def holding(cls, path: Path, content: Any, **own: Any) -> Any:
        """Make a source of this content, such as a part of a file."""
        made = object.__new__(cls)
        vars(made).update(path=path, content=content, **own)
        return made

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """Write the table as one part."""
        with self.appending(path) as append:
            append(self, columns, renamed)

    @abstractmethod
    def types(self, names: list[str], known: dict[str, Any]) -> dict[str, Any]:
        """Return the types of columns that hold the values of these rows and of ``known`` types."""

    @abstractmethod
    def arrow(self, names: list[str], types: dict[str, Any]) -> Any:
        """Return an Arrow table of columns of these types."""

    @classmethod
    @abstractmethod
    def joined(cls, path: Path, parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
        """Join some rows of several parts into one source."""

    def take(self, rows: np.ndarray) -> Any:
        """Return a source of some of the rows."""
        return self.joined(self.path, [(self, rows)])

    @abstractmethod
    def beside(self, texts: dict[str, str | None], types: dict[str, Any]) -> Any:
        """Return the source with further columns of one value each, given as texts of Arrow
        types.
        """

    def in_folders(self, types: dict[str, Any]) -> Any:
        """Return the source with the columns of its folders ``name=value``, of these types, that
        it does not have itself.
        """
        texts = {n: text for n, text in folder_values(self.path).items() if n in types}
        texts = {name: text for name, text in texts.items() if name not in self.content}
        return self.beside(texts, types) if texts else self

    def __len__(self) -> int:
        return len(next(iter(self.content.values()), ()))

    @property
    def fields(self) -> dict[str, Any]:
        """The types of columns that another file of the table must have, too."""
        return {}

    def widened(self, fields: dict[str, Any]) -> Any:
        """Return the rows with these columns, without values where they lack one."""
        return self

    @abstractmethod
    def appending(self, path: Path) -> AbstractContextManager[Callable[..., None]]:
        """Return a context whose function appends a source to the file, with the arguments of
        ``write``.
        """


class ArrowSource(TableSource):
    """Table whose content is columns of an Arrow table."""

    table: Any
    #: A cell without a value.
    empty: ClassVar[str | None] = None

    @property
    def fields(self) -> dict[str, Any]:
        """The types of the columns."""
        return {field.name: field.type for field in self.table.schema}

    def widened(self, fields: dict[str, Any]) -> Any:
        """Return the rows with further columns."""
        arrow, table = import_extra("pyarrow", "reading tables", "cli"), self.table
        for name in fields.keys() - self.content.keys():
            cells = arrow.nulls(len(table), fields[name])
            table = table.append_column(
                name, cells if self.empty is None else cells.fill_null(self.empty)
            )
        return self.of_table(self.path, table.select(list(fields)), **self.further)

    @classmethod
    def of_table(cls, path: Path, table: Any, **own: Any) -> Any:
        """Make a source of an Arrow table."""
        return cls.holding(path, cls._columns(table), table=table, **own)

    @classmethod
    def _columns(cls, table: Any) -> dict[str, Any]:
        return {name: table.column(name) for name in table.column_names}

    def kinds(self) -> dict[str, str]:
        """Return each column's name -> "list" or "other"."""
        return arrow_engine.kinds(self.table)

    def beside(self, texts: dict[str, str | None], types: dict[str, Any]) -> Any:
        """Return the source with further columns of one value each."""
        arrow, table = import_extra("pyarrow", "reading tables", "cli"), self.table
        for name, text in texts.items():
            value = arrow.scalar(text, arrow.string()).cast(types[name])
            table = table.append_column(name, arrow.repeat(value, len(table)))
        return self.of_table(self.path, table, **self.further)

    @property
    def further(self) -> dict[str, Any]:
        """Attributes of the source beside its content."""
        return {name: value for name, value in vars(self).items() if name not in READ}

    def types(self, names: list[str], known: dict[str, Any]) -> dict[str, Any]:
        """Return nothing: the columns have types."""
        return known

    def arrow(self, names: list[str], types: dict[str, Any]) -> Any:
        """Return the columns."""
        return self.table.select(names)

    @classmethod
    def joined(cls, path: Path, parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
        """One source of some rows of parts."""
        arrow = import_extra("pyarrow", "reading tables", "cli")
        first = parts[0][0]
        names = list(first.content)
        with reading_file(
            path, "a table whose columns are of one kind in every file", "write them again"
        ):
            tables = [part.table.select(names).take(rows) for part, rows in parts]
            table = arrow.concat_tables(tables, promote_options="permissive")
        return cls.of_table(path, table, **first.further)


class CsvSource(ArrowSource):
    """CSV columns as text, so that other columns are written back unchanged in their encoding."""

    kind, empty = "csv", ""
    encoding: str
    separator: str

    def _open(self, path: Any, file: Any) -> dict[str, Any]:
        arrow = import_extra("pyarrow", "reading tables", "cli")
        parts = list(csv_tables(file, path, None))
        self.table: Any = arrow.concat_tables([part[0] for part in parts])
        _, self.separator, self.encoding = parts[0]
        return self._columns(self.table)

    def beside(self, texts: dict[str, str | None], types: dict[str, Any]) -> Any:
        """Return the source with further columns of one text each."""
        string = import_extra("pyarrow", "reading tables", "cli").string()
        shown = {name: text or "" for name, text in texts.items()}
        return super().beside(shown, dict.fromkeys(texts, string))

    def column(self, name: str) -> Texts:
        """Return texts; decimal commas become points if commas do not separate the values."""
        texts = self.content[name]
        if self.separator == ",":
            return texts
        if not texts.has_commas and texts.may_be_grouped:
            other = next((own for own, column in self.content.items() if column.has_commas), None)
            if other is not None:
                raise InputError(
                    f"{self.path}: the points in {name!r} may be decimal points or stand between"
                    f" thousands, as {other!r} has decimal commas; write {name!r} without points."
                )
        return texts.with_points

    def types(self, names: list[str], known: dict[str, Any]) -> dict[str, Any]:
        """Return the kind of each column of texts."""
        return {name: known.get(name, 0) | self.column(name).kind for name in names}

    def arrow(self, names: list[str], types: dict[str, Any]) -> Any:
        """Return the columns as numbers or text."""
        columns = {name: self.column(name).of_kind(types[name]) for name in names}
        return import_extra("pyarrow", "reading tables", "cli").table(columns)

    @classmethod
    def _columns(cls, table: Any) -> dict[str, Any]:
        return {name: Texts(table.column(name)) for name in table.column_names}

    @classmethod
    def parts(cls, path: Path, file: Any, cells: int) -> Iterator[Any]:
        """Sources of some rows each."""
        for table, separator, encoding in csv_tables(file, path, cells):
            yield cls.of_table(path, table, encoding=encoding, separator=separator)

    @contextmanager
    def appending(self, path: Path) -> Iterator[Callable[..., None]]:
        """Write columns that are not replaced without any change."""
        with open(path, "w", newline="", encoding=self.encoding) as file:
            writer, header = csv.writer(file, delimiter=self.separator, lineterminator="\n"), []
            comma = any(self.column(name) is not texts for name, texts in self.content.items())

            def append(
                source: Any, columns: dict[str, np.ndarray], renamed: dict[str, str]
            ) -> None:
                texts = {
                    name: [_as_text(value, comma) for value in values.tolist()]
                    for name, values in columns.items()
                }
                content = replaced(source.content, texts, renamed)
                if not header:
                    header.extend(content)
                    writer.writerow(header)
                # Another file of the table may order its columns differently.
                writer.writerows(zip(*(content[name] for name in header), strict=True))

            yield append


def _as_text(value: Any, comma: bool) -> str:
    """Format a value as a cell: empty if it is missing, numbers with the file's decimal mark."""
    if value is None or value != value:
        return ""
    return (
        value if isinstance(value, str) else repr(value).replace(".", ",") if comma else repr(value)
    )


class ParquetSource(ArrowSource):
    """Parquet file as an Arrow table."""

    kind = "parquet"

    def _open(self, path, file):
        parquet = import_extra("pyarrow.parquet", "reading parquet", "cli")
        with reading_file(path, "a parquet file", "write it again"):
            self.table: Any = parquet.read_table(file)
            self.table.validate(full=True)
        distinct(self.table.column_names, path)
        return self._columns(self.table)

    def column(self, name: str) -> np.ndarray:
        """Return a NumPy array, with strings as objects."""
        with reading_file(
            self.path, f"a file whose column {name!r} holds plain values", "write that column again"
        ):
            return self.content[name].to_numpy()

    @classmethod
    def parts(cls, path: Path, cells: int) -> Iterator[Any]:
        """Sources of some rows each."""
        pyarrow, parquet = (
            import_extra(name, "reading parquet", "cli") for name in ("pyarrow", "pyarrow.parquet")
        )
        with (
            reading_file(path, "a parquet file", "write it again"),
            path.open("rb") as opened,
            parquet.ParquetFile(opened) as file,
        ):
            names = distinct(file.schema_arrow.names, path)
            rows = max(1, min(PART_ROWS, cells // max(len(names), 1)))
            for batch in file.iter_batches(batch_size=rows):
                yield cls.of_table(path, pyarrow.Table.from_batches([batch]))

    @contextmanager
    def appending(self, path: Path) -> Iterator[Callable[..., None]]:
        """Write columns that are not replaced with their types."""
        pyarrow, parquet = (
            import_extra(name, "writing parquet", "cli") for name in ("pyarrow", "pyarrow.parquet")
        )
        writers = []

        def append(source: Any, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
            content = replaced(
                source.content,
                {name: pyarrow.array(values, from_pandas=True) for name, values in columns.items()},
                renamed,
            )
            own = source.table.schema
            fields = [
                pyarrow.field(name, content[name].type) if name in columns else own.field(name)
                for name in content
            ]
            schema = writers[0].schema if writers else pyarrow.schema(fields, metadata=own.metadata)
            if not writers:
                writers.append(parquet.ParquetWriter(path, schema))
            with reading_file(
                path, "a table whose columns are of one kind in every file", "write them again"
            ):
                writers[0].write_table(
                    pyarrow.table([content[name] for name in schema.names], schema=schema)
                )

        try:
            yield append
        finally:
            for writer in writers:
                writer.close()


class JsonlSource(TableSource):
    """JSON lines, one object each; a nested value is named by its path of keys, as in
    ``model.score``.
    """

    kind = "jsonl"
    objects: list[dict[str, Any]]
    #: Numbers of their lines, from 1.
    lines: list[int]

    def _open(self, path, file):
        self.objects, self.lines = objects_of(decoded(file.read(), path)[0], path)
        return NestedColumns(self.objects, path)

    @classmethod
    def of_objects(cls, objects: list[dict[str, Any]], lines: list[int], path: Path) -> Any:
        """Make a source of these objects and their lines."""
        return cls.holding(path, NestedColumns(objects, path), objects=objects, lines=lines)

    def beside(self, texts: dict[str, str | None], types: dict[str, Any]) -> Any:
        """Return the source with further values in each object; times are texts."""
        scalar = import_extra("pyarrow", "reading tables", "cli").scalar
        values: dict[str, Any] = dict(texts)
        for name, text in texts.items():
            kind = str(types[name])
            if text is not None and kind in ("int64", "double", "bool"):
                values[name] = scalar(text).cast(types[name]).as_py()
        objects = [{**one, **values} for one in self.objects]
        return self.of_objects(objects, self.lines, self.path)

    def __len__(self) -> int:
        return len(self.objects)

    @classmethod
    def parts(cls, path: Path, file: Any, cells: int) -> Iterator[Any]:
        """Sources of some rows each."""
        given = False
        for data, _, done in utf8_blocks(file, path, cells):
            if data.strip():
                yield cls.of_objects(*objects_of(data.decode(), path, done), path)
                given = True
        if not given:
            objects_of("", path)  # refuses a file without an object

    def column(self, name: str) -> np.ndarray:
        """Return a NumPy array, with values of several kinds as objects."""
        values = self.content[name]
        listed = next((value for value in values if isinstance(value, list | dict)), None)
        if listed is not None:
            raise InputError(
                f"{self.path}: {name!r} must hold one value per line; it holds {abridged(listed)};"
                " name another."
            )
        return array_of(values) if _mixes_booleans(values) else label_array(values, name)

    def kinds(self) -> dict[str, str]:
        """Return each column's name -> "list" or "other"."""
        return {
            name: "list" if any(isinstance(value, list) for value in values) else "other"
            for name, values in self.content.items()
        }

    def types(self, names: list[str], known: dict[str, Any]) -> dict[str, Any]:
        """Return an Arrow type for all values of each column: text if they are of several kinds."""
        pyarrow = import_extra("pyarrow", "reading tables", "cli")
        types = {}
        for name in names:
            values = self._values(name)
            try:
                if _mixes_booleans(values):
                    raise pyarrow.ArrowInvalid  # Arrow reads true as 1
                own = pyarrow.array(values, from_pandas=True).type
                fields = [pyarrow.field(name, one) for one in (own, known.get(name, own))]
                schemas = [pyarrow.schema([field]) for field in fields]
                unified = pyarrow.unify_schemas(schemas, promote_options="permissive")
                types[name] = unified.field(0).type
            except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError):
                types[name] = pyarrow.string()
        return types

    def arrow(self, names: list[str], types: dict[str, Any]) -> Any:
        """Return the columns; values of several kinds as text."""
        pyarrow = import_extra("pyarrow", "reading tables", "cli")
        columns = {}
        for name in names:
            values, text = self._values(name), types[name] == pyarrow.string()
            if text:
                # Half of a character, which JSON may hold, is written as its code.
                texts = (None if value is None else str(value) for value in values)
                values = [one and one.encode("utf-8", "backslashreplace").decode() for one in texts]
            columns[name] = pyarrow.array(values, types[name], from_pandas=True)
        return pyarrow.table(columns)

    def _values(self, name: str) -> list[Any]:
        """Return the values of a column, which other parts of the file may have."""
        return self.content.get(name, [None] * len(self))

    @classmethod
    def joined(cls, path: Path, parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
        """One source of some rows of parts."""
        rows = [(part, i) for part, some in parts for i in some.tolist()]
        objects = [part.objects[i] for part, i in rows]
        return cls.of_objects(objects, [part.lines[i] for part, i in rows], path)

    @contextmanager
    def appending(self, path: Path) -> Iterator[Callable[..., None]]:
        """Write values that are not replaced without any change."""
        with open(path, "w", newline="\n", encoding="utf-8", errors="backslashreplace") as file:

            def append(
                source: Any, columns: dict[str, np.ndarray], renamed: dict[str, str]
            ) -> None:
                lists = {
                    name: [None if v != v else v for v in values.tolist()]
                    for name, values in columns.items()
                }
                for i, old in enumerate(source.objects):
                    new = {renamed.get(name, name): value for name, value in old.items()}
                    for name, values in lists.items():
                        *outer, last = source.content.found[1].get(name, (name,))
                        reduce(getitem, outer, new)[last] = values[i]
                    file.write(json.dumps(new, ensure_ascii=False) + "\n")

            yield append


def _mixes_booleans(values: list[Any]) -> bool:
    kinds = {type(value) for value in values} - {type(None)}
    return bool in kinds and len(kinds) > 1
