"""Tests of certified rules for questions: edges by hand, promises by simulation."""

import numpy as np
import pytest
from scipy.stats import binom

from calibrant._numerics.certificates import chains
from calibrant.calibrators import Platt
from calibrant.errors import CalibrationWarning, InputError
from calibrant.questions import (
    QuestionCalibrator,
    QuestionRules,
    read_questions,
)


def table(n, a, rng, bend=0.0):
    """Scores of yes/no questions whose answer is yes, the true risks, and the outcomes."""
    S = rng.beta(a, 1.0, (n, len(a)))
    S = np.maximum(S, 1.0 - S)
    odds = np.log(S / (1.0 - S))
    R = np.maximum(1.0 / (1.0 + np.exp(-odds * np.exp(bend))), 0.5)
    return S, 1.0 - R, (rng.random(S.shape) < R).astype(int)


def whole(n, delta=0.1):
    return [[(0, delta / n)] for _ in range(n)]


def test_shares_pass_on_when_a_chain_is_tested_to_its_end():
    p = [np.array([0.05, 0.05]), np.array([0.08, 0.2]), np.array([0.5])]
    assert chains(p[:2], whole(2)) == [1, 0]
    assert chains(p, whole(3)) == [-1, -1, -1]
    p = [np.array([0.03]), np.array([0.05]), np.array([0.1])]
    assert chains(p, whole(3)) == [0, 0, 0]
    assert chains([p[0], np.array([0.0501]), p[2]], whole(3)) == [0, -1, -1]


def test_a_share_is_passed_on_in_proportion_to_the_starts_of_the_others():
    p = [np.array([0.01]), np.array([0.5, 0.06])]
    assert chains(p, [[(0, 0.05)], [(0, 0.02), (1, 0.03)]]) == [0, 1]
    p[1][1] = 0.0601
    assert chains(p, [[(0, 0.05)], [(0, 0.02), (1, 0.03)]]) == [0, -1]
    # A chain of no hypothesis passes its share on.
    assert chains([np.empty(0), np.array([0.1])], whole(2)) == [-1, 0]


def test_a_certificate_is_the_exact_binomial_test_at_its_edge():
    log = [{"id": i, "confidence": 0.99, "correct": True} for i in range(45)]
    rules = QuestionRules(risk=0.1, confidence=0.99).fit(log)
    (one,) = rules.certificates_.values()
    assert (one.accepted, one.errors) == (45, 0)
    assert binom.cdf(0, 44, 0.1) <= 0.01 < binom.cdf(0, 43, 0.1)
    assert QuestionRules(risk=0.1, confidence=0.99).fit(log[:44]).certificates_
    with pytest.raises(InputError, match="at least 44 rows without an error; got 43"):
        QuestionRules(risk=0.1, confidence=0.99).fit(log[:43])
    assert "error rate" in rules.guarantee_.quantity
    assert rules.decide(log[:1]).tolist() == ["answer"]


def simulate(runs, unit, family="split", bend=0.0, n=400, n_questions=4):
    """(share of runs in which a promise of .1 at .9 is broken, mean share answered, oracle's)."""
    broken, shares, best = 0, [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        a = rng.uniform(3.0, 10.0, n_questions)
        S, _, hit = table(n, a, rng, bend)
        big, risk, _ = table(4000, a, rng, bend)
        rules = QuestionRules(0.1, 0.9, unit=unit, family=family, when_uncertain="answer_none").fit(
            read_questions(S, hit)
        )
        t = np.array([rules.thresholds_[str(q)] for q in range(n_questions)])
        used = big > t
        rate = np.array(
            [r[u].mean() if u.any() else 0.0 for r, u in zip(risk.T, used.T, strict=True)]
        )
        if unit == "log":
            rate = np.array([risk[used].mean() if used.any() else 0.0])
        if unit == "item":
            done = used.all(axis=1)
            rate = 1.0 - np.prod(1.0 - risk[done], axis=1).mean() if done.any() else 0.0
        broken += bool(np.max(rate) > 0.1)
        shares.append(used.mean())
        order = np.sort(risk, axis=0)
        best.append((np.cumsum(order, axis=0) / np.arange(1, 4001)[:, None] <= 0.1).mean())
    return broken / runs, np.mean(shares), np.mean(best)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize(
    ("unit", "family", "bend"),
    [("question", "split", 0.0), ("question", "split", -0.4), ("question", "order", 0.0),
     ("log", "split", 0.2), ("item", "split", 0.0)],
)  # fmt: skip
def test_promises_are_kept(unit, family, bend):
    runs = 60
    broken, _, _ = simulate(runs, unit, family, bend, n=250)
    assert broken <= 0.1 + 3.0 * np.sqrt(0.1 * 0.9 / runs)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_much_of_what_could_be_answered_is_answered():
    _, share, best = simulate(12, "question", n=1500)
    assert share > 0.7 * best


def test_an_unfitted_calibrator_is_fitted_on_other_items():
    rng = np.random.default_rng(1)
    S, _, hit = table(1500, np.array([6.0, 8.0]), rng, bend=-0.5)
    record = read_questions(S, hit)
    rules = QuestionRules(0.15, 0.9, calibrator=QuestionCalibrator()).fit(record)
    first = record.drawn(0.5, 0)
    assert first.sum() == 1500
    assert sum(one.n for one in rules.certificates_.values()) <= 1500
    decided = rules.decide(record)
    assert set(decided) <= {"answer", "ask"}
    wrong = 1.0 - record.correct[decided == "answer"].mean()
    assert wrong < 0.15


def test_costs_and_escalation():
    rng = np.random.default_rng(1)
    S, _, hit = table(1500, np.array([9.0]), rng)
    record = read_questions(S, hit)
    plain = QuestionRules(0.1, 0.9).fit(record).thresholds_["0"]
    dear = QuestionRules(0.1, 0.9, costs={"0": (20.0, 1.0)}, escalate=0.3).fit(record)
    assert dear.thresholds_["0"] >= 0.95 > plain
    decided = dear.decide(read_questions(np.array([[0.99], [0.9], [0.6]])))
    assert decided.tolist() == ["answer", "ask", "escalate"]


def test_refusals_name_the_labels():
    log = [{"question": "q", "confidence": 0.9, "correct": True}] * 25
    with pytest.raises(InputError, match="at least 59 rows without an error; got 25"):
        QuestionRules().fit(log)
    with pytest.warns(CalibrationWarning, match="No answer is used"):
        rules = QuestionRules(when_uncertain="answer_none").fit(log)
    assert rules.decide(log).tolist() == ["escalate"] * 25
    assert "59 rows" in rules.reasons_["q"]
    with pytest.raises(InputError, match="must have outcomes; got none"):
        QuestionRules().fit([{"confidence": 0.5}])
    with pytest.raises(InputError, match="risk must be above 0"):
        QuestionRules(risk=0.0).fit(log)


def test_costs_and_calibrators_are_checked():
    rows = [{"id": i, "question": "q0", "probs": 0.9, "label": True} for i in range(100)]
    record = read_questions(rows)
    nan, inf = float("nan"), float("inf")
    pairs = [(nan, 1), (-1, 1), (1, -1), (inf, 1), (1,), 5, ("x", 1)]
    for costs in (*({"q0": pair} for pair in pairs), [1], 5):
        with pytest.raises(InputError, match="costs must have two finite numbers"):
            QuestionRules(costs=costs).fit(record)
    for calibrator in (3, Platt(), QuestionCalibrator):
        with pytest.raises(InputError, match="calibrator must be a calibrator of questions"):
            QuestionRules(calibrator=calibrator).fit(record)
