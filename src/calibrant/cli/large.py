"""Reports and fits for large tables, from sums over all rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant.cli.choosing import chosen
from calibrant.cli.tables import progress
from calibrant.cli.wording import say
from calibrant.reporting.table.report import TableReport
from calibrant.tables.names import Columns
from calibrant.tables.readers import large_table

__all__ = ["large_fit", "large_report"]


def large_report(
    path: Path,
    columns: Columns,
    method: str | None,
    loaded: Any,
    *,
    default: Any = None,
    target: str | None,
    **options: Any,
) -> Any:
    """Compute the report on a file read in parts; return None if it is not large, or sums do not
    suffice.
    """

    def asks(data: Any) -> tuple[Any, Any]:
        calibrator = chosen(method, loaded, data, default=default, target=target)
        return calibrator, data.asked(target, calibrator)

    with _summed(path, columns, getattr(loaded, "inputs", None), asks, options) as table:
        return None if table is None else table.made()


def large_fit(
    path: Path, columns: Columns, method: str | None, target: str | None, check: Callable[..., Any]
) -> Any:
    """Fit on a file read in parts and return (the calibrator, a description of the rows), or None
    as ``large_report`` does. ``check`` validates the target.
    """

    def asks(data: Any) -> tuple[Any, Any]:
        check(target, method, data)
        return chosen(method, None, data, target=target), None

    with _summed(path, columns, None, asks, {}) as table:
        if table is None:
            return None
        fitted, rows = table.fitted()
        layout = table.rows.layout
        if len(layout.values) == 1:
            fitted.risk_column_ = (layout.values[0], layout.inputs)
        return fitted, rows


@contextmanager
def _summed(
    path: Path,
    columns: Columns,
    prefer: str | None,
    asks: Callable[[Any], tuple[Any, Any]],
    options: dict[str, Any],
) -> Iterator[TableReport | None]:
    """Yield the report of the table, with a progress bar for its passes; ``asks`` returns the
    calibrator and the resolved target of the first rows.
    """
    with large_table(path, columns, prefer, progress) as table:
        calibrator, question = (None, None) if table is None else asks(table.data)
        summed = None if table is None else table.summed(calibrator, question)
        if table is None or summed is None:
            yield None
            return
        rows, classes, target = summed
        named = {name: value for name, value in options.items() if value is not None}
        report = TableReport(rows, table.count, classes, calibrator, target, **named)
        say(
            f"{path} has {report.count:,} rows: it is read in parts, and sums are added up.",
            err=True,
        )
        with progress("rows", report.count * report.passes, amounts=True) as step:
            yield report.shown_by(step)
