"""Tasks that cover Parquet files; a cluster's workers read them without the cluster's tables."""

import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.tables.engines import arrow_engine

if TYPE_CHECKING:
    from calibrant.tables.state import Drawn, GroupState

__all__ = ["added", "file_tasks", "fold_task", "packed", "task_table"]

#: A task reads at least this many bytes, and there are at most about this many tasks, because the
#: state that each task returns takes a few megabytes too.
TASK_BYTES, MOST_TASKS = 2**24, 1024


def file_tasks(paths: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return (the table of these Parquet files, without its rows; tasks that cover the rows).

    A task is a list of (path, values of its folders, part, number of parts): a file larger than a
    task has several parts. Only the first footer is read here; workers read the others.
    """
    whole = arrow_engine.open_files(paths)
    fragments = list(whole.get_fragments())
    sizes = [info.size for info in whole.filesystem.get_file_info([f.path for f in fragments])]
    size = max(TASK_BYTES, sum(sizes) // MOST_TASKS)
    pieces = [
        (f.path, f.partition_expression, part, parts, length / parts)
        for f, length in zip(fragments, sizes, strict=True)
        for parts in [max(1, length // size)]
        for part in range(parts)
    ]
    ends = np.cumsum([piece[-1] for piece in pieces])
    starts = np.flatnonzero(np.diff(ends // size, prepend=-1)).tolist()
    tasks = [
        [piece[:-1] for piece in pieces[start:end]]
        for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True)
    ]
    return _of([], whole), tasks


def task_table(whole: Any, task: list[Any]) -> Any:
    """The table of a task's rows; a part of a file has its share of the row groups."""
    fragments = []
    for path, folders, part, parts in task:
        fragment = whole.format.make_fragment(path, whole.filesystem, folders)
        if parts > 1:
            first, end = (fragment.num_row_groups * j // parts for j in (part, part + 1))
            fragment = fragment.subset(row_group_ids=range(first, end))
        fragments.append(fragment)
    return _of(fragments, whole)


def fold_task(task: list[Any], whole: Any, kernel: Any) -> "Drawn | GroupState":
    """The kernel's state of one task."""
    return kernel.over(arrow_engine.batches(task_table(whole, task), kernel.layout.needed))


def packed(state: Any) -> Any:
    """A batch of one row, the pickled state; only states of this module's tasks are read back."""
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"state": [pickle.dumps(state)]})


def added(kernel: Any, states: Iterable[Any]) -> Any:
    """The sum of pickled states."""
    total = kernel.empty()
    for state in states:
        total += pickle.loads(state)
    return total


def _of(fragments: list[Any], whole: Any) -> Any:
    return type(whole)(fragments, whole.schema, whole.format, whole.filesystem)
