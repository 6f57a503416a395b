"""The isotonic (CORP) reliability diagram: no bins to choose."""

from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title
from calibrant.metrics.curves.isotonic_curve import isotonic_curve

__all__ = ["IsotonicCurveDisplay"]


class IsotonicCurveDisplay:
    """The best increasing recalibration of the scores over the scores, with the band it would lie in if they were calibrated.

    Make one with :meth:`from_predictions`; the constructor takes a curve already computed and draws nothing.

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

    Notes
    -----
    What leaves the band around the diagonal is miscalibration that chance does not explain, wherever the bins of other diagrams lie.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers", PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import isotonic_curve
    >>> IsotonicCurveDisplay(isotonic_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], target="event")).curve.recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    def __init__(self, curve, *, name=None):
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls, y_true, P, *, target="answer", level=0.95, random_state=0, sample_weight=None, classes=None, inputs="probability", name=None,
        ax=None,
    ):  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.isotonic_curve`, a title and the axes to draw on."""
        options = {"sample_weight": sample_weight, "classes": classes, "inputs": inputs}
        return cls(isotonic_curve(y_true, P, target=target, level=level, random_state=random_state, **options), name=name).plot(ax)

    def plot(self, ax=None, *, colour="main", label=None):
        """Draw it on ``ax`` (default: a new figure's) in a colour of :mod:`calibrant.displays.style`, and return itself."""
        ax = draw_axes(ax, "IsotonicCurveDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        self.band_ = ax.fill_between(c.score, c.low, c.high, color=shade, alpha=0.18, linewidth=0)
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        (self.line_,) = ax.plot(c.score, c.recalibrated, color=shade, linewidth=1.5, label=label)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="Score", ylabel="Recalibrated")
        show_title(ax, self.name)
        return self
