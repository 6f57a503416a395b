"""Displays of all classes: joint distribution of classes, learned latent function, risk-coverage
curves, and coverage of sets of labels.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.core.arrays import ArrayLike
from calibrant.core.extras import import_extra
from calibrant.core.given import Inputs
from calibrant.core.predictions import Predictions
from calibrant.displays.axes import (
    COLOURS,
    DASHED,
    MEANING,
    Drawn,
    DrawnClassCurve,
    displays_on,
    draw_band,
    level_words,
    plain_text,
    raise_top,
)
from calibrant.errors import InputError
from calibrant.metrics.curves.distribution import (
    JointDistribution,
    RiskCoverageCurve,
    joint_distribution,
    risk_coverage_curve,
)
from calibrant.metrics.forecast_spread import GroupCoverage
from calibrant.metrics.sets import set_coverage_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "JointDistributionDisplay",
    "LatentFunctionDisplay",
    "RiskCoverageDisplay",
    "SetCoverageDisplay",
]


#: With more classes than this, cells have no numbers; up to FEW, larger ones.
NUMBERED, FEW = 15, 6


class JointDistributionDisplay:
    """Shows which classes are taken for which: numbers of rows, shares of each true class
    (confusion matrix), and shares of each predicted class (how far to trust that answer).

    Make one with :meth:`from_predictions`; the constructor takes a computed joint distribution and
    draws nothing.

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
    The diagonal of the third table is the confidence of a prediction given its class alone; compare
    it with that of the second.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    figure 1.

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
        cls,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        name: str | None = None,
        figure: "Figure | None" = None,
    ) -> "JointDistributionDisplay":
        """Compute and draw; takes the parameters of :func:`calibrant.metrics.joint_distribution`, a
        title and a figure.
        """
        joint = joint_distribution(
            y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs
        )
        return cls(joint, name=name).plot(figure)

    @classmethod
    def from_record(
        cls, record: Predictions, *, name: str | None = None, figure: "Figure | None" = None
    ) -> "JointDistributionDisplay":
        """Compute and draw from an existing record; takes a title and a figure."""
        return cls(joint_distribution.of(record), name=name).plot(figure)

    def plot(self, figure: "Figure | None" = None) -> Self:
        """Draw the three tables on ``figure`` (default: a new one) and return the display."""
        side = max(0.9 + 0.34 * min(len(self.joint.classes), NUMBERED), 2.4)
        if figure is None:
            pyplot = import_extra("matplotlib.pyplot", "JointDistributionDisplay", "plot")
            figure = pyplot.figure(figsize=(3 * side, side + 0.9), layout="constrained")
        self.figure_, self.axes_ = figure, figure.subplots(1, 3, sharey=True)
        joint = self.joint
        tables = (
            ("Rows\n(number)", joint.counts, joint.counts / max(joint.counts.max(), 1e-300)),
            ("By true class\n(share of its row)", joint.by_true, joint.by_true),
            ("By predicted class\n(share of its column)", joint.by_predicted, joint.by_predicted),
        )
        for ax, (title, values, shade) in zip(self.axes_, tables, strict=True):
            self._draw(ax, title, values, shade)
        if self.name:
            plain_text(figure.suptitle(str(self.name)))
        return self

    def _draw(self, ax: Any, title: str, values: np.ndarray, shade: np.ndarray) -> None:
        colors = import_extra("matplotlib.colors", "JointDistributionDisplay", "plot")
        ramp = colors.LinearSegmentedColormap.from_list("calibrant", ["#ffffff", COLOURS["main"]])
        ax.imshow(np.nan_to_num(shade), cmap=ramp, vmin=0.0, vmax=1.0)
        names = [str(c) for c in self.joint.classes.tolist()]
        ax.set_xlabel("Predicted")
        ax.set_title(title, fontsize="small")
        if ax is self.axes_[0]:  # the others share its y axis
            ax.set_ylabel("True")
        if len(names) > NUMBERED:
            return
        ticks = np.arange(len(names))
        ax.set_xticks(ticks, names, rotation=90 if max(map(len, names)) > 2 else 0)
        ax.set_yticks(ticks, names)
        plain_text(*ax.get_xticklabels(), *ax.get_yticklabels())
        for j, k in zip(*np.nonzero(np.isfinite(values) & (values != 0.0)), strict=True):
            text = (
                f"{values[j, k]:,.0f}"
                if values is self.joint.counts
                else f"{values[j, k]:.2f}".lstrip("0")
            )
            ax.text(
                k,
                j,
                text,
                ha="center",
                va="center",
                fontsize=8 if len(names) <= FEW else 6,
                color="white" if shade[j, k] > 0.5 else COLOURS["text"],
            )


class LatentFunctionDisplay(Drawn):
    """Shows what Gaussian-process calibration does to scores: where its line lies above the dashed
    prior mean it raises a score, where below it lowers it.

    Make one with :meth:`from_calibrator`; the constructor takes a computed latent function and
    draws nothing.

    Parameters
    ----------
    latent : LatentFunction
        The result of ``GaussianProcessCalibration.latent``, with increasing scores.
    scores : (m,) scores of the data, optional
        Scores drawn as ticks along the bottom; without scores nearby, the band is the prior's.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    latent : LatentFunction
    ax_, figure_ : matplotlib axes and their figure, once drawn.

    See Also
    --------
    GaussianProcessCalibration : the calibrator it draws.

    Notes
    -----
    A constant added to the latent function does not change the softmax: interpret its shape, not
    its height. With ``inputs="probability"`` the prior mean is log z, which is steep near 0.

    References
    ----------
    Wenger, Kjellstrom and Triebel, "Non-parametric calibration for classification", AISTATS 2020,
    figure 2.

    Examples
    --------
    >>> from calibrant.calibrators import GaussianProcessCalibration
    >>> cal = GaussianProcessCalibration(n_inducing=3).fit([0.1, 0.2, 0.7, 0.9], [0, 1, 0, 1])
    >>> LatentFunctionDisplay(cal.latent([0.2, 0.5, 0.8])).latent.score.tolist()
    [0.2, 0.5, 0.8]
    """

    prior_: Any

    def __init__(
        self, latent: Any, *, scores: np.ndarray | None = None, name: str | None = None
    ) -> None:
        self.latent: Any = latent
        self.scores: np.ndarray | None = scores
        self.name: str | None = name

    @classmethod
    def from_calibrator(
        cls,
        calibrator: Any,
        P: ArrayLike,
        *,
        n_points: int = 200,
        level: float = 0.95,
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "LatentFunctionDisplay":
        """Evaluate the latent function of a fitted calibrator over the range of P and draw it.

        Parameters
        ----------
        calibrator : fitted GaussianProcessCalibration
        P : (n, K), or (n,) for binary
            The predictions it was fitted on, in the form of its ``inputs``.
        n_points : int, default 200
        level : float, default 0.95
            The level of the pointwise band.
        x : matplotlib axes, optional
            Default: those of a new figure.

        Returns
        -------
        LatentFunctionDisplay
        """
        scores = _components(np.asarray(P, dtype=np.float64), calibrator.inputs)
        points = np.linspace(scores.min(), scores.max(), n_points)
        return cls(
            calibrator.latent(points, level=level), scores=np.unique(scores), name=name
        ).plot(ax, limited=True)

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        latent = self.latent
        (self.prior_,) = ax.plot(
            latent.score, latent.prior, label="prior mean: uncalibrated", **DASHED
        )
        self.band_: Any = draw_band(ax, latent.score, latent.low, latent.high, shade, "band", 0.2)
        # Near a score of 0 the logarithm falls without end. The axis ends below all but the lowest
        # 2 % of the points, by half of their range; the legend counts the points beyond.
        bottom = np.quantile(latent.mean, [0.02, 1.0]) @ [1.5, -0.5]
        below = int((latent.mean < bottom).sum()) if options.get("limited") else 0
        (self.line_,) = ax.plot(
            latent.score,
            latent.mean,
            color=shade,
            linewidth=1.6,
            label="latent mean"
            + (f" ({below} of {len(latent.mean)} points below)" if below else ""),
        )
        self.ticks_: Any = None
        if self.scores is not None:
            ticks = np.asarray(self.scores, dtype=np.float64)
            (self.ticks_,) = ax.plot(
                ticks,
                np.zeros(len(ticks)),
                "|",
                color=COLOURS["other"],
                alpha=0.4,
                transform=ax.get_xaxis_transform(),
                label="scores",
            )
        ax.set(xlabel="Score", ylabel="Latent function", ylim=(bottom if below else None, None))
        ax.legend(frameon=False, fontsize="small")
        return self.line_


def _components(P: np.ndarray, inputs: str) -> np.ndarray:
    """Return all components of all rows; for binary P (class 1), both classes."""
    if P.ndim == 2:
        return P.ravel()
    return np.concatenate([P, 1.0 - P if inputs == "probability" else np.zeros_like(P)])


class RiskCoverageDisplay(DrawnClassCurve[RiskCoverageCurve]):
    """Shows how many errors remain when only the most confident predictions are kept: the farther
    below the dashed line of keeping at random, the better.

    Make one with :meth:`from_predictions`; the constructor takes a computed curve and draws
    nothing.

    Parameters
    ----------
    curve : RiskCoverageCurve
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : RiskCoverageCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.risk_coverage_curve : the numbers it draws.
    metrics.area_under_risk_coverage : the curve as one number.

    Notes
    -----
    It falls to the left where the confidence separates right from wrong predictions, and is flat
    otherwise, calibrated or not. To choose a threshold from the plot, draw ``band="simultaneous"``:
    wherever its upper end is below a risk, that risk is kept.

    Examples
    --------
    >>> from calibrant.metrics import risk_coverage_curve
    >>> RiskCoverageDisplay(
    ...     risk_coverage_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2])
    ... ).curve.risk.tolist()
    [0.0, 0.3333333333333333, 0.25]
    """

    _numbers = risk_coverage_curve

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        c = self.curve
        self.band_: Any = draw_band(
            ax, c.coverage, c.low, c.high, shade, level_words(options.get("level"), "interval")
        )
        if options["label"] is None:
            ax.axhline(
                c.risk[-1],
                color=COLOURS["muted"] if shade == COLOURS["main"] else shade,
                linewidth=1,
                linestyle=(0, (4, 3)),
                label=f"{MEANING}kept at random",
            )
        (self.line_,) = ax.plot(c.coverage, c.risk, color=shade, linewidth=1.5)
        ax.set(
            xlim=(0, 1),
            xlabel="Share of predictions kept, the most confident first",
            ylabel="Share wrong among them",
        )
        raise_top(ax, self._top())
        return self.line_

    def _top(self) -> float:
        """Return the top of the axis: the intervals of the first few predictions may end above."""
        c, mask = self.curve, self.curve.coverage >= LEAST_COVERAGE
        return min(1.15 * float(max(c.high[mask].max(), c.risk[mask].max(), 1e-3)), 1.0)


#: The axis holds the intervals from this share of predictions on.
LEAST_COVERAGE = 0.1
#: Largest number of parts drawn; of more, those of the lowest coverage.
MOST_NAMES = 24
#: Distance of the points of a second display below those of the first, in lines.
BESIDE = 0.25


class SetCoverageDisplay(Drawn):
    """Shows whether sets contain the true class as often as claimed, in each class, group or size:
    intervals left of the dashed line mean too rarely.

    Make one with :meth:`from_sets`; the constructor takes computed numbers and draws nothing.

    Parameters
    ----------
    curve : GroupCoverage
        The result of :func:`metrics.set_coverage_by`.
    said : float, optional
        The nominal coverage, drawn as a line; without it, the line is the coverage of all rows.
    by : {"class", "groups", "size"}
        The kind of parts; it determines the axis label.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : GroupCoverage
        The numbers drawn; ``curve.frame()`` gives them as a table.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.set_coverage_by : the numbers it draws.
    ConformalSets : sets whose ``by=`` guarantees coverage of each class or group.

    Notes
    -----
    The guarantee of sets for all rows is an average; this plot shows where it fails. By size, it
    shows whether large sets are justified. Of more than 24 parts it draws those with the lowest
    coverage. One in twenty intervals of parts with nominal coverage
    excludes the line by chance.

    Examples
    --------
    >>> from calibrant.metrics import set_coverage_by
    >>> display = SetCoverageDisplay(
    ...     set_coverage_by([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]]), said=0.9
    ... )
    >>> display.curve.coverage.tolist()
    [1.0, 0.5]
    """

    _grid = "x"

    def __init__(
        self,
        curve: GroupCoverage,
        *,
        said: float | None = None,
        by: str = "class",
        name: str | None = None,
    ) -> None:
        self.curve: GroupCoverage = curve
        self.said: float | None = said
        self.by: str = by
        self.name: str | None = name

    @classmethod
    def from_sets(
        cls,
        y_true: ArrayLike,
        sets: Any,
        *,
        by: str = "class",
        groups: Any = None,
        said: float | None = None,
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> "SetCoverageDisplay":
        """Count and draw; takes the parameters of :func:`calibrant.metrics.set_coverage_by`, the
        nominal coverage, a title and axes.
        """
        curve = set_coverage_by(
            y_true,
            sets,
            by=by,
            groups=groups,
            level=level,
            sample_weight=sample_weight,
            classes=classes,
        )
        return cls(curve, said=said, by=by, name=name).plot(ax)

    def _draw(self, ax: Any, shade: str, **options: Any) -> Any:
        curve, count = self.curve, len(self.curve.coverage)
        lowest = np.sort(np.argsort(curve.coverage, kind="stable")[:MOST_NAMES])
        curve = type(curve)(**{name: column[lowest] for name, column in vars(curve).items()})
        place, groups = np.arange(len(lowest)), curve.group.tolist()
        earlier = displays_on(ax)
        if earlier and earlier[0].groups != groups:
            raise InputError(
                f"ax shows other parts ({len(earlier[0].groups)}, first {earlier[0].groups[0]!r})"
                f" than this display ({len(groups)}, first {groups[0]!r}); draw it on other axes."
            )
        reach = np.stack([curve.coverage - curve.low, curve.high - curve.coverage])
        self.points_: Any = ax.errorbar(
            curve.coverage,
            place + BESIDE * len(earlier),
            xerr=np.maximum(reach, 0.0),
            fmt="o",
            markersize=4,
            color=shade,
            ecolor=shade if earlier else COLOURS["muted"],
            linewidth=1,
        )
        self.points_[0].groups = groups
        self._draw_level(ax, shade)
        counts = [
            f": {n:,.0f} row{'' if n == 1.0 else 's'},"
            f"{' ' if len(place) > FEW else chr(10)}mean size {width:.1f}"
            for n, width in zip(curve.n, curve.width, strict=True)
        ]
        texts = [f"{groups[i]}{'' if earlier else counts[i]}" for i in place]
        ax.set_yticks(place, texts, fontsize="small")
        plain_text(*ax.get_yticklabels())
        # Below the last part there is room for the legend.
        ax.set_ylim(len(place) - 0.5 + max(0.6, 0.1 * len(place)), -0.5)
        label = {"class": "True class", "groups": "Group"}.get(self.by, "Classes in the set")
        note = (
            f": the {len(place)} of {count} with the lowest coverage" if count > len(place) else ""
        )
        ax.set(xlabel="Share of sets with the true class", ylabel=f"{label}{note}")
        return self.points_[0]

    def _draw_level(self, ax: Any, shade: str) -> None:
        """Draw a line at the nominal coverage, or at that of all rows."""
        rows, nominal = self.curve.n, self.said is not None
        level = self.said if nominal else rows @ self.curve.coverage / max(rows.sum(), 1e-300)
        ax.axvline(
            level,
            color=COLOURS["other"] if nominal else shade,
            linewidth=1,
            linestyle="--",
            label=f"{'nominal' if nominal else 'all rows'}: {level:.3g}",
        )
        ax.legend(frameon=False, loc="lower left", fontsize="small")
