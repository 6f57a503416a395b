"""Reports and fits of files above a size: from sums over all rows, or from a sample where sums do not tell what is asked."""

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant.cli.choosing import chosen
from calibrant.cli.event import viewed
from calibrant.cli.large import large_rows, read_sample
from calibrant.cli.large_table import large_table
from calibrant.cli.options import Columns
from calibrant.cli.reading import read_file
from calibrant.cli.tables import progress
from calibrant.cli.wording import say

__all__ = ["large_fit", "large_report", "read_any"]

#: What the numbers of a report need of the rows themselves.
OF_STATES = "what is asked of it needs rows, not sums"


def large_report(
    path: Path, columns: Columns, method: str | None, loaded: Any, *, default: Any = None, target: str | None, n_bins: int | None,
    title: str,
) -> Any:  # fmt: skip
    """The report on a file that is read in parts; None where it is not large, or is to be read some other way."""
    with _asked(path, columns, method, loaded, default, target, n_bins, title) as asked:
        return None if asked is None else asked.made()


def large_fit(path: Path, columns: Columns, method: str | None, target: str | None, check: Callable[..., Any]) -> Any:
    """(the calibrator fitted on a file that is read in parts, words on what); None as ``large_report``. ``check`` is of the question."""
    with _asked(path, columns, method, None, None, target, None, "", check) as asked:
        return None if asked is None else asked.fitted()


@contextmanager
def _asked(path, columns, method, loaded, default, target, n_bins, title, check=None):
    """What is asked of the table, with a bar for its passes."""
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
            asked = table.asks(calibrator, viewed(table.data, target, calibrator) if check is None else None, n_bins, title)
        if asked is None:
            yield None
            return
        say(f"{path} has {asked.count:,} rows: it is read in parts, from sums that add up.", err=True)
        with progress("rows", asked.count * asked.passes, amounts=True) as step:
            yield asked.shown_by(step)


def read_any(path: Path, columns: Columns, *, cluster: str | None = None, prefer: str | None = None) -> Any:
    """The file as ``read_file`` gives it; of one above the size a sample of its rows."""
    count = large_rows(path)
    if count is None:
        return read_file(path, columns, prefer=prefer)
    return read_sample(path, count, columns, OF_STATES, cluster=cluster, prefer=prefer)
