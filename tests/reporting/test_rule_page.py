"""The page of a fitted rule: its promise in plain words, and in full."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.decisions import NeymanPearsonClassifier
from calibrant.errors import InputError


def rows():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.4), 800)
    return P, (rng.random(800)[:, None] > P.cumsum(axis=1)).sum(axis=1)


def rules():
    P, y = rows()
    yield cb.SelectiveClassifier(0.1).fit(P, y)
    yield cb.ConformalSets("aps").fit(P, y)
    yield NeymanPearsonClassifier(0.1, 0.2).fit(P[:, 1], y == 1)


@pytest.mark.parametrize("rule", list(rules()), ids=lambda rule: type(rule).__name__)
def test_the_page_says_the_promise_and_its_bounds(rule):
    pytest.importorskip("jinja2")
    found = cb.report(rule, title="<b>May it be used?</b>")
    summary, page, text = found.to_dict(), found.to_html(), found.to_markdown()
    assert summary["promises"] == [f"{one}." for one in rule.promises()]
    assert summary["data"]["n"] == rule.promises()[0].n
    assert f'<span class="badge">{summary["verdict"]["state"].capitalize()}</span>' in page
    assert "&lt;b&gt;May it be used?&lt;/b&gt;" in page
    for one in summary["tiles"]:
        assert f"<dt>{one['label']}</dt><dd>{one['value']}" in page
    assert page.count("<li>") == len(summary["promises"])
    assert text.count("\n- ") == len(summary["promises"])
    assert len(page) < 60_000
    assert summary["verdict"]["state"].capitalize() in repr(found)


def test_a_rule_before_its_fit_is_refused():
    with pytest.raises(InputError, match="needs a fitted rule; got SelectiveClassifier"):
        cb.report(cb.SelectiveClassifier(0.1))
