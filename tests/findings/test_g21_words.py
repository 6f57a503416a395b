"""G21: the probability that an answer is right is never written into a column called risk."""

import csv

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def answers(tmp_path):
    """A log of a language model: how sure it said it was, in percent, and whether the answer was
    right.
    """
    rng = np.random.default_rng(1)
    said = rng.integers(30, 100, 300)
    right = (rng.random(300) < said / 120).astype(int)
    lines = [f"{a},{b}\n" for a, b in zip(said, right, strict=True)]
    (tmp_path / "answers.csv").write_text("said,correct\n" + "".join(lines), encoding="utf-8")


def asked(run, *arguments):
    """Run with --confidence, or with the option that named such a column before."""
    from click.testing import CliRunner

    from calibrant.cli.group import group

    known = "--confidence" in CliRunner().invoke(group, ["fit", "--help"]).output
    return run(*arguments, "--confidence" if known else "--risk", "said", "--inputs", "percent")


def test_g21_a_confidence_keeps_its_word_from_fit_to_apply(answers, run, tmp_path):
    asked(run, "fit", "answers.csv", "--label", "correct", "--method", "platt")
    asked(run, "apply", "model.calibrant", "answers.csv", "-o", "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["said", "correct", "confidence"]
    assert 0.0 < float(rows[0]["confidence"]) < 1.0
