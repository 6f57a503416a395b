"""Tables of predictions of any kind and size, read into records with the columns beside them.

A large table is read in parts: a sample of its rows is drawn, or sums over all are added up.
"""

import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from calibrant._numerics.logistic import sigmoid
from calibrant.core.extras import import_extra
from calibrant.core.groups import NamedColumns, clustered
from calibrant.core.labels import SoftLabels, array_of, places
from calibrant.core.model_outputs import is_fitted
from calibrant.core.stores import stamp, unpacked
from calibrant.core.text_table import few
from calibrant.errors import InputError, MissingDependencyError, Note, warn
from calibrant.tables.apply import TableRows, drawn, row_count, row_hash
from calibrant.tables.batching import rows_from
from calibrant.tables.class_files import PredictionFile, column_order, require_inputs
from calibrant.tables.columns import Layout, event_places, of_one_kind, pair_of
from calibrant.tables.data_file import FILES, DataFile, kind_of
from calibrant.tables.engines.parts_engine import Parts, batches
from calibrant.tables.forecast_files import ForecastFile
from calibrant.tables.names import ARRAYS, OUTCOMES, Columns, require_different
from calibrant.tables.opening import open_source, parts_of
from calibrant.tables.paths import paths_of
from calibrant.tables.roles import (
    as_floats,
    as_risk,
    key_of,
    label_of,
    labels_in,
    missing_in,
    rater_columns,
)
from calibrant.tables.texts import Texts

__all__ = [
    "STREAMED_ROWS",
    "LargeTable",
    "as_numbers",
    "column_of",
    "columns_of",
    "features_of",
    "labelled",
    "large_rows",
    "large_table",
    "names_in_option",
    "parts_to_read",
    "read_any",
    "read_file",
    "read_source",
    "rows_left",
]

#: Kinds of files of which a table may have several, and the number of values in the part that shows
#: whether one has labels.
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
HEAD = 2**13


def read_file(
    path: Path, columns: Columns | None = None, *, labels: bool = True, prefer: str | None = None
) -> DataFile:
    """Read predictions of classes, or forecasts of a number, and their labels if ``labels``.

    Parameters
    ----------
    path : Path ending in .npz, .npy, .csv or .parquet
    columns : Columns, optional
    labels : bool
        Whether the file must have true labels.
    prefer : "probability" or "logit", optional
        The one to read if the file holds both.
    """
    columns = Columns() if columns is None else columns
    return read_source(
        open_source(path, labelled(path, columns) if labels else None),
        columns,
        labels=labels,
        prefer=prefer,
    )


def labelled(path: Path, columns: Columns) -> list[Path]:
    """Return the files of a table; of several, leave out those that have no labels yet, and print
    their names.
    """
    files = paths_of(path)
    names = [*ARRAYS["label"], *OUTCOMES] if columns.label is None else [columns.label]
    lost = [file for file in files if len(files) > 1 and _unlabelled(file, columns, names)]
    if not 0 < len(lost) < len(files):
        return files
    warn(
        f"{few(lost)} {'has' if len(lost) == 1 else 'have'} no labels yet and"
        f" {'is' if len(lost) == 1 else 'are'} left out; `calibrant estimate {lost[-1]}"
        f" --reference {path}` estimates how good the model is there.",
        Note,
    )
    return [file for file in files if file not in lost]


def _unlabelled(file: Path, columns: Columns, names: list[str]) -> bool:
    """Whether no row of a file has an outcome; False for a file without rows, and for logs of
    questions, whose rows differ.
    """
    if not file.name.lower().removesuffix(".gz").endswith(TABLES):
        return False
    rows = 0
    for part in parts_of([file], HEAD):
        known = (
            name in part.content and not missing_in(part, name, columns.declared).all()
            for name in names
        )
        if kind_of(part, columns).rows_differ or (len(part) and any(known)):
            return False
        rows += len(part)
    return rows > 0


def read_source(
    source: Any, columns: Columns, *, labels: bool = True, prefer: str | None = None
) -> DataFile:
    """Read predictions from an open file, which may hold several."""
    kind = kind_of(source, columns)
    if columns.skip_missing:
        source = _without_missing(source, columns, labels, prefer)
    return kind.read(source, columns, labels, prefer)


def rows_left(source: Any, columns: Columns, labels: bool, prefer: str | None = None) -> np.ndarray:
    """Return (n,) whether each row has a prediction, and a label and a weight if these are read."""
    if source.kind == "npy":
        raise InputError(
            f"--skip-missing needs a table; {source.path} has predictions only; save them with"
            " their labels, as .npz."
        )
    return kind_of(source, columns).complete(source, columns, labels, prefer)


def _without_missing(source, columns, labels, prefer):
    """Drop rows that lack a prediction, a label or a weight, and print their number."""
    left = rows_left(source, columns, labels, prefer)
    if left.all():
        return source
    if not left.any():
        raise InputError(
            f"{source.path} must have a row with a prediction{' and a label' if labels else ''};"
            f" all {len(left):,} rows lack one; name other columns."
        )
    warn(
        f"{source.path}: {np.sum(~left):,} of {len(left):,} rows are left out, because they lack a"
        " prediction, label or weight.",
        Note,
    )
    return source.take(np.flatnonzero(left))


def column_of(data: DataFile, name: str | None) -> Any:
    """Return one further array or column of a file without conversion; None for None."""
    return None if name is None else np.asarray(data.source.column(data.source.require(name)))


def columns_of(data: DataFile, names: str | list[str], option: str | None = None) -> dict[str, Any]:
    """Return columns of groups by their names, separated by commas unless a name has one. Texts
    become numbers, and empty ones missing values.

    Columns named in an ``option`` must not be the outcome or, for --groups, a prediction.
    """
    if isinstance(names, str):
        names = names_in_option(data.source, names)
    columns = {name: data.source.column(data.source.require(name)) for name in names}
    if option is not None:
        _refuse_judged(data, names, option)
    csv = data.source.kind == "csv"
    return {name: own.levels() if csv else _alike(np.asarray(own)) for name, own in columns.items()}


def _alike(values: np.ndarray) -> np.ndarray:
    return array_of(of_one_kind(values.tolist())) if values.dtype == object else values


def names_in_option(source: Any, text: str) -> list[str]:
    """Split the names of an option at commas, unless a column has the whole text as its name."""
    if text in source.content:
        return [text]
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InputError(
            f"{text!r} names no column of {source.path}; name one of {source.described()}."
        )
    require_different(names, f"{text!r}")
    return names


def features_of(source: Any, names: list[str], texts: bool = False) -> Any:
    """Return columns of features as numbers, or one array of several dimensions unchanged. With
    ``texts``, columns that hold other values are levels.
    """
    found = {name: source.column(source.require(name)) for name in names}
    deep = [values for values in found.values() if getattr(values, "ndim", 1) > 1]
    if deep and len(found) == 1:
        return deep[0]
    if deep or not found:
        raise InputError(
            f"--features must name columns of numbers, or one array of several dimensions; got"
            f" {', '.join(names) or 'no name'} in {source.path}; name that array alone."
        )
    for name in names:
        missing = np.flatnonzero(missing_in(source, name))
        if len(missing):
            raise InputError(
                f"{source.path}: the feature {name!r} must be known in every row; row {missing[0]}"
                f" is missing ({len(missing)} in all); fill it in, drop those rows, or leave"
                " the column out of --features."
            )
    return NamedColumns({name: _feature(source, name, texts) for name in names})


def _feature(source: Any, name: str, texts: bool) -> np.ndarray:
    values = source.column(name)
    try:
        return as_floats(values, name, source.path)
    except InputError as error:
        if texts:
            return values.levels() if source.kind == "csv" else np.asarray(values)
        raise InputError(
            f"--features must name columns of numbers: {str(error).rstrip('.')}, or name others."
        ) from None


def _refuse_judged(data: DataFile, names: list[str], option: str) -> None:
    """Refuse the outcome among groups or features, because it would leak, and predictions among
    groups.
    """
    judged = (
        dict.fromkeys(data.columns, "a prediction") if option == "--groups" else {}
    ) | dict.fromkeys(data.outcome, "the outcome")
    found = next((name for name in names if name in judged), None)
    if found is not None:
        raise InputError(
            f"{option} must name columns that are known before the outcome; {found!r} is"
            f" {judged[found]} of {data.path}; leave it out."
        )


#: Tables with more rows than this are read in parts; the environment variable ENVIRONMENT
#: overrides it.
STREAMED_ROWS = 1_000_000
ENVIRONMENT = "CALIBRANT_STREAMED_ROWS"
TEXT = (".csv", ".tsv", ".jsonl", ".ndjson")
FEATURE, BLOCK = "counting large files", 2**22


def large_rows(path: Path | list[Path]) -> int | None:
    """Return the number of rows (lines) of a table read in parts; None for smaller ones."""
    limit, files = _limit(), paths_of(path)
    text = [file for file in files if file.name.lower().removesuffix(".gz").endswith(TEXT)]
    parquet = [file for file in files if file.suffix.lower() == ".parquet"]
    if len(text) + len(parquet) < len(files) or not all(file.is_file() for file in files):
        return None
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


def _limit() -> int:
    limit = os.environ.get(ENVIRONMENT, "")
    if limit and not limit.isdigit():
        raise InputError(
            f"{ENVIRONMENT} must be a whole number of rows; got {limit!r}; correct or unset it."
        )
    return int(limit) if limit else STREAMED_ROWS


def _lines(path: Any) -> int:
    """Count the lines of a file without that of column names, which JSON lines do not have."""
    named = path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    with unpacked(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b"")) - named


def read_any(
    path: Path,
    columns: Columns,
    *,
    cluster: str | None = None,
    prefer: str | None = None,
    check: Callable[[DataFile, Any], Any] | None = None,
) -> DataFile:
    """Read the file as ``read_file`` does; of a large one only a seeded sample of rows, drawn by
    row or cluster, whose size is said. All its rows are checked, also by ``check`` of the file and
    its record, which reads further columns.
    """
    count = large_rows(path)
    if count is None:
        return read_file(path, columns, prefer=prefer)
    read = parts_to_read(path, labelled(path, columns), columns, prefer)
    columns = replace(columns, skip_missing=False)
    require = partial(_check, columns, prefer, cluster, check)
    share, chosen, doubtful, start, rows = _limit() / count, [], {}, 0, 0
    for part in read():
        n = len(part)
        number = row_hash(start, n) if cluster is None else _of_clusters(part, cluster)
        own = drawn(number, share)
        if len(own):
            # Copy the chosen rows, so that the memory of the part can be freed.
            chosen.append((type(part).joined(path, [(part, own)]), np.arange(len(own))))
        if not _sound(require, part):
            doubtful[start] = slice(rows, rows + len(own))
        start, rows = start + n, rows + len(own)
    warn(
        f"{path} has {start:,} rows; the options need rows, not sums, so a seeded sample of"
        f" {rows:,} rows is read.",
        Note,
    )
    if not chosen:
        raise InputError(
            f"{path} must have enough rows for a sample; none was drawn; raise {ENVIRONMENT}."
        )
    source = type(chosen[0][0]).joined(path, chosen)
    if doubtful:
        _refuse_unsound(path, read(), doubtful, source, require)
    source.said = (
        f"The numbers are of a seeded sample of {rows:,} of the {start:,}"
        f" {'rows' if cluster is None else 'rows, drawn by cluster'}."
    )
    return read_source(source, columns, prefer=prefer)


def _sound(check: Callable[[Any], None], source: Any) -> bool:
    """Whether the rows of a table can be read."""
    try:
        check(source)
    except InputError:
        return False
    return True


def _refuse_unsound(
    path: Path,
    parts: Iterable[Any],
    doubtful: dict[int, slice],
    source: Any,
    check: Callable[[Any], None],
) -> None:
    """Raise the error of the first part that cannot be read with the rows of the sample, because
    alone it may lack a label; ``doubtful`` has the first row of each part to read, and its rows in
    the sample.
    """
    start = 0
    for part in parts:
        if start in doubtful:
            others = np.delete(np.arange(len(source)), doubtful[start])
            rows = [(part, np.arange(len(part))), (source, others)]
            with rows_from(start):
                check(type(part).joined(path, rows))
        start += len(part)


def _check(
    columns: Columns, prefer: str | None, cluster: str | None, check: Any, source: Any
) -> None:
    """Read all rows of a table; of a log, whose questions may have rows elsewhere, none."""
    if len(source) == 0 or kind_of(source, columns).rows_differ:
        return
    with warnings.catch_warnings(action="ignore"):
        data: Any = read_source(source, columns, prefer=prefer)
        beside = {"soft": True} if isinstance(data.labels, SoftLabels) else {}
        # Scores may be any numbers, as logits may.
        scores = data.inputs == "score"
        record = (replace(data, inputs="logit") if scores else data).record(**beside)
        clustered(record, column_of(data, cluster))
        if check is not None:
            check(data, record)


def _of_clusters(part: Any, name: str) -> np.ndarray:
    """Return a hash for each row that is the same for all rows of its cluster."""
    values, of_row = np.unique(
        np.asarray(part.column(part.require(name))).astype(str), return_inverse=True
    )
    return np.concatenate([row_hash(zlib.crc32(value.encode()), 1) for value in values.tolist()])[
        of_row
    ]


def parts_to_read(
    path: Path, paths: list[Path], columns: Columns, prefer: str | None = None
) -> Callable[[], Iterable[Any]]:
    """Return a function that reads the parts of a table, without the rows to skip, whose number is
    said.
    """
    read = partial(parts_of, paths)
    if not columns.skip_missing:
        return read
    left = [rows_left(part, columns, True, prefer) for part in read()]
    rows, lost = sum(map(len, left)), sum(int(np.sum(~own)) for own in left)
    if lost:
        warn(
            f"{path}: {lost:,} of {rows:,} rows are left out, because they lack a prediction, label"
            " or weight.",
            Note,
        )
    return lambda: (_complete(part, columns, prefer) for part in read())


def _complete(part: Any, columns: Columns, prefer: str | None) -> Any:
    return part.take(np.flatnonzero(rows_left(part, columns, True, prefer)))


def as_numbers(names: list[str], unit: str | None, made: Any, part: Any) -> Any:
    """Replace columns of an Arrow table by their numbers, or by the risks that these mean in a
    ``unit``; refuse those that hold others.
    """
    arrow = import_extra("pyarrow", FEATURE, "cli")
    for name in names:
        if name not in made.column_names:
            continue
        values, kind = as_floats(part.column(name), name, part.path), None
        if unit is not None:
            values, kind = as_risk(values, unit, name, part.path)
        values = arrow.array(sigmoid(values) if kind == "logit" else values)
        made = made.set_column(made.column_names.index(name), name, values)
    return made


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
    data: PredictionFile

    def summed(self, calibrator: Any, question: Any) -> tuple[TableRows, list[Any], str] | None:
        """Return (the rows, the classes in their order, the target) of sums over the table; None if
        sums do not suffice. ``question`` is a resolved target, or None for a fit.
        """
        if calibrator.tags.uses_groups or calibrator.tags.uses_features:
            return None
        names, classes = self._ordered(calibrator)
        question = ("event" if len(classes) == 2 else "classes") if question is None else question
        if len(classes) == 2 and question not in ("answer", "classes"):
            if question == classes[0] and question != "event":
                names, classes = names[::-1], classes[::-1]
                if len(names) == 1 or is_fitted(calibrator):
                    return None
            question = "event"
        elif question not in ("answer", "classes"):
            return None
        # The labels of a pair may have several spellings, so that the pair names the event.
        one, pair = len(names) == 1, pair_of([*self.labels, *classes]) is not None
        pair = pair and event_places(classes)[-1]
        if one and not pair:
            self._require_known(classes)
        layout = Layout(
            "event" if one else "columns",
            tuple(names),
            None if one else tuple(classes),
            self.label,
            weight=self.weight,
            event=classes[1] if one and not pair else None,
            inputs=self.data.inputs,
        )
        return TableRows(self.paths, layout), list(classes), question

    def _ordered(self, calibrator: Any) -> tuple[list[str], list[Any]]:
        """Return (columns, labels) in the order of a fitted calibrator's classes, or the file's."""
        names = self.data.names
        if not is_fitted(calibrator):
            return names, self.data.own_classes
        require_inputs(self.data, calibrator)
        classes = calibrator.classes_.tolist()
        order = [0] if len(names) == 1 else column_order(self.data, classes)
        return [names[j] for j in order], classes

    def _require_known(self, classes: list[Any]) -> None:
        """Refuse labels that are not classes, unless --positive makes all of them no event."""
        at = places(self.labels, classes)
        unknown = [label for label, place in zip(self.labels, at, strict=True) if place < 0]
        if unknown and (self.columns.positive is None or 1 not in at):
            raise InputError(
                f"the labels of {self.data.path} must be among the classes {few(classes)}; got"
                f" {few(unknown)}."
            )


@contextmanager
def large_table(
    path: Path, columns: Columns, prefer: str | None, progress: Callable[..., Any]
) -> Iterator[LargeTable | None]:
    """Yield the table, with text first written to a temporary Parquet file; None if it is not
    large, or has no probabilities or logits of classes. ``progress`` makes a progress bar.
    """
    if (count := large_rows(path)) is None:
        yield None
        return
    paths, read = labelled(path, columns), replace(columns, skip_missing=False)
    first, count = next(parts_of(paths)), large_rows(paths) or count
    if columns.skip_missing:
        first = _complete(first, columns, prefer)
    if (data := _predictions(first, read, prefer)) is None:
        yield None
        return
    label, weight = label_of(first, columns), key_of(first, columns.weight, "weight")
    with TemporaryDirectory(prefix="calibrant-") as folder:
        files = list(paths)
        if first.kind != "parquet" or columns.skip_missing:
            files = [f"{folder}/rows.parquet"]
            numbers = [*data.names, *([weight] if weight else [])]
            table = Parts(
                parts_to_read(path, paths, columns, prefer), partial(as_numbers, numbers, None)
            )
            with progress("rows read", count, amounts=True) as step:
                count = _spooled(table, [*numbers, label], files[0], step)
        named = [*columns.declared, *map(str, data.classes or ())]
        labels = labels_in(files, label, path, named)
        source = _with_labels(first, label, labels)
        source.path = first.path if len(paths) == 1 else path
        data = read_source(source, read, prefer=prefer)
        yield LargeTable(files, count, columns, label, weight, labels, data)


def _predictions(first: Any, columns: Columns, prefer: str | None) -> Any:
    """Return the first rows as predictions of classes without labels; None for another kind."""
    other_labels = columns.predicted or rater_columns(first, columns.label)
    if columns.unit not in (None, "probability", "logit") or other_labels:
        return None
    data = read_source(first, columns, labels=False, prefer=prefer)
    return data if isinstance(data, PredictionFile) else None


def _spooled(table: Parts, names: list[str], target: str, step: Callable[[int], Any]) -> int:
    """Write columns to Parquet; return the number of rows."""
    parquet, writer, rows = import_extra("pyarrow.parquet", FEATURE, "cli"), None, 0
    try:
        for batch in batches(table, names):
            writer = writer or parquet.ParquetWriter(target, batch.schema)
            writer.write_batch(batch)
            step(batch.num_rows)
            rows += batch.num_rows
    finally:
        if writer is not None:
            writer.close()
    return rows


def _with_labels(first: Any, name: str, labels: list[Any]) -> Any:
    """Replace the labels of the first part by all labels of the table, in turn."""
    n = max(len(first), len(labels))
    values = (labels * (n // len(labels) + 1))[: len(first)]
    if first.kind == "csv":
        values = Texts.of([str(value) for value in values])
    elif first.kind == "parquet":
        arrow = import_extra("pyarrow", FEATURE, "cli")
        values = arrow.chunked_array([arrow.array(values)])
    beside = {key: own for key, own in vars(first).items() if key not in ("path", "content")}
    return type(first).holding(first.path, {**first.content, name: values}, **beside)


FILES.register(PredictionFile.domain, lambda: PredictionFile)
FILES.register(ForecastFile.domain, lambda: ForecastFile)
