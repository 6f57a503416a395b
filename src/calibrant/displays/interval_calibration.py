"""The interval calibration plot: seen against claimed coverage."""

from typing import TYPE_CHECKING, Any

from calibrant.displays.drawn_curve import DrawnForecastCurve
from calibrant.displays.style import COLOURS, draw_grid
from calibrant.metrics.curves.interval_curve import IntervalCurve, interval_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["IntervalCalibrationDisplay"]


class IntervalCalibrationDisplay(DrawnForecastCurve[IntervalCurve]):
    """Coverage of central intervals against what they claim, with its interval.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    Parameters
    ----------
    curve : IntervalCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : IntervalCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.interval_curve : the numbers it draws.
    PitHistogramDisplay : the same by quantiles.

    Notes
    -----
    Below the diagonal the intervals are too narrow. It looks at all rows together, and can be perfect for a std drawn at random: look
    at RmseRmvDisplay too.

    Examples
    --------
    >>> from calibrant.metrics import interval_curve
    >>> display = IntervalCalibrationDisplay(interval_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.level) > 0
    True
    """

    diagonal_: Any
    line_: Any
    _numbers = interval_curve

    def _draw(self, ax: "Axes") -> None:
        curve = self.curve
        draw_grid(ax)
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        self.band_: Any = ax.fill_between(curve.level, curve.low, curve.high, color=COLOURS["main"], alpha=0.25, linewidth=0)
        (self.line_,) = ax.plot(curve.level, curve.coverage, color=COLOURS["main"], linewidth=1.4)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="Coverage claimed", ylabel="Coverage seen")
