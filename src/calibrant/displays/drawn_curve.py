"""What displays of one curve share: they hold it and a title, and are made from predictions or from a record that has been read."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from numpy.typing import ArrayLike

from calibrant.contracts.on_record import OnRecord
from calibrant.displays.style import draw_axes, show_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["DrawnClassCurve", "DrawnCurve", "DrawnForecastCurve"]

Curve = TypeVar("Curve")


class DrawnCurve(ABC, Generic[Curve]):
    """A curve and a title. A display of it declares ``_numbers``, the function that computes the curve, and has ``plot``."""

    _numbers: ClassVar[OnRecord[..., Any, Any]]
    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def __init__(self, curve: Curve, *, name: str | None = None) -> None:
        self.curve: Curve = curve
        self.name: str | None = name

    @classmethod
    def from_record(cls, record: Any, *, name: str | None = None, ax: "Axes | None" = None, **options: Any) -> Self:
        """Compute and draw a record that has been read; options as for the function of the numbers, a title and the axes to draw on."""
        return cls(cls._numbers.of(record, **options), name=name).plot(ax)

    @abstractmethod
    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""

    def _axes(self, ax: "Axes | None") -> "Axes":
        """The axes to draw on, which the display keeps."""
        self.ax_ = draw_axes(ax, type(self).__name__)
        self.figure_ = self.ax_.figure
        return self.ax_


class DrawnClassCurve(DrawnCurve[Curve]):
    """The same of predictions of classes."""

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, name: str | None = None, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Compute and draw; options as for the function of the numbers (See Also), a title and the axes to draw on."""
        return cls(cls._numbers(y_true, P, **options), name=name).plot(ax)


class DrawnForecastCurve(DrawnCurve[Curve]):
    """The same of forecasts of a number; a display of it has ``_draw``."""

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, name: str | None = None, ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:  # fmt: skip
        """Compute and draw; options as for the function of the numbers (See Also), a title and the axes to draw on."""
        return cls(cls._numbers(y_true, mean, std, **options), name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw it on ``ax`` (default: a new figure's) and return itself."""
        ax = self._axes(ax)
        self._draw(ax)
        show_title(ax, name or self.name)
        return self

    @abstractmethod
    def _draw(self, ax: "Axes") -> None:
        """The curve on axes."""
