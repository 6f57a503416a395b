"""How often prediction sets hold the true class, by class, by group or by size."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.displays.style import COLOURS, draw_axes, draw_grid, plain_text, show_title
from calibrant.metrics.decision.set_coverage_by import set_coverage_by
from calibrant.metrics.regression.group_coverage import GroupCoverage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["SetCoverageDisplay"]

#: Parts whose names and numbers of rows are written out; of more, those of some.
MOST_NAMES = 24


class SetCoverageDisplay:
    """Coverage of the sets of each class, group or size, with its interval, beside what was promised.

    Make one with :meth:`from_sets`; the constructor takes numbers already computed and draws nothing.

    Parameters
    ----------
    curve : GroupCoverage
        As :func:`metrics.set_coverage_by` gives it.
    said : float, optional
        The level that was promised, drawn as a line.
    by : {"class", "groups", "size"}
        What the parts are; it words the axis.
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
    ConformalSets : ``by=`` promises coverage of each class or group.

    Notes
    -----
    The promise of sets for all rows is an average: look here for whom it is not kept. By size it shows whether large sets are earned.
    One interval in twenty of those that are right leaves the line out by chance.

    Examples
    --------
    >>> from calibrant.metrics import set_coverage_by
    >>> display = SetCoverageDisplay(set_coverage_by([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]]), said=0.9)
    >>> display.curve.coverage.tolist()
    [1.0, 0.5]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def __init__(self, curve: GroupCoverage, *, said: float | None = None, by: str = "class", name: str | None = None) -> None:
        self.curve: GroupCoverage = curve
        self.said: float | None = said
        self.by: str = by
        self.name: str | None = name

    @classmethod
    def from_sets(
        cls, y_true: ArrayLike, sets: Any, *, by: str = "class", groups: Any = None, said: float | None = None, level: float = 0.95,
        sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, name: str | None = None, ax: Any = None,
    ) -> "SetCoverageDisplay":  # fmt: skip
        """Count and draw; parameters as for :func:`calibrant.metrics.set_coverage_by`, what was said, a title and the axes."""
        found = set_coverage_by(y_true, sets, by=by, groups=groups, level=level, sample_weight=sample_weight, classes=classes)
        return cls(found, said=said, by=by, name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "SetCoverageDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        found, place = self.curve, np.arange(len(self.curve.coverage))
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
            ax.axvline(self.said, color=COLOURS["other"], linewidth=1, linestyle="--", label=f"promised: {self.said:g}")
            ax.legend(frameon=False, loc="lower left", fontsize="small")
        shown = place[:: 1 + len(place) // (MOST_NAMES + 1)]
        texts = [f"{found.group[i]} ({found.n[i]:,.0f}; {found.width[i]:.1f})" for i in shown]
        ax.set_yticks(shown, texts, fontsize="small")
        plain_text(*ax.get_yticklabels())
        ax.invert_yaxis()
        what = {"class": "True class", "groups": "Group"}.get(self.by, "Classes in the set")
        ax.set(xlabel="Share of sets that hold the true class", ylabel=f"{what} (rows; mean size)")
        show_title(ax, name or self.name)
        return self
