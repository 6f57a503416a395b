"""G13: a promise is told with its confidence, and with no assumption that it does not need."""

import re
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb

README = Path(__file__).parents[2] / "README.md"
OPEN = pytest.mark.xfail(strict=True, reason="issue 35: sentences that are too strong")


def about(words: str) -> str:
    """The paragraph or entry of the README that holds ``words``."""
    parts = re.split(r"\n(?=- )|\n\n", README.read_text(encoding="utf-8"))
    return next(" ".join(one.split()) for one in parts if words in one)


def test_the_readme_says_how_certain_the_certificate_is():
    assert re.search(r"confiden|certain|95", about("thresholds.rst"))


def test_the_readme_says_at_which_level_sets_hold_the_truth():
    assert re.search(r"on average|level|90", about("sets.rst"))


def test_a_certificate_does_not_assume_that_errors_fall_with_the_score():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.9, 1.0, 500)
    rule = cb.SelectiveClassifier(0.1).fit(p, (rng.random(500) < p).astype(int))
    assert "no less often" not in rule.guarantee_.assumes
