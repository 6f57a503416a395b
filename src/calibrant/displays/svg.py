"""SVG of displays, for pages with the strictest content policy.

A renderer on Matplotlib's public interface writes what such a page needs and no more: presentation
attributes, which a page's style sheet can recolour, instead of style attributes; text as text;
identifiers of the figure's own; a view box around all that was drawn. It has no date: the same
numbers give the same bytes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from calibrant.core.extras import import_extra
from calibrant.displays.axes import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase as Base
    from matplotlib.path import Path
else:
    Base = object  # joined with Matplotlib's when it is drawn: importing this loads none of it

__all__ = ["RC", "as_svg"]

RC: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["text"],
    "text.color": COLOURS["text"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
#: Points per inch: one unit of the view box is one point.
DPI = 72.0
#: Least width at the left and the right of the axes, so that figures of one size stand in line.
MARGINS = (-42.0, 12.0)
#: Codes of Matplotlib's paths; any other closes the path.
LETTERS = {1: "M", 2: "L", 3: "Q", 4: "C"}
#: Corners of Matplotlib's round marker.
CIRCLE = 26
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
#: Groups of Matplotlib whose paths of one look are written as one path.
MERGED = ("matplotlib.axis", "LineCollection")


def as_svg(
    display: Any,
    *,
    key: str,
    title: str,
    description: str,
    size: tuple[float, float] = (3.1, 3.1),
    points: Sequence[tuple[Any, ...]] = (),
    start: str | None = None,
) -> str:
    """Draw ``display`` on new axes and return one ``<svg>`` element as text.

    Parameters
    ----------
    display : any display of this folder
    key : str
        Prefix of every identifier, unique on a page: letters, digits and hyphens.
    title, description : str
        Text that screen readers read instead of the picture.
    size : (width, height) of the axes in inches
    points : list of (x, y, text) or (x, y, text, state)
        Positions in the display's axes with a text: invisible circles with the text as their title,
        which a page's script can show under the mouse or the keyboard's focus. Positions outside
        the axes are left out.
    start : str, optional
        The state shown first, where artists whose ``gid`` is another state are hidden.
    """
    base = import_extra("matplotlib.backend_bases", "figures in a report", "report").RendererBase
    figures = import_extra("matplotlib.figure", "figures in a report", "report")
    renderer = type("Renderer", (_Writer, base), {})()
    renderer.begin(key, DPI * np.array(size), start)
    with import_extra("matplotlib", "figures in a report", "report").rc_context(RC):
        figure = figures.Figure(figsize=size, dpi=DPI)
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        display.plot(ax)
        figure.draw(renderer)
    circles = renderer.circles(ax, points)
    (left, top) = np.min(renderer.corners, axis=0) - 1.0
    (right, bottom) = np.max(renderer.corners, axis=0) + 1.0
    box = " ".join(f"{v:.0f}" for v in (left, top, right - left, bottom - top))
    role = "group" if points else "img"
    labels = f'<title id="{key}-title">{escape(title)}</title>'
    labels += f'<desc id="{key}-description">{escape(description)}</desc>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="{role}"'
        f' aria-labelledby="{key}-title {key}-description" font-size="9" stroke-linejoin="round">'
        f"{labels}{renderer.clips()}{''.join(renderer.written)}{circles}</svg>"
    )


class _Writer(Base):
    """Renderer that writes elements of SVG, in points from the top left of the axes."""

    def begin(self, key: str, size: np.ndarray, start: str | None) -> None:
        """Start an empty drawing."""
        self.key, self.size, self.start = key, size, start
        self.written: list[str] = []
        self.boxes: dict[tuple[float, ...], int] = {}
        self.ends: list[str] = []
        self.merged: dict[str, int] | None = None
        self.corners = [np.array([MARGINS[0], 0.0]), size + np.array([MARGINS[1], 0.0])]

    def get_canvas_width_height(self) -> tuple[float, float]:
        return tuple(self.size)

    def get_text_width_height_descent(
        self, s: str, prop: Any, ismath: Any
    ) -> tuple[float, float, float]:
        """Estimate the size of a text: its letters are those of the reader's browser."""
        size = prop.get_size_in_points()
        return 0.6 * size * len(s), size, 0.25 * size

    def open_group(self, s: str, gid: str | None = None) -> None:
        self.ends.append("" if gid is None else "</g>")
        self.written.append("" if gid is None else f"<g{self.state(gid)}>")
        self.merged = {} if s in MERGED else self.merged

    def close_group(self, s: str) -> None:
        self.written.append(self.ends.pop())
        self.merged = None if s in MERGED else self.merged

    def state(self, name: str | None) -> str:
        """Return the attributes of a group that is seen in one state only."""
        hidden = "" if name == self.start else ' display="none"'
        return "" if name is None else f" data-bins={quoteattr(name)}{hidden}"

    def draw_path(self, gc: Any, path: "Path", transform: Any, rgbFace: Any = None) -> None:
        look = self._look(gc, rgbFace, transform.transform(path.vertices))
        if look:
            self._write(self._data(path, transform), look, rgbFace)

    def draw_markers(
        self,
        gc: Any,
        marker_path: "Path",
        marker_trans: Any,
        path: "Path",
        trans: Any,
        rgbFace: Any = None,
    ) -> None:
        places = trans.transform(path.vertices)
        places = places[np.isfinite(places).all(axis=1)]
        look = self._look(gc, rgbFace, places)
        shape = marker_trans.transform_path(marker_path)
        if len(shape.vertices) == CIRCLE:
            r = _short(shape.vertices[:, 0].max())
            self.written += [
                f'<circle {self._position(centre[0], centre[1], "c")} r="{r}" {look}/>'
                for centre in places
            ]
        else:
            moved = (type(shape)(shape.vertices + place, shape.codes) for place in places)
            self._write("".join(self._data(outline, None) for outline in moved), look, rgbFace)

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        width, height, below = self.get_text_width_height_descent(s, prop, False)
        reach = np.array([[0.0, below - height], [width, below]])
        reach = np.array([[below - height, -width], [below, 0.0]]) if angle else reach
        self.corners += list(reach + np.array([x, y]))
        up, anchor = self.size[1] - y, ""
        if mtext is not None and (not angle or mtext.get_rotation_mode() == "anchor"):
            # The browser's letters may be narrower: the text stays where it is aligned.
            place = mtext.get_transform().transform(mtext.get_unitless_position())
            x, up = (x, place[1]) if angle else (place[0], up)
            anchor = f' text-anchor="{ANCHORS[mtext.get_ha()]}"'
        down, size = self.size[1] - up, prop.get_size_in_points()
        if angle:
            anchor += f' transform="rotate({-angle:g} {_short(x)} {_short(down)})"'
        if size != RC["font.size"]:
            anchor += f' font-size="{size:.3g}"'
        self.written.append(
            f'<text {self._position(x, up)} fill="{_hex(gc.get_rgb())}"{anchor}>{escape(s)}</text>'
        )

    def _position(self, x: float, y: float, prefix: str = "") -> str:
        """Return the attributes of a place, whose ``y`` is counted from below."""
        return f'{prefix}x="{_short(x)}" {prefix}y="{_short(self.size[1] - y)}"'

    def _data(self, path: "Path", transform: Any) -> str:
        data, last = "", ""
        for vertices, code in path.iter_segments(transform):
            letter = LETTERS.get(int(code), "Z")
            vertices[1::2] = self.size[1] - vertices[1::2]
            numbers = "" if letter == "Z" else " ".join(_short(v) for v in vertices)
            data += (" " if letter == last == "L" else letter) + numbers
            last = letter
        return data

    def _write(self, data: str, look: str, face: Any) -> None:
        if face is None and self.merged is not None and look in self.merged:
            place = self.merged[look]
            self.written[place] = self.written[place].replace('<path d="', f'<path d="{data}', 1)
            return
        if self.merged is not None:
            self.merged[look] = len(self.written)
        self.written.append(f'<path d="{data}" {look}/>')

    def _look(self, gc: Any, face: Any, corners: np.ndarray) -> str:
        """Return the attributes of a path or marker; "" where nothing of it is seen."""
        line, rgb, dashes = gc.get_linewidth(), gc.get_rgb(), gc.get_dashes()[1]
        if face is None and not line:
            return ""
        parts = [f'fill="{"none" if face is None else _hex(face)}"']
        opacities = {"opacity": gc.get_alpha() if gc.get_forced_alpha() else 1.0}
        if face is not None and opacities["opacity"] == 1.0:
            opacities["fill-opacity"] = face[3] if len(face) > 3 else 1.0
        if line:
            parts.append(f'stroke="{_hex(rgb)}" stroke-width="{line:g}"')
            opacities["stroke-opacity"] = (
                rgb[3] if len(rgb) > 3 and opacities["opacity"] == 1.0 else 1.0
            )
        if line and dashes is not None:
            parts.append(f'stroke-dasharray="{" ".join(f"{v:g}" for v in dashes)}"')
        parts += [f'{name}="{alpha:g}"' for name, alpha in opacities.items() if alpha < 1.0]
        box = gc.get_clip_rectangle()
        if box is not None and not _inside(box, corners):
            corner = (box.x0, self.size[1] - box.y1, box.width, box.height)
            number = self.boxes.setdefault(tuple(np.round(corner, 1)), len(self.boxes))
            parts.append(f'clip-path="url(#{self.key}-clip-{number})"')
        return " ".join(parts)

    def clips(self) -> str:
        """Return the rectangles that cut what reaches over its axes."""
        return "".join(
            f'<clipPath id="{self.key}-clip-{number}"><rect x="{_short(x)}" y="{_short(y)}"'
            f' width="{_short(width)}" height="{_short(height)}"/></clipPath>'
            for (x, y, width, height), number in self.boxes.items()
        )

    def circles(self, ax: "Axes", points: Sequence[tuple[Any, ...]]) -> str:
        """Return one group of circles a state; the first of each takes the keyboard's focus."""
        groups: dict[str | None, list[str]] = {}
        for x, y, text, *state in points:
            place = ax.transData.transform((x, y))
            if (place > -0.5).all() and (place < self.size + 0.5).all():
                group = groups.setdefault(state[0] if state else None, [])
                group.append(
                    f'<circle {self._position(place[0], place[1], "c")} r="5" role="img"'
                    f' tabindex="{-1 if group else 0}"><title>{escape(text)}</title></circle>'
                )
        return "".join(
            f'<g class="points"{self.state(state)}>{"".join(group)}</g>'
            for state, group in groups.items()
        )


def _hex(colour: Any) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour[:3])


def _short(value: float) -> str:
    return f"{round(float(value), 1):g}"


def _inside(box: Any, corners: np.ndarray) -> bool:
    """Whether all corners lie in the box, or not farther outside than a marker may reach."""
    points = corners[np.isfinite(corners).all(axis=1)]
    return bool(((points >= box.min - 0.1) & (points <= box.max + 0.1)).all())
