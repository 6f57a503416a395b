"""Tasks that cover Parquet files; a cluster's workers read them without the cluster's tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calibrant.tables.engines import arrow_engine

if TYPE_CHECKING:
    from calibrant.tables.state import Drawn, GroupState

__all__ = ["file_tasks", "fold_task"]

#: A task reads at least this many bytes, and there are at most about this many tasks, because the
#: state that each task returns takes a few megabytes too.
TASK_BYTES, MOST_TASKS = 2**24, 1024


def file_tasks(paths: Sequence[Any]) -> list[Any]:
    """Parts of the table of these Parquet files, each a dataset that can be pickled.

    A file larger than a task is split by its row groups.
    """
    whole = arrow_engine.open_files(paths)
    fragments = list(whole.get_fragments())
    files = whole.filesystem.get_file_info([fragment.path for fragment in fragments])
    size = max(TASK_BYTES, sum(file.size for file in files) // MOST_TASKS)
    tasks, waiting, held = [], [], 0
    for fragment, length in zip(fragments, (file.size for file in files), strict=True):
        pieces = fragment.split_by_row_group() if length > size else [fragment]
        for piece in pieces:
            waiting.append(piece)
            held += length / len(pieces)
            if held >= size:
                tasks.append(_of(waiting, whole))
                waiting, held = [], 0
    return [*tasks, _of(waiting, whole)] if waiting else tasks


def fold_task(task: Any, kernel: Any) -> "Drawn | GroupState":
    """The kernel's state of one part."""
    return kernel.over(arrow_engine.batches(task, kernel.layout.needed))


def _of(fragments: list[Any], whole: Any) -> Any:
    return type(whole)(fragments, whole.schema, whole.format, whole.filesystem)
