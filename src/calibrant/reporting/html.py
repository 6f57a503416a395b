"""HTML page of a summary that needs nothing else, and the answer of a report in short, for a
terminal and a notebook.

The page needs no network, and its content policy allows only its own style and script.
"""

import base64
import hashlib
from collections import defaultdict
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

from calibrant.core.cards import Card
from calibrant.core.exports import __version__
from calibrant.core.extras import import_extra
from calibrant.core.text_table import p_text, percent, rounded
from calibrant.displays.svg import as_svg
from calibrant.errors import MissingDependencyError
from calibrant.reporting import audit_page, page, rule_page
from calibrant.reporting import models as models_page
from calibrant.reporting.event import page as event_page
from calibrant.reporting.markdown import compared, head
from calibrant.reporting.regression import page as regression_page

__all__ = ["card", "render"]


#: Rows of long tables on the page; the summary holds all.
SHOWN_ROWS = 100
#: Parts of features, of which all columns have some.
SHOWN_PARTS = 15
#: By the question asked; None of forecasts of a number. Any other has the page of answers.
PAGES: defaultdict[str | None, Any] = defaultdict(
    lambda: page,
    {
        "answer": page,
        "classes": page,
        "event": event_page,
        None: regression_page,
        "models": models_page,
        "groups": audit_page,
        "rule": rule_page,
    },
)


def render(summary: dict[str, Any]) -> str:
    """The whole page, a complete HTML document.

    Parameters
    ----------
    summary : dict, the dictionary of a :class:`~calibrant.reporting.summary.Summary`

    Returns
    -------
    str
    """
    chosen = PAGES[summary["target"]]
    environment, folder = _environment(summary["target"]), _folder()
    style, script = ((folder / name).read_text("utf-8") for name in ("style.css", "script.js"))
    return environment.get_template("report.html").render(
        s=summary,
        compared=compared(summary) if "calibrator" in summary else [],
        style=_trusted(style),
        style_hash=_digest(style),
        script=_trusted(script),
        script_hash=_digest(script),
        shown_rows=SHOWN_ROWS,
        shown_parts=SHOWN_PARTS,
        version=__version__,
        **chosen.context(summary),
    )


def _folder() -> Any:
    return files("calibrant.reporting") / "templates"


@cache
def _environment(target: str | None) -> Any:
    """Return Jinja with the filters of a page; it compiles each template once in a process."""
    jinja2 = import_extra("jinja2", "an HTML report", "report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (_folder() / name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    usual = {
        "number": _number,
        "signed": _signed,
        "p_text": p_text,
        "percent": percent,
        "share": percent,
        "count": _count,
        "amount": "{:,.0f}".format,
        "points": _points,
    }
    environment.filters.update({**usual, **PAGES[target].FILTERS})
    return environment


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _trusted(text: str) -> str:
    """Our own style sheet or script, not to be escaped."""
    return import_extra("markupsafe", "an HTML report", "report").Markup(text)


def _number(value: float, sign: str = "") -> str:
    return rounded(value, sign).replace("-", "−")


def _signed(value: float) -> str:
    return _number(value, "+")


def _points(value: float) -> str:
    return f"{100.0 * value:+.1f}".replace("-", "−")


def _count(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


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
