"""What it costs to act from the threshold of the costs: by hand, and wherever the page says it."""

import re

import numpy as np
import pytest

import calibrant as cb

ALARM, MISSED = 1.0, 9.0


def rows(n=2000):
    rng = np.random.default_rng(0)
    z = rng.normal(-1.5, 1.5, n)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    return y, 1.0 / (1.0 + np.exp(-1.8 * z - 1.0))


def reported(calibrator, **options):
    y, p = rows()
    costs = {"cost_false_positive": ALARM, "cost_false_negative": MISSED}
    return cb.report(y, p, calibrator=calibrator, n_resamples=0, **{**costs, **options})


def by_hand(y, p, alarm, missed, weight=None):
    """The mean cost of acting on p >= alarm / (alarm + missed), in 10,000 rows."""
    acts = p >= alarm / (alarm + missed)
    cost = np.where(acts, alarm * (1 - y), missed * y)
    return 1e4 * np.average(cost, weights=weight)


@pytest.fixture(scope="module")
def fitted():
    """A calibrator fitted on other rows, whose report applies it as it is."""
    rng = np.random.default_rng(1)
    z = rng.normal(-1.5, 1.5, 3000)
    y = (rng.random(3000) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    return cb.OneVsRest(cb.Platt()).fit(1.0 / (1.0 + np.exp(-1.8 * z - 1.0)), y)


@pytest.fixture(scope="module")
def found(fitted):
    return reported(fitted, in_sample=False)


def test_costs_are_those_counted_by_hand(found, fitted):
    y, p = rows()
    after = fitted.predict_proba(p)[:, 1]
    acting = found.to_dict()["acting"]
    assert [one["cost_false_negative"] for one in acting] == [MISSED, MISSED / 2, 2 * MISSED]
    for one in acting:
        alarm, missed = one["cost_false_positive"], one["cost_false_negative"]
        assert alarm == ALARM
        assert one["threshold"] == alarm / (alarm + missed)
        assert one["before"] == pytest.approx(by_hand(y, p, alarm, missed))
        assert one["after"] == pytest.approx(by_hand(y, after, alarm, missed))
        assert one["all"] == pytest.approx(by_hand(y, np.ones(len(y)), alarm, missed))
        assert one["none"] == pytest.approx(by_hand(y, np.zeros(len(y)), alarm, missed))
    assert acting[0]["after"] < acting[0]["before"]


def test_a_risk_at_the_threshold_is_acted_on_and_weights_are_rows():
    y, p = np.array([0, 1, 0, 1, 0, 1]), np.array([0.1, 0.1, 0.05, 0.05, 0.9, 0.9])
    weight = np.array([1, 2, 3, 4, 5, 6])
    options = {"calibrator": cb.calibrators.Identity(), "sample_weight": weight, "n_resamples": 0}
    costs = {"cost_false_positive": 1, "cost_false_negative": 9}
    (one, *_) = cb.report(y, p, **options, **costs).to_dict()["acting"]
    assert one["before"] == pytest.approx(1e4 * (1 * 1 + 9 * 4 + 1 * 5) / 21)
    assert one["all"] == pytest.approx(1e4 * (1 + 3 + 5) / 21)
    assert one["none"] == pytest.approx(1e4 * 9 * (2 + 4 + 6) / 21)
    assert one["after"] is None


def test_without_costs_there_is_no_word_of_them():
    y, p = rows()
    found = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=0)
    assert found.to_dict()["acting"] == []
    pytest.importorskip("jinja2")
    page = found.to_html()
    assert "Act from" not in page
    assert "Expected cost" not in page
    assert "Cost a row" not in page


def test_costs_are_in_the_tile_the_sentence_and_the_table(found):
    pytest.importorskip("jinja2")
    page, acting = found.to_html(), found.to_dict()["acting"]
    one, *others = acting
    cost, before = (f"{one[name]:,.0f}" for name in ("after", "before"))
    best = f"{min(one['all'], one['none']):,.0f}"
    least = "all" if one["all"] < one["none"] else "none"
    note = f"10,000 rows cost {cost}; acting on {least} {best}"
    tile = f"<dt>Act from</dt><dd>10.0 % <small>{note}</small>"
    assert tile in page
    do = page[page.index('<h2 id="do">') : page.index('<h2 id="metrics">')]
    assert "<strong>Act from 10.0 %</strong>: a false alarm costs 1, a missed event 9." in do
    assert f"Expected cost of 10,000 rows: <strong>{cost}</strong>" in do
    assert f", {before} by the uncalibrated risks, " in do
    assert f"{one['all']:,.0f} if one acts on all, {one['none']:,.0f} on none." in do
    for other in others:
        told = f"{other['cost_false_negative']:g}: act from {100 * other['threshold']:.1f} %"
        assert f"{told}, {other['after']:,.0f} (all {other['all']:,.0f}, none" in do
    assert page.count("<small>by the costs</small>") == 1
    assert "The vertical line is where the costs say to act: 10.0 %." in page


def test_the_row_of_the_table_has_the_cost(found):
    pytest.importorskip("jinja2")
    said, page = found.to_dict(), found.to_html()
    table = said["thresholds"]
    at = table["threshold"].index(said["acting"][0]["threshold"])
    cost = table["expected_cost"][at]
    assert 1e4 * cost == pytest.approx(said["acting"][0]["after"])
    decide = page[page.index('<h3 id="decide">') :]
    row = re.search(r'<tr class="given"><th scope="row">10\.0 % <small>.*?</tr>', decide).group()
    assert row.endswith(f'<td class="n">{cost:.4f}</td></tr>')
    figure = page[page.index('<figure id="figure-decision"') :]
    assert "net benefit" in figure[: figure.index("</figure>")]


def test_a_model_that_saves_nothing_says_so():
    """Risks of no use: acting on all of them is as cheap, and the tile names no saving."""
    rng = np.random.default_rng(2)
    y, p = (rng.random(500) < 0.3).astype(int), rng.uniform(0.2, 0.4, 500)
    costs = {"cost_false_positive": 1, "cost_false_negative": 9}
    found = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=0, **costs)
    one = found.to_dict()["acting"][0]
    assert one["before"] == pytest.approx(one["all"])
    assert one["all"] < one["none"]
    pytest.importorskip("jinja2")
    page = found.to_html()
    assert "<dd>10.0 % <small>no cheaper than acting on all</small>" in page
    assert "cost of 10,000" not in page[: page.index('<h2 id="trust">')]
