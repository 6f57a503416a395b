"""The isotonic (CORP) reliability diagram: no bins to choose."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from calibrant.contracts.reading import read_labelled
from calibrant.displays.from_record import FromRecord
from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title
from calibrant.metrics.curves.isotonic_curve import IsotonicCurve, isotonic_curve
from calibrant.predictions import Inputs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

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

    See Also
    --------
    metrics.isotonic_curve : the numbers it draws.
    ReliabilityDisplay : in bins, with the rows in each.

    Notes
    -----
    What leaves the band around the diagonal is miscalibration that chance does not explain, wherever the bins of other diagrams lie. The
    curve can only rise: it warns where the outcomes seem to fall as the score rises.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers", PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import isotonic_curve
    >>> IsotonicCurveDisplay(isotonic_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], target="event")).curve.recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    diagonal_: Any
    line_: Any
    from_record: FromRecord["IsotonicCurveDisplay"] = FromRecord(isotonic_curve, asks=True)

    def __init__(self, curve: IsotonicCurve, *, name: str | None = None) -> None:
        self.curve: IsotonicCurve = curve
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, target: int | str | None = None, level: float = 0.95, random_state: int = 0,
        sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, inputs: Inputs = "probability", name: str | None = None,
        ax: Any = None,
    ) -> "IsotonicCurveDisplay":  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.isotonic_curve`, a title and the axes to draw on.

        .. versionchanged:: 0.2
           The default ``target`` is the event of two classes.
        """
        record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
        return cls.from_record(record, target=target, level=level, random_state=random_state, name=name, ax=ax)

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: Any = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) in a colour of :mod:`calibrant.displays.style`, and return itself."""
        ax = draw_axes(ax, "IsotonicCurveDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        self.band_: Any = ax.fill_between(c.score, c.low, c.high, color=shade, alpha=0.18, linewidth=0)
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        (self.line_,) = ax.plot(c.score, c.recalibrated, color=shade, linewidth=1.5, label=label)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="Score", ylabel="Recalibrated")
        show_title(ax, self.name)
        return self
