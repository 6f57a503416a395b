"""A file above a size as a table that is read in parts, pass by pass, for a report or a fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from calibrant._support.extras import import_extra
from calibrant.cli.choosing import fitting, require_inputs
from calibrant.cli.columns import as_floats
from calibrant.cli.options import Columns
from calibrant.cli.reading import column_order, key_of, read_source
from calibrant.cli.sources import parts_of
from calibrant.cli.tables import progress
from calibrant.cli.wording import few
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted
from calibrant.frames.coding import encode
from calibrant.frames.columns import Layout, whole_numbers
from calibrant.frames.engines.choosing import choose, opened, reading
from calibrant.frames.table_rows import TableRows
from calibrant.labels import places
from calibrant.reporting.table.report import TableReport

__all__ = ["LargeTable", "large_table"]

#: Labels of a table beyond which they are taken for something else.
MOST_LABELS = 100_000


@dataclass(frozen=True)
class LargeTable:
    """The Parquet file that is read, how many rows it has, its columns, and ``data``: the first rows as a file of predictions, in which all
    labels of the table occur."""

    path: str
    count: int
    columns: Columns
    label: str
    weight: str | None
    labels: list[Any]
    data: Any

    def asks(self, calibrator: Any, question: Any, n_bins: int | None, title: str = "") -> TableReport | None:
        """What to ask of the table; None where sums do not tell it. The question is as ``viewed`` has it; None: a fit asks none."""
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
            layout = Layout("event", tuple(names), None, self.label, weight=self.weight, event=classes[1], inputs=data.inputs)
            self._require_known(classes)
        else:
            layout = Layout("columns", tuple(names), tuple(classes), self.label, weight=self.weight, inputs=data.inputs)
        bins = {} if n_bins is None else {"n_bins": n_bins}
        return TableReport(TableRows([self.path], layout), self.count, list(classes), calibrator, question, title=title, **bins)

    def _ordered(self, calibrator):
        """(columns, labels) in the order of a fitted calibrator's classes, or as they are."""
        data = self.data
        if not is_fitted(calibrator):
            return data.names, data.own_classes
        require_inputs(data, calibrator)
        classes = calibrator.classes_.tolist()
        return data.names if len(data.names) == 1 else [data.names[j] for j in column_order(data, classes)], classes

    def _require_known(self, classes):
        """Of one column other labels count as rows without the event where --positive says so alone."""
        unknown = [] if self.columns.positive is not None else [
            label for label, place in zip(self.labels, places(self.labels, classes), strict=True) if place < 0
        ]  # fmt: skip
        if unknown:
            raise InputError(f"the labels of {self.data.path} must be among the classes {few(classes)}; got {few(unknown)}.")


@contextmanager
def large_table(path: Path, count: int, columns: Columns, prefer: str | None = None) -> Iterator[LargeTable | None]:
    """The table; text is first written to a temporary Parquet file. None where the file holds no probabilities or logits of classes."""
    first = next(iter(parts_of(path)))
    found = _headed(first, columns, prefer)
    if found is None:
        yield None
        return
    names, label, weight = found
    with TemporaryDirectory(prefix="calibrant-") as folder:
        source = str(path)
        if first.kind != "parquet":
            source = f"{folder}/rows.parquet"
            count = _spooled(path, count, source, names, label, weight)
        labels = _labels(source, label)
        data: Any = read_source(_with_labels(first, label, labels), columns, prefer=prefer)
        fitting(None, data)
        yield LargeTable(source, count, columns, label, weight, labels, data)


def _headed(first, columns, prefer):
    """(names of the predictions, of the label, of the weight); None where they are of another kind."""
    if columns.inputs not in (None, "probability", "logit"):
        return None
    data: Any = read_source(first, columns, labels=False, prefer=prefer)
    if data.task == "regression":
        return None
    label = key_of(first, columns.label, "label")
    if label is None:
        read_source(first, columns, prefer=prefer)  # says which names are looked for
    return data.names, label, key_of(first, columns.weight, "weight")


def _spooled(path, count, target, names, label, weight):
    """Write the columns needed to a Parquet file; the number of its rows."""
    arrow, parquet = (import_extra(name, "counting large files", "cli") for name in ("pyarrow", "pyarrow.parquet"))
    writer, kind, rows = None, None, 0
    try:
        with progress("rows read", count, amounts=True) as step:
            for part in parts_of(path):
                columns = {name: as_floats(part.column(name), name, path) for name in (*names, *([weight] if weight else []))}
                made = arrow.table({**columns, label: _label_column(part, label, kind, arrow)})
                kind = made.schema.field(label).type
                writer = writer or parquet.ParquetWriter(target, made.schema)
                writer.write_table(made)
                step(made.num_rows)
                rows += made.num_rows
    finally:
        if writer is not None:
            writer.close()
    return rows


def _label_column(part, label, kind, arrow):
    """Labels of a part, of the kind that those before have; texts that are whole numbers as one text each."""
    values = part.column(label)
    if part.kind == "csv":
        plain = {value: str(whole_numbers([value])[0]) for value in set(values)}
        if any(not value.strip() for value in plain):
            raise InputError(f"{part.path} must have a label in every row; some have none; fill them in or drop those rows.")
        return arrow.array([plain[value] for value in values], arrow.string())
    try:
        return arrow.array(values.tolist(), kind)
    except (arrow.ArrowException, OverflowError):
        raise InputError(f"{part.path}: {label!r} must hold labels of one kind, all numbers or all texts; repair the others.") from None


def _labels(source, name):
    """All labels that occur; texts that are whole numbers as these."""
    module, seen = choose([source], "auto"), {}
    with reading([source]):
        for batch in module.batches(opened([source], module), [name]):
            values, codes = encode(batch.column(name))
            there = np.bincount(codes, minlength=len(values)) > 0
            seen.update(dict.fromkeys(value for value, own in zip(values, there, strict=True) if own))
            if len(seen) > MOST_LABELS:
                raise InputError(f"{name!r} must hold labels of classes; it holds more than {MOST_LABELS:,} values; name another column.")
    listed = list(seen)
    return whole_numbers(listed) if all(isinstance(value, str) for value in listed) else listed


def _with_labels(first, name, labels):
    """The first part, its labels replaced by all that occur, one after the other."""
    n = max(len(next(iter(first.content.values()))), len(labels))
    values = (labels * (n // len(labels) + 1))[: len(next(iter(first.content.values())))]
    if first.kind == "parquet":
        arrow = import_extra("pyarrow", "counting large files", "cli")
        content = {**first.content, name: arrow.chunked_array([arrow.array(values)])}
    else:
        content = {**first.content, name: [str(value) for value in values] if first.kind == "csv" else values}
    return type(first).holding(first.path, content, **{key: own for key, own in vars(first).items() if key not in ("path", "content")})
