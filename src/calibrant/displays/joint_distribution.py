"""The joint distribution of true and predicted classes, and both its normalisations, side by side."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.extras import import_extra
from calibrant.displays.style import COLOURS, plain_text
from calibrant.metrics.curves.joint_distribution import JointDistribution, joint_distribution
from calibrant.predictions import Inputs, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["JointDistributionDisplay"]

#: More classes than this are drawn without numbers.
NUMBERED = 15


class JointDistributionDisplay:
    """Three tables: rows, shares of each true class (confusion matrix), shares of each predicted class (reverse confusion matrix).

    Make one with :meth:`from_predictions`; the constructor takes a joint distribution already computed and draws nothing.

    Parameters
    ----------
    joint : JointDistribution
    name : str, optional
        Title of the figure.

    Attributes
    ----------
    joint : JointDistribution
    axes_, figure_ : the three matplotlib axes and their figure, once drawn.

    See Also
    --------
    metrics.joint_distribution : the numbers it draws.
    class_report : the predicted classes as a table.

    Notes
    -----
    The diagonal of the third table is the confidence of a prediction given its class alone; compare it with that of the second.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023, figure 1.

    Examples
    --------
    >>> from calibrant.metrics import joint_distribution
    >>> JointDistributionDisplay(joint_distribution([0, 1], [0.2, 0.9])).joint.counts.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    figure_: Any
    axes_: np.ndarray

    def __init__(self, joint: JointDistribution, *, name: str | None = None) -> None:
        self.joint: JointDistribution = joint
        self.name: str | None = name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, P: ArrayLike, *, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None,
        inputs: Inputs = "probability", name: str | None = None, figure: "Figure | None" = None,
    ) -> "JointDistributionDisplay":  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.joint_distribution`, a title and the figure to draw on."""
        joint = joint_distribution(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
        return cls(joint, name=name).plot(figure)

    @classmethod
    def from_record(cls, record: Predictions, *, name: str | None = None, figure: "Figure | None" = None) -> "JointDistributionDisplay":
        """Compute and draw a record that has been read; a title and the figure to draw on."""
        return cls(joint_distribution.of(record), name=name).plot(figure)

    def plot(self, figure: "Figure | None" = None) -> Self:
        """Draw the three tables on ``figure`` (default: a new one) and return itself."""
        side = 0.9 + 0.34 * min(len(self.joint.classes), NUMBERED)
        if figure is None:
            pyplot = import_extra("matplotlib.pyplot", "JointDistributionDisplay", "plot")
            figure = pyplot.figure(figsize=(3 * side, side + 0.6), layout="constrained")
        self.figure_, self.axes_ = figure, figure.subplots(1, 3)
        joint = self.joint
        tables = (
            ("Rows", joint.counts, joint.counts / max(joint.counts.max(), 1e-300)),
            ("By true class", joint.by_true, joint.by_true),
            ("By predicted class", joint.by_predicted, joint.by_predicted),
        )
        for ax, (title, values, shade) in zip(self.axes_, tables, strict=True):
            self._draw(ax, title, values, shade)
        if self.name:
            plain_text(figure.suptitle(str(self.name)))
        return self

    def _draw(self, ax, title, values, shade):
        colors = import_extra("matplotlib.colors", "JointDistributionDisplay", "plot")
        ramp = colors.LinearSegmentedColormap.from_list("calibrant", ["#ffffff", COLOURS["main"]])
        ax.imshow(np.nan_to_num(shade), cmap=ramp, vmin=0.0, vmax=1.0)
        names = [str(c) for c in self.joint.classes.tolist()]
        ax.set(xlabel="Predicted", ylabel="True", title=title)
        if len(names) > NUMBERED:
            return
        ticks = np.arange(len(names))
        ax.set_xticks(ticks, names, rotation=90 if max(map(len, names)) > 2 else 0)
        ax.set_yticks(ticks, names)
        plain_text(*ax.get_xticklabels(), *ax.get_yticklabels())
        for j, k in zip(*np.nonzero(np.isfinite(values) & (values != 0.0)), strict=True):
            shown = f"{values[j, k]:,.0f}" if values is self.joint.counts else f"{values[j, k]:.2f}".lstrip("0")
            ax.text(k, j, shown, ha="center", va="center", fontsize=6, color="white" if shade[j, k] > 0.5 else COLOURS["text"])
