"""The section "What can I promise?" of a report on an event."""

import numpy as np
import pytest

import calibrant as cb


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = rng.random(1500)
    return p, (rng.random(1500) < p).astype(int)


def test_they_are_those_of_the_rule_and_the_report_says_them(rows):
    p, y = rows
    report = cb.report(y, p, calibrator=cb.VectorScaling(), n_resamples=50)
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
    assert f"above {said['rates'][1]['threshold']:.4g}" in report.to_markdown()
    pytest.importorskip("jinja2")
    page = report.to_html()
    assert "What can I promise?" in page
    assert "of the events missed" in page


def test_few_rows_say_what_it_would_take(rows):
    p, y = rows
    line = cb.report(y[:60], p[:60], n_resamples=50).to_dict()["promises"]["rates"][0]
    assert line["threshold"] is None
    assert "rows of a kind without an error" in line["note"]
