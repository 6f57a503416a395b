"""Calibration curves of several predictions on the same axes: the main drawing of a report."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logit

from calibrant._numerics.thresholds import scale_ends
from calibrant.displays.axes import COLOURS, PALETTE, draw_axes, draw_grid, plain_text, scale_axes
from calibrant.displays.reliability import axis_words, draw_distribution, draw_smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationDrawing"]

#: Linear axes of risks end at the first of these that holds the data.
TOPS = (0.2, 0.5, 1.0)
#: Ticks of a linear axis up to 0.2; one more of longer ones.
FEW = 5
#: Ticks of the axis of densities, which is one of log odds.
CONFIDENCES = (0.1, 0.5, 0.9, 0.99, 0.999)
#: A small drawing of one class has fewer ticks.
HALVES = (0.0, 0.5, 1.0)


class CalibrationDrawing:
    """Calibration curves on the same axes with their intervals and one diagonal, the distribution
    of the predictions below.

    Parameters
    ----------
    states : {bins: {label: ReliabilityCurve}}
        The curves for each number of bins, drawn in this order, the last one filled.
    start : the number of bins that is seen; by default the first
    target : {"answer", "event"} or a class label
    scale : {"linear", "log", "logit"}
    smooth : CalibrationCurve, optional
        The smooth curve of the last predictions with its simultaneous band.
    distribution : RiskDistribution, optional
        Of the last predictions, on bins of the same scale.
    densities : record of ``score``, ``right`` and ``wrong``, optional
        Densities of the confidence of right and wrong predictions, drawn on a logit scale instead.
    rate : float
        The share of events, which limits a logarithmic axis.

    Attributes
    ----------
    ends : (low, high) of both axes, the same for all states
    ax_, below_ : matplotlib axes, once drawn.

    Examples
    --------
    >>> from calibrant.metrics import reliability_curve
    >>> curve = reliability_curve([1, 0, 0, 1], [0.15, 0.1, 0.05, 0.1], target="event", n_bins=2)
    >>> CalibrationDrawing({"2": {"model": curve}}, target="event").ends
    (0.0, 1.0)
    """

    ax_: Any
    below_: Any

    def __init__(
        self,
        states: dict[str, dict[str, Any]],
        *,
        start: str | None = None,
        target: Any = "answer",
        scale: str = "linear",
        smooth: Any = None,
        distribution: Any = None,
        densities: Any = None,
        rate: float = 0.5,
    ) -> None:
        self.states: dict[str, dict[str, Any]] = states
        self.start: str = start or next(iter(states))
        self.target: Any = target
        self.scale: str = scale
        self.smooth: Any = smooth
        self.distribution: Any = distribution
        self.densities: Any = densities
        self.rate: float = rate
        self.ends: tuple[float, float] = self._ends()

    @property
    def last(self) -> Any:
        """The last curve of the state that is seen."""
        return list(self.states[self.start].values())[-1]

    def _ends(self) -> tuple[float, float]:
        curves = [curve for state in self.states.values() for curve in state.values()]
        predicted = np.concatenate([curve.confidence for curve in curves])
        low, high = scale_ends(self.scale, predicted, self.rate)
        if self.scale == "linear" and self.target == "event":
            highest = max(
                float(np.max([curve.confidence.max(), curve.high.max()])) for curve in curves
            )
            high = next(top for top in TOPS if highest <= top or top == TOPS[-1])
        return low, high

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on ``ax`` (default: those of a new figure) and return the drawing."""
        self.ax_ = ax = draw_axes(ax, "CalibrationDrawing")
        draw_grid(ax)
        ax.plot(self.ends, self.ends, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        if self.smooth is not None:
            draw_smooth(ax, self.smooth, self.ends)
        for bins, curves in self.states.items():
            gid = bins if len(self.states) > 1 else None
            for place, (label, curve) in enumerate(curves.items()):
                self._draw(curve, len(curves) - 1 - place, len(curves) == 2, gid, label)
        scale_axes(ax, self.scale, *self.ends)
        if self.scale == "linear":
            ticks = np.linspace(*self.ends, FEW if self.ends[1] == TOPS[0] else FEW + 1)
            ax.set(xticks=ticks, yticks=ticks)
        xlabel, ylabel = axis_words(self.target)
        ax.set(aspect="equal", ylabel=ylabel)
        self.below_ = None if self.distribution is None else self._draw_below()
        (self.below_ or ax).set_xlabel(xlabel)
        if self.densities is not None:
            self.below_ = self._draw_densities()
            ax.set(xticks=HALVES, yticks=HALVES)
        if len(self.states[self.start]) > 1:
            legend = ax.legend(frameon=False, fontsize="small")
            plain_text(*legend.get_texts())
        return self

    def _draw(self, curve: Any, back: int, paired: bool, gid: str | None, label: str) -> None:
        """Draw points, intervals and line of one curve; ``back`` counts from the last one."""
        colour = COLOURS[PALETTE[back % len(PALETTE)]]
        score, share, low, high = (
            np.clip(getattr(curve, name), *self.ends)
            for name in ("confidence", "accuracy", "low", "high")
        )
        bare = self.scale != "linear" or (self.smooth is not None and back == 0)
        self.ax_.vlines(score, low, high, color=colour, alpha=0.35, linewidth=3, gid=gid)
        self.ax_.plot(
            score,
            share,
            color=colour,
            linewidth=0.0 if bare else 1.2,
            marker="o",
            markersize=4.5,
            markerfacecolor="white" if paired and back else colour,
            clip_on=False,
            gid=gid,
            label=label if gid in (None, self.start) else None,
        )

    def _draw_below(self) -> Any:
        below = self.ax_.inset_axes((0, -0.27, 1, 0.22), sharex=self.ax_)
        draw_distribution(below, self.distribution, self.scale)
        words = ("right", "wrong") if self.target == "answer" else ("no event", "event")
        tops = np.abs(below.get_ylim())
        below.set_yticks([-0.5 * tops[0], 0.5 * tops[1]], words, fontsize="small")
        below.tick_params(axis="y", length=0)
        below.spines[["top", "right"]].set_visible(False)
        self.ax_.tick_params(labelbottom=False)
        return below

    def _draw_densities(self) -> Any:
        below, densities = self.ax_.inset_axes((0, -0.5, 1, 0.24)), self.densities
        for values, colour in ((densities.right, "main"), (densities.wrong, "other")):
            below.plot(logit(densities.score), values, color=COLOURS[colour], linewidth=1.2)
        below.set_xticks(logit(CONFIDENCES), [f"{value:g}" for value in CONFIDENCES])
        below.set(yticks=[], ylim=(0, None), xlabel="Confidence in this label")
        below.spines[["top", "right"]].set_visible(False)
        return below
