"""Engine for files of text, and for the parts of any files that a function changes first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from calibrant.core.stores import located
from calibrant.tables.batching import rows_from
from calibrant.tables.opening import parts_of

__all__ = ["CLUSTER", "READS", "Parts", "batches", "kinds", "open_files"]

CLUSTER, READS = False, ("calibrant",)


class Parts:
    """A table that is read in parts, again for each pass; a single part is kept.

    ``read`` returns the parts, as sources; ``change`` changes an Arrow table of one of them.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Any]],
        change: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self._read: Callable[[], Iterable[Any]] = read
        self.change: Callable[[Any, Any], Any] | None = change

    @cached_property
    def first(self) -> list[Any]:
        """The first two parts, or the only one."""
        return list(islice(self._read(), 2))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.first if len(self.first) < 2 else self._read())


def open_files(paths: Sequence[str]) -> Parts:
    """The table of these files; no rows are read yet."""
    files = [located(path) for path in paths]
    return Parts(lambda: parts_of(files))


def kinds(table: Parts) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    return table.first[0].kinds()


def batches(table: Parts, columns: Any = None, ordered: bool = True) -> Iterator[Any]:
    """Arrow record batches of the columns (None: all), in order, after a pass that finds the type
    of each column.
    """
    names, types = list(kinds(table) if columns is None else columns), {}
    for part in table:
        types = part.types(names, types)
    start, file = 0, None
    for part in table:
        # The error names the file.
        start, file = start if part.path == file else 0, part.path
        made = part.arrow(names, types)
        with rows_from(start):
            made = made if table.change is None else table.change(made, part)
        start += made.num_rows
        yield from made.combine_chunks().to_batches()
