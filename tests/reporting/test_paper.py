"""``figure`` draws the page's main drawing, of each kind of prediction and of several models."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def event():
    rng = np.random.default_rng(0)
    p = rng.random(1500)
    return (rng.random(1500) < p).astype(int), p


def lines(found):
    ax = found.figure_.axes[0]
    return {
        line.get_label(): line.get_xydata()
        for line in ax.lines
        if not line.get_label().startswith("_")
    }


def test_a_report_shows_the_points_of_its_page_before_and_after(event):
    y, p = event
    report = cb.report(y, p**2, calibrator=cb.Platt(), n_resamples=0)
    summary, drawn = report.to_dict(), lines(cb.figure(report))
    assert list(drawn) == ["before", "after"]
    for when, points in drawn.items():
        curve = summary["binned"][when][str(summary["bins"])]["curve"]
        np.testing.assert_allclose(points[:, 0], curve["confidence"])
        np.testing.assert_allclose(points[:, 1], curve["accuracy"])


def test_predictions_are_drawn_as_they_are_and_written(event, tmp_path):
    y, p = event
    found = cb.figure(y, p, width=183, path=tmp_path / "fig1.pdf")
    assert (tmp_path / "fig1.pdf").read_bytes().startswith(b"%PDF")
    assert found.figure_.get_size_inches()[0] == pytest.approx(183 / 25.4)
    curve = cb.metrics.reliability_curve(y, p, target="event", strategy="mass", n_bins=15)
    np.testing.assert_allclose(lines(found)["before"][:, 1], curve.accuracy)


def test_several_models_share_the_axes(event):
    y, p = event
    found = cb.figure(y, {"sharp": p, "$flat": 0.5 * p + 0.25})
    drawn = lines(found)
    assert list(drawn) == ["sharp", "$flat"]
    assert drawn["$flat"][:, 0].min() > 0.24
    assert len(found.figure_.axes[0].get_legend().get_texts()) == 2
    K = np.column_stack([1 - p, p, 0 * p])
    with pytest.raises(InputError, match="predictions of one kind"):
        cb.figure(y, {"event": p, "classes": K})


def test_classes_and_error_bars():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(3), 600)
    y = (rng.random(600)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    ax = cb.figure(y, P).figure_.axes[0]
    assert ax.child_axes[0].get_xlabel().startswith("Confidence")
    mean, std = rng.normal(size=600), np.exp(0.3 * rng.normal(size=600))
    y = mean + 1.5 * std * rng.normal(size=600)
    alone = lines(cb.figure(y, mean, std))["model"]
    assert alone[:, 1] / alone[:, 0] == pytest.approx(1.5, rel=0.25)
    models = {"narrow": cb.NormalForecast(mean, std), "right": cb.NormalForecast(mean, 1.5 * std)}
    both = lines(cb.figure(y, models))
    np.testing.assert_allclose(both["right"][:, 0], 1.5 * both["narrow"][:, 0])
    np.testing.assert_allclose(both["narrow"], alone)


def test_a_width_of_nothing_is_refused(event):
    with pytest.raises(InputError, match="width must be above 0 millimetres; got 0"):
        cb.figure(*event, width=0)
