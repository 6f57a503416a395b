"""Every exported metric, of any task, keeps the contract of a metric."""

import pytest

from calibrant import questions
from calibrant.testing import all_metrics, metric_checks, parameters

QUESTIONS = [
    questions.question_log_loss,
    questions.question_brier,
    questions.question_ranked_score,
    questions.question_accuracy,
    questions.question_gap,
]


@pytest.mark.parametrize(
    "check",
    parameters(c for example in [*all_metrics(), *QUESTIONS] for c in metric_checks(example)),
)
def test_metric_keeps_the_contract(check):
    check()
