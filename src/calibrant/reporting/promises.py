"""Guarantees from the model's confidences: the share of answers accepted at a stated risk, and the
size of conformal sets.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant.core.arrays import whole_rows
from calibrant.core.predictions import Predictions
from calibrant.decisions.selective import SelectiveClassifier
from calibrant.decisions.sets import ConformalSets
from calibrant.errors import InputError

__all__ = ["Accepted", "PromisedSets", "Promises", "promises"]

RISKS = (0.01, 0.05, 0.1)
CONFIDENCE, LEVEL = 0.95, 0.9
#: Largest number of rows times classes, and least number of rows, for which sets are made.
MOST_ENTRIES, FEWEST = 5e7, 20


@dataclass(frozen=True)
class Accepted:
    """Share of answers that can be accepted at one risk, and the threshold of confidence; or None,
    and the reason.
    """

    risk: float
    share: float | None
    threshold: float | None
    note: str


@dataclass(frozen=True)
class PromisedSets:
    """Conformal sets of these rows: their mean size, and the share of sets with one class."""

    level: float
    size: float
    alone: float


@dataclass(frozen=True)
class Promises:
    """Guarantees, each of which holds separately, not all of them simultaneously."""

    confidence: float
    n: float
    unit: Literal["rows", "clusters"]
    accepted: list[Accepted]
    sets: PromisedSets | None


def promises(record: Predictions) -> Promises | None:
    """Certify guarantees on rows with labels and uncalibrated predictions; None if weights are not
    whole numbers.
    """
    if not whole_rows(record.weights).all():
        return None
    n = (
        float(record.weights.sum())
        if record.cluster is None
        else float(len(np.unique(record.cluster)))
    )
    unit: Literal["rows", "clusters"] = "rows" if record.cluster is None else "clusters"
    return Promises(CONFIDENCE, n, unit, [_accepted(record, risk) for risk in RISKS], _sets(record))


def _accepted(record: Predictions, risk: float) -> Accepted:
    rule = SelectiveClassifier(risk, CONFIDENCE)
    try:
        rule.fit_record(record)
    except InputError as error:
        return Accepted(risk, None, None, str(error))
    return Accepted(risk, rule.certificate_.share, rule.threshold_, str(rule.certificate_))


def _sets(record: Predictions) -> PromisedSets | None:
    if len(record) < FEWEST or record.values.size > MOST_ENTRIES:
        return None
    sizes = ConformalSets(level=LEVEL).fit_record(record).set_record(record).sum(axis=1)
    return PromisedSets(
        LEVEL,
        float(np.average(sizes, weights=record.weights)),
        float(np.average(sizes == 1, weights=record.weights)),
    )
