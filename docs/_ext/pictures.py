"""``.. calibrant-picture:: [SCRIPT]``: the picture that a page's own examples draw, made while the
pages are built.

Without an argument the examples above the directive run, as one program; a SCRIPT, named relative
to the page, runs by itself, and with ``:draw: NAME`` its function of that name is called. The
figure it leaves is cut into its panels, so that they stand side by side on a wide screen and below
each other on a narrow one; with ``:whole:`` it stays whole. ``:alt:`` has a line for each picture.
What stands under the directive is the caption.
"""

import contextlib
import doctest
import io
import re
import runpy
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib.transforms import Bbox
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

__all__ = ["MOST", "Picture", "program", "save", "setup", "words_of_axes"]

DPI = 160
#: Bytes of a picture, at most.
MOST = 60_000
#: Colours that a drawing of lines, bands and letters needs: a palette makes it half as large.
SHADES = 128


def program(text):
    """The examples of a page, in order; those that show an error are left out."""
    examples = doctest.DocTestParser().get_examples(text)
    return "".join(e.source for e in examples if not (e.exc_msg or e.options.get(doctest.SKIP)))


def words_of_axes(ax):
    """The title of axes and what they show, as a phrase."""
    across, up = (label.replace("\n", " ") for label in (ax.get_xlabel(), ax.get_ylabel()))
    words = [ax.get_title(), f"{up} by {across}" if across and up else ""]
    return ": ".join(word for word in words if word)


def panels(figure):
    """(title, box in inches) of each panel, from the left, row by row; the axes that a display adds
    below its own stay with them.
    """
    figure.set_dpi(DPI)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    renderer = figure.canvas.get_renderer()
    below = {ax: ax.panel for ax in figure.axes if getattr(ax, "panel", None) in figure.axes}
    for ax in figure.axes:
        box = ax.get_tightbbox(renderer)
        if ax in below:
            box = Bbox.union([box, below[ax].get_tightbbox(renderer)])
        hidden = ax.get_label() == "<colorbar>" or not ax.get_visible() or box is None
        if not hidden and ax not in below.values():
            box = box.transformed(figure.dpi_scale_trans.inverted()).padded(0.08)
            yield words_of_axes(ax), box


def save(figure, path, box=None, dpi=DPI):
    """Save a figure, or what is in a box of it, with few colours; it warns where it is large."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dpi, bbox_inches=box, metadata={"Software": None})
    image = Image.open(drawn).convert("RGB")
    image.quantize(SHADES, dither=Image.Dither.NONE).save(path, optimize=True)
    if (size := path.stat().st_size) > MOST:
        logging.getLogger(__name__).warning("%s has %d bytes, over %d", path, size, MOST)


class Picture(SphinxDirective):
    """Draws, saves each panel below ``generated/``, and shows them with the caption."""

    optional_arguments = 1
    has_content = True
    option_spec: ClassVar = {
        "draw": directives.unchanged_required,
        "alt": directives.unchanged_required,
        "whole": directives.flag,
    }

    def _run(self):
        source = Path(self.env.doc2path(self.env.docname))
        if self.arguments:
            script = Path(self.env.relfn2path(self.arguments[0])[1])
            self.env.note_dependency(str(script))
            names = runpy.run_path(str(script))
            if "draw" in self.options:
                names[self.options["draw"]]()
        else:
            above = source.read_text(encoding="utf-8").splitlines()[: self.lineno - 1]
            exec(compile(program("\n".join(above)), str(source), "exec"), {"__name__": "page"})

    def run(self):
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt

        plt.close("all")
        with contextlib.redirect_stdout(io.StringIO()):
            self._run()
        shown = nodes.container(classes=["panels"])
        folder = Path(self.env.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        figure = plt.gcf()
        own = Path(*self.arguments).stem if self.arguments else ""
        own = f"{own} {self.options.get('draw', '')}".strip()
        own = own or self.env.new_serialno("calibrant-picture")
        parts = [("", None)] if "whole" in self.options else list(panels(figure))
        words = self.options.get(
            "alt", "\n".join(" ".join((title or "Panel").split()) for title, _ in parts)
        )
        words = [words.replace("\n", " ")] if len(parts) == 1 else words.splitlines()
        if len(words) != len(parts):
            raise self.error(f":alt: must have a line for each of the {len(parts)} pictures")
        for i, ((_, box), alt) in enumerate(zip(parts, words, strict=True)):
            stem = re.sub("[^a-z0-9]+", "_", f"{self.env.docname} {own}".lower()).strip("_")
            path = folder / f"{stem}_{i}.png"
            save(figure, path, box)
            shown += nodes.image(uri=f"/generated/{path.name}", alt=alt.strip())
        plt.close("all")
        caption = nodes.container(classes=["panels-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        return [shown, caption] if self.content else [shown]


def setup(app):
    """Register the directive. Pictures are drawn one at a time: the figure is a global of
    matplotlib.
    """
    app.add_directive("calibrant-picture", Picture)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
