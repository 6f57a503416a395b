"""The risk-coverage curve: how wrong the answers kept are, for each share kept."""

from typing import TYPE_CHECKING, Any, Self

from calibrant.displays.drawn_curve import DrawnClassCurve
from calibrant.displays.style import COLOURS, draw_grid, show_title
from calibrant.metrics.curves.risk_coverage_curve import RiskCoverageCurve, risk_coverage_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RiskCoverageDisplay"]


class RiskCoverageDisplay(DrawnClassCurve[RiskCoverageCurve]):
    """Share of wrong predictions among the most confident ones, over the share kept, with its interval.

    Make one with :meth:`from_predictions`; the constructor takes a curve already computed and draws nothing.

    Parameters
    ----------
    curve : RiskCoverageCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : RiskCoverageCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.risk_coverage_curve : the numbers it draws.
    metrics.area_under_risk_coverage : the curve as one number.

    Notes
    -----
    It falls to the left where the confidence tells right from wrong, and is flat where it tells nothing, calibrated or not. To choose a
    threshold by looking, draw ``band="simultaneous"``: where its upper end is below a risk, that risk is kept, wherever one looks.

    Examples
    --------
    >>> from calibrant.metrics import risk_coverage_curve
    >>> RiskCoverageDisplay(risk_coverage_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2])).curve.risk.tolist()
    [0.0, 0.3333333333333333, 0.25]
    """

    line_: Any
    _numbers = risk_coverage_curve

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: Any = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) in a colour of :mod:`calibrant.displays.style`, and return itself."""
        ax = self._axes(ax)
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        self.band_: Any = ax.fill_between(c.coverage, c.low, c.high, color=shade, alpha=0.15, linewidth=0)
        (self.line_,) = ax.plot(c.coverage, c.risk, color=shade, linewidth=1.5, label=label)
        ax.set(xlim=(0, 1), ylim=(0, None), xlabel="Share of predictions kept, the most confident first", ylabel="Share wrong among them")
        show_title(ax, self.name)
        return self
