"""Intervals in order, with the outcomes that they hold and those that they miss."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.displays.from_record import FromRecord
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title
from calibrant.metrics.curves.ordered_intervals import OrderedIntervals, ordered_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["OrderedIntervalsDisplay"]


class OrderedIntervalsDisplay:
    """Central intervals of some rows in order, the outcomes as points, those missed in another colour and shape.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    .. versionadded:: 0.2

    Parameters
    ----------
    curve : OrderedIntervals
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : OrderedIntervals
        The rows drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.ordered_intervals : the rows it draws.
    IntervalWidthDisplay : all rows, in bins.

    Notes
    -----
    In the order of the outcome (the default) it shows which outcomes are missed, and that the missed are often the extreme ones: so
    they are even with true forecasts. In the order of the mean (``by="mean"``) the missed should lie scattered along it. It shows rows;
    to judge the intervals take IntervalCalibrationDisplay.

    Examples
    --------
    >>> from calibrant.metrics import ordered_intervals
    >>> display = OrderedIntervalsDisplay(ordered_intervals([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> display.curve.held.tolist()
    [False, True]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    from_record: FromRecord["OrderedIntervalsDisplay"] = FromRecord(ordered_intervals)

    def __init__(self, curve: OrderedIntervals, *, name: str | None = None) -> None:
        self.curve: OrderedIntervals = curve
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, name: str | None = None, ax: "Axes | None" = None,
        **options: Any,
    ) -> "OrderedIntervalsDisplay":  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.ordered_intervals`, a title and the axes to draw on."""
        return cls(ordered_intervals(y_true, mean, std, **options), name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "OrderedIntervalsDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        curve, held = self.curve, self.curve.held
        draw_grid(ax, "y")
        bottom, top = self._ends()
        ends = np.clip([curve.low, curve.high], bottom, top)
        self.intervals_: Any = ax.vlines(curve.place, *ends, color=COLOURS["muted"], alpha=0.45, linewidth=1)
        main, other = COLOURS["main"], COLOURS["other"]
        self.held_: Any = ax.scatter(curve.place[held], curve.y[held], s=6, color=main, linewidth=0, label=f"Held ({held.sum()})")
        self.missed_: Any = ax.scatter(curve.place[~held], curve.y[~held], s=20, color=other, marker="x", label=f"Missed ({(~held).sum()})")
        ax.set(xlim=(0, 1), ylim=(bottom, top), xlabel="Rows in order (share)", ylabel="Interval and outcome (units of y)")
        ax.legend(loc="upper left", fontsize="small", frameon=False)
        show_title(ax, name or self.name)
        return self

    def _ends(self):
        """The ends of the axis: of all that is finite, and a little more; intervals without end run off it."""
        values = np.concatenate([self.curve.y, self.curve.low, self.curve.high])
        values = values[np.isfinite(values)]
        room = 0.05 * float(np.ptp(values)) or 1.0
        return float(values.min()) - room, float(values.max()) + room
