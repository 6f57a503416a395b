"""The Murphy diagram: the mean elementary score over its threshold."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.displays.drawn_curve import DrawnClassCurve
from calibrant.displays.style import COLOURS, draw_grid, show_title
from calibrant.metrics.curves.murphy_curve import MurphyCurve, murphy_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MurphyDisplay"]


class MurphyDisplay(DrawnClassCurve[MurphyCurve]):
    """Mean elementary score over its threshold, with its interval; and its parts where the curve has them.

    Make one with :meth:`from_predictions`; the constructor takes a curve already computed and draws nothing.

    Parameters
    ----------
    curve : MurphyCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : MurphyCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.murphy_curve : the numbers drawn.

    Notes
    -----
    Lower is better, at each threshold for those who would act there; the area below the curve is the Brier score of the event.

    Examples
    --------
    >>> from calibrant.metrics import murphy_curve
    >>> MurphyDisplay(murphy_curve([0, 1], [0.25, 0.5])).curve.score.tolist()
    [0.0, 0.25, 0.0, 0.0, 0.5, 0.0]
    """

    line_: Any
    _numbers = murphy_curve

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: str = "score") -> Self:
        """Draw it on ``ax`` (default: a new figure's) in a colour of :mod:`calibrant.displays.style`, and return itself."""
        ax = self._axes(ax)
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        self.band_: Any = ax.fill_between(c.threshold, c.low, c.high, color=shade, alpha=0.15, linewidth=0)
        (self.line_,) = ax.plot(c.threshold, c.score, color=shade, linewidth=1.4, label=label)
        if not np.isnan(c.uncertainty).all():
            ax.plot(c.threshold, c.miscalibration, color=COLOURS["other"], linewidth=1.2, label="miscalibration")
            ax.plot(c.threshold, c.discrimination, color=COLOURS["text"], linewidth=1.2, linestyle=":", label="discrimination")
            ax.plot(c.threshold, c.uncertainty, color=COLOURS["muted"], linewidth=1.2, linestyle=(0, (4, 3)), label="uncertainty")
            ax.legend(frameon=False, fontsize="small")
        ax.set(xlim=(0, 1), ylim=(0, None), xlabel="Threshold θ", ylabel="Mean elementary score")
        show_title(ax, self.name)
        return self
