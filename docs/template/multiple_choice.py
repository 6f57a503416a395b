"""A custom kind of prediction: questions with any number of options.

An answer is a list of options with probabilities, ``[("Paris", 0.8), ("Rome", 0.2)]``; the
outcome is the right option. The record stores them in flat arrays, so that no row is padded. One
object, the domain, defines the kind; its metrics, calibrators, reports and files are registered
separately. (:class:`calibrant.questions.Questions` is a complete one.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize_scalar

from calibrant.core import MeanMetric, Tags, register
from calibrant.core.calibrator import DomainCalibrator, require_fitted
from calibrant.core.domain import Domain
from calibrant.core.given import PlainRows
from calibrant.errors import InputError
from calibrant.metrics.several import CHOSEN_BY, Choosing
from calibrant.reporting.calibrate import CODE, RESOLVE, adopted
from calibrant.reporting.measure import TABLES
from calibrant.tables.data_file import FILES

__all__ = ["QUESTIONS", "QuestionLoss", "QuestionTemperature", "Questions", "question_log_loss"]


@dataclass(frozen=True)
class Questions(PlainRows):
    """Rows of answers: probabilities of all options, and the position of the right one.

    ``probability`` is (m,); the options of row i are at ``start[i]`` to ``start[i + 1]``.
    """

    probability: np.ndarray
    start: np.ndarray
    right: np.ndarray
    names: tuple[tuple[str, ...], ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.right)

    @cached_property
    def row(self) -> np.ndarray:
        """(m,) the row of each option."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def of_right(self) -> np.ndarray:
        """(n,) probability of the right option."""
        return self.probability[self.start[:-1] + self.right]

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) the largest probability of each row."""
        return np.maximum.reduceat(self.probability, self.start[:-1])

    @property
    def mark(self) -> np.ndarray:
        return self.of_right + self.right

    def options_of(self, rows: np.ndarray) -> np.ndarray:
        """Positions of the options of rows, which may be in any order."""
        return np.concatenate([np.arange(*self.start[i : i + 2]) for i in rows])

    def _own(self, rows: Any) -> dict[str, Any]:
        rows = np.arange(len(self))[rows]
        return {
            "probability": self.probability[self.options_of(rows)],
            "start": np.append(0, np.cumsum(np.diff(self.start)[rows])),
            "right": self.right[rows],
            "names": tuple(self.names[i] for i in rows),
        }

    def gathered(self, parts: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> np.ndarray:
        out = np.empty(len(self.probability))
        for part, own in zip(parts, rows, strict=True):
            out[self.options_of(own)] = part
        return out

    def recalibrated(self, result: np.ndarray, output: str = "probability") -> Self:
        return replace(self, probability=result)

    def agrees_with(self, other: Self) -> bool:
        return np.allclose(self.probability, other.probability, rtol=0.0, atol=1e-12)

    def outcomes(self) -> list[str]:
        """The right option of each row."""
        return [own[k] for own, k in zip(self.names, self.right, strict=True)]

    def told(self) -> list[list[tuple[str, float]]]:
        """The answers in the form in which users pass them."""
        parts = np.split(self.probability, self.start[1:-1])
        return [
            list(zip(own, part.tolist(), strict=True))
            for own, part in zip(self.names, parts, strict=True)
        ]


def read_questions(y: Any, P: Any, sample_weight: Any = None) -> Questions:
    """Check and read answers from the user; nothing after it checks them again."""
    if not is_questions(P):
        raise InputError(
            f"P must be a list of answers such as [('a', 0.7), ('b', 0.3)]; got a"
            f" {type(P).__name__}."
        )
    names = tuple(tuple(str(name) for name, _ in answer) for answer in P)
    start = np.append(0, np.cumsum([len(own) for own in names]))
    probability = np.array([p for answer in P for _, p in answer], dtype=np.float64)
    if not (np.isfinite(probability) & (probability >= 0.0)).all():
        raise InputError("P must hold finite probabilities that are not negative; got others.")
    total = np.add.reduceat(probability, start[:-1])
    if (np.abs(total - 1.0) > 1e-5).any():
        raise InputError(
            f"every answer must sum to 1; one sums to {total[np.abs(total - 1.0).argmax()]:g}."
        )
    y = [names[0][0]] * len(names) if y is None else [str(label) for label in y]
    if len(y) != len(names) or any(label not in own for label, own in zip(y, names, strict=True)):
        raise InputError("y must name the right option of every answer; got others.")
    right = np.array([own.index(label) for label, own in zip(y, names, strict=True)])
    record = Questions(probability / np.repeat(total, np.diff(start)), start, right, names)
    if sample_weight is None:
        return record
    weight = np.asarray(sample_weight, dtype=np.float64)
    if (
        weight.shape != (len(record),)
        or not (np.isfinite(weight) & (weight >= 0.0)).all()
        or not weight.any()
    ):
        raise InputError(
            "sample_weight must hold a weight for each answer, not all of them 0; got others."
        )
    kept = weight > 0.0
    return replace(replace(record, weight=weight).take(kept), kept=kept)


def is_questions(P: Any) -> bool:
    """Whether P can only be a list of answers to questions."""
    answers = P if isinstance(P, list | tuple) and len(P) > 0 else [None]
    return all(
        isinstance(one, list | tuple) and len(one) > 0 and isinstance(one[0], list | tuple)
        for one in answers
    )


def _read(metrics, y_true, P, *, sample_weight):
    return read_questions(y_true, P, sample_weight)


QUESTIONS = Domain(
    "multiple choice",
    "multiple-choice answers",
    Questions,
    _read,
    takes=lambda P, std: is_questions(P),
)


class QuestionLoss(
    MeanMetric,
    name="log loss of questions",
    key="question_log_loss",
    range=(0.0, float("inf")),
    direction="minimize",
    estimand="expected log loss of a new question",
    proper=True,
    selects=True,
):
    """The mean of -ln p of the right option."""

    domain = QUESTIONS

    def _losses(self, record: Questions) -> np.ndarray:
        return -np.log(np.maximum(record.of_right, 1e-12))


question_log_loss = QuestionLoss()


@register
class QuestionTemperature(DomainCalibrator):
    """Temperature scaling of questions: p ** (1 / T), scaled to sum to 1.

    All questions share one temperature, for any number of options.
    """

    domain: ClassVar[Domain] = QUESTIONS
    tags: ClassVar[Tags] = Tags(label="question temperature", keeps_argmax=True)

    def fit(self, P: Any, y: Any, sample_weight: Any = None) -> Self:
        return self.fit_record(read_questions(y, P, sample_weight))

    def predict(self, P: Any) -> list[list[tuple[str, float]]]:
        record = read_questions(None, P)
        return record.recalibrated(self.predict_record(record)).told()

    def fit_record(self, record: Questions) -> Self:
        def loss(log_t: float) -> float:
            return float(
                record.weights
                @ -np.log(record.recalibrated(_tempered(record, np.exp(log_t))).of_right)
            )

        self.temperature_: float = float(
            np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x)
        )
        self.status_ = "converged"
        return self

    def predict_record(self, record: Questions) -> np.ndarray:
        require_fitted(self, "temperature_")
        return _tempered(record, self.temperature_)


def _tempered(record: Questions, temperature: float) -> np.ndarray:
    """(m,) probabilities at a temperature."""
    power = np.maximum(record.probability, 1e-12) ** (1.0 / temperature)
    return power / np.add.reduceat(power, record.start[:-1])[record.row]


def _report():
    from calibrant.reporting.report_table import ReportTable

    class Table(ReportTable):
        domain = QUESTIONS

        def said(self, record):
            return record.confidence, (record.of_right >= record.confidence).astype(np.float64)

        def scores(self):
            return [question_log_loss]

    return Table()


def _files():
    from calibrant.tables.data_file import DataFile

    @dataclass(frozen=True, kw_only=True)
    class QuestionFile(DataFile):
        """File of lines such as ``{"options": [["a", 0.7], ["b", 0.3]], "label": "a"}``."""

        answers: list[list[tuple[str, float]]]
        domain: ClassVar[Domain] = QUESTIONS

        @classmethod
        def found_in(cls, source):
            given = source.kind == "jsonl" and isinstance(source.objects[0].get("options"), list)
            return "options" if given else None

        @classmethod
        def names_in(cls, source, columns, labels, prefer):
            return [source.require(columns.label or "label")] if labels else []

        @classmethod
        def read(cls, source, columns, labels, prefer):
            outcome = tuple(cls.names_in(source, columns, labels, prefer))
            return cls(
                path=source.path,
                labels=source.column(outcome[0]).tolist() if labels else None,
                weight=None if columns.weight is None else source.column(columns.weight),
                source=source,
                outcome=outcome,
                answers=[one["options"] for one in source.objects],
            )

        @property
        def said(self):
            return self.answers

        def record(self, groups=None):
            return read_questions(self.labels, self.answers, self.weight)

        def same_outcomes(self, ours, theirs):
            pairs = zip(ours.outcomes(), theirs.outcomes(), strict=True)
            return np.array([a == b for a, b in pairs])

    return QuestionFile


def _code(calibrator, record):
    return [
        "from multiple_choice import QuestionTemperature",
        f"calibrator = {calibrator!r}.fit(P, y)",
        "P_calibrated = calibrator.predict(P_new)",
    ]


CHOSEN_BY.register(
    QUESTIONS,
    lambda: Choosing(
        question_log_loss, None, "question_log_loss", lambda model, X: (model.predict(X), {})
    ),
)
RESOLVE.register(QUESTIONS, lambda: partial(adopted, default=QuestionTemperature))
CODE.register(QUESTIONS, lambda: _code)
TABLES.register(QUESTIONS, _report)
FILES.register(QUESTIONS, _files)
