"""Displays of confidences: confidence curves, histograms, and accuracy by signal."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.calibrators.confidence import SignalAccuracy, signal_accuracy
from calibrant.calibrators.confidence_curve import ConfidenceCurve, confidence_curve
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator
from calibrant.core.extras import import_extra
from calibrant.core.given import Inputs
from calibrant.core.map import Signal
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.displays.axes import (
    COLOURS,
    MEANING,
    WITHOUT_OTHER,
    Drawn,
    add_panel,
    displays_on,
    draw_axes,
    draw_legend,
    finish_display,
    level_words,
    log_counts,
    next_colour,
    plain_text,
)
from calibrant.metrics.curves.reliability import ConfidenceHistogram, confidence_histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ConfidenceCurveDisplay", "ConfidenceHistogramDisplay", "SignalAccuracyDisplay"]


class ConfidenceCurveDisplay:
    """Shows whether a fitted calibrator suits the data: its line should pass through the intervals
    of the bars, which are the shares of right predictions in bins of the score.

    Make one with :meth:`from_predictions`, or one for each class with :meth:`grid`; the constructor
    takes a computed curve and draws nothing.

    Parameters
    ----------
    curve : ConfidenceCurve
    name : str, optional
        Title instead of the class and its counts.

    Attributes
    ----------
    curve : ConfidenceCurve
        The numbers drawn; ``curve.points.frame()`` and ``curve.bars.frame()`` give them as tables.
    ax_, densities_ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    confidence_curve : the numbers it draws.
    ReliabilityDisplay : the diagram without a fitted calibrator.

    Notes
    -----
    The curve (with its band) or cloud should pass through the intervals of the bars. With few rows
    per bar, neither is reliable: the title shows the numbers of right and wrong predictions.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    figures 5, 11, 12 and 14.

    Examples
    --------
    >>> import calibrant as cb
    >>> y, P = [1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]
    >>> display = ConfidenceCurveDisplay(
    ...     confidence_curve(y, P, cb.ConfidenceCalibrator(per_class=False).fit(P, y))
    ... )
    >>> display.curve.right
    3.0
    """

    line_: Any

    def __init__(self, curve: ConfidenceCurve, *, name: str | None = None) -> None:
        self.curve: ConfidenceCurve = curve
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        calibrator: Calibrator,
        target: Any = None,
        *,
        n_bins: int = 10,
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        inputs: Inputs | None = None,
        X: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ConfidenceCurveDisplay | None":
        """Compute and draw one class (default: all rows); takes the parameters of
        :func:`calibrant.calibrators.confidence_curve`.

        Returns None where no row is predicted as that class.
        """
        curve = confidence_curve(
            y_true,
            P,
            calibrator,
            target,
            n_bins=n_bins,
            level=level,
            sample_weight=sample_weight,
            inputs=inputs,
            X=X,
        )
        return None if curve is None else cls(curve, name=name).plot(ax, legend=level)

    @classmethod
    def from_record(
        cls,
        record: Predictions,
        calibrator: Calibrator,
        target: Any = None,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> "ConfidenceCurveDisplay | None":
        """Compute and draw from an existing record."""
        curve = confidence_curve.of(record, calibrator, target, **options)
        return (
            None
            if curve is None
            else cls(curve, name=name).plot(ax, legend=options.get("level", 0.95))
        )

    @classmethod
    def grid(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        calibrator: Calibrator,
        *,
        columns: int = 5,
        densities: bool = True,
        figure: "Figure | None" = None,
        **options: Any,
    ) -> list["ConfidenceCurveDisplay"]:
        """Draw one panel for each predicted class that occurs.

        Parameters
        ----------
        y_true, P, calibrator, **options
            As for :func:`calibrant.calibrators.confidence_curve`.
        columns : int, default 5
        densities : bool, default True
            Whether to draw densities above each panel.
        figure : matplotlib figure, optional

        Returns
        -------
        list of ConfidenceCurveDisplay
        """
        curves = [
            confidence_curve(y_true, P, calibrator, name, **options)
            for name in calibrator.classes_.tolist()
        ]
        curves = [curve for curve in curves if curve is not None]
        columns = min(columns, len(curves))
        rows = -(-len(curves) // columns)
        if figure is None:
            pyplot = import_extra("matplotlib.pyplot", "ConfidenceCurveDisplay", "plot")
            figure = pyplot.figure(
                figsize=(2.6 * columns, (3.0 if densities else 2.4) * rows), layout="constrained"
            )
        axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
        for ax in axes[len(curves) :]:
            ax.set_visible(False)
        return [
            cls(curve).plot(ax, densities=densities)
            for curve, ax in zip(curves, axes, strict=False)
        ]

    def plot(
        self, ax: "Axes | None" = None, *, densities: bool = True, legend: float | None = None
    ) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the display.

        ``legend`` is the level of the intervals, for a legend of all lines; without it, there is
        none.
        """
        ax = draw_axes(ax, "ConfidenceCurveDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        curve, bars = self.curve, self.curve.bars
        shade, later = next_colour(ax, None, WITHOUT_OTHER), bool(displays_on(ax))
        self._draw_bars(ax, level_words(legend, "interval"))
        self._draw_curve(ax, shade)
        if bars.lower.min() >= 0.0 and bars.upper.max() <= 1.0:
            ax.plot(
                [0, 1],
                [0, 1],
                color=COLOURS["muted"],
                linewidth=0.8,
                linestyle=(0, (4, 3)),
                label=f"{MEANING}score = confidence",
            )
        ax.set(ylim=(0, 1.02), xlabel="Score", ylabel="Confidence")
        style = "--" if later else "-"
        self.densities_ax_: Any = self._draw_densities(ax, style) if densities else None
        if legend is not None and not later:
            draw_legend(ax)
            draw_legend(self.densities_ax_ or ax)
        title = str(
            self.name
            or f"{'all' if curve.name is None else curve.name}: {curve.right:g} right, "
            f"{curve.wrong:g} wrong"
        )
        axes_title = "" if later else title  # the legend names both
        plain_text((self.densities_ax_ or ax).set_title(axes_title, fontsize="small"))
        finish_display(ax, self.line_, None, title)
        return self

    def _draw_bars(self, ax: Any, interval: str) -> None:
        bars = self.curve.bars
        self.bars_: Any = ax.bar(
            bars.lower,
            bars.rate,
            width=bars.upper - bars.lower,
            align="edge",
            facecolor="none",
            edgecolor=COLOURS["muted"],
            linewidth=1,
            label=[f"{MEANING}share right"] * len(bars.rate),
        )
        middle = 0.5 * (bars.lower + bars.upper)
        self.intervals_: Any = ax.vlines(
            middle,
            bars.low,
            bars.high,
            color=COLOURS["muted"],
            linewidth=1,
            label=interval,
        )

    def _draw_curve(self, ax: Any, shade: str) -> None:
        points = self.curve.points
        if self.curve.cloud:
            (self.line_,) = ax.plot(
                points.score,
                points.confidence,
                ".",
                color=shade,
                markersize=2,
                label=f"{MEANING}calibrator",
            )
        else:
            ax.fill_between(
                points.score, points.low, points.high, color=shade, alpha=0.2, linewidth=0
            )
            (self.line_,) = ax.plot(
                points.score,
                points.confidence,
                color=shade,
                linewidth=1.5,
                label=f"{MEANING}calibrator",
            )

    def _draw_densities(self, ax: Any, style: str) -> Any:
        above = add_panel(ax, 1.04, 0.25)
        points = self.curve.points
        order = np.argsort(points.score, kind="stable")
        for density, colour, word in (
            (points.right_density, COLOURS["main"], "right"),
            (points.wrong_density, COLOURS["other"], "wrong"),
        ):
            above.plot(
                points.score[order],
                density[order],
                style,
                color=colour,
                linewidth=1.2,
                label=MEANING + word,
            )
        above.set(yticks=[], ylim=(0, None if style == "-" else 1.05 * above.dataLim.y1))
        above.tick_params(labelbottom=False)
        above.spines[["top", "right"]].set_visible(False)
        return above


class ConfidenceHistogramDisplay(Drawn):
    """Shows how many predictions are wrong at each confidence: errors on the right, where the
    confidence is high, do the most harm.

    Make one with :meth:`from_predictions`; the constructor takes a computed histogram and draws
    nothing.

    Parameters
    ----------
    histogram : ConfidenceHistogram
    name : str, optional
        Shown as the title.
    target : {"answer", "event"} or a class label
        The probability shown; it determines the labels.

    Attributes
    ----------
    histogram : ConfidenceHistogram
        The numbers drawn; ``histogram.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.confidence_histogram : the numbers it draws.
    ReliabilityDisplay : the accuracy at each confidence.

    Notes
    -----
    Counts are steps on a logarithmic scale, so that a few errors are visible beside thousands of
    right predictions; a bin without any has no step.

    Examples
    --------
    >>> from calibrant.metrics import confidence_histogram
    >>> display = ConfidenceHistogramDisplay(
    ...     confidence_histogram([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)
    ... )
    >>> display.histogram.wrong.tolist()
    [0.0, 1.0]
    """

    right_: Any
    wrong_: Any
    _grid = "y"

    def __init__(
        self,
        histogram: ConfidenceHistogram,
        *,
        name: str | None = None,
        target: int | str = "answer",
    ) -> None:
        self.histogram: ConfidenceHistogram = histogram
        self.name: str | None = name
        self.target: int | str = target

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        target: int | str | None = None,
        n_bins: int = 20,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        name: str | None = None,
        ax: Any = None,
    ) -> "ConfidenceHistogramDisplay":
        """Count and draw; takes the parameters of :func:`calibrant.metrics.confidence_histogram`, a
        title and axes.
        """
        record = read_labelled(
            y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs
        )
        return cls.from_record(record, target=target, n_bins=n_bins, name=name, ax=ax)

    @classmethod
    def from_record(
        cls,
        record: Predictions,
        *,
        target: int | str | None = None,
        n_bins: int = 20,
        name: str | None = None,
        ax: Any = None,
    ) -> "ConfidenceHistogramDisplay":
        """Count and draw from an existing record; the default target is the event for two classes,
        the answer for more.
        """
        target = record.default_target if target is None else target
        return cls(
            confidence_histogram.of(record, target=target, n_bins=n_bins), name=name, target=target
        ).plot(ax)

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        h = self.histogram
        middle = 0.5 * (h.lower + h.upper)
        later = bool(displays_on(ax))
        answer = isinstance(self.target, str) and self.target == "answer"
        words = (
            ("right", "wrong", "Confidence (probability of the predicted class)")
            if answer
            else ("event", "no event", "Predicted risk")
        )
        self.right_, self.wrong_ = (
            ax.plot(
                middle,
                np.where(counts > 0.0, counts, np.nan),
                "o--" if later else "o-",
                color=COLOURS[colour],
                markerfacecolor="white" if later else COLOURS[colour],
                linewidth=1.2,
                markersize=3,
                drawstyle="steps-mid",
                label=label,
            )[0]
            for counts, colour, label in zip(
                (h.right, h.wrong), ("main", "other"), words[:2], strict=True
            )
        )
        ax.set(xlim=(0, 1), xlabel=words[2], ylabel="Rows (log scale)")
        log_counts(ax, max(h.right.max(), h.wrong.max(), 0.5 * ax.get_ylim()[1] if later else 0.0))
        ax.legend(frameon=False, loc="upper left", fontsize="small")
        return [self.right_, self.wrong_]


#: Axis labels of common signals; others use their own name.
WORDS = {
    "FastSeparation": "Separation (nearer to the predicted class → right)",
    "PairwiseSeparation": "Separation (nearer to the predicted class → right)",
    "MaximalZone": "Maximal zone (nearer to the predicted class → right)",
    "LabelStability": "Label stability (share of noise that keeps the label)",
}


class SignalAccuracyDisplay(Drawn):
    """Shows whether a signal tells right predictions from wrong ones: the steeper the share right
    rises with it, the more the signal says; a flat one says nothing.

    Make one with :meth:`from_predictions`; the constructor takes a computed record and draws
    nothing.

    Parameters
    ----------
    accuracy : SignalAccuracy
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    accuracy : SignalAccuracy
        The numbers drawn; ``accuracy.bins.frame()`` and ``accuracy.fits.frame()`` give them as
        tables.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    signal_accuracy : the numbers it draws.
    ReliabilityDisplay : the same for the confidence.

    Notes
    -----
    For a separation, the step from wrong to right should be near 0, where the row is equally close
    to its own class and another.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, figure 5.

    Examples
    --------
    >>> import calibrant as cb
    >>> found = cb.calibrators.signal_accuracy(
    ...     [0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]], cb.calibrators.Margin(), n_bins=1
    ... )
    >>> SignalAccuracyDisplay(found).accuracy.bins.n.tolist()
    [3.0]
    """

    sigmoid_: Any
    isotonic_: Any
    points_: Any

    def __init__(self, accuracy: SignalAccuracy, *, name: str | None = None) -> None:
        self.accuracy: SignalAccuracy = accuracy
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        signal: Signal,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> "SignalAccuracyDisplay":
        """Compute and draw; takes the parameters of
        :func:`calibrant.calibrators.signal_accuracy`, a title and axes.
        """
        return cls(signal_accuracy(y_true, P, signal, **options), name=name).plot(ax)

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        bins, fits = self.accuracy.bins, self.accuracy.fits
        later = bool(displays_on(ax))
        (self.sigmoid_,) = ax.plot(
            fits.score,
            fits.sigmoid,
            color=shade if later else COLOURS["muted"],
            linewidth=1.2,
            linestyle=(0, (4, 3)),
            label="sigmoid",
        )
        (self.isotonic_,) = ax.plot(
            fits.score,
            fits.isotonic,
            color=shade if later else COLOURS["other"],
            linewidth=1.3,
            label="isotonic regression",
        )
        self.intervals_: Any = ax.vlines(
            bins.score, bins.low, bins.high, color=shade, alpha=0.35, linewidth=4
        )
        (self.points_,) = ax.plot(
            bins.score, bins.accuracy, "o", color=shade, markersize=4, label="share right"
        )
        ax.set(
            ylim=(0, 1.02),
            xlabel=WORDS.get(self.accuracy.name, self.accuracy.name),
            ylabel="Share right",
        )
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        return [self.points_, self.isotonic_, self.sigmoid_]
