"""Figures for papers: a drawing at the width of a column, in vectors, with its fonts embedded."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.core.saving import replacing
from calibrant.core.stores import located
from calibrant.displays.svg import RC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PaperFigure"]

#: Text of 7 points, whole TrueType fonts in a PDF, letters as shapes in an SVG.
PAPER: dict[Any, Any] = {
    **RC,
    "font.size": 7.0,
    "figure.facecolor": "white",
    "lines.markersize": 4.0,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "calibrant",
}
MILLIMETRES = 25.4
#: Height over width of a drawing, and the greatest height in millimetres.
SHAPE, TALLEST = 1.15, 130.0
DOTS = 600
#: Entries that would differ from day to day.
UNDATED = {"pdf": "CreationDate", "svg": "Date", "png": "Software"}


class PaperFigure:
    """Publication figure, the result of :func:`calibrant.figure`.

    Parameters
    ----------
    drawing : a display, with ``plot(ax)``
    width : float
        In millimetres.

    Attributes
    ----------
    figure_ : matplotlib figure, for changes before it is saved.

    See Also
    --------
    figure : make one.

    Examples
    --------
    >>> import calibrant as cb
    >>> found = cb.figure([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], width=89)
    >>> [round(25.4 * side) for side in found.figure_.get_size_inches()]
    [89, 102]
    """

    figure_: "Figure"

    def __init__(self, drawing: Any, width: float) -> None:
        size = width / MILLIMETRES, min(SHAPE * width, TALLEST) / MILLIMETRES
        figures = import_extra("matplotlib.figure", "figure", "plot")
        with self._style():
            self.figure_ = figures.Figure(figsize=size, layout="constrained")
            drawing.plot(self.figure_.add_subplot())

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a PDF, SVG or PNG, as the suffix of ``path`` says, atomically; keep an existing
        file unless ``overwrite``.

        Raises
        ------
        InputError
            When ``path`` has another suffix.
        FileExistsError
            When ``path`` exists and ``overwrite`` is False.
        """
        kind = located(path).suffix.lower().removeprefix(".")
        require_option("the suffix of path", kind, tuple(UNDATED))
        with replacing(path, overwrite=overwrite) as temporary:
            self._write(temporary, kind)
        return located(path)

    def _write(self, target: Any, kind: str) -> None:
        with self._style():
            self.figure_.savefig(target, format=kind, dpi=DOTS, metadata={UNDATED[kind]: None})

    def _style(self) -> Any:
        return import_extra("matplotlib", "figure", "plot").rc_context(PAPER)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self._write(buffer, "png")
        return buffer.getvalue()
