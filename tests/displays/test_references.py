"""Reference lines, bands and thresholds have an entry in a legend, and axes say their units."""

import inspect

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.calibrators import GaussianProcessCalibration

pyplot = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
P = RNG.uniform(size=200)
Y = (RNG.uniform(size=200) < P).astype(int)
MEAN, STD = RNG.normal(size=200), np.exp(0.3 * RNG.normal(size=200))
OUTCOME = MEAN + STD * RNG.normal(size=200)
CALIBRATED, INTERVAL, BAND = "perfect calibration", "{} interval", "{} band if calibrated"
#: Display -> option of the level, entries of its legend.
EVENT = {
    "ReliabilityDisplay": ("level", {CALIBRATED, INTERVAL}),
    "IsotonicCurveDisplay": ("level", {CALIBRATED, BAND}),
    "DecisionCurveDisplay": ("level", {"act on all", "act on none", "model", INTERVAL}),
    "GainDisplay": ("level", {"flagged at random", INTERVAL}),
    "MurphyDisplay": ("level", {"score", INTERVAL}),
    "RiskCoverageDisplay": ("level", {"kept at random", INTERVAL}),
}
NUMBER = {
    "IntervalCalibrationDisplay": ("band", {CALIBRATED, INTERVAL}),
    "RmseRmvDisplay": ("level", {CALIBRATED, BAND}),
    "PitHistogramDisplay": ("level", {CALIBRATED, BAND}),
}


def legend(ax):
    """The texts of the legend of axes."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def draw(name, **options):
    data = (Y, P) if name in EVENT else (OUTCOME, MEAN, STD)
    return getattr(cb.displays, name).from_predictions(*data, **options)


@pytest.mark.parametrize("name", [*EVENT, *NUMBER])
@pytest.mark.parametrize("level", [None, 0.9, 0.975])
def test_each_line_and_band_has_an_entry_with_its_level(name, level):
    option, entries = (EVENT | NUMBER)[name]
    display = draw(name, **({} if level is None else {option: level}))
    percent = {None: "95 %", 0.9: "90 %", 0.975: "97.5 %"}[level]
    assert sorted(legend(display.ax_)) == sorted(entry.format(percent) for entry in entries)


@pytest.mark.parametrize("name", [*EVENT, *NUMBER])
def test_the_level_of_a_computed_curve_is_not_guessed(name):
    curve = draw(name, **{(EVENT | NUMBER)[name][0]: 0.8}).curve
    texts = legend(getattr(cb.displays, name)(curve).plot().ax_)
    assert {"interval", "band if calibrated"} & {*texts}
    assert not any("%" in text for text in texts)


@pytest.mark.parametrize(
    "numbers",
    [
        *(metrics.reliability_curve, metrics.isotonic_curve, metrics.decision_curve),
        *(metrics.gain_curve, metrics.murphy_curve, metrics.risk_coverage_curve),
        *(metrics.rmse_rmv_curve, metrics.pit_histogram),
    ],
)
def test_the_level_that_is_drawn_is_the_default_of_the_numbers(numbers):
    assert inspect.signature(numbers).parameters["level"].default == 0.95


def test_a_display_with_a_label_waits_for_the_others():
    _, ax = pyplot.subplots()
    curve = metrics.gain_curve(Y, P)
    cb.displays.GainDisplay(curve).plot(ax, label="A")
    assert ax.get_legend() is None
    cb.displays.GainDisplay(curve).plot(ax, label="B")
    assert sorted(legend(ax)) == ["A", "B", "flagged at random", "interval"]


def test_the_reference_of_keeping_at_random_is_the_error_of_all():
    display = draw("RiskCoverageDisplay")
    (line,) = [one for one in display.ax_.lines if one.get_linestyle() == "--"]
    assert set(line.get_ydata()) == {np.mean((P > 0.5) != Y)}


def test_the_alarm_and_its_threshold_are_named():
    monitor = cb.monitoring.CalibrationMonitor()
    for day in range(6):
        monitor.update(np.full(100, 0.9), np.arange(100) < 30, time=f"day {day}")
    display = cb.displays.DriftDisplay.from_monitor(monitor, level=0.9)
    assert sorted(legend(display.ax_)) == ["90 % interval", "alarm"]
    assert "alarm from here on" in legend(display.evidence_ax_)


def test_a_confidence_curve_names_all_its_parts():
    calibrator = cb.ConfidenceCalibrator(per_class=False).fit(P, Y)
    display = cb.displays.ConfidenceCurveDisplay.from_predictions(Y, P, calibrator, level=0.9)
    parts = {"share right", "90 % interval", "calibrator", "score = confidence"}
    assert {*legend(display.ax_)} == parts
    assert legend(display.densities_ax_) == ["right", "wrong"]


def test_the_wedges_of_errors_are_named_with_their_shares():
    display = cb.displays.RealStdDisplay.from_predictions(OUTCOME, MEAN, STD, level=0.8)
    assert {*legend(display.ax_)} == {
        "Claimed: half and 80 % of errors",
        "Seen: half and 80 % of errors",
        "Real std",
        "errors of single rows",
        "real = predicted std",
        "95 % interval of the real std",
    }


def test_ticks_of_a_distribution_are_where_they_say():
    axis = cb.displays.RiskDistributionDisplay.from_predictions(Y, P).ax_.yaxis
    for place in (0.025, -0.075, 0.1):
        assert float(axis.get_major_formatter()(place).removesuffix(" %")) == abs(100 * place)


@pytest.mark.parametrize(("by", "word"), [("outcome", "outcome"), ("mean", "prediction")])
def test_the_bins_of_widths_say_of_what_they_are(by, word):
    display = cb.displays.IntervalWidthDisplay.from_predictions(OUTCOME, MEAN, STD, by=by)
    assert display.coverage_ax_.get_xlabel() == f"Mean {word} of the bin (units of y)"
    again = cb.displays.IntervalWidthDisplay(display.curve).plot()
    assert again.coverage_ax_.get_xlabel() == "Mean of the bin (units of y)"


def test_an_axis_of_counts_is_a_logarithm_without_a_zero():
    ax = cb.displays.ConfidenceHistogramDisplay.from_predictions(Y, P).ax_
    assert ax.get_yscale() == "log"
    assert 0.0 < ax.get_ylim()[0] < 1.0


def test_points_beyond_the_axis_of_a_latent_function_are_counted():
    p = np.append(P, 1e-9)
    calibrator = GaussianProcessCalibration(n_inducing=3).fit(p, np.append(Y, 0))
    display = cb.displays.LatentFunctionDisplay.from_calibrator(calibrator, p)
    beyond = (display.latent.mean < display.ax_.get_ylim()[0]).sum()
    assert 0 < beyond < 5
    assert f"latent mean ({beyond} of 200 points below)" in legend(display.ax_)


def test_a_latent_function_without_a_fall_is_drawn_whole():
    p = np.clip(P, 0.2, 0.8)
    calibrator = GaussianProcessCalibration(n_inducing=3).fit(p, Y)
    display = cb.displays.LatentFunctionDisplay.from_calibrator(calibrator, p)
    assert display.latent.mean.min() > display.ax_.get_ylim()[0]
    assert "latent mean" in legend(display.ax_)
