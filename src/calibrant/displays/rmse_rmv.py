"""The reliability diagram of regression: error against predicted std."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from calibrant.displays.from_record import FromRecord
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title
from calibrant.metrics.curves.rmse_rmv_curve import RmseRmvCurve, rmse_rmv_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["RmseRmvDisplay"]


class RmseRmvDisplay:
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

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    diagonal_: Any
    line_: Any
    from_record: FromRecord["RmseRmvDisplay"] = FromRecord(rmse_rmv_curve)

    def __init__(self, curve: RmseRmvCurve, *, name: str | None = None) -> None:
        self.curve: RmseRmvCurve = curve
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, name: str | None = None, ax: "Axes | None" = None,
        **options: Any,
    ) -> "RmseRmvDisplay":  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.rmse_rmv_curve`, a title and the axes to draw on."""
        return cls(rmse_rmv_curve(y_true, mean, std, **options), name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "RmseRmvDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        curve = self.curve
        draw_grid(ax)
        self.band_: Any = ax.fill_between(curve.rmv, curve.low, curve.high, color=COLOURS["muted"], alpha=0.25, linewidth=0)
        ends = [0.0, 1.05 * float(max(curve.rmv.max(), curve.rmse.max()))]
        (self.diagonal_,) = ax.plot(ends, ends, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        (self.line_,) = ax.plot(curve.rmv, curve.rmse, color=COLOURS["main"], linewidth=1.4, marker="o", markersize=4)
        ax.set(xlim=ends, ylim=ends, xlabel="Root mean predicted variance (units of y)", ylabel="Root mean squared error (units of y)")
        show_title(ax, name or self.name)
        return self
