"""Displays of forecasts: calibration of intervals, PIT and standard deviations."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.core.arrays import ArrayLike
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.displays.axes import (
    COLOURS,
    DASHED,
    MEANING,
    WITHOUT_OTHER,
    DrawnForecastCurve,
    add_panel,
    draw_band,
    draw_grid,
    draw_legend,
    level_words,
    raise_top,
    scale_axes,
)
from calibrant.metrics.curves.forecasts import (
    IntervalCurve,
    IntervalWidthCurve,
    OrderedIntervals,
    RealStdCurve,
    RmseRmvCurve,
    interval_curve,
    interval_width_curve,
    ordered_intervals,
    real_std_curve,
    rmse_rmv_curve,
)
from calibrant.metrics.forecast_pit import PitHistogram, pit_histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "IntervalCalibrationDisplay",
    "IntervalWidthDisplay",
    "OrderedIntervalsDisplay",
    "PitHistogramDisplay",
    "RealStdDisplay",
    "RmseRmvDisplay",
]

#: Standard deviations that differ by more than this factor are drawn on logarithmic axes.
WIDE = 15.0


class IntervalCalibrationDisplay(DrawnForecastCurve[IntervalCurve]):
    """Shows whether prediction intervals contain as many outcomes as claimed: below the diagonal
    they are too narrow, above it too wide.

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

    Parameters
    ----------
    curve : IntervalCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : IntervalCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.interval_curve : the numbers it draws.
    PitHistogramDisplay : the same by quantiles.

    Notes
    -----
    Below the diagonal, intervals are too narrow. It covers all rows together and can be perfect for
    a random std: look at RmseRmvDisplay too.

    Examples
    --------
    >>> from calibrant.metrics import interval_curve
    >>> display = IntervalCalibrationDisplay(interval_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.level) > 0
    True
    """

    _numbers = interval_curve

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve = self.curve
        (self.diagonal_,) = ax.plot(
            [0, 1],
            [0, 1],
            label=f"{MEANING}perfect calibration",
            **DASHED,
        )
        self.band_: Any = draw_band(
            ax,
            curve.level,
            curve.low,
            curve.high,
            shade,
            level_words(options.get("band"), "interval"),
            0.18,
        )
        (self.line_,) = ax.plot(curve.level, curve.coverage, color=shade, linewidth=1.4)
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
            xlabel="Nominal coverage",
            ylabel="Observed coverage",
        )
        return self.line_


class IntervalWidthDisplay(DrawnForecastCurve[IntervalWidthCurve]):
    """Shows where prediction intervals are wide and where they miss: their mean width in bins of
    the outcome, and below it the share of outcomes inside.

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

    Parameters
    ----------
    curve : IntervalWidthCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : IntervalWidthCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.
    coverage_ax_ : the axes of the coverage, below.

    See Also
    --------
    metrics.interval_width_curve : the numbers it draws.
    OrderedIntervalsDisplay : the intervals of single rows.

    Notes
    -----
    With ``by="mean"``, each bin should reach the level, the dashed line: a bin below it has
    intervals too narrow for such predictions. Over the outcome (the default), coverage falls at
    both ends even for perfect forecasts, since extreme outcomes are hard to predict. Judge there
    the size of the drop, not its presence.

    Examples
    --------
    >>> from calibrant.metrics import interval_width_curve
    >>> display = IntervalWidthDisplay(interval_width_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    coverage_ax_: "Axes"
    coverage_: Any
    claimed_: Any
    _numbers = interval_width_curve

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        self.coverage_ax_ = below = add_panel(ax, -0.55, 0.47, split=True)
        curve = self.curve
        draw_grid(below)
        (self.line_,) = ax.plot(
            curve.value,
            curve.width,
            color=shade,
            linewidth=1.4,
            marker="o",
            markersize=4,
        )
        (self.claimed_,) = below.plot(
            curve.value,
            curve.claimed,
            color=COLOURS["muted"],
            linewidth=1,
            linestyle=(0, (4, 3)),
            label=f"{MEANING}nominal",
        )
        self.band_: Any = below.vlines(
            curve.value,
            curve.low,
            curve.high,
            color=shade,
            alpha=0.35,
            linewidth=4,
            label=level_words(options.get("band"), "interval"),
        )
        (self.coverage_,) = below.plot(
            curve.value, curve.coverage, color=shade, linewidth=1.4, marker="o", markersize=4
        )
        ax.tick_params(labelbottom=False)
        raise_top(ax)
        ax.set_ylabel("Mean width (units of y)")
        below.set(
            ylim=(0.0, 1.05),
            xlabel="Mean "
            # Only the call that counted the bins knows of what they are.
            + {None: "", "outcome": "outcome ", "mean": "prediction "}[
                options.get("by", "outcome" if "band" in options else None)
            ]
            + "of the bin (units of y)",
            ylabel="Observed coverage",
        )
        if "band" in options:
            draw_legend(below)
        return self.line_


class OrderedIntervalsDisplay(DrawnForecastCurve[OrderedIntervals]):
    """Shows which outcomes lie outside their prediction intervals: some rows in order, those
    outside as crosses, which should be as many as claimed and scattered.

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

    Parameters
    ----------
    curve : OrderedIntervals
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : OrderedIntervals
        The rows drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.ordered_intervals : the rows it draws.
    IntervalWidthDisplay : the intervals of all rows, in bins.

    Notes
    -----
    Ordered by mean (the default), uncovered rows should be scattered. Ordered by outcome
    (``by="outcome"``), it shows which outcomes are uncovered; these are often extreme, even for
    perfect forecasts. It shows single rows; to evaluate the intervals, use
    IntervalCalibrationDisplay.

    Examples
    --------
    >>> from calibrant.metrics import ordered_intervals
    >>> display = OrderedIntervalsDisplay(ordered_intervals([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> display.curve.held.tolist()
    [False, True]
    """

    _numbers = ordered_intervals
    _grid = "y"
    _palette = WITHOUT_OTHER

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve, covered = self.curve, self.curve.held
        bottom, top = self._ends()
        ends = np.clip([curve.low, curve.high], bottom, top)
        self.intervals_: Any = ax.vlines(
            curve.place, *ends, color=COLOURS["muted"], alpha=0.45, linewidth=1
        )
        self.held_: Any = ax.scatter(
            curve.place[covered],
            curve.y[covered],
            s=6,
            color=shade,
            linewidth=0,
            label=f"Covered ({covered.sum()})",
        )
        self.missed_: Any = ax.scatter(
            curve.place[~covered],
            curve.y[~covered],
            s=20,
            color=COLOURS["other"],
            marker="x",
            label=f"Not covered ({(~covered).sum()})",
        )
        ax.set(
            xlim=(0, 1),
            ylim=(bottom, top),
            xlabel="Rows in order (share)",
            ylabel="Interval and outcome (units of y)",
        )
        ax.legend(loc="upper left", fontsize="small", frameon=False)
        return [self.held_, self.missed_]

    def _ends(self) -> tuple[float, float]:
        """Return the ends of the axis: the finite range with a margin; infinite intervals extend
        beyond it.
        """
        values = np.concatenate([self.curve.y, self.curve.low, self.curve.high])
        values = values[np.isfinite(values)]
        room = 0.05 * float(np.ptp(values)) or 1.0
        return float(values.min()) - room, float(values.max()) + room


class PitHistogramDisplay(DrawnForecastCurve[PitHistogram]):
    """Shows whether predicted distributions are too narrow (a U shape), too wide (a hump) or biased
    (a slope): if calibrated, the bars stay in the band (PIT histogram).

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

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
    The bars count the predicted probabilities of values below the outcomes, which are uniform for
    calibrated forecasts.

    Examples
    --------
    >>> from calibrant.metrics import pit_histogram
    >>> display = PitHistogramDisplay(pit_histogram([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    _numbers = pit_histogram

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve = self.curve
        filled = shade == COLOURS["main"]
        self.bars_: Any = ax.stairs(
            curve.density,
            np.append(curve.lower, curve.upper[-1]),
            fill=filled,
            color=shade,
            alpha=0.5 if filled else None,
            linewidth=0.0 if filled else 1.4,
        )
        self.band_: Any = ax.axhspan(
            float(curve.low[0]),
            float(curve.high[0]),
            color=COLOURS["muted"],
            alpha=0.3,
            linewidth=0,
            label=level_words(options.get("level"), "band if calibrated"),
        )
        ax.axhline(
            1.0,
            label=f"{MEANING}perfect calibration",
            **DASHED,
        )
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1.05 * max(ax.dataLim.y1, float(curve.high[0]))),
            xlabel="Predicted probability of a value below the outcome",
            ylabel="Density (1 if calibrated)",
        )
        return self.bars_


class RealStdDisplay(DrawnForecastCurve[RealStdCurve]):
    """Shows how large errors really are for each predicted std: a real std above the diagonal means
    error bars that are too small, a flat one that they say nothing.

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

    Parameters
    ----------
    curve : RealStdCurve
    points : pair of (m,) arrays, optional
        Predicted std, and absolute error or known std, of the rows to show.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : RealStdCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    points : the rows shown, or None.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.real_std_curve : the numbers it draws.
    RmseRmvDisplay : the same in bins only, with a band.

    Notes
    -----
    Error bars on the diagonal are calibrated. The shaded wedges are nominal: half of the errors in
    the darker one, 90 % (or ``level``) in both; the dotted lines are observed. A flat real std
    means that the predicted one is uninformative. In a simulation with known std, ``true_std``
    shows it instead of the row's error.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    figures 1a, 4a, 4b and 5a.

    Examples
    --------
    >>> from calibrant.metrics import real_std_curve
    >>> display = RealStdDisplay(real_std_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    _palette = WITHOUT_OTHER

    def __init__(
        self, curve: RealStdCurve, points: np.ndarray | None = None, *, name: str | None = None
    ) -> None:
        super().__init__(curve, name=name)
        self.points: np.ndarray | None = points

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: Any,
        std: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Compute and draw; options as for :meth:`from_record`."""
        return cls.from_record(
            read_forecast(mean, std, y_true, sample_weight=sample_weight), **options
        )

    @classmethod
    def from_record(
        cls,
        record: ForecastRecord,
        *,
        true_std: np.ndarray | None = None,
        n_points: int = 1000,
        random_state: int = 0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw; takes the parameters of :func:`calibrant.metrics.real_std_curve`, the
        known std of each row if any, the number of rows to show (sampled by ``random_state``; 0 for
        none), a title and axes.
        """
        curve = real_std_curve.of(record, **options)
        size = np.abs(record.error) if true_std is None else record.per_row(true_std, "true_std")
        rows = np.random.default_rng(random_state).permutation(len(record))[:n_points]
        return cls(curve, (record.std[rows], size[rows]) if n_points else None, name=name).plot(
            ax, level=options.get("level", 0.9), band=options.get("band", 0.95)
        )

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve, muted = self.curve, COLOURS["muted"]
        outer = f": half and {100.0 * options['level']:g} % of errors" if "level" in options else ""
        self.reach_: Any = ax.fill_between(
            curve.std,
            0.0,
            curve.reach_claimed,
            color=muted,
            alpha=0.15,
            linewidth=0,
            label=f"Claimed{outer}",
        )
        self.half_: Any = ax.fill_between(
            curve.std, 0.0, curve.half_claimed, color=muted, alpha=0.15, linewidth=0
        )
        if self.points is not None:
            self.points_: Any = ax.scatter(
                *self.points,
                s=5,
                color=muted,
                alpha=0.35,
                linewidth=0,
                rasterized=True,
                label=f"{MEANING}errors of single rows",
            )
        ends = [0.0, 1.05 * float(curve.std.max())]
        (self.diagonal_,) = ax.plot(
            ends,
            ends,
            color=muted,
            linewidth=1,
            linestyle=(0, (4, 3)),
            label=outer and f"{MEANING}real = predicted std",
        )
        dotted = {"color": COLOURS["other"], "linewidth": 1.2, "linestyle": (0, (1, 1.5))}
        self.seen_: list[Any] = [
            ax.plot(curve.std, observed, label=label, **dotted)[0]
            for observed, label in ((curve.half, f"Seen{outer}"), (curve.reach, None))
        ]
        self.band_: Any = draw_band(
            ax,
            curve.std,
            curve.low,
            curve.high,
            shade,
            outer and level_words(options.get("band"), "interval of the real std"),
            0.25,
        )
        (self.line_,) = ax.plot(
            curve.std,
            curve.real,
            color=shade,
            linewidth=1.4,
            marker="o",
            markersize=4,
            label="Real std",
        )
        ax.set(
            xlim=ends,
            ylim=[0.0, self._top()],
            xlabel="Predicted std (units of y)",
            ylabel="Absolute error and std (units of y)",
        )
        draw_legend(ax, loc="upper left")
        return self.line_

    def _top(self) -> float:
        """Return the top of the lines with a margin, ignoring infinite intervals."""
        heights = np.concatenate(
            [self.curve.std, self.curve.real, self.curve.reach, self.curve.reach_claimed]
        )
        return 1.15 * float(heights[np.isfinite(heights)].max())


class RmseRmvDisplay(DrawnForecastCurve[RmseRmvCurve]):
    """Shows whether larger error bars mean larger errors: above the diagonal error bars are too
    small, below it too large; a flat line means that they say nothing.

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

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
    RealStdDisplay : the errors of single rows.

    Notes
    -----
    Each point is a bin of the predicted std. Outside the band, its error bars are significantly
    miscalibrated, however good the overall coverage.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    figures 1c, 2, 4c, 4d, 5b and 6.

    Examples
    --------
    >>> from calibrant.metrics import rmse_rmv_curve
    >>> display = RmseRmvDisplay(rmse_rmv_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    _numbers = rmse_rmv_curve

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve = self.curve
        self.band_: Any = draw_band(
            ax,
            curve.rmv,
            curve.low,
            curve.high,
            shade,
            level_words(options.get("level"), "band if calibrated"),
            0.18,
        )
        (self.line_,) = ax.plot(
            curve.rmv,
            curve.rmse,
            color=shade,
            linewidth=1.4,
            marker="o",
            markersize=4,
            markerfacecolor=shade if shade == COLOURS["main"] else "white",
        )
        data_limits: Any = ax.dataLim  # of every curve on these axes
        low, high = float(data_limits.minpos.min()), float(data_limits.max.max())
        scale = "log" if high > WIDE * low else "linear"
        ends = (low / 1.1, high * 1.1) if scale == "log" else (0.0, 1.05 * high)
        self.diagonal_ = ax.axline(
            (low, low),
            (high, high),
            label=f"{MEANING}perfect calibration",
            **DASHED,
        )
        scale_axes(ax, scale, *ends)
        ax.set(
            xlabel="Root mean predicted variance (units of y)",
            ylabel="Root mean squared error (units of y)",
        )
        return self.line_
