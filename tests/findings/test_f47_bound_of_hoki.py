"""F47: a step in the proof of paper 004's Theorem 2 is invalid; what it states follows from
Hoeffding's inequality. And the title cited.
"""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from calibrant.metrics import calibration_error_bound

ROOT = Path(__file__).resolve().parents[2]
STATED = calibration_error_bound.__doc__


def test_f47_the_largest_term_does_not_bound_the_sum():
    """P[a + b >= 1] <= max P[a >= 1/2] is what the proof uses; the sum over the terms is what
    holds.
    """
    chance = {0: 0.7, 1: 0.3}
    sum_reaches = sum(chance[a] * chance[b] for a, b in product((0, 1), repeat=2) if a + b >= 1)
    one_reaches = sum(chance[a] for a in (0, 1) if a >= 1 / 2)
    assert (sum_reaches, one_reaches) == (pytest.approx(0.51), 0.3)
    assert one_reaches < sum_reaches <= 2 * one_reaches
    assert "invalid" in STATED
    assert re.search(r"0\.51 and 0\.30", STATED)


@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("n_bins", [1, 2, 15, 100])
def test_f47_hoeffding_gives_what_the_theorem_states(n_bins, delta):
    """Its slack is never the larger, so that the theorem is true though its proof is not."""
    y, p = [0, 1] * 1000, [0.5] * 2000
    ours, paper = (
        calibration_error_bound(y, p, n_bins=n_bins, alpha=delta, method=m).slack
        for m in ("hoeffding", "paper")
    )
    assert ours < paper


def test_f47_hoeffding_holds_in_simulation():
    """Five bins of known gaps, 400 rows: the true error passes ECE + slack at most as often as
    delta allows, and the slack is not idle.
    """
    rng, bins, gap, repeats, delta = np.random.default_rng(47), 5, 0.3, 400, 0.3
    confidence = (rng.integers(0, bins, (repeats, 400)) + 0.5) / bins
    chance = confidence + np.where(confidence > 0.5, -gap, gap)
    right = (rng.random(confidence.shape) < chance).astype(int)
    found = [
        calibration_error_bound(y, p, target="event", n_bins=bins, alpha=delta)
        for y, p in zip(right, confidence, strict=True)
    ]
    below = np.mean([b.error < gap for b in found])
    assert below > delta, "without a slack the true error is passed more often"
    assert np.mean([b.bound < gap for b in found]) <= delta


def test_f47_papers_are_cited_by_their_titles():
    """Paper 004 is "Confidence calibration using logits transformations"; no other title of it
    is cited.
    """
    files = [
        p
        for folder in ("src", "docs", "benchmarks")
        for p in (ROOT / folder).rglob("*")
        if p.suffix in (".py", ".rst", ".md")
    ]
    titles = {
        (path.relative_to(ROOT).as_posix(), title)
        for path in files
        for title in re.findall(
            r'"([^"\n]*logits? transformations?[^"\n]*)"',
            path.read_text(encoding="utf-8"),
            flags=re.IGNORECASE,
        )
    }
    assert {title.lower() for _, title in titles} == {
        "confidence calibration using logits transformations"
    }
    assert "src/calibrant/metrics/bounds.py" in {path for path, _ in titles}
