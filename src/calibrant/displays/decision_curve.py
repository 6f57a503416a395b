"""The decision curve: net benefit over the threshold, beside acting on all and on none."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant._kernels.probability_scale import RARE
from calibrant.displays.drawn_curve import DrawnClassCurve
from calibrant.displays.probability_axes import scale_axes
from calibrant.displays.style import COLOURS, draw_grid, show_title
from calibrant.metrics.curves.decision_curve import DecisionCurve, decision_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DecisionCurveDisplay"]


class DecisionCurveDisplay(DrawnClassCurve[DecisionCurve]):
    """Net benefit of acting on the risk, with its interval, over the threshold; and of acting on all rows and on none.

    Make one with :meth:`from_predictions`; the constructor takes a curve already computed and draws nothing.

    Parameters
    ----------
    curve : DecisionCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : DecisionCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.decision_curve : the numbers drawn.
    metrics.threshold_table : what else each threshold leads to.

    Notes
    -----
    Read it at the thresholds that the decision allows, not at its highest point: where the model's line is above both others, acting on
    it gains. Where thresholds of interest are small, their axis is logarithmic.

    Examples
    --------
    >>> from calibrant.metrics import decision_curve
    >>> DecisionCurveDisplay(decision_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.5])).curve.net_benefit.tolist()
    [0.0]
    """

    line_: Any
    _numbers = decision_curve

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: str = "model", references: bool = True) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself.

        ``colour`` is of :mod:`calibrant.displays.style`; a second model on the same axes needs no ``references``, all and none, again.
        """
        ax = self._axes(ax)
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        if references:
            ax.plot(c.threshold, c.treat_all, color=COLOURS["muted"], linewidth=1.2, linestyle=(0, (4, 3)), label="act on all")
            ax.plot(c.threshold, c.treat_none, color=COLOURS["text"], linewidth=1, label="act on none")
        self.band_: Any = ax.fill_between(c.threshold, c.low, c.high, color=shade, alpha=0.15, linewidth=0)
        (self.line_,) = ax.plot(c.threshold, c.net_benefit, color=shade, linewidth=1.6, label=label)
        scale_axes(ax, "log" if np.median(c.threshold) < RARE else "linear", *self._reach(), which="x")
        # Acting on all falls without end, and so may the model; what matters lies near 0 and above.
        top = max(c.high.max(), c.treat_all.max(), 1e-12)
        ax.set(
            ylim=(-1.05 * np.clip(-c.net_benefit.min(), 0.1 * top, 0.5 * top), 1.05 * top),
            xlabel="Threshold of the risk",
            ylabel="Net benefit (true positives a row)",
        )
        ax.legend(frameon=False, fontsize="small")
        show_title(ax, self.name)
        return self

    def _reach(self):
        """The thresholds up to a little beyond the last one at which anything is gained or lost."""
        t = self.curve.threshold
        moved = np.flatnonzero((self.curve.net_benefit != 0.0) | (self.curve.treat_all > 0.0))
        return t[0], t[min(moved.max(initial=0) + 2, len(t) - 1)]
