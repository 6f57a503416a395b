"""Reliability diagram, and the distribution of risks below it."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.core.arrays import ArrayLike
from calibrant.core.given import Inputs
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.displays.axes import (
    COLOURS,
    DASHED,
    MEANING,
    PALETTE,
    Drawn,
    add_panel,
    axis_edges,
    displays_on,
    draw_band,
    inside_axes,
    joint_ends,
    level_words,
    resolve_scale,
    scale_axes,
)
from calibrant.errors import InputError
from calibrant.metrics.curves.distribution import RiskDistribution, risk_distribution
from calibrant.metrics.curves.reliability import reliability_curve
from calibrant.metrics.curves.smooth import loess_curve, spline_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ReliabilityDisplay",
    "RiskDistributionDisplay",
    "axis_words",
    "draw_distribution",
    "draw_smooth",
]


def axis_words(target: Any) -> tuple[str, str]:
    """Return the labels of the axes for the probability of an answer, an event or a class."""
    words = {
        "answer": ("Confidence (probability of the predicted class)", "Accuracy"),
        "event": ("Predicted risk", "Observed share"),
    }
    other = ("Predicted probability of the class", "Observed share of the class")
    return words.get(target, other) if isinstance(target, str) else other


def draw_smooth(
    ax: "Axes", curve: Any, ends: tuple[float, float], shade: str = COLOURS["main"]
) -> tuple[Any, Any]:
    """Draw a curve of ``loess_curve`` or ``spline_curve``, cut at the ends of the axes; return its
    band and line.
    """
    score, observed, low, high = (
        np.clip(getattr(curve, name), *ends)
        for name in ("score", "observed", "band_low", "band_high")
    )
    band = draw_band(ax, score, low, high, shade, f"{MEANING}simultaneous band", 0.18)
    return band, ax.plot(score, observed, color=shade, linewidth=1.8)[0]


class RiskDistributionDisplay(Drawn):
    """Shows whether the risk tells rows with the event (upwards) from the others (downwards): the
    farther apart the two histograms, the better.

    Make one with :meth:`from_predictions`; the constructor takes a computed distribution and draws
    nothing.

    Parameters
    ----------
    distribution : RiskDistribution
    name : str, optional
        Shown as the title.
    scale : {"linear", "log", "logit"}
        The scale on which the bins are equally wide.

    Attributes
    ----------
    distribution : RiskDistribution
        The numbers drawn; ``distribution.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.risk_distribution : the counts it draws.
    ConfidenceHistogramDisplay : the confidence of right and wrong answers.

    Notes
    -----
    Bars are shares of the rows with the event, and of those without it. The reliability diagram
    shows whether the risk is calibrated.

    Examples
    --------
    >>> from calibrant.metrics import risk_distribution
    >>> RiskDistributionDisplay(
    ...     risk_distribution([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)
    ... ).distribution.events.tolist()
    [1.0, 2.0]
    """

    events_: Any
    others_: Any
    _grid = "y"

    def __init__(
        self, distribution: RiskDistribution, *, name: str | None = None, scale: str = "linear"
    ) -> None:
        self.distribution: RiskDistribution = distribution
        self.name: str | None = name
        self.scale: str = scale

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> "RiskDistributionDisplay":
        """Count and draw; takes the options of :meth:`from_record`."""
        record = read_labelled(
            y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs
        )
        return cls.from_record(record, name=name, ax=ax, **options)

    @classmethod
    def from_record(
        cls,
        record: Predictions,
        *,
        target: int | str = "event",
        n_bins: int = 40,
        scale: str = "auto",
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "RiskDistributionDisplay":
        """Count and draw from an existing record; ``target`` and ``n_bins`` are those of
        :func:`calibrant.metrics.risk_distribution`.

        ``scale`` "auto" uses the logit where many risks are near both ends, and the logarithm for
        events in fewer than 5 % of the rows.
        """
        scale = resolve_scale(scale, target, *record.pair(target), record.weights)
        return cls(
            risk_distribution.of(record, target=target, n_bins=n_bins, scale=scale),
            name=name,
            scale=scale,
        ).plot(ax)

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        d, later = self.distribution, bool(displays_on(ax))
        scale = ax.get_xscale() if later else self.scale
        self.events_, self.others_ = draw_distribution(ax, d, scale, shade if later else None)
        edges = axis_edges(d.upper, scale)
        scale_axes(ax, scale, *joint_ends(ax, edges[[0, -1]]), "x")
        ax.yaxis.set_major_formatter(lambda share, _: f"{100.0 * abs(share):g} %")
        ax.set(xlabel="Predicted risk", ylabel="Share of rows without it | with the event")
        self.events_.set_label(f"with the event ({d.events.sum():,.0f} rows)")
        self.others_.set_label(f"without it ({d.others.sum():,.0f} rows)")
        ax.legend(frameon=False, fontsize="small")
        return [self.events_, self.others_]


def draw_distribution(
    ax: "Axes", distribution: RiskDistribution, scale: str, shade: str | None = None
) -> tuple[Any, Any]:
    """Draw bars of the events upwards and of the others downwards, as shares of their outcome, and
    the line between them; with ``shade``, their outline in that colour.
    """
    edges, bars = axis_edges(distribution.upper, scale), []
    for counts, sign, colour in (
        (distribution.events, 1.0, "other"),
        (distribution.others, -1.0, "main"),
    ):
        shares = sign * counts / max(counts.sum(), 1e-300)
        bars.append(
            ax.stairs(
                shares,
                edges,
                baseline=0.0,
                fill=shade is None,
                color=shade or COLOURS[colour],
                alpha=0.8,
                linewidth=0.0 if shade is None else 1.2,
            )
        )
    ax.axhline(0.0, color=COLOURS["muted"], linewidth=0.8)
    return bars[0], bars[1]


#: Smooth curves by name, as in clinical papers.
SMOOTH: dict[str, Any] = {"loess": loess_curve, "spline": spline_curve}
#: Fewer distinct scores have no smooth curve: it would say more than the rows do.
ENOUGH_SCORES = 10
#: Number of bins of the distribution below the diagram.
SPIKES = 80
#: Look of the bars of the first display's counts.
BARS: dict[str, Any] = {"color": COLOURS["muted"], "alpha": 0.75}
N_BINS = 15


class ReliabilityDisplay(Drawn):
    """Shows whether predicted probabilities come true (reliability diagram): points on the diagonal
    do, points below it are predicted too high, points above it too low.

    Make one with :meth:`from_predictions` or :meth:`from_estimator`; the constructor takes a
    computed curve and draws nothing.

    Parameters
    ----------
    curve : ReliabilityCurve
    name : str, optional
        Shown as the title.
    target : {"answer", "event"} or a class label
        The probability of the curve; it determines the axis labels.
    scale : {"linear", "log", "logit", "auto"}
        The scale of both axes; "auto" as for :meth:`from_predictions`.
    smooth : CalibrationCurve, optional
        A smooth curve to draw with its simultaneous band; the bins are then points without a line.
    distribution : RiskDistribution, optional
        The distribution to draw below instead of the number of rows per bin, on bins of the same
        scale.

    Attributes
    ----------
    curve : ReliabilityCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, counts_ax_, figure_ : matplotlib axes of the diagram, of the counts below it, and their
        figure, once drawn.

    See Also
    --------
    metrics.reliability_curve : the numbers it draws.
    IsotonicCurveDisplay : the same without bins.

    Notes
    -----
    Look at it before any calibration. The vertical bars are intervals for the accuracy in each bin:
    a gap inside them may be chance. Bins with few rows, shown by the counts below, are uncertain.

    References
    ----------
    DeGroot and Fienberg, "The comparison and evaluation of forecasters", The Statistician 32, 1983.

    Examples
    --------
    >>> from calibrant.metrics import reliability_curve
    >>> display = ReliabilityDisplay(
    ...     reliability_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)
    ... )
    >>> display.curve.n.tolist()
    [4.0]
    """

    _palette = PALETTE
    smooth_: Any
    band_: Any

    def __init__(
        self,
        curve: Any,
        *,
        name: str | None = None,
        target: int | str = "answer",
        scale: str = "linear",
        smooth: Any = None,
        distribution: Any = None,
    ) -> None:
        self.curve: Any = curve
        self.name: str | None = name
        self.target: int | str = target
        self.scale: str = resolve_scale(scale, target, curve.confidence, curve.accuracy, curve.n)
        self.smooth: Any = smooth
        self.distribution: Any = distribution

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        target: int | str | None = None,
        scale: str = "auto",
        smooth: str | None = None,
        n_bins: int | None = None,
        strategy: str | None = None,
        band: str = "wilson",
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ReliabilityDisplay":
        """Read predictions as metrics do, compute their curve and draw it; takes the options of
        :meth:`from_record`.

        ``y_true`` may be ``SoftLabels`` without a smooth curve.
        """
        record = read_labelled(
            y_true,
            P,
            sample_weight=sample_weight,
            classes=classes,
            inputs=inputs,
            soft=smooth is None,
        )
        options: dict[str, Any] = {
            "n_bins": n_bins,
            "strategy": strategy,
            "band": band,
            "level": level,
        }
        return cls.from_record(
            record, target=target, scale=scale, smooth=smooth, name=name, ax=ax, **options
        )

    @classmethod
    def from_record(
        cls,
        record: Predictions,
        *,
        target: int | str | None = None,
        scale: str = "auto",
        smooth: str | None = None,
        n_bins: int | None = None,
        strategy: str | None = None,
        band: str = "wilson",
        level: float = 0.95,
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ReliabilityDisplay":
        """Compute the curve of an existing record and draw it.

        Parameters
        ----------
        record : Predictions, with labels
        target : {"event", "answer"} or a class label, optional
            By default the event for two classes, the answer for more.
        scale : {"auto", "linear", "log", "logit"}
            The scale of both axes. "auto" is linear for the answer. For an event it is logit where
            many risks are near both ends (not with a smooth curve), and log for events in fewer
            than 5 % of the rows.
        smooth : {"loess", "spline"}, optional
            A smooth curve with its simultaneous band, and the risk by outcome below, as in clinical
            papers. Fewer than 10 distinct scores have bins only.
        n_bins, strategy, band, level
            As for :func:`calibrant.metrics.reliability_curve`. The default is 15 bins of equal
            width on linear axes. On other axes, and with a smooth curve, bins have equal mass;
            their number is about the root of the number of rows of the rarer outcome.
        name : str, optional
            Title.
        ax : matplotlib axes, optional
            Default: those of a new figure.
        """
        if smooth is not None and smooth not in SMOOTH:
            raise InputError(f'smooth must be "loess", "spline" or None; got {smooth!r}.')
        target = record.default_target if target is None else target
        score, hit = record.pair(target)
        axis_scale = resolve_scale(scale, target, score, hit, record.weights)
        # Near 0 and 1 a smooth curve is mostly noise, which would dominate logit axes.
        axis_scale = (
            "linear" if scale == "auto" and axis_scale == "logit" and smooth else axis_scale
        )
        plain = smooth is None and axis_scale == "linear"
        strategy = strategy or ("width" if plain else "mass")
        if strategy == "mass" and n_bins is None:
            rarer = min(record.weights @ hit, record.weights @ (1.0 - hit))
            n_bins = int(np.clip(np.sqrt(rarer), 5, N_BINS))
        curve = reliability_curve.of(
            record,
            target=target,
            strategy=strategy,
            level=level,
            n_bins=n_bins or N_BINS,
            band=band,
        )
        few = len(np.unique(score)) < ENOUGH_SCORES
        line = (
            None if smooth is None or few else SMOOTH[smooth].of(record, target=target, level=level)
        )
        distribution = (
            None
            if plain
            else risk_distribution.of(record, target=target, n_bins=SPIKES, scale=axis_scale)
        )
        return cls(
            curve,
            name=name,
            target=target,
            scale=axis_scale,
            smooth=line,
            distribution=distribution,
        ).plot(ax, level=level)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, **options: Any
    ) -> "ReliabilityDisplay":
        """Predict with a fitted scikit-learn classifier and draw the curve of its probabilities.

        ``X`` is (n, d) features of rows that the estimator was not fitted on, ``y`` their (n,)
        labels. Without ``name``, the title is the estimator's class; options are those of
        :meth:`from_predictions`.
        """
        if not hasattr(estimator, "predict_proba"):
            raise InputError(
                f"estimator must have predict_proba; {type(estimator).__name__} has not; pass"
                " its scores to from_predictions instead."
            )
        options.setdefault("classes", getattr(estimator, "classes_", None))
        return cls.from_predictions(
            y, estimator.predict_proba(X), name=name or type(estimator).__name__, **options
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        counts: bool = True,
        scale: str | None = None,
        colour: str | None = None,
        label: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve, its intervals, the diagonal and the axes below, and return the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: those of a new figure. A second display on the same axes has their scale, draws
            the outlines of its counts on the axes below, and adds a legend.
        name : str, optional
            Title instead of the display's own.
        counts : bool, default True
            Whether to add axes below with the number of rows in each bin, or the distribution.
        scale : {"linear", "log", "logit"}, optional
            Scale instead of the display's own. Log and logit axes spread out rare events and
            near-certain predictions. There, a share of 0 or 1 is a hollow marker half a row away
            from it, and a score too close to 0 or 1 is drawn at the end.
        colour : str, optional
            One of :mod:`calibrant.displays.axes`; by default the next on these axes.
        label : str, optional
            Text of the legend instead of the name.
        """
        return super().plot(
            ax, name=name, colour=colour, label=label, counts=counts, scale=scale, **options
        )

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        scale = ax.get_xscale() if displays_on(ax) else options["scale"] or self.scale
        curve, ends = inside_axes(self.curve, scale)
        ends = joint_ends(ax, ends)
        self._draw_curve(ax, curve, ends, shade, options.get("level"))
        below = self._draw_below(ax, scale, shade) if options["counts"] else None
        self.counts_ax_: Any = below
        scale_axes(ax, scale, *ends)
        xlabel, ylabel = axis_words(self.target)
        ax.set(aspect="equal", ylabel=ylabel)
        (below or ax).set_xlabel(xlabel)
        return self.line_ if self.smooth is None else self.smooth_

    def _draw_curve(
        self, ax: Any, curve: Any, ends: tuple[float, float], shade: str, level: float | None
    ) -> None:
        (self.diagonal_,) = ax.plot(ends, ends, label=f"{MEANING}perfect calibration", **DASHED)
        colour, line, bar, size = (
            (shade, 1.4, 4, 4.0) if self.smooth is None else (COLOURS["text"], 0.0, 1, 3.5)
        )
        if self.smooth is not None:
            self.band_, self.smooth_ = draw_smooth(ax, self.smooth, ends, shade)
        low, high = np.clip([curve.low, curve.high], *ends)
        self.bands_: Any = ax.vlines(
            curve.confidence,
            low,
            high,
            color=colour,
            alpha=0.35,
            linewidth=bar,
            clip_on=False,
            label=level_words(level, "interval"),
        )
        (self.line_,) = ax.plot(
            curve.confidence,
            curve.accuracy,
            color=colour,
            linewidth=line,
            marker="o",
            markersize=size,
            clip_on=False,
        )
        moved = curve.accuracy != self.curve.accuracy
        if moved.any():  # a share of 0 or 1 is not where it is drawn
            hollow = {
                "color": colour,
                "markerfacecolor": "white",
                "markersize": size,
                "linewidth": 0,
                "clip_on": False,
                "label": f"{MEANING}share of 0 or 1",
            }
            ax.plot(curve.confidence[moved], curve.accuracy[moved], marker="o", **hollow)

    def _draw_below(self, ax: Any, scale: str, shade: str) -> Any:
        below = add_panel(ax, -0.3, 0.22)
        first = not below.get_ylabel()
        if self.distribution is None if first else below.get_ylabel() == "Rows":
            self._draw_counts(below, {"edgecolor": shade, "fill": False} if not first else BARS)
        elif self.distribution is not None:
            draw_distribution(below, self.distribution, scale, None if first else shade)
            below.set_yticks([])
            below.set_ylabel("no | event", fontsize="small")
        below.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelbottom=False)
        return below

    def _draw_counts(self, below: Any, look: dict[str, Any]) -> None:
        curve = self.curve
        below.bar(curve.lower, curve.n, width=curve.upper - curve.lower, align="edge", **look)
        below.set_ylabel("Rows")
