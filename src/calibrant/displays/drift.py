"""Display of calibration over time: the error of each batch with its interval, and the evidence of
a change.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.displays.axes import COLOURS, draw_axes, draw_grid, plain_text, show_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from calibrant.monitoring.monitor import CalibrationMonitor, DriftCurve

__all__ = ["DriftDisplay"]

#: Times named below the axis; more would overlap.
TIMES = 4


class DriftDisplay:
    """Plot of the calibration error over time with its interval, and below it the evidence of drift
    up to the alarm.

    Make one with :meth:`from_monitor`; the constructor takes a computed curve and draws nothing.

    Parameters
    ----------
    curve : DriftCurve
    threshold : float, optional
        The evidence that raises the alarm; without it, the evidence is not drawn.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : DriftCurve
        The numbers drawn; :meth:`frame` gives them as a table.
    ax_, evidence_ax_, figure_ : matplotlib axes of the error, of the evidence below it, and their
        figure, once drawn.

    See Also
    --------
    monitor, CalibrationMonitor : the source of the curve.

    Notes
    -----
    The points are debiased errors: a single batch whose interval reaches 0 shows no miscalibration.
    Many such batches together may: the evidence accumulates over batches, and the alarm is where it
    crosses its line.

    Examples
    --------
    >>> from calibrant.monitoring import CalibrationMonitor
    >>> monitor = (
    ...     CalibrationMonitor()
    ...     .update([0.9, 0.8, 0.7], [1, 1, 0], time="Monday")
    ...     .update([0.6, 0.9], [1, 1], time="Tuesday")
    ... )
    >>> display = DriftDisplay(monitor.curve(), monitor.threshold_)
    >>> display.frame()["time"].tolist()
    ['Monday', 'Tuesday']
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    line_: Any
    evidence_: Any

    def __init__(
        self, curve: "DriftCurve", threshold: float | None = None, *, name: str | None = None
    ) -> None:
        self.curve: DriftCurve = curve
        self.threshold: float | None = threshold
        self.name: str | None = name

    @classmethod
    def from_monitor(
        cls,
        monitor: "CalibrationMonitor",
        *,
        level: float = 0.95,
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "DriftDisplay":
        """Draw the batches of a :class:`calibrant.monitoring.CalibrationMonitor`; takes the level
        of the intervals, a title and axes.
        """
        return cls(monitor.curve(level=level), monitor.threshold_, name=name).plot(ax)

    def frame(self) -> Any:
        """Return a pandas data frame with one row per batch."""
        return self.curve.frame()

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        colour: str = "main",
        label: str | None = None,
    ) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display.

        A second curve on the same axes has another ``colour`` of :mod:`calibrant.displays.axes`
        and a ``label`` for the legend.
        """
        ax = draw_axes(ax, "DriftDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        curve, place = self.curve, np.arange(len(self.curve.time))
        draw_grid(ax)
        self.bands_: Any = ax.vlines(
            place, curve.low, curve.high, color=COLOURS[colour], alpha=0.35, linewidth=4
        )
        (self.line_,) = ax.plot(
            place,
            curve.error,
            color=COLOURS[colour],
            linewidth=1.4,
            marker="o",
            markersize=4,
            label=label,
        )
        ax.set(ylim=(0, None), ylabel="Calibration error")
        self.evidence_ax_: Any = (
            None if self.threshold is None else self._draw_evidence(ax, place, self.threshold)
        )
        lowest = self.evidence_ax_ or ax
        lowest.set_xlabel("Time")
        shown = np.unique(
            np.linspace(0, len(place) - 1, min(len(place), TIMES)).round().astype(int)
        )
        lowest.set_xticks(shown, [str(curve.time[i]) for i in shown])
        plain_text(*lowest.get_xticklabels())
        self._draw_alarm(place)
        show_title(ax, name or self.name)
        return self

    def _draw_evidence(self, ax: Any, place: np.ndarray, threshold: float) -> Any:
        below = _axes_below(ax)
        ax.tick_params(labelbottom=False)
        draw_grid(below)
        self.limit_: Any = below.axhline(
            np.log10(threshold), color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3))
        )
        (self.evidence_,) = below.plot(
            place, self.curve.log_evidence / np.log(10.0), color=COLOURS["text"], linewidth=1.4
        )
        below.set(ylabel="Evidence (log10)")
        return below

    def _draw_alarm(self, place: np.ndarray) -> None:
        """Draw a line through both axes at the first batch with an alarm."""
        self.alarm_: list[Any] = [
            axes.axvline(place[np.argmax(self.curve.alarm)], color=COLOURS["other"], linewidth=1.2)
            for axes in (self.ax_, self.evidence_ax_)
            if axes is not None and self.curve.alarm.any()
        ]


def _axes_below(ax: Any) -> Any:
    """Return new axes in the lower third of ``ax``, or just below axes that are not in a grid."""
    place = ax.get_subplotspec()
    if place is None:
        return ax.inset_axes((0, -0.55, 1, 0.47), sharex=ax)
    parts = place.subgridspec(2, 1, height_ratios=(2, 1))
    ax.set_subplotspec(parts[0])
    return ax.figure.add_subplot(parts[1], sharex=ax)
