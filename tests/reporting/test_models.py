"""The page on several models of the same rows: its verdict, its scores, and its Markdown."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.reporting.models import summarise_comparison

NAMES = ["<b>a|b</b>", "[c](d)", "_e_"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 800)
    return (rng.random(800) < p).astype(int), p


def test_the_better_model_is_named(rows):
    y, p = rows
    verdict = cb.report(y, {"one": p**3, "two": p}).to_dict()["verdict"]
    assert (verdict["state"], verdict["action"]) == ("one is better", "Use two.")


def test_models_that_cannot_be_told_apart_are_named(rows):
    y, p = rows
    near = {"one": p, "two": np.clip(p + 1e-3 * np.cos(1e4 * p), 0.0, 1.0), "bad": p**3}
    verdict = cb.report(y, near).to_dict()["verdict"]
    assert verdict["state"] == "no clear difference"
    assert "cannot be told from" in verdict["sentence"]
    assert "bad" not in verdict["sentence"].split("cannot be told from")[1]


def test_records_give_the_summary_of_arrays(rows):
    y, p = rows
    records = {"one": read(p, y), "two": read(p**2, y)}
    metrics = [cb.metrics.log_loss, cb.metrics.event_brier_score]
    found = cb.metrics.compare.of(records, metrics)
    made = summarise_comparison(records, metrics, found).to_dict()
    expected = cb.report(y, {"one": p, "two": p**2}, n_resamples=1000).to_dict()
    assert {**made, "call": None} == {**expected, "call": None}


def test_markdown_has_the_page_in_its_order_and_names_start_no_markup(rows):
    y, p = rows
    text = cb.report(y, dict(zip(NAMES, (p, p**2, p**3), strict=True))).to_markdown()
    heads = ["# Which", "**One is better.**", "→ Use", "## Each model", "## The difference"]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    assert "\\<b\\>a\\|b\\</b\\>" in text
    assert "<b>" not in text.replace("\\<b\\>", "")
    assert text.count("| log loss |") == 1 + 3


def test_hostile_names_are_escaped_and_the_page_is_small(rows):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    y, p = rows
    page = cb.report(y, dict(zip(NAMES, (p, p**2, p**3), strict=True))).to_html()
    assert NAMES[0] not in page
    assert "&lt;b&gt;a|b&lt;/b&gt;" in page
    assert len(page) < 300_000


def test_a_score_that_one_model_lacks_is_a_dash():
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=400), np.ones(400)
    y = mean + rng.normal(size=400)
    intervals = cb.ConformalIntervals().fit(mean[:200], y[:200], std=std[:200])
    forecasts = {
        "intervals": intervals.predict(mean[200:], std[200:]),
        "normal": cb.NormalForecast(mean[200:], 2.0 * std[200:]),
    }
    chosen = [cb.metrics.weighted_interval_score, cb.metrics.negative_log_likelihood]
    found = cb.report(y[200:], forecasts, metrics=chosen)
    scores = [one["scores"]["nll"]["value"] for one in found.to_dict()["models"]]
    assert scores[0] is None
    assert scores[1] == pytest.approx(
        cb.metrics.negative_log_likelihood(y[200:], forecasts["normal"])
    )
    assert "| intervals | 0." in found.to_markdown()
    assert "have no density" in found.to_html()
