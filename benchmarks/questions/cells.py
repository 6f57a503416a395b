"""Ragged logs of 40 questions with known truth: temperatures by question and number of options."""

from dataclasses import replace
from itertools import product

import numpy as np
from benchmarks.questions.table import alone, expected_loss, goal, line

from calibrant.core.groups import Groups
from calibrant.questions import AutoQuestionCalibrator, QuestionCalibrator, Questions

__all__ = ["cells", "ragged_log"]

#: Number of questions, rows of each to score on, and decimals of the log.
QUESTIONS, NEW, DECIMALS = 40, 100, 4
#: (a, b) of ln T = a + b ln n, and standard deviations of a question's own deviation.
LAWS, SPREADS = ((0.0, 0.0), (0.5, 0.0), (0.3, 0.2), (-0.4, 0.0)), (0.0, 0.3)
LABELS, OPTIONS = (25, 100), (10, 255)
METHODS = ("none", "one", "alone", "pooled", "auto", "truth")


def _softmax(scores: np.ndarray, start: np.ndarray) -> np.ndarray:
    size = np.diff(start)
    e = np.exp(scores - np.repeat(np.maximum.reduceat(scores, start[:-1]), size))
    return e / np.repeat(np.add.reduceat(e, start[:-1]), size)


def ragged_log(
    rows: int, law: tuple[float, float], own: np.ndarray, most: int, rng: np.random.Generator
) -> tuple[Questions, np.ndarray]:
    """(log of 2 to ``most`` options, rounded; true probabilities of all options)."""
    n = len(own) * rows
    question = np.repeat(np.arange(len(own)), rows)
    size = np.exp(rng.uniform(np.log(2.0), np.log(most + 0.99), n)).astype(np.intp)
    start = np.append(0, np.cumsum(size))
    scores = rng.normal(0.0, 1.5, start[-1])
    temperature = np.exp(law[0] + law[1] * np.log(size) + own[question])
    truth = _softmax(scores, start)
    predicted = np.round(_softmax(scores * np.repeat(temperature, size), start), DECIMALS)
    predicted /= np.repeat(np.add.reduceat(predicted, start[:-1]), size)
    total = np.cumsum(truth)
    drawn = np.append(0.0, total)[start[:-1]] + rng.random(n) * 0.999999
    right = np.clip(np.searchsorted(total, drawn) - start[:-1], 0, size - 1)
    names = np.array([f"q{k}" for k in range(len(own))], dtype=object)
    record = Questions(
        *(predicted, start, _one("option", int(start[-1])), np.ones(n, np.int8)),
        *(Groups(names, question), _one("choice", n)),
        *(Groups(np.arange(n).astype(str).astype(object), np.arange(n)), _one("model", n), right),
        decimals=DECIMALS,
    )
    return _apart(record), truth


def _one(name: str, n: int) -> Groups:
    return Groups(np.array([name], dtype=object), np.zeros(n, np.intp))


def _apart(record: Questions) -> Questions:
    """The same with options whose names never recur, so that no option has an offset."""
    m = len(record.probability)
    names = np.arange(m).astype(str).astype(object)
    return replace(record, option=Groups(names, np.arange(m)))


def _losses(seed: int, labels: int, most: int, law: tuple[float, float], spread: float) -> list:
    rng = np.random.default_rng(seed)
    own = rng.normal(0.0, spread, QUESTIONS)
    log, _ = ragged_log(labels, law, own, most, rng)
    new, truth = ragged_log(NEW, law, own, most, rng)
    found = [
        new.probability,
        QuestionCalibrator(by="one").fit_record(log).predict_record(new),
        alone(log, new),
        QuestionCalibrator().fit_record(log).predict_record(new),
        AutoQuestionCalibrator().fit_record(log).predict_record(new),
        truth,
    ]
    return [expected_loss(one, truth, len(new)) for one in found]


def cells(repeats: int) -> None:
    """Print the expected log loss of each cell, and how often the pooled calibrator is lowest."""
    line("labels, options, (a, b), spread", METHODS)
    lowest, near, worse = [], [], []
    for labels, most, law, spread in product(LABELS, OPTIONS, LAWS, SPREADS):
        mean = np.mean([_losses(k, labels, most, law, spread) for k in range(repeats)], axis=0)
        line(f"{labels}, {most}, {law}, {spread}", mean.tolist())
        if law == LAWS[0] and not spread:
            worse.append(mean[3] / mean[0] - 1.0)
        else:
            lowest.append(mean[3] < mean[:3].min())
            near.append(mean[3] < 1.001 * mean[:3].min())
    share = float(np.mean(lowest))
    words = "pooled is lowest in at least 80 % of the cells with T other than 1"
    goal(words, f"{share:.0%}; within .1 % of the lowest in {np.mean(near):.0%}", share >= 0.8)
    found = float(max(worse))
    goal("at most .1 % worse than nothing where T is 1", f"{found:.2%}", found <= 0.001)
