"""What all figures share: colours that a colour-blind reader can tell apart, and the axes to draw on."""

from typing import TYPE_CHECKING, Any

from calibrant._support.extras import import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "draw_axes", "draw_grid", "log_counts", "plain_text", "show_title"]

#: By meaning. The report's style sheet gives each its counterpart on a dark page, by these very values.
COLOURS = {"main": "#1b6ca8", "other": "#c2410c", "muted": "#6b7280", "grid": "#dfe3e8", "text": "#1f2933"}


def draw_axes(ax: "Axes | None", feature: str) -> "Axes":
    """The axes given, or those of a new pyplot figure."""
    pyplot = import_extra("matplotlib.pyplot", feature, "plot")
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=(4.6, 4.8), layout="constrained")[1]


def draw_grid(ax: "Axes", axis: str = "both") -> None:
    """A light grid behind what is drawn."""
    ax.grid(axis=axis, color=COLOURS["grid"], linewidth=0.6)
    ax.set_axisbelow(True)


def show_title(ax: "Axes", name: str | None) -> None:
    """The name above the axes, as it is; nothing where there is none."""
    if name:
        plain_text(ax.set_title(str(name), fontsize="medium"))


def plain_text(*texts: Any) -> None:
    """Show texts as they are: a dollar sign in a class name starts no formula."""
    for text in texts:
        text.set_parse_math(False)


def log_counts(ax: "Axes", largest: float, base: int = 10) -> None:
    """A y axis for counts, on which 1 and 10,000 can both be seen, and 0 too."""
    ticker = import_extra("matplotlib.ticker", "a display", "plot")
    ax.set_yscale("symlog", linthresh=1.0)
    ax.set_ylim(0, 2.0 * max(float(largest), 1.0))
    ax.yaxis.set_major_locator(ticker.SymmetricalLogLocator(base=base, linthresh=1.0))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
