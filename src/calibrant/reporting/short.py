"""Answer of a report in short, for a terminal and a notebook."""

from contextlib import suppress
from typing import Any

from calibrant.core.cards import Card
from calibrant.displays.svg import as_svg
from calibrant.errors import MissingDependencyError
from calibrant.reporting.bands import head
from calibrant.reporting.html import PAGES

__all__ = ["card"]


def card(summary: dict[str, Any], pictured: bool = False) -> Card:
    """Return the first band of the page; ``pictured`` with its drawing, if the library for it is
    installed.
    """
    verdict, drawn, top, page = summary["verdict"], "", head(summary), PAGES[summary["target"]]
    if pictured and hasattr(page, "main_display"):
        words = {"title": summary["title"], "description": verdict["sentence"]}
        key = f"calibrant-{summary['about']['data']}"
        with suppress(MissingDependencyError):
            drawn = as_svg(page.main_display(summary), key=key, **words)
    return Card(
        verdict["sentence"],
        summary["title"],
        verdict["state"].capitalize(),
        top["tone"],
        verdict["action"],
        top["facts"],
        page.tiles(summary),
        where='.save("report.html") writes the page.',
        picture=drawn,
    )
