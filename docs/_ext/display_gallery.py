"""``.. calibrant-displays:: HEADING``: a card for each display under a heading of
docs/pictures/displays.py, with what its call draws, the call, and a link to the reference.
"""

import html
import runpy
from functools import cache
from pathlib import Path

from calibrant_docs import summary
from pictures import save
from sphinx.util.docutils import SphinxDirective

import calibrant as cb

__all__ = ["SCRIPT", "DisplayGallery", "drawn", "gallery_data", "picture_words", "setup"]

SCRIPT = Path(__file__).parent.parent / "pictures" / "displays.py"


@cache
def gallery_data():
    """The names that the script of the gallery leaves."""
    return runpy.run_path(str(SCRIPT))


def drawn(call):
    """The figure that a call draws on the data of the gallery."""
    import matplotlib

    matplotlib.use("agg")
    return eval(f"cb.displays.{call}", {**gallery_data(), "cb": cb}).figure_


def picture_words(figure):
    """What a figure shows, as a phrase: its axes' labels."""
    axes = [ax for one in figure.axes for ax in (one, *one.child_axes)]
    labels = [ax.get_ylabel() for ax in axes], [ax.get_xlabel() for ax in axes]
    ups, across = (" and ".join(dict.fromkeys(filter(None, some))) for some in labels)
    return f"{ups.lower()} by {across.lower()}".replace("\n", " ")


def code(call):
    """A call as HTML that wraps behind a full stop or a bracket, and is copied without that."""
    text = html.escape(f"cb.displays.{call}").replace(".", ".<wbr>").replace("(", "(<wbr>")
    return f'<div class="highlight-python"><div class="highlight"><pre>{text}</pre></div></div>'


class DisplayGallery(SphinxDirective):
    """The cards of a heading."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        import matplotlib.pyplot as plt

        self.env.note_dependency(str(SCRIPT))
        folder = Path(self.env.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        lines = [".. container:: displays", ""]
        for name, call in gallery_data()["CALLS"][self.arguments[0]].items():
            figure = drawn(call)
            path = folder / f"display_{name}.png"
            save(figure, path, dpi=140)
            shown = picture_words(figure)
            across, up = figure.get_size_inches()
            plt.close(figure)
            wide = " wide" if across > 1.5 * up else ""
            lines += [
                f"   .. container:: display{wide}",
                "",
                f"      :doc:`{name} </reference/generated/calibrant.displays.{name}>`",
                "",
                f"      .. image:: /generated/{path.name}",
                f"         :alt: {name}: {shown}",
                "",
                f"      {summary(getattr(cb.displays, name))}",
                "",
                "      .. raw:: html",
                "",
                f"         {code(call)}",
                "",
            ]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    """Register the directive; figures are drawn one at a time."""
    app.add_directive("calibrant-displays", DisplayGallery)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
