"""``.. calibrant-picture:: [SCRIPT]``: the picture that a page's own examples draw, made while the
pages are built.

Without an argument the examples above the directive run, as one program; a SCRIPT, named relative
to the page, runs by itself. The figure it leaves is cut into its panels, so that they stand side by
side on a wide screen and below each other on a narrow one. What stands under the directive is the
caption.
"""

import contextlib
import doctest
import io
import re
import runpy
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["Picture", "program", "setup"]

DPI = 160


def program(text):
    """The examples of a page, in order; those that show an error are left out."""
    examples = doctest.DocTestParser().get_examples(text)
    return "".join(e.source for e in examples if not (e.exc_msg or e.options.get(doctest.SKIP)))


def panels(figure):
    """(title, box in inches) of each panel, from the left, row by row."""
    figure.set_dpi(DPI)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    renderer = figure.canvas.get_renderer()
    for ax in figure.axes:
        box = ax.get_tightbbox(renderer)
        if ax.get_label() != "<colorbar>" and ax.get_visible() and box is not None:
            across, up = (label.replace("\n", " ") for label in (ax.get_xlabel(), ax.get_ylabel()))
            words = [ax.get_title(), f"{up} by {across}" if across and up else ""]
            yield (
                ": ".join(word for word in words if word),
                box.transformed(figure.dpi_scale_trans.inverted()).padded(0.08),
            )


class Picture(SphinxDirective):
    """Draws, saves each panel below ``generated/``, and shows them with the caption."""

    optional_arguments = 1
    has_content = True

    def run(self):
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt

        plt.close("all")
        source = Path(self.env.doc2path(self.env.docname))
        with contextlib.redirect_stdout(io.StringIO()):
            if self.arguments:
                script = Path(self.env.relfn2path(self.arguments[0])[1])
                self.env.note_dependency(str(script))
                runpy.run_path(str(script))
            else:
                above = source.read_text(encoding="utf-8").splitlines()[: self.lineno - 1]
                exec(compile(program("\n".join(above)), str(source), "exec"), {"__name__": "page"})
        shown = nodes.container(classes=["panels"])
        folder = Path(self.env.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        figure = plt.gcf()
        own = Path(*self.arguments).stem or self.env.new_serialno("calibrant-picture")
        for i, (title, box) in enumerate(panels(figure)):
            stem = re.sub("[^a-z0-9]+", "_", f"{self.env.docname} {own}".lower()).strip("_")
            path = folder / f"{stem}_{i}.png"
            figure.savefig(path, dpi=DPI, bbox_inches=box, metadata={"Software": None})
            shown += nodes.image(uri=f"/generated/{path.name}", alt=title or f"Panel {i + 1}")
        plt.close("all")
        caption = nodes.container(classes=["panels-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        return [shown, caption]


def setup(app):
    """Register the directive. Pictures are drawn one at a time: the figure is a global of
    matplotlib.
    """
    app.add_directive("calibrant-picture", Picture)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
