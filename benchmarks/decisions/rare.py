"""Certificates for what is rare, and for alerts: how often they are refused, how much they accept,
and how often they are broken.

``python -m benchmarks.decisions rare [--runs 400]``; exits 1 where a promise is broken in more than
delta and three simulation errors, or where the reranker's documents are refused in more than 15 %
of the runs. Laws: documents of a reranker (12 % relevant, AUROC .984); 4 % of the rows good; the
surest rows worse than the next; every row exactly at the limit; alerts of an event of 2.5 %, alone
and with a recall; 500 labels of a question that is answered right in 99 %.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

import calibrant as cb

__all__ = ["main"]

DISTANCE = norm.ppf(0.984) * np.sqrt(2.0)
LIMIT = 0.15
#: Rows that stand for the population.
MANY = 400_000


def reranker(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(score, probability of an error)."""
    relevant = rng.random(n) < 0.12
    score = rng.standard_normal(n) + DISTANCE * relevant
    good, bad = 0.12 * norm.pdf(score - DISTANCE), 0.88 * norm.pdf(score)
    return score, bad / (good + bad)


def steps(shares: Any, rates: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Law whose highest shares of rows have these error rates."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        score = rng.random(n)
        return score, np.array(rates)[np.searchsorted(np.cumsum(shares), 1.0 - score)]

    return draw


#: Law, rows, risk, confidence.
LAWS: dict[str, tuple[Any, int, float, float]] = {
    "reranker": (reranker, 1500, 0.1, 0.95),
    "4 % good rows": (steps((0.04, 0.96), (0.02, 0.5)), 1500, 0.1, 0.95),
    "a tenth good": (steps((0.1, 0.9), (0.02, 0.5)), 1500, 0.1, 0.95),
    "surest rows bad": (steps((0.12, 0.43, 0.45), (0.1, 0.005, 0.3)), 2000, 0.05, 0.95),
    "exactly at the limit": (steps((0.5, 0.5), (0.1002, 0.1002)), 1500, 0.1, 0.95),
}


def answers(law: str, runs: int, predicted: bool) -> tuple[float, float, float]:
    """(share refused, accepted share of the oracle's rows, share broken); ``predicted``: the true
    error probabilities choose a start.
    """
    draw, n, risk, confidence = LAWS[law]
    score, rate = draw(np.random.default_rng(10**6), MANY)
    order = np.argsort(-score)
    ranked, mean = score[order], np.cumsum(rate[order]) / np.arange(1, MANY + 1)
    oracle = max(np.flatnonzero(mean <= risk), default=-1) + 1
    found = np.zeros((runs, 3))
    for seed, row in enumerate(found):
        rng = np.random.default_rng(seed)
        score, rate = draw(rng, n)
        wrong = (rng.random(n) < rate).astype(float)
        options = {"predicted": rate} if predicted else {}
        try:
            rule = cb.SelectiveClassifier(risk, confidence).fit_scores(score, wrong, **options)
        except ValueError:
            row[0] = 1.0
            continue
        k = int(np.searchsorted(-ranked, -rule.threshold_, side="left"))
        row[1], row[2] = k / oracle if oracle else 0.0, k > 0 and mean[k - 1] > risk * (1 + 1e-3)
    return tuple(found.mean(axis=0).tolist())


def alerts(recall: float | None, runs: int, n: int = 6000) -> tuple[float, float, float]:
    """(share refused, mean share of the events that are flagged, share broken)."""
    risk, confidence = 0.3, 0.9
    truth = expit(4.0 * np.random.default_rng(10**6).standard_normal(MANY) - 8.6)
    found = np.zeros((runs, 3))
    for seed, row in enumerate(found):
        rng = np.random.default_rng(seed)
        z = 4.0 * rng.standard_normal(n) - 8.6
        event = (rng.random(n) < expit(z)).astype(int)
        rule = cb.SelectiveClassifier(risk, confidence, target="event", recall=recall)
        try:
            rule.fit(expit(z + 2.5), event)
        except ValueError:
            row[0] = 1.0
            continue
        flagged = rule.accept(expit(np.log(truth / (1.0 - truth)) + 2.5))
        row[1] = truth[flagged].sum() / truth.sum()
        row[2] = (1.0 - truth[flagged]).mean() > risk or row[1] < (recall or 0.0)
    return tuple(found.mean(axis=0).tolist())


def question(runs: int) -> tuple[float, float, float]:
    """The same of one question of 500 labels, 99 % right, at a risk of 5 %."""
    found = np.zeros((runs, 3))
    for seed, row in enumerate(found):
        rng = np.random.default_rng(seed)
        score, right = rng.uniform(0.6, 1.0, 500), rng.random(500) < 0.99
        log = [
            {"id": i, "question": "q", "confidence": float(c), "correct": bool(r)}
            for i, (c, r) in enumerate(zip(score, right, strict=True))
        ]
        rules = cb.QuestionRules(risk=0.05, confidence=0.9, when_uncertain="answer_none").fit(log)
        row[0] = not rules.certificates_
        row[1] = (rules.decide(log) == "answer").mean()
    return tuple(found.mean(axis=0).tolist())


def main(arguments: Any = None) -> int:
    """Print the table; 1 where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args(arguments).runs
    cells: dict[str, tuple[Any, float]] = {}
    for law, (_, _, _, confidence) in LAWS.items():
        cells[law] = (lambda law=law: answers(law, runs, False)), 1.0 - confidence
        name = f"{law}, calibrated confidences"
        cells[name] = (lambda law=law: answers(law, runs, True)), 1.0 - confidence
    cells["alerts"] = (lambda: alerts(None, runs)), 0.1
    cells["alerts, recall .3"] = (lambda: alerts(0.3, runs)), 0.1
    cells["500 labels, 99 % right"] = (lambda: question(runs)), 0.1
    print(f"{runs} runs{'':32}{'refused':>9}{'accepted':>9}{'broken':>9}")
    failed = []
    for name, (cell, delta) in cells.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                refused, accepted, broken = cell()
            except TypeError as error:
                print(f"{name:40} {error}")
                continue
        print(f"{name:40}{refused:9.3f}{accepted:9.3f}{broken:9.3f}", flush=True)
        if broken > delta + 3.0 * np.sqrt(delta * (1.0 - delta) / runs):
            failed.append(f"{name}: broken in {broken:.3f}")
        if name == "reranker" and refused > LIMIT:
            failed.append(f"{name}: refused in {refused:.3f}")
    print("\n".join(failed) or "every promise is kept.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
