"""H19: alerts of a rare event have a promise of their own: precision, and recall beside it."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import expit

import calibrant as cb
from calibrant.cli.group import group
from calibrant.errors import InputError


def fraud(n, seed):
    """(stated risks, true risks, events) of an event of 3 %, stated too high."""
    z = 4.0 * np.random.default_rng(seed).standard_normal(n) - 8.6
    event = (np.random.default_rng(seed + 1).random(n) < expit(z)).astype(int)
    return expit(z + 2.5), expit(z), event


def test_a_promise_for_all_answers_names_the_alerts_that_break_it():
    p, _, event = fraud(20_000, 0)
    alerts = p > 0.5
    assert 1.0 - event[alerts].mean() > 0.5
    words = str(cb.SelectiveClassifier(0.05).fit(p, event).certificate_)
    assert f"Of the {alerts.sum():,} that are predicted as 1" in words


def test_the_command_says_so_and_certifies_alerts(tmp_path):
    p, _, event = fraud(20_000, 0)
    table = tmp_path / "fraud.csv"
    rows = (f"{a:.9g},{b}" for a, b in zip(p, event, strict=True))
    table.write_text("risk,label\n" + "\n".join(rows))
    asked = ["decide", str(table), "--force", "-o", str(tmp_path / "rule.calibrant")]
    words = " ".join(CliRunner().invoke(group, [*asked, "--max-error", "0.05"]).output.split())
    assert "that are predicted as 1" in words
    assert "% are wrong: --target 'event' limits" in words
    asked += ["--max-error", "0.3", "--target", "event"]
    words = " ".join(CliRunner().invoke(group, asked).output.split())
    assert "Flags" in words
    assert "at most 30 % of flagged new rows are wrong" in words


@pytest.mark.parametrize("recall", [None, 0.3])
def test_precision_and_recall_are_kept_together(recall):
    runs, claimed, broken = 60, 0, 0
    _, truth, _ = fraud(400_000, 10_000)
    stated = expit(np.log(truth / (1.0 - truth)) + 2.5)
    for seed in range(runs):
        p, _, event = fraud(6000, 7 * seed)
        rule = cb.SelectiveClassifier(0.3, 0.9, target="event", recall=recall)
        try:
            rule.fit(p, event)
        except InputError:
            continue
        claimed += 1
        flagged = rule.accept(stated)
        caught = truth[flagged].sum() / truth.sum()
        broken += bool((1.0 - truth[flagged]).mean() > 0.3 or caught < (recall or 0.0))
    assert claimed >= (0.7 if recall is None else 0.25) * runs
    assert broken <= 0.1 * runs + 3.0 * np.sqrt(runs * 0.1 * 0.9)


def test_the_promises_of_alerts():
    p, _, event = fraud(20_000, 0)
    rule = cb.SelectiveClassifier(0.4, target="event", recall=0.2).fit(p, event)
    assert [(one.most, one.least) for one in rule.guarantees_] == [(0.4, None), (None, 0.2)]
    flagged = rule.accept(p)
    assert (flagged == (p > rule.threshold_)).all()
    assert (flagged.sum(), (event[flagged] == 0).sum()) == (rule.accepted_, rule.errors_)
    with pytest.raises(InputError, match="recall takes alerts"):
        cb.SelectiveClassifier(0.4, recall=0.2).fit(p, event)
