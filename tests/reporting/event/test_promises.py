"""The section "What can I promise?" of a report on an event."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.text_table import percent
from calibrant.reporting.judge import CALIBRATED


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = rng.random(1500)
    return p, (rng.random(1500) < p).astype(int)


def calibrated_risks(p, y):
    """(risks, in their order, as VectorScaling fitted on all rows calibrates them)."""
    order = np.sort(p)
    return order, cb.calibrators.VectorScaling().fit(p, y).predict_proba(order)[:, 1]


def test_they_are_those_of_the_rule_and_the_report_says_them(rows):
    p, y = rows
    report = cb.report(y, p, calibrator=cb.calibrators.VectorScaling(), n_resamples=50)
    said = report.to_dict()["promises"]
    assert [(line["error"], line["rate"]) for line in said["rates"]] == [
        (error, rate) for error in ("false alarms", "missed events") for rate in (0.01, 0.05, 0.1)
    ]
    alarms, missed = (
        cb.decisions.NeymanPearsonClassifier(0.05).fit(p, y),
        cb.decisions.NeymanPearsonClassifier(None, 0.05).fit(p, y),
    )
    for line, rule, side in ((said["rates"][1], alarms, 1), (said["rates"][4], missed, 0)):
        assert line["threshold"] == pytest.approx(rule.high_, rel=1e-3)
        assert line["share"] == pytest.approx((rule.decide(p) == side).mean(), rel=1e-3)
    calibrated = calibrated_risks(p, y)
    for line in said["rates"]:
        assert abs(np.interp(line["threshold"], *calibrated) - line["calibrated"]) < 0.02
    first = said["rates"][1]
    told = f"above {first['threshold']:.4g}"
    if report.to_dict()["verdict"]["state"] in CALIBRATED:
        told = f"above {first['calibrated']:.4g} (uncalibrated {first['threshold']:.4g})"
    assert told in report.to_markdown()
    pytest.importorskip("jinja2")
    page = report.to_html()
    assert "What can I promise?" in page
    assert page.count("of the events are missed") == 3
    assert page.count("false alarms among rows without the event") == 3
    for line in said["rates"]:
        side = (
            "flags only risks above"
            if line["error"] == "false alarms"
            else "clears only risks up to"
        )
        both = percent(line["threshold"])
        if report.to_dict()["verdict"]["state"] in CALIBRATED:
            both = f"{percent(line['calibrated'])} (uncalibrated {both})"
        assert f'{side} {both}</td><td class="n">{percent(line["share"])}</td>' in page
    assert page.count("as long as new rows are like these") == 1


def test_without_a_calibration_they_are_of_the_risks_as_predicted(rows):
    p, y = rows
    report = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=50)
    said = report.to_dict()["promises"]["rates"]
    assert [line["calibrated"] for line in said] == [None] * 6
    assert f"above {said[1]['threshold']:.4g} |" in report.to_markdown()
    pytest.importorskip("jinja2")
    assert f"flags only risks above {percent(said[1]['threshold'])}</td>" in report.to_html()


def test_few_rows_say_what_it_would_take(rows):
    p, y = rows
    line = cb.report(y[:60], p[:60], n_resamples=50).to_dict()["promises"]["rates"][0]
    assert line["threshold"] is None
    assert "rows of a kind without an error" in line["note"]
