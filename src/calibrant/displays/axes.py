"""Colours, axes and the templates of displays."""

from abc import ABC, abstractmethod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from calibrant._numerics.thresholds import NEAREST, probability_scale, probability_ticks, scale_ends
from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.core.metric_kinds import OnRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = [
    "COLOURS",
    "PALETTE",
    "DrawnClassCurve",
    "DrawnCurve",
    "DrawnForecastCurve",
    "chosen_scale",
    "draw_axes",
    "draw_grid",
    "inside_axes",
    "log_counts",
    "plain_text",
    "scale_axes",
    "show_title",
    "shown_edges",
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


#: Letters of tick labels that fit below axes.
LETTERS = 30
#: Colours of curves on the same axes, the last first.
PALETTE = ("main", "other", "text", "muted")


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


def plain_text(*texts: Any) -> None:
    """Show texts as plain text: a dollar sign in a class name starts no formula."""
    for text in texts:
        text.set_parse_math(False)


def log_counts(ax: "Axes", largest: float, base: int = 10) -> None:
    """Set a y axis for counts on which 0, 1 and 10,000 are all visible."""
    ticker = import_extra("matplotlib.ticker", "a display", "plot")
    ax.set_yscale("symlog", linthresh=1.0)
    ax.set_ylim(0, 2.0 * max(float(largest), 1.0))
    ax.yaxis.set_major_locator(ticker.SymmetricalLogLocator(base=base, linthresh=1.0))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))


def chosen_scale(
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


def scale_axes(ax: "Axes", scale: str, low: float, high: float, which: str = "xy") -> None:
    """Set scale, ends and plain-number ticks of the x axis, the y axis or both."""
    for name in which:
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
            some = slice(
                None, None, -2 if sum(map(len, texts)) > LETTERS and scale == "log" else -1
            )
            axis.set_ticks(ticks[some], texts[some])
            axis.set_ticks([], minor=True)


def shown_edges(upper: np.ndarray, scale: str) -> np.ndarray:
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
    both, half = scale == "logit", 0.5 / np.maximum(curve.n, 1.0)
    shares = {
        name: np.clip(getattr(curve, name), half, 1.0 - half if both else 1.0)
        for name in ("accuracy", "low", "high")
    }
    nearest = (
        NEAREST
        if both
        else scale_ends(scale, curve.confidence, curve.n @ curve.accuracy / curve.n.sum())[0]
    )
    score = np.clip(curve.confidence, nearest, 1.0 - nearest if both else 1.0)
    seen = np.concatenate([score, shares["accuracy"], [0.5] if both else []])
    high = 0.5 + 0.5 * seen.max() if both else min(2.0 * seen.max(), 1.0)
    return SimpleNamespace(confidence=score, **shares), (0.5 * seen.min(), high)


Curve = TypeVar("Curve")


class DrawnCurve(ABC, Generic[Curve]):
    """Template of displays of a curve with a title; a subclass declares ``_numbers``, the function
    that computes the curve, and ``plot``.
    """

    _numbers: ClassVar[OnRecord[..., Any, Any]]
    ax_: "Axes"
    figure_: "Figure | SubFigure"

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
        return cls(cls._numbers.of(record, **options), name=name).plot(ax)

    @abstractmethod
    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display."""

    def _axes(self, ax: "Axes | None") -> "Axes":
        """Return the axes to draw on, which the display stores."""
        self.ax_ = draw_axes(ax, type(self).__name__)
        self.figure_ = self.ax_.figure
        return self.ax_


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
        return cls(cls._numbers(y_true, P, **options), name=name).plot(ax)


class DrawnForecastCurve(DrawnCurve[Curve]):
    """Template of displays of curves of regression forecasts; a subclass defines ``_draw``."""

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
        return cls(cls._numbers(y_true, mean, std, **options), name=name).plot(ax)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        colour: str = "main",
        label: str | None = None,
    ) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display.

        A second curve on the same axes has another ``colour`` of :mod:`calibrant.displays.axes`
        and a ``label`` for the legend.
        """
        ax = self._axes(ax)
        self._draw(ax, COLOURS[colour], label)
        show_title(ax, name or self.name)
        return self

    @abstractmethod
    def _draw(self, ax: "Axes", shade: str, label: str | None) -> None:
        """Draw the curve on the axes."""
