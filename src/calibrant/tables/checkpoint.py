"""Evaluation file by file that saves its sums after each, so that a stopped run can resume."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.core.saving import Saved, load
from calibrant.errors import InputError
from calibrant.tables.engines.choosing import fold, reading

if TYPE_CHECKING:
    from calibrant.tables.kernel import Kernel
    from calibrant.tables.state import GroupState

__all__ = ["FrameCheckpoint", "fold_files"]


class FrameCheckpoint(Saved):
    """The sums so far and the files they cover, each with its size and modification time."""

    def __init__(self, needed: Sequence[Any], state: "GroupState") -> None:
        self.needed: Sequence[Any] = needed
        self.state: GroupState = state
        self.done: dict[str, list[int]] = {}


def fold_files(
    module: Any,
    paths: Sequence[str],
    kernel: "Kernel",
    checkpoint: Path | None = None,
    progress: Callable[..., Any] | None = None,
) -> "GroupState":
    """The kernel's state over all files; files already in the checkpoint are not read again."""
    kept = _kept(checkpoint, paths, kernel)
    for count, path in enumerate(paths, start=1):
        if path not in kept.done:
            stamp = _stamp(path)
            with reading([path]):
                kept.state += fold(module, [path], kernel)
            kept.done[path] = stamp
            if checkpoint is not None:
                kept.save(checkpoint, overwrite=True)
        if progress is not None:
            progress(count, len(paths))
    return kept.state


def _kept(checkpoint: Any, paths: Sequence[str], kernel: Any) -> FrameCheckpoint:
    fresh = FrameCheckpoint(_asked(kernel), kernel.empty())
    if checkpoint is None or not checkpoint.exists():
        return fresh
    # Sums over thousands of mostly empty bins compress very well, and the user wrote this file, so
    # the size is not limited.
    kept = load(checkpoint, max_bytes=sys.maxsize)
    if (
        not isinstance(kept, FrameCheckpoint)
        or kept.needed != fresh.needed
        or kept.state.settings != fresh.state.settings
    ):
        raise InputError(
            f"{checkpoint} must be a checkpoint of the same evaluation (columns, slices, bins);"
            " delete it or name another."
        )
    changed = [
        path
        for path, stamp in kept.done.items()
        if path not in paths or not Path(path).exists() or _stamp(path) != stamp
    ]
    if changed:
        raise InputError(
            f"{checkpoint} holds sums of {changed[0]}, which has changed or is not among the files;"
            " delete the checkpoint to start again."
        )
    return kept


def _asked(kernel: Any) -> list[Any]:
    return [str(vars(kernel.layout)), kernel.n_bins, kernel.grid]


def _stamp(path: str) -> list[int]:
    found = Path(path).stat()
    return [found.st_size, found.st_mtime_ns]
