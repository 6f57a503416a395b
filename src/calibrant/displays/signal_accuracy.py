"""The share of right predictions over a signal."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from calibrant.confidence.signal_accuracy import SignalAccuracy, signal_accuracy
from calibrant.contracts.signal import Signal
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["SignalAccuracyDisplay"]

#: What the axis says of the signals that are looked at most; others go by their own name.
WORDS = {
    "FastSeparation": "Separation (nearer to the predicted class → right)",
    "PairwiseSeparation": "Separation (nearer to the predicted class → right)",
    "MaximalZone": "Maximal zone (nearer to the predicted class → right)",
    "LabelStability": "Label stability (share of noise that keeps the label)",
}


class SignalAccuracyDisplay:
    """Accuracy in bins of a signal with intervals, and the isotonic regression and the sigmoid fitted to it.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    Parameters
    ----------
    accuracy : SignalAccuracy
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    accuracy : SignalAccuracy
        The numbers drawn; ``accuracy.bins.frame()`` and ``accuracy.fits.frame()`` give them as tables.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    signal_accuracy : the numbers it draws.
    ReliabilityDisplay : the same for the confidence.

    Notes
    -----
    With a separation the step from wrong to right should stand near 0, where the row is as near to its own class as to another.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation", figure 5.

    Examples
    --------
    >>> import calibrant as cb
    >>> found = cb.signal_accuracy([0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]], cb.Margin(), n_bins=1)
    >>> SignalAccuracyDisplay(found).accuracy.bins.n.tolist()
    [3.0]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    sigmoid_: Any
    isotonic_: Any
    points_: Any

    def __init__(self, accuracy: SignalAccuracy, *, name: str | None = None) -> None:
        self.accuracy: SignalAccuracy = accuracy
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, signal: Signal, *, name: str | None = None, ax: "Axes | None" = None, **options: Any
    ) -> "SignalAccuracyDisplay":
        """Compute and draw; parameters as for :func:`calibrant.signal_accuracy`, a title and the axes to draw on."""
        return cls(signal_accuracy(y_true, P, signal, **options), name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "SignalAccuracyDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        bins, fits = self.accuracy.bins, self.accuracy.fits
        draw_grid(ax)
        (self.sigmoid_,) = ax.plot(fits.score, fits.sigmoid, color=COLOURS["muted"], linewidth=1.2, linestyle=(0, (4, 3)), label="sigmoid")
        (self.isotonic_,) = ax.plot(fits.score, fits.isotonic, color=COLOURS["other"], linewidth=1.3, label="isotonic regression")
        self.intervals_: Any = ax.vlines(bins.score, bins.low, bins.high, color=COLOURS["main"], alpha=0.35, linewidth=4)
        (self.points_,) = ax.plot(bins.score, bins.accuracy, "o", color=COLOURS["main"], markersize=4, label="share right")
        ax.set(ylim=(0, 1.02), xlabel=WORDS.get(self.accuracy.name, self.accuracy.name), ylabel="Share right")
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        show_title(ax, self.name)
        return self
