"""The distribution of the risk: rows with the event above the line, the others below it."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.reading import read_labelled
from calibrant.displays.probability_axes import chosen_scale, scale_axes, shown_edges
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title
from calibrant.metrics.curves.risk_distribution import RiskDistribution, risk_distribution
from calibrant.predictions import Inputs, Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["RiskDistributionDisplay", "draw_distribution"]


class RiskDistributionDisplay:
    """Histograms of the risk, of rows with the event upwards and of the others downwards, each as shares of its own rows.

    Make one with :meth:`from_predictions`; the constructor takes a distribution already computed and draws nothing.

    Parameters
    ----------
    distribution : RiskDistribution
    name : str, optional
        Shown as the title.
    scale : {"linear", "log", "logit"}
        That on which the bins are equally wide.

    Attributes
    ----------
    distribution : RiskDistribution
        The numbers drawn; ``distribution.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.risk_distribution : the counts drawn.
    ConfidenceHistogramDisplay : the confidence of right and of wrong answers.

    Notes
    -----
    The farther apart the two lie, the better the risk tells rows apart; whether it is honest the reliability diagram says.

    Examples
    --------
    >>> from calibrant.metrics import risk_distribution
    >>> RiskDistributionDisplay(risk_distribution([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)).distribution.events.tolist()
    [1.0, 2.0]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def __init__(self, distribution: RiskDistribution, *, name: str | None = None, scale: str = "linear") -> None:
        self.distribution: RiskDistribution = distribution
        self.name: str | None = name
        self.scale: str = scale

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None,
        inputs: Inputs = "probability", name: str | None = None, ax: "Axes | None" = None, **options: Any,
    ) -> "RiskDistributionDisplay":  # fmt: skip
        """Count and draw; options as for :meth:`from_record`."""
        record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
        return cls.from_record(record, name=name, ax=ax, **options)

    @classmethod
    def from_record(
        cls, record: Predictions, *, target: int | str = "event", n_bins: int = 40, scale: str = "auto", name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "RiskDistributionDisplay":  # fmt: skip
        """Count and draw a record that has been read; ``target`` and ``n_bins`` as for :func:`calibrant.metrics.risk_distribution`.

        ``scale`` "auto" takes the logit where many risks are near both ends, the logarithm where the event is in fewer rows than 5 %.
        """
        scale = chosen_scale(scale, target, *record.pair(target), record.weights)
        return cls(risk_distribution.of(record, target=target, n_bins=n_bins, scale=scale), name=name, scale=scale).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = draw_axes(ax, "RiskDistributionDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        d = self.distribution
        draw_grid(ax, "y")
        self.events_, self.others_ = draw_distribution(ax, d, self.scale)
        edges = shown_edges(d.upper, self.scale)
        scale_axes(ax, self.scale, edges[0], edges[-1], "x")
        ax.yaxis.set_major_formatter(lambda share, _: f"{abs(share):.0%}")
        ax.set(xlabel="Predicted risk", ylabel="Share of rows without it | with the event")
        self.events_.set_label(f"with the event ({d.events.sum():,.0f} rows)")
        self.others_.set_label(f"without it ({d.others.sum():,.0f} rows)")
        ax.legend(frameon=False, fontsize="small")
        show_title(ax, name or self.name)
        return self


def draw_distribution(ax: "Axes", distribution: RiskDistribution, scale: str) -> tuple[Any, Any]:
    """Bars of the events upwards and of the others downwards, each by its share of its outcome, and the line between them."""
    edges, drawn = shown_edges(distribution.upper, scale), []
    for counts, sign, colour in ((distribution.events, 1.0, "other"), (distribution.others, -1.0, "main")):
        shares = sign * counts / max(counts.sum(), 1e-300)
        drawn.append(ax.bar(edges[:-1], shares, width=np.diff(edges), align="edge", color=COLOURS[colour], alpha=0.8, linewidth=0))
    ax.axhline(0.0, color=COLOURS["muted"], linewidth=0.8)
    return drawn[0], drawn[1]
