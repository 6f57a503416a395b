"""Colours, axes and the templates of displays."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from scipy.special import expit, logit

from calibrant._numerics.thresholds import NEAREST, probability_scale, probability_ticks, scale_ends
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.core.metric_kinds import OnRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "COLOURS",
    "DASHED",
    "MEANING",
    "PALETTE",
    "WITHOUT_OTHER",
    "Drawn",
    "DrawnClassCurve",
    "DrawnCurve",
    "DrawnForecastCurve",
    "add_panel",
    "axis_edges",
    "displays_on",
    "draw_axes",
    "draw_band",
    "draw_grid",
    "draw_legend",
    "finish_display",
    "inside_axes",
    "joint_ends",
    "keep_inside",
    "level_words",
    "log_counts",
    "next_colour",
    "plain_text",
    "raise_top",
    "resolve_scale",
    "scale_axes",
    "show_title",
]

#: Colours by meaning. The report's style sheet maps these values to their counterparts on a dark
#: page.
COLOURS = {
    "main": "#1b6ca8",
    "other": "#c2410c",
    "muted": "#6b7280",
    "grid": "#dfe3e8",
    "text": "#1f2933",
}


#: Look of a reference line.
DASHED: dict[str, Any] = {"color": COLOURS["muted"], "linewidth": 1, "linestyle": (0, (4, 3))}
#: Letters of tick labels that fit below axes.
LETTERS = 30
#: Colours of curves on the same axes; in reports the last curve has the first colour.
PALETTE = ("main", "other", "text", "muted")
#: The same for displays with parts in the second colour.
WITHOUT_OTHER = ("main", "text", "muted")
#: Start of the label of a reference line or band: Matplotlib's own legends, as those of a report,
#: leave it out; those of a display name it.
MEANING = "_: "
#: Inches between what a display draws and the edge of its cell.
EDGE = 0.04


def draw_axes(ax: "Axes | None", feature: str) -> "Axes":
    """Return the given axes, or those of a new pyplot figure."""
    pyplot = import_extra("matplotlib.pyplot", feature, "plot")
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=(4.6, 4.8), layout="constrained")[1]


def draw_grid(ax: "Axes", axis: str = "both") -> None:
    """Draw a light grid behind the plot."""
    ax.grid(axis=axis, color=COLOURS["grid"], linewidth=0.6)
    ax.set_axisbelow(True)


def show_title(ax: "Axes", name: str | None) -> None:
    """Show the name above the axes as plain text, if there is one."""
    if name:
        plain_text(ax.set_title(str(name), fontsize="medium"))


def level_words(level: float | None, words: str) -> str:
    """Return the label of a band or of intervals; None is an unknown level."""
    return MEANING + (words if level is None else f"{100.0 * level:g} % {words}")


def draw_band(
    ax: "Axes", x: Any, low: Any, high: Any, colour: str, label: str, alpha: float = 0.15
) -> Any:
    """Shade the band between ``low`` and ``high``, and return it."""
    return ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0, label=label)


def displays_on(ax: "Axes") -> list[Any]:
    """Return the main artist of each display on the axes."""
    return [artist for artist in ax.get_children() if hasattr(artist, "display_label")]


def next_colour(ax: "Axes", colour: str | None = None, palette: Sequence[str] = PALETTE) -> str:
    """Return the value of ``colour``; by default of the next one of the palette on these axes."""
    return COLOURS[colour or palette[len(displays_on(ax)) % len(palette)]]


def joint_ends(ax: "Axes", ends: Any) -> tuple[float, float]:
    """Return the ends of an x axis that holds the earlier displays on the axes as well."""
    if not displays_on(ax):
        return ends
    low, high = ax.get_xlim()
    return min(ends[0], low), max(ends[1], high)


def finish_display(ax: "Axes", artists: Any, name: str | None, label: str | None = None) -> None:
    """Show the title of the first display on the axes; from the second on, a legend names each.

    A first display without ``label`` has a legend of its reference lines and bands; one with it
    waits for the others. ``artists`` are one or a list with labels of their own, the first of which
    stands for the display. Axes of plain subplots shrink where it would reach over their cell of
    the grid.
    """
    parts = artists if isinstance(artists, list) else [artists]
    usual, earlier = parts[0].get_label(), displays_on(ax)
    if not earlier and label is None and ax.get_legend() is None:
        draw_legend(ax)
    label = str(label or name or ("curve" if usual.startswith("_") else usual))
    labels = [artist.display_label for artist in earlier]
    parts[0].display_label = f"{label} {len(labels) + 1}" if label in labels else label
    parts[0].display_parts = [(part, part.get_label()) for part in parts]
    if not earlier:
        show_title(ax, name)
    else:
        if ax.get_title() == labels[0]:
            ax.set_title("")
        draw_legend(ax, [*earlier, parts[0]])
    if len(parts) == 1:
        parts[0].set_label(parts[0].display_label)
    keep_inside(ax)


def draw_legend(ax: "Axes", displays: Sequence[Any] = (), **options: Any) -> None:
    """Draw a legend with the label of each display, before those of its parts if it has several,
    and with the meaning of lines and bands.
    """
    for artist in displays:
        for part, word in artist.display_parts:
            several = len(artist.display_parts) > 1
            part.set_label(f"{artist.display_label}: {word}" if several else artist.display_label)
    handles = {
        text: artist for artist, text in zip(*ax.get_legend_handles_labels(), strict=True)
    } | {
        str(artist.get_label()).removeprefix(MEANING): artist
        for artist in ax.get_children()
        if str(artist.get_label()).startswith(MEANING)
    }
    options = {"frameon": False, "fontsize": "small", **options}
    plain_text(*ax.legend([*handles.values()], [*handles], **options).get_texts())


def add_panel(ax: Any, bottom: float, height: float, *, split: bool = False) -> Any:
    """Return the axes that an earlier display added below or above ``ax``, or new ones.

    With ``split``, axes of a grid give up the lower third of their cell.
    """
    slot, panel = ax.get_subplotspec(), getattr(ax, "panel", None)
    if panel in (*ax.child_axes, *ax.figure.axes):
        return panel
    if split and slot is not None:
        parts = slot.subgridspec(2, 1, height_ratios=(2, 1))
        ax.set_subplotspec(parts[0])
        ax.panel = ax.figure.add_subplot(parts[1], sharex=ax)
    else:
        ax.panel = ax.inset_axes((0, bottom, 1, height), sharex=ax)
    return ax.panel


def raise_top(ax: "Axes", top: float | None = None) -> None:
    """Let the y axis start at 0 and end at ``top`` (default: above all data), or higher where an
    earlier display on the axes ended.
    """
    if displays_on(ax):
        highest = ax.dataLim.y1 + 0.05 * ax.dataLim.height if top is None else top
        top = max(highest, ax.get_ylim()[1])
    ax.set_ylim(0.0, top)


def keep_inside(ax: "Axes") -> None:
    """Shrink axes of a grid until their texts and panels lie in their cell.

    A layout engine of the figure does so itself; a panel needs more than its two steps.
    """
    figure, slot = ax.figure, ax.get_subplotspec()
    engine = figure.get_layout_engine()
    if engine is not None and ax.child_axes and hasattr(figure, "set_layout_engine"):
        engine.execute(figure)
    if slot is None or engine is not None:
        return
    slot = getattr(slot.get_gridspec(), "slot", slot)  # of an earlier display
    ax.set_subplotspec(slot)
    cell = _cell(slot, figure) + EDGE * figure.dpi * np.array([[1.0], [-1.0]])
    size = slot.get_position(figure).transformed(figure.transSubfigure)
    room = np.zeros((2, 2))  # below and above, by axis
    for part in (0.7, 0.7, 1.0):  # a panel shrinks with its axes: the first steps are careful
        box = ax.get_tightbbox()
        room += part * np.clip([cell[0] - box.min, box.max - cell[1]], 0.0, None)
        (left, bottom), (right, top) = room
        inner = slot.subgridspec(
            3,
            3,
            wspace=0.0,
            hspace=0.0,
            width_ratios=(left, max(size.width - left - right, 1.0), right),
            height_ratios=(top, max(size.height - bottom - top, 1.0), bottom),
        )
        setattr(inner, "slot", slot)  # noqa: B010
        ax.set_subplotspec(inner[1, 1])


def _cell(slot: Any, figure: Any) -> np.ndarray:
    """Return the corners, in pixels, of a cell of a grid with its half of the gaps around it."""
    grid = slot.get_gridspec()
    bottoms, tops, lefts, rights = grid.get_grid_positions(figure)
    across = np.concatenate([[0.0], 0.5 * (rights[:-1] + lefts[1:]), [1.0]])
    down = np.concatenate([[1.0], 0.5 * (bottoms[:-1] + tops[1:]), [0.0]])
    columns, rows = slot.colspan, slot.rowspan
    corners = [[across[columns.start], down[rows.stop]], [across[columns.stop], down[rows.start]]]
    return figure.transSubfigure.transform(corners)


def plain_text(*texts: Any) -> None:
    """Show texts as plain text: a dollar sign in a class name starts no formula."""
    for text in texts:
        text.set_parse_math(False)


def log_counts(ax: "Axes", largest: float, base: int = 10) -> None:
    """Set a logarithmic y axis for counts on which 1 and 10,000 are both visible."""
    ticker = import_extra("matplotlib.ticker", "a display", "plot")
    ax.set_yscale("log", base=base)
    ax.set_ylim(0.7 * min(ax.dataLim.minposy, 1.0), 2.0 * max(float(largest), 1.0))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))


def resolve_scale(
    scale: str, target: Any, score: np.ndarray, share: np.ndarray, weight: np.ndarray
) -> str:
    """Return the scale; "auto" suits rows or bins, and is linear for the answer."""
    require_option("scale", scale, ("auto", "linear", "log", "logit"))
    if scale != "auto":
        return scale
    return (
        "linear"
        if isinstance(target, str) and target == "answer"
        else probability_scale(score, share, weight)
    )


def scale_axes(ax: "Axes", scale: str, low: float, high: float, axes: str = "xy") -> None:
    """Set scale, ends and plain-number ticks of the x axis, the y axis or both."""
    for name in axes:
        if getattr(ax, f"get_{name}scale")() != scale:
            ax.set(**{f"{name}scale": scale})
        ax.set(**{f"{name}lim": (low, high)})
        if scale != "linear":
            axis, ticks = getattr(ax, f"{name}axis"), probability_ticks(scale, low, high)
            texts = [
                np.format_float_positional(tick, trim="-") if tick >= 1e-5 else f"{tick:g}"
                for tick in ticks
            ]
            # Texts that would touch each other: every other one, the last included.
            visible = slice(
                None, None, -2 if sum(map(len, texts)) > LETTERS and scale == "log" else -1
            )
            axis.set_ticks(ticks[visible], texts[visible])
            axis.set_ticks([], minor=True)


def axis_edges(upper: np.ndarray, scale: str) -> np.ndarray:
    """(n_bins + 1,) edges of bins equally wide on the scale; ends at infinity, 0 or 1, give a bin
    of the usual width.
    """
    if scale == "linear" or len(upper) < 3:
        return np.append(0.0 if scale == "linear" else 1e-5, upper)
    to, back = (np.log, np.exp) if scale == "log" else (logit, expit)
    inner = to(upper[:-1])
    return back(np.concatenate([[2.0 * inner[0] - inner[1]], inner, [2.0 * inner[-1] - inner[-2]]]))


def inside_axes(curve: Any, scale: str) -> tuple[Any, tuple[float, float]]:
    """Move points of a reliability curve away from 0, and from 1 on a logit axis, where these are
    at infinity; return it and the ends of both axes.

    The ends are half the smallest and twice the largest score or share drawn, or symmetrically near
    1 on a logit axis.
    """
    if scale == "linear":
        return curve, (0.0, 1.0)
    is_logit, half = scale == "logit", 0.5 / np.maximum(curve.n, 1.0)
    shares = {
        name: np.clip(getattr(curve, name), half, 1.0 - half if is_logit else 1.0)
        for name in ("accuracy", "low", "high")
    }
    nearest = (
        NEAREST
        if is_logit
        else scale_ends(scale, curve.confidence, curve.n @ curve.accuracy / curve.n.sum())[0]
    )
    score = np.clip(curve.confidence, nearest, 1.0 - nearest if is_logit else 1.0)
    values = np.concatenate([score, shares["accuracy"], [0.5] if is_logit else []])
    high = 0.5 + 0.5 * values.max() if is_logit else min(2.0 * values.max(), 1.0)
    return SimpleNamespace(confidence=score, **shares), (0.5 * values.min(), high)


Curve = TypeVar("Curve")


class Drawn(ABC):
    """Template of displays: axes, grid, colour, title and legend around what ``_draw`` draws."""

    _grid: ClassVar[str] = "both"
    _palette: ClassVar[Sequence[str]] = WITHOUT_OTHER
    name: str | None
    ax_: Any
    figure_: Any
    line_: Any
    diagonal_: Any

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        colour: str | None = None,
        label: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display.

        A second display on the same axes has the next ``colour`` of
        :mod:`calibrant.displays.axes`, and a legend with the ``label`` or name of each.
        """
        self.ax_ = ax = draw_axes(ax, type(self).__name__)
        self.figure_ = ax.figure
        draw_grid(ax, self._grid)
        parts = self._draw(ax, next_colour(ax, colour, self._palette), label=label, **options)
        finish_display(ax, parts, name or self.name, label)
        return self

    @abstractmethod
    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        """Draw on the axes; return the main artist, or a list of the artists of the legend."""


class DrawnCurve(Drawn, Generic[Curve]):
    """Template of displays of a curve with a title; a subclass declares ``_numbers``, the function
    that computes the curve.
    """

    _numbers: ClassVar[OnRecord[..., Any, Any]]
    _palette = PALETTE

    def __init__(self, curve: Curve, *, name: str | None = None) -> None:
        self.curve: Curve = curve
        self.name: str | None = name

    @classmethod
    def from_record(
        cls, record: Any, *, name: str | None = None, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Compute and draw from an existing record; takes the options of the function of the
        numbers, a title and axes.
        """
        return cls._plotted(cls._numbers.of(record, **options), name, ax, options)

    @classmethod
    def _plotted(cls, curve: Any, name: str | None, ax: Any, options: dict[str, Any]) -> Self:
        # The legend says the level of the intervals, whose default is that of the functions.
        return cls(curve, name=name).plot(ax, **{"level": 0.95, "band": 0.95, **options})


class DrawnClassCurve(DrawnCurve[Curve]):
    """Template of displays of curves of class predictions."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw; takes the options of the function of the numbers (See Also), a title
        and axes.
        """
        return cls._plotted(cls._numbers(y_true, P, **options), name, ax, options)


class DrawnForecastCurve(DrawnCurve[Curve]):
    """Template of displays of curves of regression forecasts."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: Any,
        std: ArrayLike | None = None,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw; takes the options of the function of the numbers (See Also), a title
        and axes.
        """
        return cls._plotted(cls._numbers(y_true, mean, std, **options), name, ax, options)
