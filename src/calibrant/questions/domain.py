"""The kind of prediction "questions", and its metrics."""

from typing import Any

import numpy as np

from calibrant._numerics.pooling import row_sums, running_sums
from calibrant.core.domain import Domain
from calibrant.core.metric import BaseMetric
from calibrant.core.metric_kinds import MeanMetric
from calibrant.metrics.several import CHOSEN_BY, Choosing
from calibrant.questions.pairs import read_labelled_pairs
from calibrant.questions.read import as_questions, is_questions
from calibrant.questions.record import TWO_SIDED, Questions

__all__ = [
    "QUESTIONS",
    "QuestionAccuracy",
    "QuestionBrier",
    "QuestionGap",
    "QuestionLoss",
    "QuestionRankedScore",
    "question_accuracy",
    "question_brier",
    "question_gap",
    "question_log_loss",
    "question_ranked_score",
]


#: Mean number of rows of a question from which questions are groups.
RECURRING = 10


def _read(metrics: list[BaseMetric], y_true: Any, P: Any, *, sample_weight: Any) -> Questions:
    """The labelled rows of P."""
    record = as_questions(P, y_true, sample_weight)
    return record if record.labelled.all() else record.known()


def _columns(record: Questions) -> list[tuple[str | None, np.ndarray]]:
    """The questions that recur and their types, where there are several."""
    found = list[tuple[str | None, np.ndarray]]()
    for name in ("question", "type"):
        own = getattr(record, name)
        count = len(np.unique(own.index))
        if 1 < count <= len(record) / RECURRING:
            found.append((name, own.names[own.index]))
    return found


QUESTIONS = Domain(
    "questions",
    "answers to questions",
    Questions,
    _read,
    takes=lambda P, std: is_questions(P),
    columns=_columns,
    paired=read_labelled_pairs,
)


def floored(record: Questions) -> np.ndarray:
    """(m,) probabilities; one rounded to 0 is half a unit of its last decimal."""
    least = 1e-12 if record.decimals is None else 0.5 * 10.0**-record.decimals
    return np.maximum(record.probability, least)


def _others(record: Questions) -> np.ndarray:
    """(m,) equal shares of the options other than the true one."""
    return (1.0 - record.mass) / np.repeat(np.maximum(record.size - 1.0, 1.0), record.size)


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
    r"""The mean of :math:`-\sum_k y_k \ln p_k` over rows with any number of options.

    .. math:: -\frac1n \sum_i \sum_k y_{ik} \ln p_{ik}

    See Also
    --------
    question_brier : bounded, and less sensitive to certain errors.

    Notes
    -----
    Use it to choose calibrators of question logs. A probability that was rounded to 0 counts as
    half a unit of its last decimal; ``Questions.loss_limits`` returns the limits due to rounding.

    References
    ----------
    Good, "Rational decisions", Journal of the Royal Statistical Society B 14, 1952.

    Examples
    --------
    >>> round(question_log_loss(["a", "b"], [{"a": 0.5, "b": 0.5}, {"a": 0.75, "b": 0.25}]), 4)
    1.0397
    """

    domain = QUESTIONS

    def _losses(self, record: Questions) -> np.ndarray:
        return row_sums(-record.mass * np.log(floored(record)), record.start)

    def _unseen(self, record: Questions) -> list[np.ndarray]:
        return [row_sums(-_others(record) * np.log(floored(record)), record.start)]


class QuestionBrier(
    MeanMetric,
    name="Brier score of questions",
    key="question_brier",
    range=(0.0, 2.0),
    direction="minimize",
    estimand="expected Brier score of a new question",
    proper=True,
    selects=True,
):
    r"""The mean of :math:`\sum_k (p_k - y_k)^2` over rows; halved for yes/no questions
    and free answers.

    .. math:: \frac1n \sum_i \sum_k (p_{ik} - y_{ik})^2

    See Also
    --------
    question_log_loss : the score that chooses calibrators.

    Notes
    -----
    Use it beside the log loss; an answer that was certain and wrong counts 2 at most, 1 in a yes/no
    question. Do not compare logs with different numbers of options by it.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78,
    1950.

    Examples
    --------
    >>> question_brier(["a", "yes"], [{"a": 0.5, "b": 0.5}, {"yes": 0.5, "no": 0.5}])
    0.375
    """

    domain = QUESTIONS

    def _losses(self, record: Questions) -> np.ndarray:
        squares = row_sums((record.probability - record.mass) ** 2, record.start)
        return np.where(np.isin(record.kind, TWO_SIDED), 0.5, 1.0) * squares

    def _unseen(self, record: Questions) -> list[np.ndarray]:
        p = record.probability
        squares = 1.0 + row_sums(p * p - 2.0 * p * _others(record), record.start)
        return [np.where(np.isin(record.kind, TWO_SIDED), 0.5, 1.0) * squares]


class QuestionRankedScore(
    MeanMetric,
    name="ranked probability score of questions",
    key="question_ranked_score",
    range=(0.0, 1.0),
    direction="minimize",
    estimand="expected ranked probability score of a new question",
    proper=True,
):
    r"""The mean of :math:`\sum_k (F_k - 1\{y \le k\})^2 / (K - 1)` over rows with ordered levels.

    .. math:: \frac1n \sum_i \frac{1}{K_i - 1} \sum_{k < K_i} (F_{ik} - 1\{y_i \le k\})^2

    See Also
    --------
    question_brier : for options without an order.

    Notes
    -----
    Use it for scores. The options of a choice are taken in the order of the log, which has no
    meaning.

    References
    ----------
    Epstein, "A scoring system for probability forecasts of ranked categories", Journal of Applied
    Meteorology 8, 1969.

    Examples
    --------
    >>> from calibrant.questions import read_questions
    >>> three = read_questions(np.array([[0.2, 0.5, 0.3]]), [0], ordered=True)
    >>> round(question_ranked_score(None, three), 4)
    0.365
    """

    domain = QUESTIONS

    def _losses(self, record: Questions) -> np.ndarray:
        away = running_sums(record.probability - record.mass, record.start)
        return row_sums(away**2, record.start) / (record.size - 1.0)


class QuestionAccuracy(
    MeanMetric,
    name="accuracy of questions",
    key="question_accuracy",
    range=(0.0, 1.0),
    direction="maximize",
    rate=True,
    estimand="share of right answers to new questions",
):
    r"""The share of rows whose most likely option is the true one, and of free answers that are
    right.

    .. math:: \frac1n \sum_i 1\{\arg\max_k p_{ik} = y_i\}

    See Also
    --------
    question_gap : the mean confidence less the accuracy.

    Notes
    -----
    Use it to describe a model; it does not measure calibration. Of equally likely options the first
    is the answer. With shares of raters a row counts the share of its answer.

    References
    ----------
    Geifman and El-Yaniv, "Selective classification for deep neural networks", NeurIPS 2017.

    Examples
    --------
    >>> question_accuracy(["a", "b"], [{"a": 0.6, "b": 0.4}, {"a": 0.7, "b": 0.3}])
    0.5
    """

    domain = QUESTIONS

    def _losses(self, record: Questions) -> np.ndarray:
        return record.correct


class QuestionGap(
    MeanMetric,
    name="gap of questions",
    key="question_gap",
    range=(-1.0, 1.0),
    direction="none",
    estimand="mean confidence less accuracy on new questions",
):
    r"""The mean confidence less the share of right answers; positive if the model is overconfident.

    .. math:: \frac1n \sum_i \left(\max_k p_{ik} - 1\{\arg\max_k p_{ik} = y_i\}\right)

    See Also
    --------
    question_accuracy : the share of right answers.

    Notes
    -----
    Use it by question and by type, to see where a model is overconfident. A gap of 0 does not mean
    that every confidence is right.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> round(question_gap(["a", "b"], [{"a": 0.6, "b": 0.4}, {"a": 0.7, "b": 0.3}]), 4)
    0.15
    """

    domain = QUESTIONS

    def _losses(self, record: Questions) -> np.ndarray:
        return record.confidence - record.correct


question_log_loss = QuestionLoss()
question_brier = QuestionBrier()
question_ranked_score = QuestionRankedScore()
question_accuracy = QuestionAccuracy()
question_gap = QuestionGap()

CHOSEN_BY.register(
    QUESTIONS,
    lambda: Choosing(
        question_log_loss,
        None,
        "question_log_loss or question_brier",
        lambda model, X: (model.predict(X), {}),
        lambda records, question: (question_log_loss, question_brier),
    ),
)
