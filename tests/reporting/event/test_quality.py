"""What is said of an event's rows before its numbers are trusted."""

import numpy as np
import pytest

import calibrant as cb


def said(y, p, **options):
    return cb.report(
        y, p, calibrator=cb.calibrators.Identity(), n_resamples=50, **options
    ).to_dict()["cautions"]


def risks(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=n)
    return (rng.random(n) < p).astype(int), p


def test_risks_of_the_opposite_are_said():
    y, p = risks(400, 0)
    assert any("of its opposite" in words for words in said(y, 1.0 - p))
    assert not any("of its opposite" in words for words in said(y, p))


@pytest.mark.parametrize("seed", range(5))
def test_risks_that_say_nothing_are_not_said_to_be_reversed(seed):
    y, p = risks(200, seed)
    assert not any(
        "of its opposite" in words
        for words in said(y, np.random.default_rng(seed + 50).permutation(p))
    )


def test_patients_whose_visits_hang_together_count_as_patients():
    y = np.repeat([1, 0], 6)
    p = np.r_[0.1, 0.3, 0.35, 0.5, 0.6, 0.8, 0.2, 0.4, 0.45, 0.65, 0.7, 0.9]
    again = np.repeat(np.arange(12), 40)
    assert any("of its opposite" in words for words in said(y[again], p[again]))
    assert not any("of its opposite" in words for words in said(y[again], p[again], cluster=again))


def test_risks_that_know_the_outcome_are_too_good_to_be_true():
    y, p = risks(400, 1)
    known = 0.3 * p + 0.6 * y
    assert any("not trained on these rows" in words for words in said(y, known))
    assert not any("not trained on these rows" in words for words in said(y, p))
    assert not any("not trained on these rows" in words for words in said(y[:30], known[:30]))
