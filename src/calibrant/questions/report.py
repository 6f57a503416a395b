"""Report on answers to questions: their confidences, by type and by question; their audit, the
comparison of two versions, and the code to apply a calibrator.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from calibrant._numerics.pooling import row_sums
from calibrant.audits.audit import Audited
from calibrant.audits.sample import of_answers
from calibrant.core.groups import n_clusters
from calibrant.core.metric_kinds import Metric
from calibrant.errors import InputError
from calibrant.questions.automatic import AutoQuestionCalibrator
from calibrant.questions.domain import (
    QUESTIONS,
    question_accuracy,
    question_brier,
    question_log_loss,
)
from calibrant.questions.record import Questions
from calibrant.reporting.calibrate import adopted, made_by
from calibrant.reporting.report_table import ReportTable
from calibrant.reporting.versions import Moves

__all__ = ["AUDITED", "TABLE", "QuestionTable", "code", "moves", "resolved"]

#: Fewest items of a log: of fewer, no interval counts items as one each.
FEWEST_ITEMS = 4


class QuestionTable(ReportTable):
    """Report on answers to questions; without other groups, by type and by question."""

    domain = QUESTIONS

    def said(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return ((n,) confidence, (n,) 1.0 if the answer is right, else 0.0)."""
        return record.judged

    def read(
        self,
        y: Any,
        P: Any,
        std: Any,
        calibrator: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> tuple[Any, Sequence[Any]]:
        """Return the record of the log, and [None]; refuse one whose intervals nothing supports."""
        options = {"sample_weight": sample_weight, "groups": groups}
        record, names = super().read(y, P, std, calibrator, **options)
        items = n_clusters(record) or len(record)
        if items < FEWEST_ITEMS:
            raise InputError(
                f"a report needs a log of at least {FEWEST_ITEMS} items (ids), because answers on"
                f" one item depend on each other; got {items}; collect more."
            )
        return record, names

    def read_test(self, test: Any, record: Any) -> Questions:
        """Read the test rows, also of a record alone."""
        return super().read_test((None, test) if isinstance(test, Questions) else test, record)

    def scores(self) -> Sequence[Metric]:
        """Return the accuracy and the proper scores."""
        return question_accuracy, question_log_loss, question_brier

    def data(self, record: Any, names: Sequence[Any]) -> dict[str, Any]:
        """Return the facts of the header, with the number of questions."""
        return {**super().data(record, names), "questions": len(np.unique(record.question.index))}


def code(calibrator: Any, record: Any) -> list[str]:
    """Return the lines that fit and apply a calibrator."""
    return [
        "import calibrant as cb",
        f"calibrator = {made_by(calibrator)}.fit(questions)",
        "calibrated = calibrator.predict(new_questions)",
    ]


def moves(old: Any, new: Any) -> Moves:
    """Return what moved between two versions."""
    distance = 0.5 * row_sums(np.abs(new.probability - old.probability), old.start)
    others = {"changed answers": old.answer != new.answer, "distance": distance}
    return "confidence", old.confidence, new.confidence, others


def _audited(y: Any, P: Any, std: Any, target: Any, weight: Any, *beside: Any) -> Any:
    if target not in (None, "answer"):
        raise InputError(f'target must be "answer" for questions; got {target!r}; leave it out.')
    return QUESTIONS.read([], y, P, sample_weight=weight), "answer"


AUDITED = Audited(_audited, of_answers)
TABLE = QuestionTable()
resolved = partial(adopted, default=AutoQuestionCalibrator)
