"""The PIT histogram: where outcomes fall in their predicted distributions."""

from typing import TYPE_CHECKING, Any

from calibrant.displays.drawn_curve import DrawnForecastCurve
from calibrant.displays.style import COLOURS, draw_grid
from calibrant.metrics.regression.pit_test import PitHistogram, pit_histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PitHistogramDisplay"]


class PitHistogramDisplay(DrawnForecastCurve[PitHistogram]):
    """Histogram of the predicted probabilities of what came true, with the band in which a calibrated forecast's bars would lie.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    Parameters
    ----------
    curve : PitHistogram
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : PitHistogram
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.pit_histogram : the numbers it draws.
    IntervalCalibrationDisplay : the same by central intervals.

    Notes
    -----
    A bowl means too narrow, a hump too wide, a slope a shift.

    Examples
    --------
    >>> from calibrant.metrics import pit_histogram
    >>> display = PitHistogramDisplay(pit_histogram([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    _numbers = pit_histogram

    def _draw(self, ax: "Axes") -> None:
        curve = self.curve
        draw_grid(ax)
        width = curve.upper - curve.lower
        self.bars_: Any = ax.bar(curve.lower, curve.density, width=width, align="edge", color=COLOURS["main"], alpha=0.8)
        self.band_: Any = ax.axhspan(float(curve.low[0]), float(curve.high[0]), color=COLOURS["muted"], alpha=0.3, linewidth=0)
        ax.axhline(1.0, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        ax.set(xlim=(0, 1), xlabel="Predicted probability of a value below the outcome", ylabel="Density (1 if calibrated)")
