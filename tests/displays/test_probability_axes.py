from types import SimpleNamespace

import numpy as np
import pytest

from calibrant.displays.axes import axis_edges, inside_axes, resolve_scale, scale_axes
from calibrant.errors import InputError


def test_the_answer_stays_linear_and_a_scale_named_stays():
    near_ends = np.array([0.001, 0.999]), np.array([0.0, 1.0]), np.ones(2)
    assert (
        resolve_scale("auto", "event", *near_ends)
        == resolve_scale("auto", 1, *near_ends)
        == "logit"
    )
    assert resolve_scale("auto", "answer", *near_ends) == "linear"
    assert resolve_scale("log", "answer", *near_ends) == "log"
    with pytest.raises(InputError, match="scale must be"):
        resolve_scale("sqrt", "event", *near_ends)


def test_scores_of_exactly_0_or_1_are_drawn_there_on_linear_axes():
    near = np.repeat([0.001, 0.999], 100), np.repeat([0.0, 1.0], 100), np.ones(200)
    rare = np.full(200, 0.001), np.append(np.zeros(199), 1.0), np.ones(200)
    assert resolve_scale("auto", "event", *near) == "logit"
    assert resolve_scale("auto", "event", *rare) == "log"
    for (score, share, weight), end in ((near, 0.0), (near, 1.0), (rare, 0.0)):
        exact = score.copy()
        exact[:2] = end  # one in a hundred: drawn at the end of the axis
        assert resolve_scale("auto", "event", exact, share, weight) != "linear"
        exact[:3] = end
        assert resolve_scale("auto", "event", exact, share, weight) == "linear"


@pytest.mark.parametrize(
    ("scale", "ends", "shown"),
    [
        ("log", (0.001, 0.3), ["0.001", "0.01", "0.1"]),
        ("log", (0.02, 0.5), ["0.02", "0.05", "0.1", "0.2", "0.5"]),
        ("log", (5e-8, 1.0), ["1e-06", "0.0001", "0.01", "1"]),
        ("log", (0.7, 3000.0), ["1", "10", "100", "1000"]),
        ("logit", (0.05, 0.95), ["0.1", "0.5", "0.9"]),
        ("logit", (1e-5, 1 - 1e-5), ["0.00001", "0.001", "0.1", "0.5", "0.9", "0.999", "0.99999"]),
    ],
)
def test_ticks_are_few_plain_numbers(scale, ends, shown):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    scale_axes(ax, scale, *ends)
    for axis in (ax.xaxis, ax.yaxis):
        ticks = dict(zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True))
        assert [ticks[place].get_text() for place in sorted(ticks)] == shown
        assert len(axis.get_minorticklocs()) == 0


@pytest.mark.parametrize("scale", ["log", "logit"])
def test_edges_at_the_ends_are_one_step_of_the_scale_away(scale):
    inner = np.array([0.01, 0.1, 0.5])
    edges = axis_edges(np.append(inner, 1.0), scale)
    assert (np.diff(edges) > 0.0).all()
    assert edges[0] > 0.0
    assert edges[-1] < 1.0 or scale == "log"
    assert axis_edges(np.append(inner, 1.0), "linear").tolist() == [0.0, *inner.tolist(), 1.0]


def test_shares_of_nothing_and_of_all_are_half_a_row_inside():
    curve = SimpleNamespace(
        n=np.array([10.0, 20.0]),
        confidence=np.array([0.0, 1.0]),
        accuracy=np.array([0.0, 1.0]),
        low=np.array([0.0, 0.8]),
        high=np.array([0.3, 1.0]),
    )
    inside, (low, high) = inside_axes(curve, "logit")
    np.testing.assert_allclose(inside.accuracy, [0.05, 0.975])
    assert 0.0 < low < inside.confidence[0] < inside.confidence[1] < high < 1.0
    inside, (low, high) = inside_axes(curve, "log")
    np.testing.assert_allclose(inside.accuracy, [0.05, 1.0])
    assert 0.0 < low < inside.confidence[0]
    assert high == 1.0
    assert inside_axes(curve, "linear") == (curve, (0.0, 1.0))
