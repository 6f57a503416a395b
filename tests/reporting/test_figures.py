"""The figures of a page: what their words, tables, points and states say."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import calibrant as cb
from calibrant.reporting.figures import (
    CORP,
    RISK,
    Kind,
    calibration_figure,
    drift_figures,
    figure,
    made,
    overlaid,
    points_along,
    present,
    rows_shown,
    when_words,
)
from calibrant.reporting.report import Report

pytest.importorskip("matplotlib")


def columns(said, seen):
    n = len(said)
    said, seen = np.array(said), np.array(seen)
    return {
        "lower": said.tolist(),
        "upper": said.tolist(),
        "n": [100.0] * n,
        "confidence": said.tolist(),
        "accuracy": seen.tolist(),
        "low": (seen * 0.9).tolist(),
        "high": np.minimum(seen * 1.1, 1.0).tolist(),
    }


def test_the_words_close_with_the_largest_gap_and_never_with_a_gap_of_zero():
    off = calibration_figure("k", "t", "Words.", {"2": {"m": columns([0.2, 0.8], [0.2, 0.6])}}, "2")
    assert off["description"] == (
        "Words. The largest gap (m): predicted 0.8, observed 0.6 (100 rows)."
    )
    right = columns([0.2, 0.80001], [0.2, 0.80002])
    assert calibration_figure("k", "t", "W.", {"2": {"m": right}}, "2")["description"] == "W."


def test_states_are_a_slider_and_only_the_first_is_seen():
    states = {str(n): {"m": columns([0.2, 0.8], [0.2, 0.6])} for n in (5, 10, 50)}
    found = calibration_figure("k", "t", "", states, "10", texts="bins: {}".format)
    assert found["states"] == [
        {"bins": "5", "text": "bins: 5"},
        {"bins": "10", "text": "bins: 10"},
    ]
    groups = set(re.findall(r'<g[^>]*data-bins="(\d+)"( display="none")?', found["svg"]))
    assert groups == {("5", ' display="none"'), ("10", "")}
    assert found["svg"].count('tabindex="0"') == 2
    assert "m: predicted 0.8, observed 0.6 (0.54 to 0.66), 100 rows" in found["svg"]
    assert found["rows"][1][3:] == ["0.8", "0.6", "0.54", "0.66"]


def test_over_few_distinct_risks_there_is_no_smooth_curve():
    from calibrant.reporting.event.page import main_figure

    rng = np.random.default_rng(0)
    drawn = {}
    for count in (9, 10):
        p = np.resize(np.linspace(0.1, 0.9, count), 900)
        y = (rng.random(900) < p).astype(int)
        found = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=0).to_dict()
        drawn[count] = main_figure(found)["description"]
    assert "loess" not in drawn[9]
    assert "loess" in drawn[10]


def test_medians_are_of_the_rows_and_bins_as_many_as_the_events_pay_for():

    rng = np.random.default_rng(1)
    p = rng.beta(1, 8, 3000)
    y = (rng.random(3000) < p).astype(int)
    found = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=0).to_dict()
    medians = np.median(p[y == 1]), np.median(p[y == 0])
    assert list(found["medians"]["before"].values()) == pytest.approx(medians, rel=0.02)
    shown = Report(found).to_html()
    assert f"{100 * found['medians']['before']['events']:.1f} % with the event" in shown
    enough = [n for n in (5, 8, 10, 15, 20, 30, 50) if y.sum() >= 20 * n and 100 * n <= 3000]
    assert list(found["binned"]["before"]) == [str(n) for n in enough]
    assert found["bins"] == max(n for n in enough if n <= 15)


def test_a_figure_over_time_names_its_axis_by_the_unit_and_cuts_no_label():
    rng = np.random.default_rng(0)
    p = rng.random(900)
    y = (rng.random(900) < p).astype(int)
    times = np.datetime64("1990") + np.arange(900) // 100
    found = cb.report(
        y, p, calibrator=cb.calibrators.Identity(), n_resamples=0, times=times
    ).to_dict()
    drawn = drift_figures(found["drift"])
    svg = drawn["all"]["svg"]
    assert drawn["groups"] == []
    assert ">Year</text>" in svg
    assert "Start" not in svg
    left, _, width, _ = map(float, re.search(r'viewBox="([^"]*)"', svg).group(1).split())
    places = re.findall(r'<text x="([-\d.]+)"[^>]*text-anchor="middle"[^>]*>(19\d\d)</text>', svg)
    assert [year for _, year in places] == ["1990", "1993", "1995", "1998"]
    for x, year in places:
        half = 0.3 * 9.0 * len(year)
        assert left <= float(x) - half
        assert float(x) + half <= left + width
    gaps = np.diff([float(x) for x, _ in places])
    assert (gaps > 0.6 * 9.0 * 4).all()
    assert drift_figures(None) is None


def test_parts_rows_and_points():
    assert present({"before": 1, "after": None}) == {"before": 1}
    assert rows_shown(3).tolist() == [0, 1, 2]
    assert len(rows_shown(1000)) == 25
    x = np.linspace(0.0, 1.0, 500)
    assert len(points_along(x, x)) == 25
    assert made(SimpleNamespace, {"a": [1, 2]}).a.tolist() == [1.0, 2.0]
    summary = {"calibrator": {"name": "Platt", "evaluation": "in-sample"}}
    assert when_words("after", summary) == "after Platt (in-sample)"
    assert when_words("before", summary) == "before calibration"


def test_overlaid_curves_are_told_apart():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    kinds = (CORP, cb.metrics.isotonic_curve), (RISK, cb.metrics.risk_coverage_curve)
    for kind, numbers in kinds:
        assert isinstance(kind, Kind)
        both = {"before": numbers(y, p**2).to_dict(), "after": numbers(y, p).to_dict()}
        found = overlaid(kind, both, "key")
        assert found["key"] == "key"
        assert {row[0] for row in found["rows"]} == {"before", "after"}
        assert found["svg"].count("calibration</text>") == 2
    alone = overlaid(RISK, {"before": numbers(y, p).to_dict(), "after": None})
    assert "calibration</text>" not in alone["svg"]


def test_a_figure_has_what_the_template_shows():
    display = SimpleNamespace(plot=lambda ax: ax.plot([0, 1], [0, 1]))
    found = figure("k", "t", "words", display, [(0.5, 0.5, "half")], ["a"], [["1"]])
    assert found["svg"].startswith("<svg")
    assert "<title>half</title>" in found["svg"]
    assert found["states"] == []
