"""A figure of the page: the drawing, with a text that can stand in for it and the table behind it."""

from typing import Any

import numpy as np

from calibrant.displays.svg import as_svg

__all__ = ["figure", "made", "points_along", "rows_shown"]

#: Rows of the table of a curve on the page; the report's data holds all points.
TABLE_ROWS = 25


def figure(
    key: Any, title: str, words: str, display: Any, size: Any, points: np.ndarray, columns: Any, rows: Any, told: Any = None
) -> dict[str, Any]:
    """What the template shows; ``told`` describes the drawing itself where the ``words`` under it do not."""
    svg = as_svg(display, key=key, title=title, description=words if told is None else told, size=size, points=points)
    return {"key": key, "title": title, "description": words, "svg": svg, "columns": columns, "rows": rows}


def made(record: Any, columns: Any) -> Any:
    """A record of arrays from the lists of a summary."""
    return record(**{name: np.array(values, dtype=np.float64) for name, values in columns.items()})


def points_along(x: Any, y: Any) -> Any:
    """Some of the points, by place: neighbours at equal distances along x are the easiest to hit."""
    at = np.unique(np.searchsorted(np.sort(x), np.linspace(x.min(), x.max(), TABLE_ROWS)).clip(0, len(x) - 1))
    rows = np.argsort(x, kind="stable")[at]
    return list(zip(x[rows].tolist(), y[rows].tolist(), strict=True))


def rows_shown(count: Any) -> Any:
    """The rows of a curve of so many points that its table shows."""
    return np.unique(np.linspace(0, count - 1, min(count, TABLE_ROWS)).round().astype(int))
