"""The reliability diagram of regression: error against predicted std."""

from typing import TYPE_CHECKING, Any

from calibrant.displays.drawn_curve import DrawnForecastCurve
from calibrant.displays.style import COLOURS, draw_grid
from calibrant.metrics.curves.rmse_rmv_curve import RmseRmvCurve, rmse_rmv_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RmseRmvDisplay"]


class RmseRmvDisplay(DrawnForecastCurve[RmseRmvCurve]):
    """Root mean squared error against root mean predicted variance, with the band in which calibrated error bars would lie.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    Parameters
    ----------
    curve : RmseRmvCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : RmseRmvCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.rmse_rmv_curve : the numbers it draws.
    RealStdDisplay : the rows themselves.

    Notes
    -----
    Points above the diagonal are overconfident. A flat line means that the predicted std says nothing of a row, however well the
    intervals hold over all rows together.

    Examples
    --------
    >>> from calibrant.metrics import rmse_rmv_curve
    >>> display = RmseRmvDisplay(rmse_rmv_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    diagonal_: Any
    line_: Any
    _numbers = rmse_rmv_curve

    def _draw(self, ax: "Axes") -> None:
        curve = self.curve
        draw_grid(ax)
        self.band_: Any = ax.fill_between(curve.rmv, curve.low, curve.high, color=COLOURS["muted"], alpha=0.25, linewidth=0)
        ends = [0.0, 1.05 * float(max(curve.rmv.max(), curve.rmse.max()))]
        (self.diagonal_,) = ax.plot(ends, ends, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        (self.line_,) = ax.plot(curve.rmv, curve.rmse, color=COLOURS["main"], linewidth=1.4, marker="o", markersize=4)
        ax.set(xlim=ends, ylim=ends, xlabel="Root mean predicted variance (units of y)", ylabel="Root mean squared error (units of y)")
