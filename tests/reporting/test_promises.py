"""The section "What can I promise?"."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.core.text_table import percent
from calibrant.reporting.evidence import promises


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.2), 1500)
    return P, (rng.random((1500, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=2)


def test_they_are_those_of_the_rules(rows):
    P, y = rows
    found = promises(read(P, y))
    for line in found.accepted[1:]:
        rule = cb.SelectiveClassifier(line.risk).fit(P, y)
        assert (line.share, line.threshold, line.note) == (
            rule.certificate_.share,
            rule.threshold_,
            str(rule.certificate_),
        )
    assert (
        found.sets.size == cb.ConformalSets(level=0.9).fit(P, y).predict_set(P).sum(axis=1).mean()
    )


def test_what_cannot_be_promised_says_what_it_would_take(rows):
    P, y = rows
    line = promises(read(P[:200], y[:200])).accepted[0]
    assert (line.share, line.threshold) == (None, None)
    assert "needs at least 299 rows without an error" in line.note
    assert promises(read(P[:10], y[:10])).sets is None


def test_weights_that_are_no_rows_promise_nothing_and_clusters_are_counted(rows):
    P, y = rows
    assert promises(read(P, y, sample_weight=np.full(1500, 1.5))) is None
    assert promises(read(P, y, sample_weight=np.full(1500, 2.0))).n == 3000.0


def test_the_report_says_it(rows):
    P, y = rows
    report = cb.report(y, P, calibrator=cb.TemperatureScaling(), n_resamples=50)
    said = report.to_dict()["promises"]
    assert [line["risk"] for line in said["accepted"]] == [0.01, 0.05, 0.1]
    assert "What can I promise?" in report.to_markdown()
    assert f"{100 * said['accepted'][2]['share']:.1f} %" in report.to_markdown()
    pytest.importorskip("jinja2")
    page = report.to_html()
    assert "What can I promise?" in page
    for line in said["accepted"]:
        numbers = (line["note"],) if line["share"] is None else (line["share"], line["threshold"])
        assert all((n if isinstance(n, str) else percent(n)) in page for n in numbers)
    assert page.count("as long as new rows are like these") == 1
