"""Displays of risk-coverage curves and of the coverage of sets of labels."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.displays.axes import (
    COLOURS,
    DrawnClassCurve,
    draw_axes,
    draw_grid,
    plain_text,
    show_title,
)
from calibrant.metrics.curves.distribution import RiskCoverageCurve, risk_coverage_curve
from calibrant.metrics.forecast_spread import GroupCoverage
from calibrant.metrics.sets import set_coverage_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["RiskCoverageDisplay", "SetCoverageDisplay"]


class RiskCoverageDisplay(DrawnClassCurve[RiskCoverageCurve]):
    """Plot of the error rate among the most confident predictions over the share kept, with its
    interval.

    Make one with :meth:`from_predictions`; the constructor takes a computed curve and draws
    nothing.

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
    It falls to the left where the confidence separates right from wrong predictions, and is flat
    otherwise, calibrated or not. To choose a threshold from the plot, draw ``band="simultaneous"``:
    wherever its upper end is below a risk, that risk is kept.

    Examples
    --------
    >>> from calibrant.metrics import risk_coverage_curve
    >>> RiskCoverageDisplay(
    ...     risk_coverage_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2])
    ... ).curve.risk.tolist()
    [0.0, 0.3333333333333333, 0.25]
    """

    line_: Any
    _numbers = risk_coverage_curve

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: Any = None) -> Self:
        """Draw on ``ax`` (default: those of a new figure) in a colour of
        :mod:`calibrant.displays.axes`, and return the display.
        """
        ax = self._axes(ax)
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        self.band_: Any = ax.fill_between(
            c.coverage, c.low, c.high, color=shade, alpha=0.15, linewidth=0
        )
        (self.line_,) = ax.plot(c.coverage, c.risk, color=shade, linewidth=1.5, label=label)
        ax.set(
            xlim=(0, 1),
            ylim=(0, self._top()),
            xlabel="Share of predictions kept, the most confident first",
            ylabel="Share wrong among them",
        )
        show_title(ax, self.name)
        return self

    def _top(self) -> float:
        """Return the top of the axis: the intervals of the first few predictions may end above."""
        c, kept = self.curve, self.curve.coverage >= SHOWN
        return min(1.15 * float(max(c.high[kept].max(), c.risk[kept].max(), 1e-3)), 1.0)


#: The axis holds the intervals from this share of predictions on.
SHOWN = 0.1
#: Largest number of parts drawn; of more, those of the lowest coverage.
MOST_NAMES = 24


class SetCoverageDisplay:
    """Plot of the coverage of sets by class, group or size, with its interval and the nominal
    coverage.

    Make one with :meth:`from_sets`; the constructor takes computed numbers and draws nothing.

    Parameters
    ----------
    curve : GroupCoverage
        The result of :func:`metrics.set_coverage_by`.
    said : float, optional
        The nominal coverage, drawn as a line.
    by : {"class", "groups", "size"}
        The kind of parts; it determines the axis label.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : GroupCoverage
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.set_coverage_by : the numbers it draws.
    ConformalSets : sets whose ``by=`` guarantees coverage of each class or group.

    Notes
    -----
    The guarantee of sets for all rows is an average; this plot shows where it fails. By size, it
    shows whether large sets are justified. Of more than 24 parts it draws those with the lowest
    coverage. One in twenty intervals of parts with nominal coverage
    excludes the line by chance.

    Examples
    --------
    >>> from calibrant.metrics import set_coverage_by
    >>> display = SetCoverageDisplay(
    ...     set_coverage_by([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]]), said=0.9
    ... )
    >>> display.curve.coverage.tolist()
    [1.0, 0.5]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def __init__(
        self,
        curve: GroupCoverage,
        *,
        said: float | None = None,
        by: str = "class",
        name: str | None = None,
    ) -> None:
        self.curve: GroupCoverage = curve
        self.said: float | None = said
        self.by: str = by
        self.name: str | None = name

    @classmethod
    def from_sets(
        cls,
        y_true: ArrayLike,
        sets: Any,
        *,
        by: str = "class",
        groups: Any = None,
        said: float | None = None,
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> "SetCoverageDisplay":
        """Count and draw; takes the parameters of :func:`calibrant.metrics.set_coverage_by`, the
        nominal coverage, a title and axes.
        """
        found = set_coverage_by(
            y_true,
            sets,
            by=by,
            groups=groups,
            level=level,
            sample_weight=sample_weight,
            classes=classes,
        )
        return cls(found, said=said, by=by, name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display."""
        ax = draw_axes(ax, "SetCoverageDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        found, count = self.curve, len(self.curve.coverage)
        shown = np.sort(np.argsort(found.coverage, kind="stable")[:MOST_NAMES])
        found = type(found)(**{name: column[shown] for name, column in vars(found).items()})
        place = np.arange(len(shown))
        draw_grid(ax, "x")
        reach = np.stack([found.coverage - found.low, found.high - found.coverage])
        self.points_: Any = ax.errorbar(
            found.coverage,
            place,
            xerr=np.maximum(reach, 0.0),
            fmt="o",
            markersize=4,
            color=COLOURS["main"],
            ecolor=COLOURS["muted"],
            linewidth=1,
        )
        if self.said is not None:
            ax.axvline(
                self.said,
                color=COLOURS["other"],
                linewidth=1,
                linestyle="--",
                label=f"nominal: {self.said:g}",
            )
            ax.legend(frameon=False, loc="lower left", fontsize="small")
        texts = [f"{found.group[i]} ({found.n[i]:,.0f}; {found.width[i]:.1f})" for i in place]
        ax.set_yticks(place, texts, fontsize="small")
        plain_text(*ax.get_yticklabels())
        ax.invert_yaxis()
        what = {"class": "True class", "groups": "Group"}.get(self.by, "Classes in the set")
        some = (
            f": the {len(place)} of {count} with the lowest coverage" if count > len(place) else ""
        )
        ax.set(xlabel="Share of sets with the true class", ylabel=f"{what} (rows; mean size){some}")
        show_title(ax, name or self.name)
        return self
