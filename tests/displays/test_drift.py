import numpy as np
import pytest

import calibrant as cb


def _monitor(gap):
    rng = np.random.default_rng(0)
    monitor = cb.monitoring.CalibrationMonitor()
    for t in range(12):
        p = rng.uniform(0.5, 1.0, 200)
        monitor.update(p, (rng.uniform(size=200) < p - gap * (t >= 6)).astype(int), time=f"day {t}")
    return monitor


def test_draws_its_numbers_and_the_alarm():
    from matplotlib.figure import Figure

    monitor = _monitor(0.25)
    display = cb.displays.DriftDisplay.from_monitor(monitor, name="$a", ax=Figure().add_subplot())
    assert display.line_.get_ydata().tolist() == display.curve.error.tolist()
    np.testing.assert_allclose(
        display.evidence_.get_ydata(), np.array(monitor.path_) / np.log(10.0)
    )
    assert display.limit_.get_ydata()[0] == pytest.approx(np.log10(20.0))
    assert {f"day {line.get_xdata()[0]}" for line in display.alarm_} == {monitor.alarm_time_}
    assert display.ax_.get_title() == "$a"
    assert display.frame()["time"].tolist() == monitor.times_


def test_no_alarm_no_line():
    from matplotlib.figure import Figure

    assert (
        cb.displays.DriftDisplay.from_monitor(_monitor(0.0), ax=Figure().add_subplot()).alarm_ == []
    )


def test_nothing_is_cut_off():
    """The dates below the second axes lie within the figure."""
    monitor = cb.monitoring.CalibrationMonitor()
    for t in range(30):
        monitor.update([0.9, 0.8, 0.6], [1, 1, 0], time=f"2026-03-{t + 1:02d}")
    display = cb.displays.DriftDisplay.from_monitor(monitor)
    display.figure_.canvas.draw()
    labels = [label for label in display.evidence_ax_.get_xticklabels() if label.get_text()]
    assert len(labels) == 4
    assert min(label.get_window_extent().y0 for label in labels) >= 0.0
    assert display.evidence_ax_.xaxis.label.get_window_extent().y0 >= 0.0


def test_axes_outside_a_grid_have_the_evidence_below_them():
    from matplotlib.figure import Figure

    display = cb.displays.DriftDisplay.from_monitor(
        _monitor(0.0), ax=Figure().add_axes((0.1, 0.5, 0.8, 0.4))
    )
    assert display.evidence_ax_ in display.ax_.child_axes
