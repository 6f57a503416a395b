"""Width and coverage of intervals over the outcome."""

from typing import TYPE_CHECKING, Any

from calibrant.displays.drawn_curve import DrawnForecastCurve
from calibrant.displays.style import COLOURS, draw_grid
from calibrant.metrics.curves.interval_width_curve import IntervalWidthCurve, interval_width_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["IntervalWidthDisplay"]


class IntervalWidthDisplay(DrawnForecastCurve[IntervalWidthCurve]):
    """Mean width of central intervals over the outcome, in bins, with the coverage of each bin on the axis at the right.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    Parameters
    ----------
    curve : IntervalWidthCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : IntervalWidthCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.
    coverage_ax_ : the axes at the right.

    See Also
    --------
    metrics.interval_width_curve : the numbers it draws.
    OrderedIntervalsDisplay : the rows themselves.

    Notes
    -----
    With ``by="mean"`` each bin should hold the level, the dashed line: a bin below it has intervals too narrow for such predictions. Over
    the outcome (the default) coverage falls at both ends even with true forecasts, since extreme outcomes are those hard to foresee;
    read there how far, not whether.

    Examples
    --------
    >>> from calibrant.metrics import interval_width_curve
    >>> display = IntervalWidthDisplay(interval_width_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    coverage_ax_: "Axes"
    line_: Any
    coverage_: Any
    claimed_: Any
    _numbers = interval_width_curve

    def _draw(self, ax: "Axes") -> None:
        self.coverage_ax_ = right = ax.twinx()
        curve, main, other = self.curve, COLOURS["main"], COLOURS["other"]
        draw_grid(ax)
        (self.line_,) = ax.plot(curve.value, curve.width, color=main, linewidth=1.4, marker="o", markersize=4)
        (self.claimed_,) = right.plot(curve.value, curve.claimed, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        self.band_: Any = right.fill_between(curve.value, curve.low, curve.high, color=other, alpha=0.15, linewidth=0)
        (self.coverage_,) = right.plot(
            curve.value, curve.coverage, color=other, linewidth=1.2, linestyle=(0, (1, 1.5)), marker="s", markersize=3
        )
        ax.set(xlabel="Mean of the bin (units of y)")
        ax.set_ylim(bottom=0.0)
        ax.set_ylabel("Mean width (units of y)", color=main)
        right.set_ylim(0, 1)
        right.set_ylabel("Coverage seen", color=other)
