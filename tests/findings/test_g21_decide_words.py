"""G21: ``--risk`` and ``--confidence`` name a column in every command; shares of errors have
words of their own.
"""

import click
import numpy as np
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group

COMMANDS = ("evaluate", "report", "fit", "apply", "decide", "audit", "compare", "monitor")


@pytest.fixture
def folder(tmp_path):
    """A log of risks, and one of confidences that an answer is right."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 0.4, 3000)
    happened = rng.random(3000) < p
    said = rng.beta(4.0, 0.5, 3000)
    right = rng.random(3000) < said
    rows = [
        f"{a!r},{int(b)},{c!r},{int(d)}"
        for a, b, c, d in zip(p.tolist(), happened, said.tolist(), right, strict=True)
    ]
    (tmp_path / "log.csv").write_text(
        "\n".join(["p_default,bad,said,correct", *rows]) + "\n", encoding="utf-8"
    )
    return tmp_path, p, happened.astype(int), said, right


def run(*arguments):
    result = CliRunner().invoke(group, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_risk_and_confidence_are_columns_everywhere(name):
    command = group.get_command(click.Context(group), name)
    options = {flag: one for one in command.params for flag in one.opts}
    for flag in ("--risk", "--confidence"):
        assert flag not in options or isinstance(options[flag].type, click.types.StringParamType)


def test_a_rule_is_certified_for_a_column_of_risks(folder):
    path, p, y, *_ = folder
    said = run(
        "decide",
        path / "log.csv",
        "--risk",
        "p_default",
        "--label",
        "bad",
        "-o",
        path / "r.calibrant",
    )
    assert str(cb.SelectiveClassifier().fit(p, y).certificate_) in said


def test_a_rule_is_certified_for_a_column_of_confidences_and_applied_to_one(folder):
    path, _, _, said, right = folder
    asked = (
        "decide",
        path / "log.csv",
        "--confidence",
        "said",
        "--label",
        "correct",
        "-o",
        path / "c.calibrant",
        "--force",
    )
    rule = cb.SelectiveClassifier().fit_scores(said, ~right, predicted=1.0 - said)
    assert str(rule.certificate_) in run(*asked)
    printed = run(*asked, "--max-error", "0.1", "--certainty", "0.9")
    rule = cb.SelectiveClassifier(0.1, 0.9).fit_scores(said, ~right, predicted=1.0 - said)
    assert str(rule.certificate_) in printed
    run(
        "apply",
        path / "c.calibrant",
        path / "log.csv",
        "--confidence",
        "said",
        "-o",
        path / "out.csv",
    )
    accepted = [
        line.endswith(",True")
        for line in (path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert accepted == rule.accept_scores(said).tolist()
