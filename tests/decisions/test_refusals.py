"""Refusals name the best evidence, why it was not enough, and what would be enough."""

import re
import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant.decisions.certificates import too_few
from calibrant.errors import InputError


def refused(score, loss, risk=0.05, confidence=0.95, **options):
    with pytest.raises(InputError) as caught:
        cb.SelectiveClassifier(risk, confidence, **options).fit_scores(score, loss)
    return str(caught.value)


def of_steps(n, seed, shares, rates):
    """Scores whose highest shares of rows are wrong at these rates."""
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    rate = np.array(rates)[np.searchsorted(np.cumsum(shares), 1.0 - u)]
    return u, (rng.random(n) < rate).astype(float)


def test_too_few_rows():
    assert "needs at least 59 rows" in too_few(30, 59, 0.05, 0.95)
    words = refused(np.arange(40.0), np.zeros(40))
    assert "needs at least 59 rows without an error; got 40" in words


def test_the_best_rows_are_named_and_what_they_prove():
    loss = np.r_[np.zeros(40), np.ones(160)]
    words = refused(-np.arange(200.0), loss)
    assert "the 40 of highest score hold 0 wrong rows (0.0 %)" in words
    assert f"proves a risk of {1.0 - 0.05 ** (1.0 / 40.0):.2g};" in words


def test_rows_that_would_have_proved_it_were_not_tested():
    """Sixty right rows prove 5 % if they alone are tested; of 1,000 rows the tests begin later."""
    loss = np.r_[np.zeros(60), np.ones(940)]
    words = refused(-np.arange(1000.0), loss)
    assert "would prove a risk of 0.049, but only if they had been chosen beforehand" in words
    assert re.search("the tests begin at [0-9]+ rows", words)
    loss = np.r_[np.ones(20), np.zeros(700), np.ones(280)]
    words = refused(-np.arange(1000.0), loss)
    begins, most, held = map(
        int,
        re.search(
            "begins at ([0-9]+) rows, which may hold ([0-9]+) wrong .* and hold ([0-9]+)", words
        ).groups(),
    )
    assert held == 20 > most
    assert begins > 60


def test_a_risk_that_is_named_is_certified():
    for seed in range(10):
        score, loss = of_steps(300, seed, (0.3, 0.7), (0.03, 0.5))
        try:
            cb.SelectiveClassifier().fit_scores(score, loss)
        except InputError as error:
            risk = float(re.search(r"allow a risk of ([0-9.]*[0-9])", str(error)).group(1))
            assert cb.SelectiveClassifier(risk).fit_scores(score, loss).accepted_ > 0.0


LAWS = {
    "ranked": ((0.1, 0.2, 0.7), (0.01, 0.1, 0.6)),
    "a tenth is good": ((0.1, 0.9), (0.01, 0.5)),
    "all are good": ((1.0,), (0.02,)),
    "the surest are bad": ((0.1, 0.5, 0.4), (0.1, 0.005, 0.3)),
}


@pytest.mark.parametrize("law", LAWS)
def test_so_many_rows_are_then_certified(law):
    """A draw of the number of rows that a refusal advises is certified, most of the time."""
    certified, hopeless = [], 0
    for seed in range(40):
        for n in (100, 200, 400):
            score, loss = of_steps(n, seed, *LAWS[law])
            try:
                cb.SelectiveClassifier().fit_scores(score, loss)
            except InputError as error:
                hopeless += "would not help" in str(error)
                advice = re.search("pass about ([0-9,]+) rows like these", str(error))
                if advice:
                    rows = int(advice.group(1).replace(",", ""))
                    assert rows > n
                    score, loss = of_steps(rows, 1000 + seed, *LAWS[law])
                    rule = cb.SelectiveClassifier(when_uncertain="accept_none")
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        certified.append(rule.fit_scores(score, loss).accepted_ > 0.0)
    assert len(certified) >= 10
    assert hopeless == 0
    assert np.mean(certified) >= 0.8


def test_more_rows_would_not_help_where_no_part_is_better():
    rng = np.random.default_rng(0)
    words = refused(np.arange(300.0), np.ones(300))
    assert "more rows would not help" in words
    score, loss = rng.random(2000), (rng.random(2000) < 0.3).astype(float)
    loss[score.argmax()] = 1.0
    assert "pass about" not in refused(score, loss)


def test_a_share_or_a_recall_that_cannot_be_proved():
    words = refused(np.arange(20.0), np.zeros(20), 0.5, accepted_share=0.9)
    assert "20 rows prove a share of 0.832 at most" in words
    p = np.r_[np.linspace(0.9, 1.0, 100), np.linspace(0.0, 0.5, 900)]
    y = np.r_[np.ones(100), np.tile([1, 0, 0], 300)].astype(int)
    with pytest.raises(InputError, match=r"the rows that may be flagged hold \d+ of 400 events"):
        cb.SelectiveClassifier(0.1, target="event", recall=0.8).fit(p, y)
