"""The reliability diagram: accuracy against confidence, with the uncertainty and the number of rows behind each point."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.displays.style import COLOURS, draw_axes, draw_grid, log_counts, show_title
from calibrant.errors import InputError
from calibrant.metrics.curves.reliability_curve import reliability_curve
from calibrant.predictions import Inputs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ReliabilityDisplay"]

LOGIT_TICKS = (0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
#: On logit axes no confidence is drawn nearer to 0 or 1.
NEAREST = 1e-5


class ReliabilityDisplay:
    """Reliability diagram: points on the diagonal are honest, below it overconfident, above it underconfident.

    Make one with :meth:`from_predictions` or :meth:`from_estimator`; the constructor takes a curve already computed and draws nothing.

    Parameters
    ----------
    curve : ReliabilityCurve
    name : str, optional
        Shown as the title.
    target : {"answer", "event"} or a class label
        What the curve is about; it words the axes.

    Attributes
    ----------
    curve : ReliabilityCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, counts_ax_, figure_ : matplotlib axes of the diagram, of the counts below it, and their figure, once drawn.

    See Also
    --------
    metrics.reliability_curve : the numbers it draws.
    IsotonicCurveDisplay : the same without bins.

    Notes
    -----
    Look at it before using any calibration. The vertical bars are intervals for the accuracy in each bin: a gap inside them may be
    chance. A bin with few rows says little; the counts below show which they are.

    References
    ----------
    DeGroot and Fienberg, "The comparison and evaluation of forecasters", The Statistician 32, 1983.

    Examples
    --------
    >>> from calibrant.metrics import reliability_curve
    >>> display = ReliabilityDisplay(reliability_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2))
    >>> display.curve.n.tolist()
    [4.0]
    """

    ax_: Any
    figure_: Any
    diagonal_: Any
    line_: Any

    def __init__(self, curve: Any, *, name: str | None = None, target: int | str = "answer") -> None:
        self.curve: Any = curve
        self.name: str | None = name
        self.target: int | str = target

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, target: str = "answer", n_bins: int = 15, strategy: str = "width", band: float = "wilson",
        level: float = 0.95, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, inputs: Inputs = "probability",
        name: str | None = None, ax: Any = None,
    ) -> "ReliabilityDisplay":  # fmt: skip
        """Compute the curve of predictions and draw it.

        Parameters
        ----------
        y_true : (n,) labels
        P : (n, K), or (n,) for binary
        target, n_bins, strategy, band, level
            As for :func:`calibrant.metrics.reliability_curve`.
        sample_weight, classes, inputs
            As everywhere: weights of the rows, labels in column order, "probability" or "logit".
        name : str, optional
            Title.
        ax : matplotlib axes, optional
            Default: those of a new figure.

        Returns
        -------
        ReliabilityDisplay
        """
        curve = reliability_curve(
            y_true, P, target=target, n_bins=n_bins, strategy=strategy, band=band, level=level,
            sample_weight=sample_weight, classes=classes, inputs=inputs,
        )  # fmt: skip
        return cls(curve, name=name, target=target).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, **options: Any) -> "ReliabilityDisplay":
        """Predict with a fitted scikit-learn classifier and draw the curve of its probabilities.

        Parameters
        ----------
        estimator : fitted, with ``predict_proba`` and ``classes_``
        X : (n, d) features that the estimator was not fitted on
        y : (n,) labels
        name : str, optional
            Title; default the estimator's class.
        **options
            As for :meth:`from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        if not hasattr(estimator, "predict_proba"):
            raise InputError(
                f"estimator must have predict_proba; {type(estimator).__name__} has not; pass its scores to from_predictions instead."
            )
        options.setdefault("classes", getattr(estimator, "classes_", None))
        return cls.from_predictions(y, estimator.predict_proba(X), name=name or type(estimator).__name__, **options)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None, counts: bool = True, logit: bool = False) -> Self:
        """Draw the curve, its intervals, the diagonal and the counts.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: those of a new figure.
        name : str, optional
            Title in place of the display's own.
        counts : bool, default True
            Whether to add axes below with the number of rows in each bin.
        logit : bool, default False
            Logit axes, which spread out rare events and near-certain predictions. A share of 0 or 1 is drawn half a row away from it, a
            confidence nearer to 0 or 1 than 1e-5 there, where they can be seen.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        ax = draw_axes(ax, "ReliabilityDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_curve(ax, _inside(self.curve) if logit else self.curve)
        self.counts_ax_: Any = self._draw_counts(ax) if counts else None
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", ylabel=self._words()[1])
        if logit:
            self._logit_axes(ax)
        (ax if self.counts_ax_ is None else self.counts_ax_).set_xlabel(self._words()[0])
        show_title(ax, name or self.name)
        return self

    def _words(self):
        if isinstance(self.target, str) and self.target in ("answer", "top"):
            return "Confidence (probability of the predicted class)", "Accuracy"
        return "Predicted probability of the class", "Share of the class"

    def _draw_curve(self, ax, curve):
        draw_grid(ax)
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        self.bands_: Any = ax.vlines(curve.confidence, curve.low, curve.high, color=COLOURS["main"], alpha=0.35, linewidth=4, clip_on=False)
        (self.line_,) = ax.plot(
            curve.confidence, curve.accuracy, color=COLOURS["main"], linewidth=1.4, marker="o", markersize=4, clip_on=False
        )

    def _logit_axes(self, ax):
        """Both axes from half the smallest score or share drawn to as near 1 as the largest."""
        seen = np.concatenate([*self.line_.get_data(), [0.5]])
        ends = np.array([0.5 * seen.min(), 0.5 + 0.5 * seen.max()])
        self.diagonal_.set_data(ends, ends)
        ax.set(xscale="logit", yscale="logit", xlim=ends, ylim=ends)
        ticks = [tick for tick in LOGIT_TICKS if ends[0] <= tick <= ends[1]]
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.set_ticks([], minor=True)

    def _draw_counts(self, ax):
        below = ax.inset_axes((0, -0.3, 1, 0.22), sharex=ax)
        curve = self.curve
        below.bar(curve.lower, curve.n, width=curve.upper - curve.lower, align="edge", color=COLOURS["muted"], alpha=0.75)
        below.set_ylabel("Rows (log)")
        log_counts(below, curve.n.max(), base=100)
        below.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelbottom=False)
        return below


def _inside(curve):
    """The curve with nothing at 0 or 1, which lie at infinity on a logit axis."""
    half = 0.5 / np.maximum(curve.n, 1.0)
    shares = {name: np.clip(getattr(curve, name), half, 1.0 - half) for name in ("accuracy", "low", "high")}
    return SimpleNamespace(confidence=np.clip(curve.confidence, NEAREST, 1.0 - NEAREST), **shares)
