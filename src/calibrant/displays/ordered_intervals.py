"""Intervals in order, with the outcomes that they hold and those that they miss."""

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.displays.drawn_curve import DrawnForecastCurve
from calibrant.displays.style import COLOURS, draw_grid
from calibrant.metrics.curves.ordered_intervals import OrderedIntervals, ordered_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["OrderedIntervalsDisplay"]


class OrderedIntervalsDisplay(DrawnForecastCurve[OrderedIntervals]):
    """Central intervals of some rows in order, the outcomes as points, those missed in another colour and shape.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

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

    _numbers = ordered_intervals

    def _draw(self, ax: "Axes") -> None:
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

    def _ends(self):
        """The ends of the axis: of all that is finite, and a little more; intervals without end run off it."""
        values = np.concatenate([self.curve.y, self.curve.low, self.curve.high])
        values = values[np.isfinite(values)]
        room = 0.05 * float(np.ptp(values)) or 1.0
        return float(values.min()) - room, float(values.max()) + room
