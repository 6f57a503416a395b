"""The cumulative gains: how many of the events are among the rows of highest risk."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.displays.drawn_curve import DrawnClassCurve
from calibrant.displays.style import COLOURS, draw_grid, show_title
from calibrant.metrics.curves.gain_curve import GainCurve, gain_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GainDisplay"]


class GainDisplay(DrawnClassCurve[GainCurve]):
    """Share of the events found over the share of rows flagged, the highest risks first, with its interval.

    Make one with :meth:`from_predictions`; the constructor takes a curve already computed and draws nothing.

    Parameters
    ----------
    curve : GainCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : GainCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.gain_curve : the numbers drawn, and the lift.

    Notes
    -----
    The diagonal is flagging at random; how far the curve stands above it, as a ratio, is the lift.

    Examples
    --------
    >>> from calibrant.metrics import gain_curve
    >>> GainDisplay(gain_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])).curve.found.tolist()
    [0.5, 0.5, 1.0, 1.0]
    """

    diagonal_: Any
    line_: Any
    _numbers = gain_curve

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: Any = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) in a colour of :mod:`calibrant.displays.style`, and return itself."""
        ax = self._axes(ax)
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        flagged, found, low, high = (np.append(0.0, column) for column in (c.flagged, c.found, c.low, c.high))
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        self.band_: Any = ax.fill_between(flagged, low, high, color=shade, alpha=0.15, linewidth=0)
        (self.line_,) = ax.plot(flagged, found, color=shade, linewidth=1.6, label=label)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="Share of rows flagged, the highest risks first", ylabel="Share of the events found")
        show_title(ax, self.name)
        return self
