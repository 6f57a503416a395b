"""Calibration of tables of any size by a fitted calibrator; and the rows of Parquet files in their
order, batch by batch, as predictions, with draws of a sample.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._numerics.threads import map_ahead
from calibrant.core.calibrator import require_fitted
from calibrant.core.extras import import_extra
from calibrant.core.kinds import require_calibrator
from calibrant.core.labels import array_of, places
from calibrant.core.map import Map
from calibrant.core.predictions import Predictions
from calibrant.core.saving import replacing, require_unread, target
from calibrant.core.stores import Address, located
from calibrant.errors import InputError
from calibrant.tables.batching import gathered, rows_from, runs
from calibrant.tables.columns import Layout, layout, numbers
from calibrant.tables.engines.arrow_engine import open_files
from calibrant.tables.engines.choosing import (
    choose,
    columns_of,
    files,
    opened,
    reading,
    table_of,
)
from calibrant.tables.kernel import record_of

__all__ = ["TableRows", "apply", "drawn", "row_count", "row_hash"]


def apply(
    calibrator: Any,
    source: Any,
    output: str | Path | Address,
    *,
    probabilities: str | None = None,
    score: str | None = None,
    confidence: str = "confidence",
    engine: str = "auto",
    overwrite: bool = False,
) -> Path | Address:
    r"""Calibrate the predictions of a table of any size, batch by batch, and write it to Parquet.

    The calibrated probabilities replace the predictions; other columns stay as they are. A column
    ``confidence`` is added: the probability that the predicted class of the model is right.

    Parameters
    ----------
    calibrator : fitted Calibrator, or fitted Map with ``score=``
    source : files or a table, as in :func:`calibrant.evaluate`
        For a calibrator by group, the group columns must have the names that they had in ``fit``.
    output : path or address, such as "s3://bucket/calibrated.parquet"
        A Parquet file; on Dask, Spark and Ray, a folder of Parquet files.
    probabilities : str or list of str
        The columns of probabilities or logits, as in :func:`calibrant.evaluate`. They must be in
        the order of the calibrator's classes, unless the star of a pattern names the classes.
    score : str
        The column that a map calibrates. It is kept; ``confidence`` holds the map's output.
    confidence : str, default "confidence"
        The name of the added column; the table must not have a column of this name.
    engine : str, default "auto"
    overwrite : bool, default False

    Returns
    -------
    Path or Address

    See Also
    --------
    tables.sample, tables.sketch : draw rows, or compute sums, to fit the calibrator on.
    evaluate : compute metrics of the written table.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> logs = pd.DataFrame(
    ...     {"p_0": [0.9, 0.6, 0.2], "p_1": [0.1, 0.4, 0.8], "note": ["a", "b", "c"]}
    ... )
    >>> cal = TemperatureScaling().fit(logs[["p_0", "p_1"]].to_numpy(), [0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list(pd.read_parquet(apply(cal, logs, f"{folder}/out.parquet", probabilities="p_*")))
    ['p_0', 'p_1', 'note', 'confidence']
    """
    place = located(output)
    if not overwrite:
        target(place)
    if not isinstance(calibrator, Map):
        require_calibrator(calibrator)
    if isinstance(calibrator, Map) != (score is not None):
        raise InputError(
            "pass a map with score=, or a calibrator with probabilities=; got a"
            f" {type(calibrator).__name__}."
        )
    source, module, kinds = table_of(source, engine)
    paths = files(source) or ()
    require_unread(place, paths)
    _require_alike(paths, module, kinds)
    if confidence in kinds:
        raise InputError(
            f"the table already has a column {confidence!r}; pass another name for the added"
            " column as confidence=."
        )
    transform = Transform(
        calibrator,
        _in_order(_layout(kinds, probabilities, score, _groups_of(calibrator)), calibrator),
        confidence,
    )
    if module.CLUSTER:
        module.apply(opened(source, module), transform, place)
        _warn_of_new_levels(calibrator, transform.layout, place)
    else:
        _write(_transformed(transform, _batches(source, module)), place, overwrite)
    return place


def _require_alike(paths: Sequence[Any], module: Any, kinds: dict[str, str]) -> None:
    """Refuse a later file with a column that the first lacks: the engines would leave it out."""
    for path in paths[1:]:
        further = [name for name in columns_of([path], module) if name not in kinds]
        if further:
            raise InputError(
                f"{path} must have the columns of {paths[0]}; it also has {further[0]!r}, which"
                " would be lost; add it there, or write the output of each file by itself."
            )


def _layout(
    kinds: dict[str, str], probabilities: str | None, score: str | None, by: Any = ()
) -> Layout:
    # A map needs no predicted class, so the score's own column stands in for it.
    return layout(
        kinds, label=None, probabilities=probabilities, score=score, predicted=score, by=by
    )


def _groups_of(calibrator: Any) -> Any:
    """The columns of groups that a calibrator uses."""
    if isinstance(calibrator, Map) or not calibrator.tags.uses_groups:
        return ()
    if calibrator.group_names_ is None:
        raise InputError(
            "the calibrator was fitted to groups without names; fit it on a frame, or on a sketch"
            " with by=."
        )
    return calibrator.group_names_


def _in_order(columns: Layout, calibrator: Any) -> Layout:
    """The columns in the order of the calibrator's classes, if their names are the classes."""
    if columns.mode != "columns":
        return columns
    require_fitted(calibrator, "classes_")
    order = places(calibrator.classes_, columns.classes)
    complete = sorted(order) == list(range(len(columns.values)))
    return replace(columns, values=tuple(columns.values[j] for j in order)) if complete else columns


def _batches(source: Any, module: Any) -> Any:
    with reading(source):
        yield from module.batches(opened(source, module), ordered=True)


def _transformed(transform: "Transform", batches: Iterator[Any]) -> Iterator[Any]:
    start = 0
    for batch in batches:
        with rows_from(start):
            yield transform(batch)
        start += batch.num_rows


def _write(batches: Any, output: Any, overwrite: bool) -> None:
    parquet = import_extra("pyarrow.parquet", "writing Parquet", "frames")
    with replacing(output, overwrite=overwrite) as temporary:
        writer = None
        try:
            for batch in batches:
                if writer is None:
                    writer = parquet.ParquetWriter(temporary, batch.schema)
                writer.write_batch(
                    batch.cast(writer.schema) if batch.schema != writer.schema else batch
                )
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise InputError("the table has no rows; there is nothing to write.")


def _warn_of_new_levels(calibrator: Any, layout: Layout, output: Any) -> None:
    """Warn if no row that a cluster wrote has a group level that was seen in the fit.

    The workers' own warnings appear only in their logs. Rows are read until each column has shown
    a known level, most often in the first batch.
    """
    levels = calibrator.group_levels() if layout.by else None
    if levels is None or not output.is_dir():
        return
    first, known = None, np.zeros(len(layout.by), dtype=bool)
    for batch in open_files(files(output) or []).to_batches(columns=list(layout.by)):
        groups = _groups(layout, batch)
        first = groups if first is None and batch.num_rows else first
        known |= levels.any_known(groups)
        if known.all():
            return
    if first is not None:
        levels.warn_of_new(first, np.flatnonzero(~known).tolist())


def _groups(layout: Layout, batch: Any) -> Any:
    """The group columns of a batch: name -> labels."""
    return {
        name: array_of(known)[code]
        for name, (known, code) in zip(layout.by, layout.slices(batch), strict=True)
    }


class Transform:
    """Calibration of an Arrow batch; it is pickled and sent to the workers of a cluster."""

    calibrator: Any
    layout: Layout
    added: str

    def __init__(self, calibrator: Any, layout: Layout, added: str = "confidence") -> None:
        self.calibrator, self.layout, self.added = calibrator, layout, added
        self.replaced: tuple[str, ...] = () if layout.mode == "score" else layout.values

    def __call__(self, batch: Any) -> Any:
        """The batch with its predictions replaced and the confidence at the end."""
        import_extra("pyarrow", "calibrating tables", "frames")
        import pyarrow as pa

        if self.layout.mode == "score":
            new, confidence = (
                {},
                (
                    self.calibrator.predict(numbers(batch, self.layout.values[0]))
                    if batch.num_rows
                    else np.zeros(0)
                ),
            )
        else:
            new, confidence = self._calibrated(batch, pa)
        columns = {name: new.get(name, batch.column(name)) for name in batch.schema.names}
        columns[self.added] = pa.array(confidence)
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _calibrated(self, batch: Any, pa: Any) -> tuple[dict[str, Any], np.ndarray]:
        names = self.layout.values
        if batch.num_rows == 0:
            empty = pa.array(
                [], pa.list_(pa.float64()) if self.layout.mode == "list" else pa.float64()
            )
            return dict.fromkeys(names, empty), np.zeros(0)
        values = np.ascontiguousarray(self.layout.probabilities(batch))
        groups = _groups(self.layout, batch) or None
        Q, confidence = (
            ask(values, groups=groups)
            for ask in (self.calibrator.predict_proba, self.calibrator.predict_confidence)
        )
        if self.layout.mode == "list":
            offsets = np.arange(0, Q.size + 1, Q.shape[1], dtype=np.int32)
            return {
                names[0]: pa.ListArray.from_arrays(pa.array(offsets), pa.array(Q.ravel()))
            }, confidence
        columns = [Q[:, 1]] if self.layout.mode == "second" else Q.T
        return {
            name: pa.array(np.ascontiguousarray(column))
            for name, column in zip(names, columns, strict=True)
        }, confidence


def row_hash(start: int, count: int, seed: int = 0) -> np.ndarray:
    """(count,) pseudo-random uint64 numbers of rows ``start``, ``start`` + 1, ... (splitmix64).

    Examples
    --------
    >>> bool((row_hash(3, 2) == row_hash(0, 5)[3:]).all())
    True
    """
    with np.errstate(over="ignore"):
        key = np.arange(start + 1, start + count + 1, dtype=np.uint64) + np.uint64(
            seed
        ) * np.uint64(0x632BE59BD9B4E019)
        key *= np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            key ^= key >> np.uint64(shift)
            key *= np.uint64(factor)
        return key ^ (key >> np.uint64(31))


def drawn(number: np.ndarray, share: float) -> np.ndarray:
    """Positions of the rows drawn for a sample of this share, by their pseudo-random numbers."""
    return np.flatnonzero(number < np.uint64(min(int(share * 2.0**64), 2**64 - 1)))


def row_count(paths: Sequence[str | Path]) -> int:
    """The number of rows of Parquet files, read from their metadata."""
    parquet = import_extra("pyarrow.parquet", "reading Parquet", "frames")
    rows = 0
    for path in paths:
        # Python opens the file, because its name may not be valid text.
        with reading([path]), located(path).open("rb") as file:
            rows += parquet.read_metadata(file).num_rows
    return rows


@dataclass(frozen=True)
class TableRows:
    """Parquet files that are read again for each pass.

    ``seed`` is that of the pseudo-random number of each row, which depends on its position.
    """

    paths: Sequence[str]
    layout: Layout
    engine: str = "auto"
    seed: int = 0

    def fold(
        self,
        work: Callable[[Predictions, np.ndarray], Any],
        progress: Callable[[int], Any] | None = None,
    ) -> Any:
        """The sum of ``work(record, number of each row)`` over all batches, on several threads.

        The results of ``work`` are added by their method ``plus``.
        """
        total = None
        with reading(list(self.paths)):
            for found, rows in map_ahead(lambda run: self._over(work, *run), self._runs()):
                if found is not None:
                    total = found if total is None else total.plus(found)
                if progress is not None:
                    progress(rows)
        if total is None:
            raise InputError(f"{self.paths[0]} has no rows to count; name files with rows.")
        return total

    def _runs(self) -> Iterator[tuple[int, list[Any]]]:
        module, start = choose(list(self.paths), self.engine), 0
        if module.CLUSTER:
            raise InputError(
                "engine must read files in order, as polars, duckdb and pyarrow do; got"
                f' "{self.engine}"; on a cluster, report the rows that tables.sample draws.'
            )
        table = opened(list(self.paths), module)
        for run in runs(gathered(module.batches(table, self.layout.needed, ordered=True))):
            yield start, run
            start += sum(batch.num_rows for batch in run)

    def _over(self, work, start, run):
        total, rows = None, 0
        for batch in run:
            with rows_from(start + rows):
                found = self._one(work, start + rows, batch)
            if found is not None:
                total = found if total is None else total.plus(found)
            rows += batch.num_rows
        return total, rows

    def _one(self, work, start, batch):
        weight = None if self.layout.weight is None else numbers(batch, self.layout.weight)
        if weight is not None and not weight.any():
            return None
        record, _ = record_of(self.layout, batch, weight)
        return work(record, record.per_row(row_hash(start, batch.num_rows, self.seed)))
