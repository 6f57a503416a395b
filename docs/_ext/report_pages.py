"""``.. calibrant-report:: NAME``: run docs/reports/NAME.py while the pages are built, and show its
code and the report it makes.

The script leaves a ``report``; the page is written to reports/NAME.html of the built site, whole,
as a user would save it.
"""

import html
import runpy
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["ReportPage", "setup"]


class ReportPage(SphinxDirective):
    """The code, then the report it makes, in a frame and as a link of its own."""

    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        script = Path(self.env.srcdir) / "reports" / f"{name}.py"
        self.env.note_dependency(str(script))
        report = runpy.run_path(str(script))["report"]
        page = Path(self.env.app.outdir) / "reports" / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(report.to_html(), encoding="utf-8")
        text = script.read_text(encoding="utf-8")
        link = f"reports/{name}.html"
        title = html.escape(report.to_dict()["title"])
        style = "width: 100%; height: 40rem; border: 1px solid"
        frame = (
            f'<p><a href="{link}">Open the report on a page of its own</a></p>'
            f'<iframe src="{link}" title="{title}" loading="lazy" style="{style}"></iframe>'
        )
        return [
            nodes.literal_block(text, text, language="python"),
            nodes.raw("", frame, format="html"),
        ]


def setup(app):
    """Register the directive."""
    app.add_directive("calibrant-report", ReportPage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
