"""Export of figures as SVG for pages with the strictest content policy.

Matplotlib's own SVG carries a style sheet and style attributes, which such a policy forbids, a
date, and identifiers that repeat from figure to figure. Here styles become presentation attributes
(which a page's style sheet can recolour), text stays text, and identifiers are the figure's own:
the same numbers give the same bytes.
"""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from calibrant._support.extras import import_extra
from calibrant.displays.axes import COLOURS

if TYPE_CHECKING:
    from calibrant.displays.reliability import ReliabilityDisplay

__all__ = ["as_svg"]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
MARK = "value-"
RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "calibrant",
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
    "savefig.facecolor": "none",
}


def as_svg(
    display: "ReliabilityDisplay",
    *,
    key: str,
    title: str,
    description: str,
    size: tuple[float, float] = (3.7, 4.2),
    points: Sequence[tuple[float, float, str]] = (),
) -> str:
    """Draw ``display`` on a new figure (inches) and return one ``<svg>`` element as text.

    Parameters
    ----------
    display : any display of this folder
    key : str
        Prefix of every identifier, unique on a page: letters, digits and hyphens.
    title, description : str
        Text that screen readers read instead of the picture.
    size : (width, height) in inches
    points : list of (x, y, text)
        Positions in the display's axes with a text: invisible circles with the text as their title,
        which a page's script can show under the mouse or the keyboard's focus. Positions outside
        the axes are left out.

    Returns
    -------
    str
    """
    matplotlib = import_extra("matplotlib", "figures in a report", "report")
    figure_module = import_extra("matplotlib.figure", "figures in a report", "report")
    buffer = io.StringIO()
    with matplotlib.rc_context(RC):
        figure = figure_module.Figure(figsize=size, layout="constrained")
        ax = figure.add_subplot()
        display.plot(ax)
        _mark(ax, points)
        figure.savefig(
            buffer,
            format="svg",
            bbox_inches="tight",
            pad_inches=0.04,
            metadata={"Date": None, "Creator": None},
        )
    root = ElementTree.fromstring(buffer.getvalue())
    _strip(root)
    _make_circles(root, [text for _, _, text in points])
    _own_identifiers(root, key)
    return _serialise(root, key, title, description, bool(points))


def _mark(ax: Any, points: Any) -> None:
    """Draw a marker at each place, to find its position on the page in the SVG."""
    (left, right), (bottom, top) = limits = ax.get_xlim(), ax.get_ylim()
    for number, (x, y, _) in enumerate(points):
        if left <= x <= right and bottom <= y <= top:
            ax.plot([x], [y], "o", gid=f"{MARK}{number}", scalex=False, scaley=False)
    ax.set(xlim=limits[0], ylim=limits[1])


def _make_circles(root: Any, texts: Any) -> None:
    """Replace the markers by one group of circles that carry their texts, on top of everything."""
    group = ElementTree.Element(f"{{{SVG}}}g", {"class": "points"})
    for parent in list(root.iter()):
        for child in list(parent):
            number = (child.get("id") or "").removeprefix(MARK)
            if number == child.get("id") or not number.isdigit():
                continue
            parent.remove(child)
            place = child.find(f".//{{{SVG}}}use")
            if place is not None:
                group.append(_circle(place, texts[int(number)], first=not len(group)))
    if len(group):
        root.append(group)


def _circle(place: Any, text: str, first: bool) -> Any:
    """Make the circle of one place; the first of a figure takes the keyboard focus."""
    found = {
        "cx": place.get("x"),
        "cy": place.get("y"),
        "r": "5",
        "role": "img",
        "tabindex": "0" if first else "-1",
    }
    circle = ElementTree.Element(f"{{{SVG}}}circle", found)
    ElementTree.SubElement(circle, f"{{{SVG}}}title").text = text
    return circle


def _strip(root: Any) -> None:
    """Drop metadata and style sheets, and turn styles into attributes."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        for name, value in _declarations(element.attrib.pop("style", "")):
            if name == "font":
                size = re.search(r"([\d.]+)px", value)
                element.set("font-size", size.group(1) if size else "9")
            else:
                element.set(name, value)


def _declarations(style: Any) -> Any:
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon and name.strip() != "font-family":
            yield name.strip(), value.strip()


def _own_identifiers(root: Any, key: str) -> None:
    """Prefix the identifiers that are referenced and drop the others."""
    reference = re.compile(r"url\(#([^)]+)\)")
    used = set()
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if name in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
                used.add(value[1:])
                del element.attrib[name]
                element.set("href", f"#{key}-{value[1:]}")
            elif "url(#" in value:
                used.update(reference.findall(value))
                element.set(name, reference.sub(rf"url(#{key}-\1)", value))
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in used:
            element.set("id", f"{key}-{old}")


def _serialise(root: Any, key: str, title: str, description: str, interactive: bool) -> str:
    ElementTree.register_namespace("", SVG)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib.update(
        {
            "role": "group" if interactive else "img",
            "aria-labelledby": f"{key}-title {key}-description",
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
        }
    )
    for position, (name, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(
            f"{{{SVG}}}{name}", {"id": f"{key}-{'title' if name == 'title' else 'description'}"}
        )
        element.text = text
        root.insert(position, element)
    return ElementTree.tostring(root, encoding="unicode")
