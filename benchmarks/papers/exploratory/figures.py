"""Figures 1, 4, 10, 11, 12, 14, 16, 17, A1 and A2 redrawn: the first ensemble for the curves,
medians over ensembles for the charts.
"""

import numpy as np
from benchmarks.papers.exploratory.measure import fitted
from benchmarks.papers.exploratory.methods import (
    BANDWIDTHS,
    BANDWIDTHS_LOG_ODDS,
    COMPARED,
    METHODS,
    TEMPERATURES,
)

import calibrant as cb
from calibrant.displays.axes import COLOURS

NAMES = tuple(METHODS)


def draw(variant, said, labels, scores, folder):
    """All figures of one variant as SVG files in ``folder``."""
    import matplotlib

    matplotlib.use("Agg")
    calibrators = fitted(said["test1"], labels["test1"])
    logits, y = said["test1"], labels["test1"]
    figures = {
        "01_joint": cb.displays.JointDistributionDisplay.from_predictions(
            y, logits, inputs="logit", name=variant
        ).figure_,
        "04_histograms": _two_histograms(said, labels),
        "10_sts": _grid(calibrators["STS"], logits, y),
        "11_csts": _grid(calibrators["CSTS"], logits, y),
        "12_tswa": _grid(calibrators["TSwA"], logits, y),
        "14_bandwidths": _two_bandwidths(calibrators, "", logits, y),
        "14_bandwidths_log_odds": _two_bandwidths(calibrators, ", log odds", logits, y),
        "16_kde": _grid(calibrators["KDE b_mon2"], logits, y, densities=True),
        "16_kde_log_odds": _grid(calibrators["KDE b_mon2, log odds"], logits, y, densities=True),
        "17_methods": _chart(scores, COMPARED),
        "A1_temperatures": _chart(scores, TEMPERATURES),
        "A2_bandwidths": _chart(scores, BANDWIDTHS),
        "A2_bandwidths_log_odds": _chart(scores, BANDWIDTHS_LOG_ODDS),
    }
    for name, figure in figures.items():
        figure.savefig(folder / f"{variant}_{name}.svg")
        print(f"{variant}: drew {name}", flush=True)
    from matplotlib import pyplot

    pyplot.close("all")


def _grid(calibrator, logits, y, densities=False):
    return cb.displays.ConfidenceCurveDisplay.grid(
        y, logits, calibrator, densities=densities, inputs="logit"
    )[0].figure_


def _two_histograms(said, labels):
    """The same histogram on two test sets: how far apart they are is noise."""
    plain = cb.calibrators.Identity(inputs="logit").fit(said["test1"], labels["test1"])
    displays = cb.displays.ConfidenceCurveDisplay.grid(
        labels["test1"], said["test1"], plain, densities=False, inputs="logit"
    )
    for display in displays:
        display.line_.set_visible(False)
        other = cb.calibrators.confidence_curve(
            labels["test2"], said["test2"], plain, display.curve.name, inputs="logit"
        )
        if other is not None:
            bars = other.bars
            display.ax_.bar(
                bars.lower,
                bars.rate,
                bars.upper - bars.lower,
                align="edge",
                fill=False,
                edgecolor=COLOURS["other"],
                linestyle="--",
            )
    return displays[0].figure_


def _two_bandwidths(calibrators, scale, logits, y):
    """b_mon (blue) and b_mon2 (orange) over the bars."""
    displays = cb.displays.ConfidenceCurveDisplay.grid(
        y, logits, calibrators[f"KDE b_mon{scale}"], densities=False, inputs="logit"
    )
    for display in displays:
        points = cb.calibrators.confidence_curve(
            y, logits, calibrators[f"KDE b_mon2{scale}"], display.curve.name, inputs="logit"
        ).points
        display.ax_.plot(points.score, points.confidence, color=COLOURS["other"], linewidth=1.2)
    return displays[0].figure_


def _chart(scores, names):
    """Median NLL of each class: a bar for each method on test set 1 (pale) and on test set 2
    beside it.
    """
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(12, 4), layout="constrained")
    with np.errstate(invalid="ignore"):
        median = np.median(np.nan_to_num(scores[..., 0], nan=0.0), axis=0)
    width = 0.8 / (2 * len(names))
    for j, name in enumerate(names):
        m, colour = NAMES.index(name), pyplot.get_cmap("tab10")(j)
        for t in (0, 1):
            at = np.arange(10) - 0.4 + (2 * j + t + 0.5) * width
            ax.bar(
                at,
                median[m, t],
                width,
                color=colour,
                alpha=0.5 + 0.5 * t,
                label=name if t else None,
            )
    ax.set(
        xticks=range(10), xlabel="Predicted class", ylabel="Median NLL (test set 1 pale, 2 full)"
    )
    ax.legend(fontsize="small", ncols=3, frameon=False)
    return figure
