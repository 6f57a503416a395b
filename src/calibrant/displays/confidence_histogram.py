"""The confidence histogram: how confident the model was when right and when wrong."""

import numpy as np

from calibrant.displays.style import COLOURS, draw_axes, draw_grid, log_counts, show_title
from calibrant.metrics.curves.confidence_histogram import confidence_histogram

__all__ = ["ConfidenceHistogramDisplay"]


class ConfidenceHistogramDisplay:
    """Histogram of the confidence of right and of wrong predictions, side by side in each bin.

    Make one with :meth:`from_predictions`; the constructor takes a histogram already computed and draws nothing.

    Parameters
    ----------
    histogram : ConfidenceHistogram
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    histogram : ConfidenceHistogram
        The numbers drawn; ``histogram.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

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

    def __init__(self, histogram, *, name=None):
        self.histogram = histogram
        self.name = name

    @classmethod
    def from_predictions(
        cls, y_true, P, *, target="answer", n_bins=20, sample_weight=None, classes=None, inputs="probability", name=None, ax=None,
    ):  # fmt: skip
        """Count and draw; parameters as for :func:`calibrant.metrics.confidence_histogram`, a title and the axes to draw on."""
        histogram = confidence_histogram(
            y_true, P, target=target, n_bins=n_bins, sample_weight=sample_weight, classes=classes, inputs=inputs
        )
        return cls(histogram, name=name).plot(ax)

    def plot(self, ax=None, *, name=None):
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "ConfidenceHistogramDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        h = self.histogram
        half = 0.46 * (h.upper - h.lower)
        middle = 0.5 * (h.lower + h.upper)
        draw_grid(ax, "y")
        self.right_ = ax.bar(middle - half, h.right, width=half, align="edge", color=COLOURS["main"], label="right")
        self.wrong_ = ax.bar(middle, h.wrong, width=half, align="edge", color=COLOURS["other"], label="wrong")
        ax.set(xlim=(0, 1), xlabel="Confidence (probability of the predicted class)", ylabel="Rows (log scale)")
        log_counts(ax, np.max([h.right, h.wrong]))
        ax.legend(frameon=False, loc="upper left", fontsize="small")
        show_title(ax, name or self.name)
        return self
