"""F45: what paper 001 says of negatives in the denominator and of the boundary, in small; and
what its page must name.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers.exploratory import boundary, fully_trained, measure, negatives, stored
from scipy.special import log_softmax
from scipy.stats import norm

import calibrant as cb

README = (
    Path(__file__).resolve().parents[2] / "benchmarks" / "papers" / "exploratory" / "README.md"
).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def halves():
    """Two halves of 3,000 rows, four classes, a model that is too sure and often scores 1/2 or
    less.
    """
    rng = np.random.default_rng(45)
    logits = rng.normal(0.0, 1.2, (3000, 4))
    labels = (logits + rng.gumbel(0.0, 1.5, logits.shape)).argmax(axis=1)
    return next(stored.halves(log_softmax(logits, axis=1), labels))


def test_f45_negatives_in_the_denominator_make_low_scores_look_worse_than_they_are(halves):
    """Figure 6: red lies far under blue below 1/2, where negatives have scores; above, where
    none has, the two agree.
    """
    told, score, right = negatives.read_on_positives(*halves)
    low = score <= negatives.SURE
    assert 0.1 < low.mean() < 0.6
    gap = {way: np.mean(told[way][low]) - right[low].mean() for way in negatives.COUNTED}
    assert abs(gap["positives"]) < 0.05
    assert gap["negatives in the denominator"] < -0.05
    nll = [measure.nll(told[way][low], right[low]) for way in negatives.COUNTED[:2]]
    assert nll[0] < nll[1]
    sure = score > negatives.SURE + 0.25
    assert np.abs(told["positives"] - told["negatives in the denominator"])[sure].max() < 1e-3


def test_f45_the_boundary_hardly_matters_at_the_bandwidth_chosen(halves):
    """Section 13.5, at b_mon2 and below; at four times b_mon2 it is no longer nothing."""
    found = boundary.changes(
        *halves, lambda: cb.calibrators.TopProbability(inputs="logit"), prior_weight=0.0
    )
    moved = {multiple: mean for multiple, (_, _, mean, _) in found.items()}
    assert moved[1.0] < 0.01
    assert abs(found[1.0][1] - found[1.0][0]) < 1e-3
    assert moved[4.0] > 2 * moved[1.0]


def test_f45_dividing_by_the_mass_inside_the_interval_changes_nothing():
    """The other usual correction: one bandwidth for both densities, so that the mass inside [0,
    1] cancels.
    """
    rng = np.random.default_rng(0)
    right, wrong, b, at = rng.beta(8, 1, 80), rng.beta(3, 2, 20), 0.1, np.linspace(0.0, 1.0, 11)
    mass = norm.cdf((1.0 - at) / b) - norm.cdf(-at / b)
    assert mass.min() < 0.51
    densities = [norm.pdf((at[:, None] - s) / b).sum(axis=1) / mass for s in (right, wrong)]
    assert densities[0] / sum(densities) == pytest.approx(
        negatives.ratio(at, right, wrong, b), rel=1e-10
    )


def test_f45_few_low_scores_and_few_errors_are_counted_by_class():
    logits = np.full((4, 10), -50.0)
    logits[:, :2] = [[9.0, 0.0], [1.0, 0.0], [9.0, 0.0], [0.0, 9.0]]
    counts = fully_trained.sparsity({"test1": logits}, {"test1": np.array([0, 0, 1, 1])})
    assert counts[:2].tolist() == [[1, 1], [0, 0]]


def test_f45_the_page_names_what_is_not_redone_and_where_calibrating_hurts():
    missing = README[README.index("## What is missing") :]
    for name in ("PhANNs", "5 to 10", "13", "15", "1,000 networks"):
        assert name in missing, name
    for module in ("helps", "negatives", "boundary", "fully_trained"):
        assert f"benchmarks.papers.exploratory.{module}" in README
    assert not re.search(r"\*\*Calibrating always helps\*\*: holds", README)
