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

__all__ = [
    "SCRIPT",
    "SIZE",
    "WIDE",
    "DisplayGallery",
    "drawn",
    "gallery_data",
    "picture_words",
    "setup",
]

#: Inches of a picture, and of one across two columns, with what is between the two.
SIZE, WIDE = (4.4, 4.6), (9.5, 4.6)
SCRIPT = Path(__file__).parent.parent / "pictures" / "displays.py"


@cache
def gallery_data():
    """The names that the script of the gallery leaves."""
    return runpy.run_path(str(SCRIPT))


def drawn(call, alone=False):
    """The figure that a call draws on the data of the gallery, as high as all others; that of a
    wide display, or of one alone under its heading, goes across two columns.
    """
    import matplotlib

    matplotlib.use("agg")
    figure = eval(f"cb.displays.{call}", {**gallery_data(), "cb": cb}).figure_
    across, up = figure.get_size_inches()
    figure.set_size_inches(*(WIDE if alone or across > 1.5 * up else SIZE))
    for _ in range(2):  # a panel below moves with its axes
        figure.get_layout_engine().execute(figure)
    return figure


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
        calls = gallery_data()["CALLS"][self.arguments[0]]
        for name, call in calls.items():
            figure = drawn(call, alone=len(calls) == 1)
            path = folder / f"display_{name}.png"
            save(figure, path, dpi=140)
            shown = picture_words(figure)
            wide = " wide" if figure.get_figwidth() == WIDE[0] else ""
            plt.close(figure)
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
