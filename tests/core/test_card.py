"""Every result that a notebook or a terminal shows: its size, hostile names, and its facts."""

import re

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.cards import Card, Tile
from calibrant.core.estimators import offered
from calibrant.core.guarantee import Promised

HOSTILE = "<script>alert('x')</script>\n\x1b[31m & a name that is as long as names of groups can be"
RNG = np.random.default_rng(0)
P = RNG.random(600)
Y = (RNG.random(600) < P).astype(int)
SITE = np.array([f"{HOSTILE} {i}" for i in RNG.integers(0, 30, 600)])
CLASSES = np.array(["no", HOSTILE])
MADE = {
    "report": lambda: cb.report(
        CLASSES[Y], P**2, classes=CLASSES, calibrator=cb.Platt(), groups=SITE, title=HOSTILE
    ),
    "report of answers": lambda: cb.report(
        CLASSES[Y],
        P,
        classes=CLASSES,
        target="answer",
        calibrator=cb.calibrators.Identity(),
        title=HOSTILE,
    ),
    "report of forecasts": lambda: cb.report(P, 0.5 * Y, np.ones(600), title=HOSTILE),
    "audit": lambda: cb.audit(Y, P**2, SITE),
    "comparison": lambda: metrics.compare(
        Y,
        {f"{HOSTILE} {power}": P**power for power in (1, 2, 3, 4, 5)},
        metrics=[metrics.log_loss, metrics.expected_calibration_error],
    ),
    "threshold": lambda: cb.decisions.decision_threshold(
        Y, P, cost_false_positive=1.0, cost_false_negative=4.0
    ),
    "costs": lambda: cb.decisions.ExpectedCost(1.0 - np.eye(2)).costs_of(Y, P),
    "selective": lambda: cb.SelectiveClassifier(0.2).fit(P, Y),
    "two rates": lambda: cb.decisions.NeymanPearsonClassifier(0.2, 0.2).fit(P, Y),
    "sets": lambda: cb.ConformalSets(classes=CLASSES).fit(P, CLASSES[Y]),
    "sets given the features": lambda: cb.decisions.ConditionalSets().fit(
        P, Y, features=P[:, None]
    ),
    "risk control": lambda: cb.decisions.ConformalRiskControl().fit(
        np.column_stack([P, 1.0 - P]), np.column_stack([Y, 1 - Y])
    ),
}


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("name", MADE)
def test_what_is_shown_is_short_and_safe(name):
    found = MADE[name]()
    for text in {repr(found)} if name == "audit" else {repr(found), str(found)}:
        lines = text.split("\n")
        assert len(lines) <= 15
        assert max(map(len, lines)) <= 100
        assert "\x1b" not in text
    html = found._repr_html_()
    assert len(html.encode()) <= 30_000
    assert html.count('<div class="calibrant-card">') == html.count("<style>") == 1
    assert html.startswith('<div class="calibrant-card"><style>')
    assert html.endswith("</div>")
    assert not re.search(r"<script|<b>|\son\w+=|http-equiv|src=", html)
    # Whatever the style says, it says it of the card alone.
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert all(line.startswith(".calibrant-card") for line in style[1].strip().split("\n"))


def test_a_report_is_answered_in_the_terminal_and_drawn_in_a_notebook():
    found = MADE["report"]()
    verdict = found.to_dict()["verdict"]
    text, html = repr(found), found._repr_html_()
    assert verdict["state"].capitalize() in text.split("\n")[0]
    assert " ".join(text.split()).count(" ".join(verdict["sentence"].split())) == 1
    assert '.save("report.html")' in text
    assert html.count("<svg") == 1
    assert 'display="none"' not in html
    page = found.to_html()
    for label in re.findall("<dt>(.*?)</dt>", html):
        assert f"<dt>{label}</dt>" in page


def test_a_rule_says_its_promise_only_once_it_is_fitted():
    rule = cb.SelectiveClassifier(0.2)
    assert str(rule) == repr(rule) == "SelectiveClassifier(risk=0.2)"
    rule.fit(P, Y)
    assert repr(rule) == "SelectiveClassifier(risk=0.2)"
    assert str(rule.certificate_) in " ".join(str(rule).split())
    assert "calibrant-card" in rule._repr_mimebundle_()["text/html"]


def test_each_model_has_its_own_value():
    found = metrics.compare(Y, {"a": P, "b": P**2}, metrics=[metrics.log_loss])
    for name, values in (("a", P), ("b", P**2)):
        value = f"{name} {metrics.log_loss(Y, values):.4g}"
        assert value in repr(found)
        assert f"<td>{value}</td>" in found._repr_html_()


def test_a_card_is_as_its_parts_say():
    card = Card("A sentence.", "Title", "badge", "good", "Do it.", tiles=[Tile("Gap", "2", "few")])
    assert card.text() == "Title: badge\nA sentence.\n→ Do it.\n  Gap  2  few"
    rows = [(f"g{i}", str(i)) for i in range(61)]
    table = Card("A sentence.", head=("group", "rows"), rows=rows)
    assert table.text().split("\n")[-1] == "12 of 61 shown: frame() has all"
    assert "12 of 61 shown" in table.html()
    assert table.html().count("<tr>") == 13


@pytest.mark.parametrize("rule", offered(Promised))
def test_a_rule_prints_before_it_is_fitted(rule):
    assert str(rule()) == repr(rule())
