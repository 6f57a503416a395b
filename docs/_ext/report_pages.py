"""``.. calibrant-report:: [NAME]``: run docs/reports/NAME.py while the pages are built, and
show its code and the report it makes; without a NAME, the report of the page's own examples above.

The code leaves a ``report``; the page is written to reports/NAME.html of the built site, whole, as
a user would save it.
"""

import contextlib
import html
import io
import runpy
from pathlib import Path

from docutils import nodes
from pictures import program
from sphinx.util.docutils import SphinxDirective

__all__ = ["ReportPage", "setup"]


class ReportPage(SphinxDirective):
    """The code, then the report it makes, in a frame and as a link of its own."""

    optional_arguments = 1

    def _examples(self):
        """The report of the examples above, and a name for its page."""
        source, names = Path(self.env.doc2path(self.env.docname)), {"__name__": "page"}
        above = source.read_text(encoding="utf-8").splitlines()[: self.lineno - 1]
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program("\n".join(above)), str(source), "exec"), names)
        return names["report"], self.env.docname.replace("/", "_"), []

    def _script(self):
        """The report of a script, its name, and its code."""
        (name,) = self.arguments
        script = Path(self.env.srcdir) / "reports" / f"{name}.py"
        self.env.note_dependency(str(script))
        report, text = runpy.run_path(str(script))["report"], script.read_text(encoding="utf-8")
        return report, name, [nodes.literal_block(text, text, language="python")]

    def run(self):
        report, name, code = self._script() if self.arguments else self._examples()
        page = Path(self.env.app.outdir) / "reports" / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(report.to_html(), encoding="utf-8")
        link = f"{'../' * self.env.docname.count('/')}reports/{name}.html"
        title = html.escape(report.to_dict()["title"])
        style = "width: 100%; height: 40rem; border: 1px solid"
        frame = (
            f'<p><a href="{link}">Open the report on a page of its own</a></p>'
            f'<iframe src="{link}" title="{title}" loading="lazy" style="{style}"></iframe>'
        )
        return [*code, nodes.raw("", frame, format="html")]


def setup(app):
    """Register the directive."""
    app.add_directive("calibrant-report", ReportPage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
