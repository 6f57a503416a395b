"""The isotonic (CORP) reliability diagram: no bins to choose."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from calibrant.contracts.reading import read_labelled
from calibrant.displays.drawn_curve import DrawnClassCurve
from calibrant.displays.style import COLOURS, draw_grid, show_title
from calibrant.metrics.curves.isotonic_curve import IsotonicCurve, isotonic_curve
from calibrant.predictions import Inputs, Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["IsotonicCurveDisplay"]


class IsotonicCurveDisplay(DrawnClassCurve[IsotonicCurve]):
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

    diagonal_: Any
    line_: Any
    _numbers = isotonic_curve

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None,
        inputs: Inputs = "probability", **options: Any,
    ) -> Self:  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.isotonic_curve`, a title and the axes to draw on."""
        return cls.from_record(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), **options)

    @classmethod
    def from_record(cls, record: Predictions, *, target: int | str | None = None, **options: Any) -> Self:
        """Compute and draw a record that has been read; the default target is the event of two classes, the answer of more."""
        return super().from_record(record, target=record.default_target if target is None else target, **options)

    def plot(self, ax: "Axes | None" = None, *, colour: str = "main", label: Any = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) in a colour of :mod:`calibrant.displays.style`, and return itself."""
        ax = self._axes(ax)
        c, shade = self.curve, COLOURS[colour]
        draw_grid(ax)
        self.band_: Any = ax.fill_between(c.score, c.low, c.high, color=shade, alpha=0.18, linewidth=0)
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        (self.line_,) = ax.plot(c.score, c.recalibrated, color=shade, linewidth=1.5, label=label)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="Score", ylabel="Recalibrated")
        show_title(ax, self.name)
        return self
