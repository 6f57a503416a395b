"""Report of each domain, imported when it is made."""

from typing import TYPE_CHECKING

from calibrant.core.domain import Facet
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.questions.domain import QUESTIONS

if TYPE_CHECKING:
    from calibrant.reporting.report_table import ReportTable

__all__ = ["TABLES"]


def _of_classes() -> "ReportTable":
    from calibrant.reporting.classification import CLASSIFICATION as table

    return table


def _of_numbers() -> "ReportTable":
    from calibrant.reporting.regression.task import REGRESSION as table

    return table


def _of_questions() -> "ReportTable":
    from calibrant.reporting.questions import QuestionTable

    return QuestionTable()


TABLES: "Facet[ReportTable]" = Facet("report")
TABLES.register(CLASSIFICATION, _of_classes)
TABLES.register(REGRESSION, _of_numbers)
TABLES.register(QUESTIONS, _of_questions)
