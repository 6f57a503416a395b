"""The kind of prediction "questions" with its metrics, and limits of a rate from the residuals of
labels on a judge.

A good judge is rarely wrong, so that few of its errors are among the labels, or none. Each limit
therefore includes an unseen residual, as large as the range of labels and scores allows.
"""

import math
from typing import Any

import numpy as np

from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.intervals import mean_limits, normal_quantile, powers
from calibrant._numerics.pooling import row_sums, running_sums
from calibrant.core.domain import Domain
from calibrant.core.metric import BaseMetric
from calibrant.core.metric_kinds import MeanMetric
from calibrant.metrics.several import CHOSEN_BY, Choosing
from calibrant.questions.pairs import read_paired
from calibrant.questions.read import as_questions, is_questions
from calibrant.questions.record import TWO_SIDED, Questions
from calibrant.questions.scored_rows import Sample

__all__ = [
    "QUESTIONS",
    "QuestionAccuracy",
    "QuestionBrier",
    "QuestionGap",
    "QuestionLoss",
    "QuestionRankedScore",
    "influences",
    "judge_weight",
    "narrower",
    "question_accuracy",
    "question_brier",
    "question_gap",
    "question_log_loss",
    "question_ranked_score",
    "rate_limits",
    "residual_limits",
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
    paired=read_paired,
    parts={
        "report": "calibrant.questions.report:TABLE",
        "calibrators": "calibrant.questions.report:resolved",
        "code to apply a calibrator": "calibrant.questions.report:code",
        "comparison of versions": "calibrant.questions.report:moves",
        "audits": "calibrant.questions.report:AUDITED",
        "files": "calibrant.questions.log_file:QuestionFile",
        "rules that decide on them": "calibrant.questions.log_file:decided",
        "certified rules": "calibrant.questions.log_file:certified",
    },
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


question_log_loss: QuestionLoss = QuestionLoss()
question_brier: QuestionBrier = QuestionBrier()
question_ranked_score: QuestionRankedScore = QuestionRankedScore()
question_accuracy: QuestionAccuracy = QuestionAccuracy()
question_gap: QuestionGap = QuestionGap()

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


#: (rate, low, high)
Limits = tuple[float, float, float]


def judge_weight(sample: Sample) -> float:
    """The judge's weight: the slope of labels on scores, from 0 to 1."""
    seen = sample.seen
    pi, f, y = sample.chance[seen], sample.score[seen], sample.label[seen]
    w = (1.0 - pi) / pi**2
    if not w.sum() > 0.0:
        return 0.0
    w = w / w.sum()
    away = f - w @ f
    spread = w @ away**2
    return float(np.clip(w @ (away * (y - w @ y)) / spread, 0.0, 1.0)) if spread > 0.0 else 0.0


def influences(sample: Sample, weight: float) -> tuple[float, np.ndarray]:
    """(estimate, each row's contribution less the estimate) with the judge at a weight."""
    seen, N = sample.seen, len(sample.label)
    w = np.where(seen, 1.0 / sample.chance, 0.0)
    r = np.where(seen, sample.label, 0.0) - weight * sample.score
    mean = float(w[seen] @ r[seen] / w.sum())
    value = weight * float(sample.score.mean()) + mean
    phi = weight * sample.score + mean + np.where(seen, w * (r - mean), 0.0) * N / w.sum()
    return value, phi - value


def residual_limits(
    residual: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray | None,
    ends: tuple[float, float],
    level: float,
    times: float = 1.0,
) -> tuple[float, float]:
    """(low, high) of the mean of residuals (n,) with weights of mean 1, or as of ``times`` as many
    rows; ``ends`` are the least and the largest possible residual.

    The unseen residual counts as several rows: as many as are worth one independent row, and at
    least the mean weight and the root of the mean size of a cluster, means over the weighted rows.
    A judge may fail in whole clusters, of which none has a label.
    """
    n, mean = len(residual), float(weight @ residual) / len(residual)
    if cluster is None and not np.ptp(weight) > 0.0:
        sums = times * np.array([power.sum() for power in powers(residual)])
        low, high = mean_limits(times * n, sums, *ends, level)
        return float(low), float(high)
    cluster = np.arange(n) if cluster is None else cluster
    # The limits of independent rows hold without Student's t, which the worth of rows includes.
    student = (normal_quantile(level, n - 1.0) / normal_quantile(level)) ** 2
    worth = min(student * mean_worth(residual, weight, cluster, level), 1.0)
    sizes, found = np.bincount(cluster, weights=weight), list[float]()
    apart = max(1.0 / worth, float(weight @ weight) / n, math.sqrt(sizes @ sizes / n))
    for side, end in enumerate(ends):
        r, w = np.append(residual, end), np.append(weight, apart / times)
        worth = min(student * mean_worth(r, w, np.append(cluster, cluster.max() + 1), level), 1.0)
        sums = times * worth * np.array([w @ power for power in powers(r)])
        rows = times * worth * w.sum()
        limit = float(mean_limits(rows, sums, sums[0] / rows, sums[0] / rows, level)[side])
        found.append(max(limit, mean) if side else min(limit, mean))
    return found[0], found[1]


def rate_limits(
    sample: Sample, slope: float, level: float, population: str = "new", times: float = 1.0
) -> Limits:
    """(rate, low, high) with the judge's scores at weight ``slope``, or as of ``times`` as many
    labels.

    The errors of the mean score and of the mean residual are added in quadrature at each end. For
    "log" the residuals of the rows without labels vary alone.
    """
    part, seen, N = sample.of(sample.seen), sample.seen, len(sample.label)
    weight = 1.0 / part.chance
    weight /= weight.mean()
    residual = part.label - slope * part.score
    mean = float(weight @ residual) / len(weight)
    reach = -slope * float(part.score.max()), 1.0 - slope * float(part.score.min())
    low, high = residual_limits(residual, weight, part.cluster, reach, level, times)
    moves, rest, score = weight * (residual - mean), 1.0, slope * sample.score
    value, spare = float(score.mean()) + mean, 0.0
    if population == "log":
        moves = moves if _squares(moves, part.cluster) > 0.0 else weight
        open_ = _squares(np.sqrt(1.0 - part.chance) * moves, part.cluster)
        rest = min(open_ / _squares(moves, part.cluster), 1.0)
    elif slope > 0.0:
        both = (score - score.mean()) / N
        both[seen] += moves / len(weight)
        spare = _squares(both, sample.cluster) - _squares(moves / len(weight), part.cluster)
        spare = normal_quantile(level) ** 2 * max(spare, 0.0)
    below, above = (math.sqrt(rest * (end - mean) ** 2 + spare) for end in (low, high))
    low, high = value - below, value + above
    # The mean of the scores corrected by few labels may leave the range of a rate.
    value = min(max(value, 0.0), 1.0)
    return value, min(max(low, 0.0), value), max(min(high, 1.0), value)


def narrower(sample: Sample, level: float, population: str = "new") -> tuple[float, Limits, Limits]:
    """(weight of the judge, limits with it, limits of the labels alone): the judge is used where it
    makes the interval narrower.
    """
    slope, alone = judge_weight(sample), rate_limits(sample, 0.0, level, population)
    judged = rate_limits(sample, slope, level, population) if slope > 0.0 else alone
    used = judged[2] - judged[1] < alone[2] - alone[1]
    return (slope, judged, alone) if used else (0.0, alone, alone)


def _squares(moves: np.ndarray, cluster: np.ndarray | None) -> float:
    """The sum of the squares of the sums by cluster."""
    sums = moves if cluster is None else np.bincount(cluster, weights=moves)
    return float(sums @ sums)
