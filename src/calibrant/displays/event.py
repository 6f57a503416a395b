"""Displays of one event (net benefit, gain, elementary scores, isotonic calibration), and of
calibration over time.

Over time, the error of each batch is drawn with its interval, and the evidence of a change.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from calibrant._numerics.thresholds import RARE
from calibrant.core.arrays import ArrayLike
from calibrant.core.given import Inputs
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.displays.axes import (
    COLOURS,
    DASHED,
    MEANING,
    Drawn,
    DrawnClassCurve,
    add_panel,
    displays_on,
    draw_band,
    draw_grid,
    draw_legend,
    level_words,
    plain_text,
    raise_top,
    scale_axes,
)
from calibrant.metrics.curves.decision import DecisionCurve, GainCurve, decision_curve, gain_curve
from calibrant.metrics.curves.isotonic import IsotonicCurve, isotonic_curve
from calibrant.metrics.curves.murphy import MurphyCurve, murphy_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.monitoring.monitor import CalibrationMonitor, DriftCurve

__all__ = [
    "DecisionCurveDisplay",
    "DriftDisplay",
    "GainDisplay",
    "IsotonicCurveDisplay",
    "MurphyDisplay",
]


#: Times named below the axis; more would overlap.
TIMES = 4


class DriftDisplay(Drawn):
    """Shows whether and when calibration changed: the error of each batch, and below it the
    evidence of a change, which raises the alarm where it crosses the dashed line.

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
        return cls(monitor.curve(level=level), monitor.threshold_, name=name).plot(ax, level=level)

    def frame(self) -> Any:
        """Return a pandas data frame with one row per batch."""
        return self.curve.frame()

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve, place = self.curve, np.arange(len(self.curve.time))
        self.bands_: Any = ax.vlines(
            place,
            curve.low,
            curve.high,
            color=shade,
            alpha=0.35,
            linewidth=4,
            label=level_words(options.get("level"), "interval"),
        )
        (self.line_,) = ax.plot(
            place, curve.error, color=shade, linewidth=1.4, marker="o", markersize=4
        )
        raise_top(ax)
        ax.set_ylabel("Calibration error")
        self.evidence_ax_: Any = (
            None
            if self.threshold is None
            else self._draw_evidence(ax, place, self.threshold, shade)
        )
        lowest = self.evidence_ax_ or ax
        lowest.set_xlabel("Time")
        ticks = np.unique(
            np.linspace(0, len(place) - 1, min(len(place), TIMES)).round().astype(int)
        )
        lowest.set_xticks(ticks, [str(curve.time[i]) for i in ticks])
        plain_text(*lowest.get_xticklabels())
        self._draw_alarm(place)
        if options["label"] is None:
            draw_legend(ax, loc="upper left")
        return self.line_

    def _draw_evidence(self, ax: Any, place: np.ndarray, threshold: float, shade: str) -> Any:
        below = add_panel(ax, -0.55, 0.47, split=True)
        ax.tick_params(labelbottom=False)
        draw_grid(below)
        self.limit_: Any = below.axhline(
            np.log10(threshold),
            color=COLOURS["muted"],
            linewidth=1,
            linestyle=(0, (4, 3)),
            label=f"{MEANING}alarm from here on",
        )
        (self.evidence_,) = below.plot(
            place, self.curve.log_evidence / np.log(10.0), color=shade, linewidth=1.4
        )
        below.set(ylabel="Evidence (log10)")
        draw_legend(below)
        return below

    def _draw_alarm(self, place: np.ndarray) -> None:
        """Draw a line through both axes at the first batch with an alarm."""
        self.alarm_: list[Any] = [
            axes.axvline(
                place[np.argmax(self.curve.alarm)],
                color=COLOURS["other"],
                linewidth=1.2,
                label=f"{MEANING}alarm",
            )
            for axes in (self.ax_, self.evidence_ax_)
            if axes is not None and self.curve.alarm.any()
        ]


class DecisionCurveDisplay(DrawnClassCurve[DecisionCurve]):
    """Shows whether acting on the risk is worth it: at thresholds where the line of the model is
    above those of acting on all rows and on none, it is.

    Make one with :meth:`from_predictions`; the constructor takes a computed curve and draws
    nothing.

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
    metrics.decision_curve : the numbers it draws.
    metrics.threshold_table : other consequences of each threshold.

    Notes
    -----
    Read it at the thresholds that suit the decision, not at its highest point. The model is useful
    where its line is above both others. For small thresholds, the axis is logarithmic.

    Examples
    --------
    >>> from calibrant.metrics import decision_curve
    >>> DecisionCurveDisplay(
    ...     decision_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.5])
    ... ).curve.net_benefit.tolist()
    [0.0]
    """

    _numbers = decision_curve

    def plot(
        self, ax: "Axes | None" = None, *, references: bool | None = None, **options: Any
    ) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display.

        ``references`` (acting on all and on none) are drawn once by default. Options are the
        ``name``, ``colour`` and ``label`` of other displays.
        """
        super().plot(ax, references=references, **options)
        if self.ax_.get_legend() is None:
            self.line_.set_label(options.get("label") or "model")
            plain_text(*self.ax_.legend(frameon=False, fontsize="small").get_texts())
        return self

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        c, displays, references = self.curve, displays_on(ax), options["references"]
        if not displays if references is None else references:
            ax.plot(c.threshold, c.treat_all, label="act on all", **DASHED)
            ax.plot(
                c.threshold, c.treat_none, color=COLOURS["text"], linewidth=1, label="act on none"
            )
        self.band_: Any = draw_band(
            ax, c.threshold, c.low, c.high, shade, level_words(options.get("level"), "interval")
        )
        (self.line_,) = ax.plot(
            c.threshold, c.net_benefit, color=shade, linewidth=1.6, label="model"
        )
        scale_axes(
            ax, "log" if np.median(c.threshold) < RARE else "linear", *self._reach(), axes="x"
        )
        # Acting on all decreases without bound, and so may the model; the relevant range is near 0
        # and above.
        top = max(c.high.max(), c.treat_all.max(), 1e-12)
        ends = np.array([-np.clip(-c.net_benefit.min(), 0.1 * top, 0.5 * top), top]) * 1.05
        ends = np.append(ends, ax.get_ylim() if displays else [])
        ax.set(
            ylim=(ends.min(), ends.max()),
            xlabel="Threshold of the risk",
            ylabel="Net benefit (true positives per row)",
        )
        return self.line_

    def _reach(self) -> Any:
        """Return the thresholds up to slightly beyond the last one with a gain or loss."""
        t = self.curve.threshold
        moved = np.flatnonzero((self.curve.net_benefit != 0.0) | (self.curve.treat_all > 0.0))
        return t[0], t[min(moved.max(initial=0) + 2, len(t) - 1)]


class GainDisplay(DrawnClassCurve[GainCurve]):
    """Shows how many of the events are found when a share of the rows is flagged, the highest risks
    first: the farther above the dashed line of flagging at random, the better.

    Make one with :meth:`from_predictions`; the constructor takes a computed curve and draws
    nothing.

    Parameters
    ----------
    curve : GainCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : GainCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.gain_curve : the numbers it draws, and the lift.

    Notes
    -----
    The diagonal is flagging at random; the ratio of the curve to it is the lift.

    Examples
    --------
    >>> from calibrant.metrics import gain_curve
    >>> GainDisplay(gain_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])).curve.found.tolist()
    [0.5, 0.5, 1.0, 1.0]
    """

    _numbers = gain_curve

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        c = self.curve
        flagged, recall, low, high = (
            np.append(0.0, column) for column in (c.flagged, c.found, c.low, c.high)
        )
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], label=f"{MEANING}flagged at random", **DASHED)
        self.band_: Any = draw_band(
            ax, flagged, low, high, shade, level_words(options.get("level"), "interval")
        )
        (self.line_,) = ax.plot(flagged, recall, color=shade, linewidth=1.6)
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1),
            xlabel="Share of rows flagged, the highest risks first",
            ylabel="Share of the events found",
        )
        return self.line_


class MurphyDisplay(DrawnClassCurve[MurphyCurve]):
    """Shows at which thresholds of a decision the risk is good or bad: lower is better, and a model
    that is lower everywhere is better for everybody who acts on it.

    Make one with :meth:`from_predictions`; the constructor takes a computed curve and draws
    nothing.

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
    metrics.murphy_curve : the numbers it draws.

    Notes
    -----
    Lower is better, at each threshold for those who act there. The area below the curve is the
    Brier score of the event.

    Examples
    --------
    >>> from calibrant.metrics import murphy_curve
    >>> MurphyDisplay(murphy_curve([0, 1], [0.25, 0.5])).curve.score.tolist()
    [0.0, 0.25, 0.0, 0.0, 0.5, 0.0]
    """

    _numbers = murphy_curve
    #: Parts of the score, and how each is drawn.
    PARTS: ClassVar[dict[str, dict[str, Any]]] = {
        "miscalibration": {"color": COLOURS["other"]},
        "discrimination": {"color": COLOURS["text"], "linestyle": ":"},
        "uncertainty": {"color": COLOURS["muted"], "linestyle": (0, (4, 3))},
    }

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        c = self.curve
        self.band_: Any = draw_band(
            ax, c.threshold, c.low, c.high, shade, level_words(options.get("level"), "interval")
        )
        (self.line_,) = ax.plot(c.threshold, c.score, color=shade, linewidth=1.4, label="score")
        if not np.isnan(c.uncertainty).all():
            for name, look in self.PARTS.items():
                ax.plot(c.threshold, getattr(c, name), linewidth=1.2, label=name, **look)
        raise_top(ax)
        ax.set(
            xlim=(0, 1),
            xlabel="Threshold of the risk",
            ylabel="Mean score (area below: Brier score)",
        )
        return self.line_


class IsotonicCurveDisplay(DrawnClassCurve[IsotonicCurve]):
    """Shows whether probabilities are calibrated, without bins: where the line leaves the band
    around the diagonal, they are too low (above it) or too high (below it).

    Make one with :meth:`from_predictions`; the constructor takes a computed curve and draws
    nothing.

    Parameters
    ----------
    curve : IsotonicCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : IsotonicCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.isotonic_curve : the numbers it draws.
    ReliabilityDisplay : the diagram in bins, with their numbers of rows.

    Notes
    -----
    Values outside the band around the diagonal are significantly miscalibrated, independent of any
    bins. The curve never decreases: it warns where the outcomes seem to decrease as the score
    increases.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import isotonic_curve
    >>> IsotonicCurveDisplay(
    ...     isotonic_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], target="event")
    ... ).curve.recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    _numbers = isotonic_curve

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        **options: Any,
    ) -> Self:
        """Compute and draw; takes the parameters of :func:`calibrant.metrics.isotonic_curve`, a
        title and axes.
        """
        return cls.from_record(
            read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs),
            **options,
        )

    @classmethod
    def from_record(
        cls, record: Predictions, *, target: int | str | None = None, **options: Any
    ) -> Self:
        """Compute and draw from an existing record; the default target is the event for two
        classes, the answer for more.
        """
        return super().from_record(
            record, target=record.default_target if target is None else target, **options
        )

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        c = self.curve
        self.band_: Any = draw_band(
            ax,
            c.score,
            c.low,
            c.high,
            shade,
            level_words(options.get("level"), "band if calibrated"),
            0.18,
        )
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], label=f"{MEANING}perfect calibration", **DASHED)
        (self.line_,) = ax.plot(c.score, c.recalibrated, color=shade, linewidth=1.5)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="Score", ylabel="Recalibrated")
        return self.line_
