"""The confidence histogram: how confident the model was when right and when wrong."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.reading import read_labelled
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, log_counts, show_title
from calibrant.metrics.curves.confidence_histogram import ConfidenceHistogram, confidence_histogram
from calibrant.predictions import Inputs, Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["ConfidenceHistogramDisplay"]


class ConfidenceHistogramDisplay:
    """Histogram of the confidence of right and of wrong predictions, side by side in each bin.

    Make one with :meth:`from_predictions`; the constructor takes a histogram already computed and draws nothing.

    Parameters
    ----------
    histogram : ConfidenceHistogram
    name : str, optional
        Shown as the title.
    target : {"answer", "event"} or a class label
        Whose probability it is; it words the figure.

    Attributes
    ----------
    histogram : ConfidenceHistogram
        The numbers drawn; ``histogram.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.confidence_histogram : the numbers it draws.
    ReliabilityDisplay : how often each confidence is right.

    Notes
    -----
    Confident errors are what harms: they are the wrong predictions in the bins on the right. Rows are counted on a logarithmic scale,
    so that a few of them can be seen beside thousands of right ones.

    Examples
    --------
    >>> from calibrant.metrics import confidence_histogram
    >>> display = ConfidenceHistogramDisplay(confidence_histogram([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2))
    >>> display.histogram.wrong.tolist()
    [0.0, 1.0]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def __init__(self, histogram: ConfidenceHistogram, *, name: str | None = None, target: int | str = "answer") -> None:
        self.histogram: ConfidenceHistogram = histogram
        self.name: str | None = name
        self.target: int | str = target

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, target: int | str | None = None, n_bins: int = 20, sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None, inputs: Inputs = "probability", name: str | None = None, ax: Any = None,
    ) -> "ConfidenceHistogramDisplay":  # fmt: skip
        """Count and draw; parameters as for :func:`calibrant.metrics.confidence_histogram`, a title and the axes to draw on."""
        record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
        return cls.from_record(record, target=target, n_bins=n_bins, name=name, ax=ax)

    @classmethod
    def from_record(
        cls, record: Predictions, *, target: int | str | None = None, n_bins: int = 20, name: str | None = None, ax: Any = None
    ) -> "ConfidenceHistogramDisplay":
        """Count and draw a record that has been read; the default target is the event of two classes, the answer of more."""
        target = record.default_target if target is None else target
        return cls(confidence_histogram.of(record, target=target, n_bins=n_bins), name=name, target=target).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "ConfidenceHistogramDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        h = self.histogram
        half = 0.46 * (h.upper - h.lower)
        middle = 0.5 * (h.lower + h.upper)
        answer = isinstance(self.target, str) and self.target == "answer"
        words = ("right", "wrong", "Confidence (probability of the predicted class)") if answer else ("event", "no event", "Predicted risk")
        draw_grid(ax, "y")
        self.right_: Any = ax.bar(middle - half, h.right, width=half, align="edge", color=COLOURS["main"], label=words[0])
        self.wrong_: Any = ax.bar(middle, h.wrong, width=half, align="edge", color=COLOURS["other"], label=words[1])
        ax.set(xlim=(0, 1), xlabel=words[2], ylabel="Rows (log scale)")
        log_counts(ax, np.max([h.right, h.wrong]))
        ax.legend(frameon=False, loc="upper left", fontsize="small")
        show_title(ax, name or self.name)
        return self
