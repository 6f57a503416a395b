"""H18: answers are certified of which only a few in a hundred are good enough, and refusals are
true.
"""

import re

import numpy as np
import pytest
from scipy.stats import norm

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import read_questions

DISTANCE = norm.ppf(0.984) * np.sqrt(2.0)


def reranker(n, seed):
    """(scores, whether irrelevant): 12 % are relevant, with an AUROC of .984."""
    rng = np.random.default_rng(seed)
    relevant = rng.random(n) < 0.12
    return rng.standard_normal(n) + DISTANCE * relevant, (~relevant).astype(float)


def irrelevant_above(t):
    relevant, others = 0.12 * norm.sf(t - DISTANCE), 0.88 * norm.sf(t)
    return others / (relevant + others)


def test_documents_of_which_a_tenth_is_good_enough_are_certified():
    thresholds = []
    for seed in range(60):
        try:
            rule = cb.SelectiveClassifier(0.1, 0.95).fit_scores(*reranker(1500, seed))
        except InputError:
            continue
        thresholds.append(rule.threshold_)
    assert len(thresholds) >= 0.85 * 60
    broken = irrelevant_above(np.array(thresholds)) > 0.1
    assert broken.sum() <= 60 * 0.05 + 3.0 * np.sqrt(60 * 0.05 * 0.95)


def test_two_in_a_hundred_with_a_perfect_score_are_certified():
    rng = np.random.default_rng(0)
    right = rng.random(20_000) < 0.02
    score = right + 0.5 * rng.random(20_000)
    words = ""
    try:
        rule = cb.SelectiveClassifier().fit_scores(score, (~right).astype(float))
    except InputError as error:
        words = str(error)
    assert words == ""
    assert rule.accepted_ > 0.9 * right.sum()


@pytest.mark.parametrize("n", [1000, 2500])
def test_it_is_not_denied_that_more_rows_would_help(n):
    """Of 2 % right rows with a perfect score so few are too few, and 20,000 are enough."""
    rng = np.random.default_rng(n)
    right = rng.random(n) < 0.02
    score = right + 0.5 * rng.random(n)
    with pytest.raises(InputError) as caught:
        cb.SelectiveClassifier().fit_scores(score, (~right).astype(float))
    words = str(caught.value)
    assert "would not help" not in words
    advised = re.search("pass about ([0-9,]+) rows", words)
    if advised:
        m = int(advised.group(1).replace(",", ""))
        right = rng.random(m) < 0.02
        score = right + 0.5 * rng.random(m)
        rule = cb.SelectiveClassifier().fit_scores(score, (~right).astype(float))
        assert rule.accepted_ > 0.0


def test_500_labels_of_99_percent_right_answers_are_enough_without_a_calibrator():
    refused = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        log = [
            {"id": i, "question": "q", "confidence": float(c), "correct": bool(right)}
            for i, (c, right) in enumerate(
                zip(rng.uniform(0.6, 1.0, 500), rng.random(500) < 0.99, strict=True)
            )
        ]
        try:
            cb.QuestionRules(risk=0.05, confidence=0.9).fit(read_questions(log))
        except InputError:
            refused += 1
    assert refused <= 1


@pytest.mark.slow
def test_at_the_very_limit_the_promise_is_kept():
    broken = 0
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        score, wrong = rng.random(1500), (rng.random(1500) < 0.1001).astype(float)
        try:
            cb.SelectiveClassifier(0.1, 0.95).fit_scores(score, wrong)
        except InputError:
            continue
        broken += 1
    assert broken <= 1000 * 0.05 + 3.0 * np.sqrt(1000 * 0.05 * 0.95)
