import numpy as np
import pytest

import calibrant as cb
from calibrant.displays.calibration import CalibrationDrawing


def curves(n_bins=5, top=1.0):
    rng = np.random.default_rng(0)
    p = top * rng.random(2000)
    y = (rng.random(2000) < p).astype(int)
    found = (
        cb.metrics.reliability_curve(y, said, target="event", strategy="mass", n_bins=n_bins)
        for said in (p**1.5, p)
    )
    return dict(zip(("before", "after"), found, strict=True))


def draw(states, **options):
    from matplotlib.figure import Figure

    return CalibrationDrawing(states, **options).plot(Figure().add_subplot())


def test_before_is_hollow_and_after_filled_over_one_diagonal():
    found = curves()
    drawing = draw({"5": found})
    diagonal, before, after = drawing.ax_.lines
    assert diagonal.get_xydata().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    for line, curve in ((before, found["before"]), (after, found["after"])):
        np.testing.assert_array_equal(line.get_xdata(), curve.confidence)
        np.testing.assert_array_equal(line.get_ydata(), curve.accuracy)
    assert before.get_markerfacecolor() == "white"
    assert after.get_markerfacecolor() == after.get_color()
    legend = drawing.ax_.get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["before", "after"]


def test_all_states_have_the_same_axes_and_the_legend_names_each_curve_once():
    drawing = draw({"5": curves(5), "20": curves(20)}, start="20")
    gids = {line.get_gid() for line in drawing.ax_.lines[1:]}
    assert gids == {"5", "20"}
    assert len(drawing.ax_.get_legend().get_texts()) == 2
    assert drawing.ax_.get_xlim() == drawing.ax_.get_ylim() == drawing.ends


@pytest.mark.parametrize(("top", "end"), [(0.1, 0.2), (0.3, 0.5), (0.9, 1.0)])
def test_axes_of_small_risks_end_where_the_data_do(top, end):
    assert CalibrationDrawing({"5": curves(top=top)}, target="event").ends == (0.0, end)
    assert CalibrationDrawing({"5": curves(top=top)}).ends == (0.0, 1.0)
    ax = draw({"5": curves(top=top)}, target="event").ax_
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert sum(map(len, texts)) <= 30  # they do not touch each other


def test_risks_of_exactly_0_and_1_are_drawn_there():
    curve = cb.metrics.reliability_curve([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], target="event")
    drawing = draw({"15": {"model": curve}}, target="event")
    assert drawing.ax_.lines[1].get_xdata().tolist() == [0.0, 1.0]
    assert drawing.ax_.get_xscale() == "linear"
    assert drawing.ax_.get_legend() is None


def test_the_distribution_is_below_and_right_answers_below_wrong_ones():
    counts = cb.metrics.risk_distribution([0, 1, 1], [0.2, 0.6, 0.9], n_bins=4)
    drawing = draw({"5": curves()}, distribution=counts, target="event")
    assert drawing.below_ in drawing.ax_.child_axes
    names = [text.get_text() for text in drawing.below_.get_yticklabels()]
    assert names == ["no event", "event"]
    names = draw({"5": curves()}, distribution=counts).below_.get_yticklabels()
    assert [text.get_text() for text in names] == ["right", "wrong"]
    assert not drawing.ax_.get_xlabel()
    assert drawing.below_.get_xlabel() == "Predicted risk"


def test_densities_of_a_class_have_their_own_axis():
    from types import SimpleNamespace

    found = SimpleNamespace(
        score=np.array([0.1, 0.5, 0.9]), right=np.array([0.1, 0.2, 0.3]), wrong=np.ones(3)
    )
    drawing = draw({"5": curves()}, target=None, densities=found)
    right, wrong = drawing.below_.lines
    np.testing.assert_allclose(right.get_xdata(), [-np.log(9), 0.0, np.log(9)])
    assert wrong.get_ydata().tolist() == [1.0, 1.0, 1.0]
    assert [text.get_text() for text in drawing.below_.get_xticklabels()][1] == "0.5"
    assert drawing.ax_.get_ylabel() == "Observed share of the class"


def test_of_four_models_each_has_a_colour():
    found = curves()["after"]
    drawing = draw({"5": dict.fromkeys(("a", "b", "$c", "d"), found)})
    assert len({line.get_color() for line in drawing.ax_.lines[1:]}) == 4
    assert len(drawing.ax_.get_legend().get_texts()) == 4
