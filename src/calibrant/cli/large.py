"""Reports and fits for large tables, from sums over all rows, else from a sample of them."""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from calibrant.cli.choosing import chosen, fitting
from calibrant.cli.columns import as_floats, labels_in, rater_columns
from calibrant.cli.options import Columns
from calibrant.cli.predictions import (
    column_order,
    key_of,
    labelled,
    read_file,
    read_source,
    require_inputs,
    rows_left,
)
from calibrant.cli.tables import progress
from calibrant.cli.wording import few, say
from calibrant.core.domain import Facet
from calibrant.core.extras import import_extra
from calibrant.core.labels import places
from calibrant.core.model_outputs import is_fitted
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.stores import stamp, unpacked
from calibrant.errors import InputError, MissingDependencyError
from calibrant.reporting.table.report import TableReport
from calibrant.tables.apply import TableRows, drawn, row_count, row_hash
from calibrant.tables.columns import Layout
from calibrant.tables.engines.parts_engine import Parts, batches
from calibrant.tables.paths import STDIN, paths_of
from calibrant.tables.sources import open_source, parts_of
from calibrant.tables.texts import Texts

__all__ = ["STREAMED_ROWS", "large_fit", "large_report", "large_rows", "parts_to_read", "read_any"]

#: Reason why a sample is read.
OF_STATES = "the options need rows, not sums"
#: Tables with more rows than this are read in parts; the environment variable ENVIRONMENT
#: overrides it.
STREAMED_ROWS = 1_000_000
ENVIRONMENT = "CALIBRANT_STREAMED_ROWS"
#: Reports from sums over a table that is too large for memory, by domain.
COUNTED: Facet[type[TableReport]] = Facet("reports from sums")
COUNTED.register(CLASSIFICATION, lambda: TableReport)
TEXT = (".csv", ".tsv", ".jsonl", ".ndjson")
BLOCK = 2**22


def large_rows(path: Path | list[Path]) -> int | None:
    """Return the number of rows (lines) of a table read in parts; None for smaller ones, STDIN."""
    limit, files = _limit(), paths_of(path)
    if path == STDIN or not all(file.is_file() and _in_parts(file) for file in files):
        return None
    text = [file for file in files if _is_text(file)]
    try:
        # Lines are not counted if the size of the files shows that there are few.
        few_lines = (
            sum(BLOCK if file.suffix.lower() == ".gz" else stamp(file)[0] for file in text)
            <= 2 * limit
        )
        rows = row_count(files) if not text else 0 if few_lines else sum(map(_lines, text))
    except (InputError, MissingDependencyError, OSError, EOFError, zlib.error):
        return None  # opening the whole file raises the error
    return rows if rows > limit else None


def _is_text(path: Any) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(TEXT)


def _in_parts(path: Any) -> bool:
    return _is_text(path) or path.suffix.lower() == ".parquet"


def _limit() -> int:
    told = os.environ.get(ENVIRONMENT, "")
    if told and not told.isdigit():
        raise InputError(
            f"{ENVIRONMENT} must be a whole number of rows; got {told!r}; correct or unset it."
        )
    return int(told) if told else STREAMED_ROWS


def _lines(path):
    """Count the lines of a file without that of column names, which JSON lines do not have."""
    named = path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    with unpacked(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b"")) - named


def _read_sample(
    path: Path,
    count: int,
    columns: Columns,
    why: str,
    *,
    cluster: str | None = None,
    prefer: str | None = None,
) -> Any:
    """Read a seeded sample of rows, drawn by row or cluster, as a file of predictions, and print
    its size.
    """
    share, chosen, start, rows = _limit() / count, [], 0, 0
    for part in parts_of(labelled(path, columns)):
        n = len(part)
        number = row_hash(start, n) if cluster is None else _of_clusters(part, cluster)
        own = drawn(number, share)
        if len(own):
            # Copy the chosen rows, so that the memory of the part can be freed.
            chosen.append((type(part).joined(path, [(part, own)]), np.arange(len(own))))
        start, rows = start + n, rows + len(own)
    say(
        f"{path} has {start:,} rows; {why}, so a seeded sample of {rows:,} rows is read.",
        err=True,
    )
    said = (
        f"The numbers are of a seeded sample of {rows:,} of the {start:,}"
        f" {'rows' if cluster is None else 'rows, drawn by cluster'}."
    )
    if not chosen:
        raise InputError(
            f"{path} must have enough rows for a sample; none was drawn; raise {ENVIRONMENT}."
        )
    source = type(chosen[0][0]).joined(path, chosen)
    source.said = said
    return read_source(source, columns, prefer=prefer)


def _of_clusters(part, name):
    """Return a hash for each row that is the same for all rows of its cluster."""
    values, of_row = np.unique(
        np.asarray(part.column(part.require(name))).astype(str), return_inverse=True
    )
    return np.concatenate([row_hash(zlib.crc32(value.encode()), 1) for value in values.tolist()])[
        of_row
    ]


def large_report(
    path: Path,
    columns: Columns,
    method: str | None,
    loaded: Any,
    *,
    default: Any = None,
    target: str | None,
    n_bins: int | None,
    title: str,
) -> Any:
    """Compute the report on a file read in parts; return None if it is not large, or sums do not
    suffice.
    """
    with _asked(path, columns, method, loaded, default, target, n_bins, title) as asked:
        return None if asked is None else asked.made()


def large_fit(
    path: Path, columns: Columns, method: str | None, target: str | None, check: Callable[..., Any]
) -> Any:
    """Fit on a file read in parts and return (the calibrator, a description of the rows), or None
    as ``large_report`` does. ``check`` validates the target.
    """
    with _asked(path, columns, method, None, None, target, None, "", check) as asked:
        if asked is None:
            return None
        fitted, said = asked.fitted()
        names = asked.rows.layout.values
        if len(names) == 1:
            fitted.risk_column_ = (names[0], asked.rows.layout.inputs)
        return fitted, said


@contextmanager
def _asked(path, columns, method, loaded, default, target, n_bins, title, check=None):
    """Yield the report or fit of the table, with a progress bar for its passes."""
    count = large_rows(path)
    if count is None:
        yield None
        return
    with large_table(path, count, columns, getattr(loaded, "inputs", None)) as table:
        asked = None
        if table is not None:
            if check is not None:
                check(target, method, table.data)
            calibrator = chosen(method, loaded, table.data, default=default, target=target)
            asked = table.asks(
                calibrator,
                table.data.asked(target, calibrator) if check is None else None,
                n_bins,
                title,
            )
        if asked is None:
            yield None
            return
        say(
            f"{path} has {asked.count:,} rows: it is read in parts, and sums are added up.",
            err=True,
        )
        with progress("rows", asked.count * asked.passes, amounts=True) as step:
            yield asked.shown_by(step)


def read_any(
    path: Path, columns: Columns, *, cluster: str | None = None, prefer: str | None = None
) -> Any:
    """Read the file as ``read_file`` does; of a large one only a sample of its rows."""
    count = large_rows(path)
    if count is None:
        return read_file(path, columns, prefer=prefer)
    return _read_sample(path, count, columns, OF_STATES, cluster=cluster, prefer=prefer)


@dataclass(frozen=True)
class LargeTable:
    """Parquet files with their number of rows and columns; ``data`` holds the first rows as a file
    of predictions, in which all labels of the table occur.
    """

    paths: list[str]
    count: int
    columns: Columns
    label: str
    weight: str | None
    labels: list[Any]
    data: Any

    def asks(
        self, calibrator: Any, question: Any, n_bins: int | None, title: str = ""
    ) -> TableReport | None:
        """Return the report from sums over the table; None if sums do not suffice. ``question`` is
        a resolved target, or None for a fit.
        """
        if calibrator.tags.uses_groups or calibrator.tags.uses_features:
            return None
        data, (names, classes) = self.data, self._ordered(calibrator)
        question = ("event" if len(classes) == 2 else "classes") if question is None else question
        if len(classes) == 2 and question not in ("answer", "classes"):
            if question != "event" and question == classes[0]:
                names, classes = names[::-1], classes[::-1]
                if len(names) == 1 or is_fitted(calibrator):
                    return None
            question = "event"
        elif question not in ("answer", "classes"):
            return None
        if len(names) == 1:
            layout = Layout(
                "event",
                tuple(names),
                None,
                self.label,
                weight=self.weight,
                event=classes[1],
                inputs=data.inputs,
            )
            self._require_known(classes)
        else:
            layout = Layout(
                "columns",
                tuple(names),
                tuple(classes),
                self.label,
                weight=self.weight,
                inputs=data.inputs,
            )
        bins = {} if n_bins is None else {"n_bins": n_bins}
        return COUNTED[data.domain](
            TableRows(self.paths, layout),
            self.count,
            list(classes),
            calibrator,
            question,
            title=title,
            **bins,
        )

    def _ordered(self, calibrator):
        """Return (columns, labels) in the order of a fitted calibrator's classes, or the file's."""
        data = self.data
        if not is_fitted(calibrator):
            return data.names, data.own_classes
        require_inputs(data, calibrator)
        classes = calibrator.classes_.tolist()
        return (
            data.names
            if len(data.names) == 1
            else [data.names[j] for j in column_order(data, classes)]
        ), classes

    def _require_known(self, classes):
        """Refuse labels that are not classes, unless --positive makes all of them no event."""
        unknown = (
            []
            if self.columns.positive is not None
            else [
                label
                for label, place in zip(self.labels, places(self.labels, classes), strict=True)
                if place < 0
            ]
        )
        if unknown:
            raise InputError(
                f"the labels of {self.data.path} must be among the classes {few(classes)}; got"
                f" {few(unknown)}."
            )


@contextmanager
def large_table(
    path: Path, count: int, columns: Columns, prefer: str | None = None
) -> Iterator[LargeTable | None]:
    """Yield the table, with text first written to a temporary Parquet file; None if the file has no
    probabilities or logits of classes.
    """
    paths = labelled(path, columns)
    count = large_rows(paths) or count
    first, read = next(iter(parts_of(paths))), replace(columns, skip_missing=False)
    if columns.skip_missing:
        first = _complete(first, columns, prefer)
    found = _headed(first, read, prefer)
    if found is None:
        yield None
        return
    (names, label, weight), classes = found
    with TemporaryDirectory(prefix="calibrant-") as folder:
        files = list(paths)
        if first.kind != "parquet" or columns.skip_missing:
            files = [f"{folder}/rows.parquet"]
            numbers = [*names, *([weight] if weight else [])]
            table = Parts(parts_to_read(path, paths, columns, prefer), partial(_floats, numbers))
            count = _spooled(table, [*numbers, label], files[0], count)
        labels = labels_in(files, label, [*columns.declared, *map(str, classes)])
        data: Any = read_source(_with_labels(first, label, labels), read, prefer=prefer)
        fitting(None, data)
        yield LargeTable(files, count, columns, label, weight, labels, data)


def parts_to_read(
    path: Path, paths: list[Path], columns: Columns, prefer: str | None = None
) -> Callable[[], Iterable[Any]]:
    """Return a function that reads the parts of a table, without the rows to skip, whose number it
    prints.
    """
    read = partial(parts_of, paths) if paths != [STDIN] else partial(iter, [open_source(STDIN)])
    if not columns.skip_missing:
        return read
    left = [rows_left(part, columns, True, prefer) for part in read()]
    rows, lost = sum(map(len, left)), sum(int(np.sum(~own)) for own in left)
    if lost:
        say(
            f"{path}: {lost:,} of {rows:,} rows are left out, because they lack a prediction, label"
            " or weight.",
            err=True,
        )
    return lambda: (_complete(part, columns, prefer) for part in read())


def _complete(part: Any, columns: Columns, prefer: str | None) -> Any:
    return part.take(np.flatnonzero(rows_left(part, columns, True, prefer)))


def _floats(names: list[str], made: Any, part: Any) -> Any:
    """Replace columns of an Arrow table by their numbers; refuse those that hold others."""
    arrow = import_extra("pyarrow", "counting large files", "cli")
    for name in names:
        values = arrow.array(as_floats(part.column(name), name, part.path))
        made = made.set_column(made.column_names.index(name), name, values)
    return made


def _headed(first, columns, prefer):
    """Return (names of predictions, label and weight) and the classes; None for another kind."""
    other_labels = columns.predicted or rater_columns(first, columns.label)
    if columns.unit not in (None, "probability", "logit") or other_labels:
        return None
    data: Any = read_source(first, columns, labels=False, prefer=prefer)
    if data.domain not in COUNTED:
        return None
    label = key_of(first, columns.label, "label")
    if label is None:
        read_source(first, columns, prefer=prefer)  # its error lists the usual names
    return (data.names, label, key_of(first, columns.weight, "weight")), data.classes or ()


def _spooled(table: Parts, names: list[str], target: str, count: int) -> int:
    """Write columns to Parquet; return the number of rows."""
    parquet, writer, rows = import_extra("pyarrow.parquet", "counting large files", "cli"), None, 0
    try:
        with progress("rows read", count, amounts=True) as step:
            for batch in batches(table, names):
                writer = writer or parquet.ParquetWriter(target, batch.schema)
                writer.write_batch(batch)
                step(batch.num_rows)
                rows += batch.num_rows
    finally:
        if writer is not None:
            writer.close()
    return rows


def _with_labels(first, name, labels):
    """Replace the labels of the first part by all labels of the table, in turn."""
    n = max(len(first), len(labels))
    values = (labels * (n // len(labels) + 1))[: len(first)]
    if first.kind == "csv":
        values = Texts.of([str(value) for value in values])
    elif first.kind == "parquet":
        arrow = import_extra("pyarrow", "counting large files", "cli")
        values = arrow.chunked_array([arrow.array(values)])
    beside = {key: own for key, own in vars(first).items() if key not in ("path", "content")}
    return type(first).holding(first.path, {**first.content, name: values}, **beside)
