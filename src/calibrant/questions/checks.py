"""Synthetic logs of questions, and the checks of the contract of their metrics and calibrators."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant.core.estimators import clone
from calibrant.core.groups import Groups
from calibrant.questions.calibrator import CalibratorOfQuestions
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.read import read_questions
from calibrant.questions.record import FREE, Questions
from calibrant.testing.calibrator_checks import CALIBRATOR_CHECKS
from calibrant.testing.check import Case, same_bits
from calibrant.testing.containers import CONTAINER_CASES
from calibrant.testing.data import MADE, Made, value
from calibrant.testing.metric_checks import METRIC_CHECKS
from calibrant.testing.runs import HANDLINGS, Handling, fitted, valid

__all__ = ["QuestionProblem", "question_log", "question_problems"]

#: Items of a log, and the most options of its questions.
ITEMS, WIDEST = 60, 5


@dataclass(frozen=True)
class QuestionProblem:
    """A log to fit, one to predict, and whole weights of the rows to fit."""

    name: str
    log: Questions
    test: Questions
    weight: np.ndarray

    @property
    def y(self) -> np.ndarray:
        return np.array(self.log.outcomes(), dtype=str)

    @property
    def said(self) -> tuple[Questions]:
        return (self.log,)

    def __len__(self) -> int:
        return len(self.log)

    def take(self, rows: Any) -> "QuestionProblem":
        return replace(self, log=self.log.take(rows), weight=self.weight[rows])

    def only(self, rows: Any) -> "QuestionProblem":
        return replace(self, test=self.test.take(rows))


def question_log(seed: int, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    """Rows of overconfident answers, a question of each kind for every item."""
    rng = np.random.default_rng(seed)
    log = list[dict[str, Any]]()
    for k, kind in enumerate(kinds):
        size = 2 if kind in ("yes/no", "free answer") else WIDEST - k
        names = ["no", "yes"] if size == 2 else [str(j) for j in range(size)]
        for item, true in enumerate(rng.dirichlet(np.ones(size), ITEMS)):
            said = true**2 / (true**2).sum()
            probs = dict(zip(names, said.tolist(), strict=True))
            row = {"id": item, "question": f"q{k}", "type": kind, "probs": probs}
            log.append({**row, "label": names[rng.choice(size, p=true)]})
    return log


def question_problems() -> list[QuestionProblem]:
    """A log of every kind of question, and one of yes/no questions."""
    every = {
        "all kinds": ("choice", "score", "yes/no", "free answer"),
        "yes/no": ("yes/no", "yes/no"),
    }
    found = list[QuestionProblem]()
    for name, kinds in every.items():
        log, test = (read_questions(question_log(seed, kinds)) for seed in (0, 1))
        weight = np.random.default_rng(2).integers(0, 4, len(log)).astype(np.float64)
        found.append(QuestionProblem(name, log, test, weight))
    return found


def _padded(record: Questions, _: Any = None) -> np.ndarray:
    """(n, 5) probabilities of the options, 0 beyond the last."""
    found = np.zeros((len(record), WIDEST))
    found[record.row, record.place] = record.probability
    return found


def _valid(fresh: Any, P: np.ndarray, data: QuestionProblem) -> None:
    assert P.shape == (len(data.test), WIDEST), f"the answer has shape {P.shape} on {data.name}"
    assert ((P >= 0.0) & (P <= 1.0)).all(), f"the answer leaves [0, 1] on {data.name}"
    assert np.allclose(P.sum(axis=1), 1.0), f"rows do not sum to 1 on {data.name}"


def check_unseen_question(calibrator: Any) -> None:
    """Check that questions without labels, and certain answers, have valid predictions."""
    for data in question_problems():
        new = replace(data.test, question=Groups(np.array(["new"]), 0 * data.test.question.index))
        certain = (data.test.place == 0).astype(np.float64)
        fresh = fitted(calibrator, data)
        for test in (new, replace(data.test, probability=certain)):
            valid(fresh, replace(data, test=test))


def check_metric_of_answers(metric: Any) -> None:
    """Check that certain and right answers have the best value, and wrong ones another."""
    for data in question_problems():
        best = {"minimize": metric.range[0], "maximize": metric.range[1]}.get(metric.direction, 0.0)
        # A free answer of confidence 0 is rightly judged, but no right answer.
        outcome = np.where(data.log.kind == FREE, 1, data.log.right)
        answered = replace(data.log, right=outcome)
        right = replace(data, log=replace(answered, probability=answered.mass))
        assert abs(value(metric, right) - best) <= 1e-9, (
            f"right answers on {data.name} are not best"
        )
        wrong = np.roll(data.log.mass, 1)
        assert np.isfinite(value(metric, replace(data, log=replace(data.log, probability=wrong))))


def _containers(part: Any) -> Iterator[Case]:
    """Cases of a log as a tuple of rows, and of their order."""
    log = question_log(0, ("choice", "yes/no"))

    def answered(rows: Any) -> Any:
        if not hasattr(part, "fit"):
            return np.array(part(None, read_questions(rows)))
        return _padded(clone(part).fit(rows).predict(read_questions(log)))

    expected = answered(log)
    for name, rows in {"a tuple": tuple(log), "copies": [dict(row) for row in log]}.items():
        yield Case(
            *("containers", name, "P", lambda rows=rows: answered(rows)),
            lambda found, name=name: same_bits(found, expected, name),
        )


def _metric_checks(metric: Any) -> list[Any]:
    return [check_metric_of_answers]


def _calibrator_checks(calibrator: Any) -> list[Any]:
    return [check_unseen_question]


HANDLINGS[CalibratorOfQuestions] = Handling(
    "question calibrator",
    ("predict",),
    lambda part: question_problems(),
    lambda part, data: {"P": data.log, "P_test": data.test},
    _valid,
    {},
    numbers=_padded,
)
CONTAINER_CASES["question calibrator"] = CONTAINER_CASES["question metric"] = _containers
MADE.register(QUESTIONS, lambda: Made("question metric", lambda metric: question_problems()))
METRIC_CHECKS.register(QUESTIONS, lambda: _metric_checks)
CALIBRATOR_CHECKS.register(QUESTIONS, lambda: _calibrator_checks)
