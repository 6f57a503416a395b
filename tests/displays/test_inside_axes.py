"""Every display stays in the axes of plain subplots, and a second one can be told from the first.

Displays are found by the stub of their folder, what they draw by the names of their parameters.
"""

import inspect
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import calibrant as cb
from calibrant.displays.axes import COLOURS
from calibrant.errors import InputError

pyplot = pytest.importorskip("matplotlib.pyplot")
text = pytest.importorskip("matplotlib.text")

MAKERS = ("from_predictions", "from_monitor", "from_calibrator", "from_sets")
N = 400


def _maker(name):
    kind = getattr(cb.displays, name)
    return next(getattr(kind, maker) for maker in MAKERS if hasattr(kind, maker))


@cache
def _values(power):
    """Return data by the name of a parameter; ``power`` makes another model of the same rows."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4), N)
    y = np.array([rng.choice(4, p=row) for row in P])
    P = P**power / (P**power).sum(axis=1, keepdims=True)
    mean, std = rng.normal(size=N), np.exp(0.4 * rng.normal(size=N))
    monitor = cb.monitoring.CalibrationMonitor()
    for month in range(1, 9):
        p = rng.beta(2, 2, 200)
        monitor.update(
            p, (rng.random(200) < p ** (power * month / 4)).astype(int), time=f"2026-{month:02d}"
        )
    return {
        "y_true": y,
        "P": P,
        "mean": mean,
        "std": power * std,
        "monitor": monitor,
        "signal": cb.calibrators.Margin(),
        "sets": cb.ConformalSets().fit(P, y).predict_set(P),
        "outcome": mean + std * rng.normal(size=N),
        "event": (y == 3).astype(int),
        "risk": P[:, 3],
    }


def _options(name, power=1.0):
    """Return the arguments of a display: a forecast, the event of two classes, or four classes."""
    parameters, values = inspect.signature(_maker(name)).parameters, dict(_values(power))
    if "mean" in parameters:
        values["y_true"] = values["outcome"]
    elif cb.displays.__dict__[name].__module__.endswith((".event", ".reliability")):
        values.update(y_true=values["event"], P=values["risk"])
    if "calibrator" in parameters:
        gaussian = name == "LatentFunctionDisplay"
        values["calibrator"] = (
            cb.calibrators.GaussianProcessCalibration(n_inducing=5)
            if gaussian
            else cb.ConfidenceCalibrator(per_class=False)
        ).fit(values["P"], values["y_true"])
    wanted = [key for key, one in parameters.items() if one.default is one.empty or key == "std"]
    return {key: values[key] for key in wanted if key in values}


def _draw(name, ax, title, power=1.0):
    own = "figure" in inspect.signature(_maker(name)).parameters
    place = {"figure": ax and ax.figure} if own else {"ax": ax}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cb.errors.CalibrationWarning)
        return _maker(name)(**_options(name, power), name=title, **place)


def _drawn_texts(figure, monkeypatch):
    """Return the texts that a drawing of the figure draws."""
    drawn, draw = {}, text.Text.draw

    def record(one, renderer, *args, **options):
        if one.get_visible() and one.get_text().strip():
            drawn[id(one)] = one
        return draw(one, renderer, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(text.Text, "draw", record)
        figure.canvas.draw()
    return list(drawn.values())


def _check(figure, monkeypatch):
    texts = _drawn_texts(figure, monkeypatch)
    assert len(texts) > 3
    box, size = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0.0
    assert box.y0 >= 0.0
    assert box.x1 <= size[0]
    assert box.y1 <= size[1]
    boxes = [(one.get_text(), one.get_window_extent().padded(-0.5)) for one in texts]
    assert [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)] == []


@pytest.mark.parametrize("name", sorted(cb.displays.__all__))
@pytest.mark.parametrize("grid", [(1, 1), (2, 2)])
def test_nothing_leaves_the_figure_and_no_texts_overlap(name, grid, monkeypatch, tmp_path):
    figure, axes = pyplot.subplots(*grid, squeeze=False, figsize=(6.4 * grid[1], 4.8 * grid[0]))
    if "figure" in inspect.signature(_maker(name)).parameters:
        figure.clear()
        axes = axes[:1, :1]
    for ax in axes.flat:
        _draw(name, ax if ax.figure else figure.add_subplot(), "Model A")
    figure.savefig(tmp_path / "drawn.png")
    _check(figure, monkeypatch)


@pytest.mark.parametrize("name", sorted(cb.displays.__all__))
def test_a_figure_of_its_own_holds_it(name, monkeypatch, tmp_path):
    display = _draw(name, None, "Model A")
    display.figure_.savefig(tmp_path / "drawn.png")
    _check(display.figure_, monkeypatch)


OWN_FIGURE = "JointDistributionDisplay"


@pytest.mark.parametrize("name", sorted({*cb.displays.__all__} - {OWN_FIGURE}))
def test_a_second_display_has_another_colour_and_a_legend_names_both(name, monkeypatch):
    _, ax = pyplot.subplots()
    first, second = _draw(name, ax, "Model A"), _draw(name, ax, "Model B", 2.0)
    _check(first.figure_, monkeypatch)
    legend = " ".join(one.get_text() for one in ax.get_legend().get_texts())
    assert "Model A" in legend
    assert "Model B" in legend
    assert ax.get_title() == ""
    mains = [one for one in ax.get_children() if hasattr(one, "display_label")]
    looks = [tuple(str(part) for part in _look(one)) for one in mains]
    assert len(mains) == 2
    assert looks[0] != looks[1]
    assert len(ax.figure.axes) <= 2
    assert len(ax.child_axes) <= 1
    assert type(second).__name__ == name


def _look(artist):
    if hasattr(artist, "get_markerfacecolor"):
        return artist.get_color(), artist.get_linestyle(), artist.get_markerfacecolor()
    return artist.get_facecolor(), artist.get_edgecolor()


def test_every_row_of_both_is_counted_in_the_panel_that_they_share():
    _, ax = pyplot.subplots()
    first, second = (_draw("ReliabilityDisplay", ax, name) for name in ("A", "B"))
    assert first.counts_ax_ is second.counts_ax_
    bars = [bar.get_height() for bar in first.counts_ax_.patches]
    assert bars == [*first.curve.n.tolist(), *second.curve.n.tolist()]
    assert first.counts_ax_.get_ylim()[1] > max(bars)
    assert first.counts_ax_.get_xlabel() == "Predicted risk"


def test_a_second_diagram_has_the_scale_of_the_axes():
    _, ax = pyplot.subplots()
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 40, 3000)
    y = (rng.random(3000) < p).astype(int)
    cb.displays.ReliabilityDisplay.from_predictions(y, p, ax=ax)
    low = ax.get_xlim()[0]
    cb.displays.ReliabilityDisplay.from_predictions(y, p, scale="linear", ax=ax)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.get_xlim()[0] <= low


def test_cleared_axes_start_again():
    _, ax = pyplot.subplots()
    _draw("ReliabilityDisplay", ax, "Model A")
    ax.clear()
    display = _draw("ReliabilityDisplay", ax, "Model B")
    assert ax.get_title() == "Model B"
    texts = [one.get_text() for one in ax.get_legend().get_texts()]
    assert texts == ["perfect calibration", "95 % interval"]
    assert display.line_.get_color() == COLOURS["main"]
    assert display.counts_ax_ in ax.child_axes


def test_a_title_and_axes_of_the_user_stay():
    figure, ax = pyplot.subplots(layout="constrained")
    ax.set_title("Figure 1")
    for name in ("Model A", "Model B"):
        _draw("GainDisplay", ax, name)
        ax.set_title("Figure 1")
    before = ax.get_subplotspec()
    _draw("GainDisplay", ax, "Model C")
    assert ax.get_title() == "Figure 1"
    assert ax.get_subplotspec() is before
    assert len(figure.axes) == 1


def test_equal_names_are_numbered():
    _, ax = pyplot.subplots()
    for _ in range(3):
        _draw("MurphyDisplay", ax, None)
    texts = [one.get_text() for one in ax.get_legend().get_texts()]
    assert texts == ["score", "score 2", "score 3", "95 % interval"]


def test_sets_of_other_parts_are_refused():
    _, ax = pyplot.subplots()
    _draw("SetCoverageDisplay", ax, "A")
    with pytest.raises(InputError, match=r"ax shows other parts \(4, first 0\)"):
        cb.displays.SetCoverageDisplay.from_sets([0, 1], [[1, 0], [0, 1]], ax=ax)


def test_a_level_line_is_always_drawn():
    _, ax = pyplot.subplots()
    display = _draw("SetCoverageDisplay", ax, "A")
    covered = display.curve.n @ display.curve.coverage / display.curve.n.sum()
    lines = [line for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert [line.get_xdata()[0] for line in lines] == pytest.approx([covered])
    assert ax.get_legend().get_texts()[0].get_text() == f"all rows: {covered:.3g}"
