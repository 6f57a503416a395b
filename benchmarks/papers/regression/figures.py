"""The paper's figures 1, 3, 4, 5 and 6, and what its figure 2 shows of KITTI, here of simulated
boxes; and the Cauchy example.

    python -m benchmarks.papers.regression.figures [--folder DIR]

Drawn with calibrant's displays, one PNG a figure, by default into results/ beside this file. The
points of figures 1, 2, 4, 5 and 6 are stored, and the documentation draws them. About half a minute
of CPU.
"""

import argparse
from pathlib import Path

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.regression import data
from benchmarks.papers.regression.methods import forecast

import calibrant as cb
from calibrant import metrics
from calibrant.displays.axes import COLOURS

RESULTS = Path(__file__).resolve().parent / "results"


def panels(rows, columns):
    """(figure, flat axes), without pyplot's state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.4 * columns, 4.6 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False).ravel()


def real_against_predicted(ax, problem, method, title):
    """True against predicted std, row by row."""
    _, _, y, true_std = problem.test
    cb.displays.RealStdDisplay.from_predictions(
        y, forecast(method, problem), true_std=true_std, ax=ax, name=title
    )


def reliability(ax, y, forecast, title):
    """RMSE against RMV, with the ENCE in the title."""
    ence = metrics.expected_normalized_calibration_error(y, forecast.mean, forecast.std)
    return cb.displays.RmseRmvDisplay.from_predictions(
        y, forecast, ax=ax, name=f"{title}, ENCE {ence:.3f}", n_draws=200
    )


def intervals(ax, y, forecast, title):
    """Seen against claimed coverage, with the interval error in the title."""
    error = metrics.interval_calibration_error(y, forecast)
    return cb.displays.IntervalCalibrationDisplay.from_predictions(
        y, forecast, ax=ax, name=f"{title}, error {error:.4f}"
    )


def before_and_after(ax, draw, problem, method, title):
    """Two curves in one picture: before in the first colour, after in the second."""
    for name, label, colour in (("before", "before", "main"), (method, "after", "other")):
        display = draw(ax, problem.test[2], forecast(name, problem), title)
        display.line_.set(color=COLOURS[colour], label=label)
    ax.legend(loc="upper left", fontsize="small")


def figure_1(random):
    """Random uncertainty after the interval method: uncorrelated, perfect by intervals,
    uncalibrated by the ENCE.
    """
    figure, axes = panels(1, 3)
    y, calibrated = random.test[2], forecast("interval", random)
    real_against_predicted(axes[0], random, "interval", "(a) after the interval method")
    intervals(axes[1], y, calibrated, "(b) after the interval method")
    reliability(axes[2], y, calibrated, "(c) after the interval method")
    return figure


def figure_4(random):
    """Random uncertainty before and after STD scaling."""
    figure, axes = panels(1, 4)
    for k, (method, when) in enumerate(
        (("before", "before"), ("STD scaling", "after STD scaling"))
    ):
        real_against_predicted(axes[k], random, method, f"({'ab'[k]}) {when}")
        reliability(axes[2 + k], random.test[2], forecast(method, random), f"({'cd'[k]}) {when}")
    return figure


def figure_5(trained):
    """Trained uncertainty: right before, and both methods leave it so."""
    figure, axes = panels(1, 3)
    real_against_predicted(axes[0], trained, "before", "(a) as trained")
    before_and_after(axes[1], reliability, trained, "STD scaling", "(b) after STD scaling")
    before_and_after(axes[2], intervals, trained, "interval", "(c) after the interval method")
    return figure


def figure_3(untrained):
    """Untrained uncertainty of the first output, almost perfect by intervals after the interval
    method.
    """
    figure, axes = panels(1, 1)
    intervals(
        axes[0],
        untrained.test[2][:, 0],
        forecast("interval", untrained).column(0),
        "tx, untrained, after the interval method",
    )
    return figure


def reliability_of_boxes(problem, methods):
    """The reliability diagrams of four outputs, a row a method: figures 2 (trained) and 6
    (untrained).
    """
    figure, axes = panels(len(methods), 4)
    for k, method in enumerate(methods):
        calibrated = forecast(method, problem)
        for j, output in enumerate(data.OUTPUTS):
            reliability(
                axes[4 * k + j], problem.test[2][:, j], calibrated.column(j), f"{output}, {method}"
            )
    return figure


def cauchy():
    """Perfect by intervals, all rows together; and the rows whose scale is smallest and largest."""
    figure, axes = panels(1, 3)
    y, scale = data.cauchy()
    low, high = np.quantile(scale, [0.1, 0.9])
    parts = (
        ("all rows", scale > 0.0),
        ("tenth of smallest scale", scale < low),
        ("tenth of largest scale", scale > high),
    )
    for ax, (title, rows) in zip(axes, parts, strict=True):
        intervals(ax, y[rows], cb.regression.CauchyForecast(0.0, scale[rows]), title)
    return figure


def drawn(seed=0, synthetic_sizes=None, box_sizes=None):
    """Name -> figure."""
    synthetic_sizes, box_sizes = synthetic_sizes or {}, box_sizes or {}
    random, trained = (
        data.synthetic(kind, seed, **synthetic_sizes) for kind in ("random", "trained")
    )
    boxes, untrained = (data.boxes(kind, seed, **box_sizes) for kind in ("trained", "untrained"))
    yield "figure_1", figure_1(random)
    yield "figure_2_simulated", reliability_of_boxes(boxes, ("before", "STD scaling", "interval"))
    yield "figure_3", figure_3(untrained)
    yield "figure_4", figure_4(random)
    yield "figure_5", figure_5(trained)
    yield "figure_6", reliability_of_boxes(untrained, ("before", "STD scaling"))
    yield "cauchy", cauchy()


def points(random, trained):
    """Rows of what figures 1, 4 and 5 show: of 300 test rows the predicted and the true std, and
    by method the coverage at 21 levels and the RMSE of ten bins.
    """
    rows = [["uncertainty", "method", "what", "x", "y"]]
    cases = {"random": ("before", "STD scaling", "interval"), "trained": ("before", "STD scaling")}
    for problem, (name, methods) in zip((random, trained), cases.items(), strict=True):
        _, _, y, true_std = problem.test
        for method in methods:
            said = forecast(method, problem)
            bins = cb.metrics.rmse_rmv_curve(y, said, n_draws=2)
            levels = cb.metrics.interval_curve(y, said)
            for what, xs, ys in (
                ("true std by predicted", said.std[:300], true_std[:300]),
                ("coverage by level", levels.level, levels.coverage),
                ("RMSE by predicted std", bins.rmv, bins.rmse),
            ):
                rows += [
                    [name, method, what, f"{a:.4f}", f"{b:.4f}"]
                    for a, b in zip(xs, ys, strict=True)
                ]
    return rows


def bins_of_boxes(trained, untrained):
    """Rows of what figures 2 and 6 show: RMV and RMSE of ten bins, by output."""
    rows = [["output", "uncertainty", "method", "RMV", "RMSE"]]
    cases = (
        ("trained", "before", trained),
        ("trained", "STD scaling", trained),
        ("untrained", "STD scaling", untrained),
    )
    for name, method, problem in cases:
        calibrated = forecast(method, problem)
        for j, output in enumerate(data.OUTPUTS):
            bins = cb.metrics.rmse_rmv_curve(problem.test[2][:, j], calibrated.column(j), n_draws=2)
            rows += [
                [output, name, method, f"{a:.4f}", f"{b:.4f}"]
                for a, b in zip(bins.rmv, bins.rmse, strict=True)
            ]
    return rows


def main():
    """Draw all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=RESULTS)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn():
        figure.savefig(folder / f"{name}.png", dpi=90)
        print(folder / f"{name}.png")
    problems = (data.synthetic(kind, 0) for kind in ("random", "trained"))
    stored.write("regression", "figures_1_4_5", points(*problems))
    problems = (data.boxes(kind, 0) for kind in ("trained", "untrained"))
    stored.write("regression", "figures_2_6", bins_of_boxes(*problems))


if __name__ == "__main__":
    main()
