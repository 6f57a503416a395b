"""Simulated logs with true risks: how often a rule breaks its promise, and how much it answers."""

import math

import numpy as np
from benchmarks.questions.table import goal, line

import calibrant as cb
from calibrant.questions import Questions

__all__ = ["rules"]

#: unit, questions, labels of each, unlabelled rows of each, risk, confidence, spread of
#: log-temperatures. A chain is a unit of items.
CASES = (
    ("question", 1, 300, 300, 0.10, 0.90, 0.3),
    ("question", 1, 1_000, 300, 0.10, 0.90, 0.3),
    ("question", 10, 25, 300, 0.10, 0.90, 0.0),
    ("question", 10, 100, 300, 0.10, 0.90, 0.0),
    ("question", 10, 300, 300, 0.10, 0.90, 0.3),
    ("question", 10, 1_000, 300, 0.10, 0.90, 0.3),
    ("question", 40, 300, 300, 0.10, 0.90, 0.3),
    ("log", 10, 100, 200, 0.10, 0.90, 0.3),
    ("log", 10, 300, 200, 0.10, 0.90, 0.3),
    ("item", 3, 300, 300, 0.20, 0.90, 0.2),
    ("item", 3, 1_000, 300, 0.20, 0.90, 0.2),
)
#: Rows of each question for the true risk, and what it may exceed the promise by due to these.
NEW, SLACK = 4_000, 1e-3


class World:
    """Questions with beta-distributed confidences; the log-odds of being right are a multiple."""

    def __init__(self, questions: int, spread: float, rng: np.random.Generator) -> None:
        self.rng = rng
        self.shape = rng.uniform(2.0, 10.0, questions)
        self.slope = np.exp(rng.normal(0.0, spread, questions) if spread else np.zeros(questions))

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """(n, questions) confidences and true probabilities of being right."""
        score = self.rng.beta(self.shape, 1.0, (n, len(self.shape)))
        score = np.clip(np.maximum(score, 1.0 - score), 0.5, 1.0 - 1e-12)
        odds = (np.log(score) - np.log1p(-score)) * self.slope
        return score, 1.0 / (1.0 + np.exp(-odds))


def _plain(score: np.ndarray, hit: np.ndarray, risk: float, unit: str) -> np.ndarray:
    """The lowest thresholds with an observed error rate of at most ``risk``: no promise."""
    if unit == "item":
        score, hit = score.min(axis=1, keepdims=True), hit.all(axis=1, keepdims=True)
    if unit == "log":
        score, hit = score.reshape(-1, 1), hit.reshape(-1, 1)
    found = np.full(score.shape[1], np.inf)
    for q in range(score.shape[1]):
        order = np.argsort(-score[:, q])
        rate = np.cumsum(~hit[order, q]) / np.arange(1, len(order) + 1)
        good = np.flatnonzero(rate <= risk)
        if len(good):
            found[q] = np.nextafter(score[order[good[-1]], q], 0.0)
    return found


def _kept(used: np.ndarray, right: np.ndarray, risk: float, unit: str) -> tuple[bool, float]:
    """(whether every true risk is at most the promised one, share that is used)."""
    if unit == "item":
        used, right = used.all(axis=1, keepdims=True), right.prod(axis=1, keepdims=True)
    if unit == "log":
        used, right = used.reshape(-1, 1), right.reshape(-1, 1)
    risks = [(1.0 - right[used[:, q], q]).mean() for q in range(used.shape[1]) if used[:, q].any()]
    return max(risks, default=0.0) <= risk + SLACK, float(used.mean())


def _oracle(score: np.ndarray, right: np.ndarray, risk: float, unit: str) -> float:
    """The largest share with a true risk of at most ``risk``, by thresholds on the score."""
    if unit == "item":
        score, right = score.min(axis=1, keepdims=True), right.prod(axis=1, keepdims=True)
    if unit == "log":
        score, right = score.reshape(-1, 1), right.reshape(-1, 1)
    found = list[float]()
    for q in range(score.shape[1]):
        order = np.argsort(-score[:, q])
        mean = np.cumsum(1.0 - right[order, q]) / np.arange(1, len(order) + 1)
        below = np.flatnonzero(mean <= risk)
        found.append((below[-1] + 1) / len(order) if len(below) else 0.0)
    return float(np.mean(found))


def _record(score: np.ndarray, hit: np.ndarray | None) -> Questions:
    return cb.read_questions(score, None if hit is None else hit.astype(int))


def _one(case: tuple, seed: int) -> tuple[bool, float, bool, float, float, float]:
    """(kept, share, kept by the plain thresholds, their share, oracle's share, refused)."""
    unit, questions, labels, unlabelled, risk, confidence, spread = case
    rng = np.random.default_rng(seed)
    world = World(questions, spread, rng)
    score, right = world.draw(labels)
    hit = rng.random(score.shape) < right
    other = _record(world.draw(unlabelled)[0], None)
    new, truth = world.draw(NEW)
    rule = cb.QuestionRules(risk, confidence, unit=unit, when_uncertain="answer_none")
    rule.fit(_record(score, hit), other=other)
    threshold = np.array([rule.thresholds_[str(q)] for q in range(questions)])
    mine = _kept(new > threshold, truth, risk, unit)
    plain = _kept(new > _plain(score, hit, risk, unit), truth, risk, unit)
    best = _oracle(new, truth, risk, unit)
    return (*mine, *plain, best, float(np.isinf(threshold).mean()))


def rules(repeats: int) -> None:
    """Print how often certificates are kept, what is answered, and the same of plain thresholds."""
    line(
        "unit, questions, labels, risk",
        ("kept", "answered", "of oracle's", "refused", "plain kept", "answered"),
    )
    kept, share = list[bool](), list[float]()
    for case in CASES:
        found = np.array([_one(case, seed) for seed in range(repeats)], dtype=float).mean(axis=0)
        mine, used, plain, plain_used, best, refused = found.tolist()
        name = f"{case[0]}, {case[1]}, {case[2]}, {case[4]:g}"
        line(name, [mine, used, used / best, refused, plain, plain_used])
        delta = 1.0 - case[5]
        kept.append(mine >= 1.0 - delta - 3.0 * math.sqrt(delta * (1.0 - delta) / repeats))
        share.append(used / best)
    words = f"certificates are kept in at least 1 - delta of {repeats:,} draws, less 3 errors"
    goal(words, f"{sum(kept)} of {len(kept)} cases", all(kept))
    enough = [one >= 0.7 for one in share]
    found = f"{sum(enough)} of {len(enough)} cases, {min(share):.0%} to {max(share):.0%}"
    goal("the answered share is at least 70 % of the oracle's", found, all(enough))
