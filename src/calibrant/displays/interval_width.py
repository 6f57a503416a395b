"""Width and coverage of intervals over the outcome."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from calibrant.displays.from_record import FromRecord
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title
from calibrant.metrics.curves.interval_width_curve import IntervalWidthCurve, interval_width_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["IntervalWidthDisplay"]


class IntervalWidthDisplay:
    """Mean width of central intervals over the outcome, in bins, with the coverage of each bin on the axis at the right.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    .. versionadded:: 0.2

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

    ax_: "Axes"
    coverage_ax_: "Axes"
    figure_: "Figure | SubFigure"
    line_: Any
    coverage_: Any
    claimed_: Any
    from_record: FromRecord["IntervalWidthDisplay"] = FromRecord(interval_width_curve)

    def __init__(self, curve: IntervalWidthCurve, *, name: str | None = None) -> None:
        self.curve: IntervalWidthCurve = curve
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, name: str | None = None, ax: "Axes | None" = None,
        **options: Any,
    ) -> "IntervalWidthDisplay":  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.interval_width_curve`, a title and the axes to draw on."""
        return cls(interval_width_curve(y_true, mean, std, **options), name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "IntervalWidthDisplay")
        right = ax.twinx()
        self.ax_, self.coverage_ax_, self.figure_ = ax, right, ax.figure
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
        show_title(ax, name or self.name)
        return self
