"""What the model's risks can promise: above which no more than so many false alarms, below which no more than so many events missed."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant.decisions.certainty import whole_rows
from calibrant.decisions.neyman_pearson_classifier import NeymanPearsonClassifier
from calibrant.errors import InputError

__all__ = ["PromisedRate", "RatePromises", "rate_promises"]

RATES, CONFIDENCE = (0.01, 0.05, 0.1), 0.95


@dataclass(frozen=True)
class PromisedRate:
    """The threshold of one error rate, and the share of the rows it decides; or None, and why in a sentence."""

    error: Literal["false alarms", "missed events"]
    rate: float
    threshold: float | None
    share: float | None
    note: str


@dataclass(frozen=True)
class RatePromises:
    """Each line is a promise of its own: that all hold at once is less sure."""

    confidence: float
    rates: list[PromisedRate]


def rate_promises(rows: Any) -> RatePromises | None:
    """Those of rows seen as pairs of risk and event, by the risks as they came; None where weights are not whole rows."""
    if not whole_rows(rows.weights).all():
        return None
    return RatePromises(CONFIDENCE, [_promised(rows, error, rate) for error in ("false alarms", "missed events") for rate in RATES])


def _promised(rows: Any, error: Literal["false alarms", "missed events"], rate: float) -> PromisedRate:
    alarms = error == "false alarms"
    rule = NeymanPearsonClassifier(rate if alarms else None, None if alarms else rate, CONFIDENCE)
    try:
        rule.fit_scores(rows.confidence, rows.correct, cluster=rows.cluster, sample_weight=rows.weight)
    except InputError as reason:
        return PromisedRate(error, rate, None, None, str(reason))
    decided = rule.decide_scores(rows.confidence) == (1 if alarms else 0)
    (said,) = rule.guarantees_
    return PromisedRate(error, rate, rule.high_, float(np.average(decided, weights=rows.weights)), str(said))
