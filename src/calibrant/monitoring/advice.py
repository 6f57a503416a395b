"""Advice to recalibrate or not, from the evidence of drift and the possible gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.calibrators.trust import EVIDENCE, LEAST_ROWS
from calibrant.core.guarantee import Result
from calibrant.monitoring.claims import PitClaim, ScoreClaim, reweighted_gain

__all__ = ["Advice", "advise", "change_said", "no_drift"]

#: Minimum likelihood ratio of a change at a batch against errors since the first.
TOLD_APART = 20.0
#: Standard errors by which a re-fit must gain more than an offset, which is simpler.
SHAPE = 2.0


@dataclass(frozen=True)
class Advice(Result):
    """Advice on the calibration, with its reason; ``print`` it for both.

    Attributes
    ----------
    decision : "leave" (no evidence of drift), "re-offset" (drift, and one number for all rows
        repairs it: an offset of the log-odds, or of the forecasts), "re-fit" (drift, and a re-fit
        gains more), or "wait" (drift, but the rows since then do not show a gain yet).
    reason : one sentence.
    since : time of the batch from which the calibration is most likely wrong, or None without an
        alarm. If it is the first batch, nothing has changed: the reason says that the predictions
        were never calibrated, or not as in the reference.
    rows : rows since then, or all rows without an alarm.
    gain, standard_error : out-of-fold gain of a re-fit on those rows in the log loss of the
        confidence or risk, or for forecasts of the interval between levels that holds the outcome;
        nan without an alarm, or with too few rows.
    changed : list
        "rates" where an offset suffices, as after a change of the class rates, or else "relation",
        of outcomes to predictions; and "inputs" where the predictions are distributed differently
        than before.
    gains : dict of gains: "re-offset", "re-fit", and "re-weight", of a fit on the rows before,
        weighted to the predictions since
    """

    decision: str
    reason: str
    since: Any
    rows: float
    gain: float
    standard_error: float
    changed: list[str]
    gains: dict[str, float]

    def __str__(self) -> str:
        return f"{self.decision}. {self.reason[0].upper()}{self.reason[1:]}."


def no_drift(rows: float, seen: str) -> Advice:
    """Return the advice without an alarm."""
    reason = f"no drift shown in {rows:,.0f} rows ({seen})"
    return Advice("leave", reason, None, rows, float("nan"), float("nan"), [], {})


def advise(
    claim: ScoreClaim | PitClaim,
    sums: np.ndarray,
    change: str,
    since: Any,
    target: Any,
    earlier: np.ndarray | None = None,
) -> Advice:
    """Return the advice after an alarm, from the sums of the batches from ``since`` on; ``change``
    describes the change there, and ``earlier`` are the sums before.
    """
    rows, found = claim.rows(sums), change
    if isinstance(claim, PitClaim):
        found = f"{found}: {claim.words(sums)}"
    if rows < LEAST_ROWS:
        reason = f"{found}; {rows:,.0f} rows since then are too few to fit on"
        return Advice("wait", reason, since, rows, float("nan"), float("nan"), [], {})
    each = {kind: claim.refit_gain(sums, kind) for kind in ("re-offset", "re-fit")}
    more, more_error = claim.refit_gain(sums, "re-fit", "re-offset")
    changed = ["relation" if more > SHAPE * more_error else "rates"]
    if isinstance(claim, ScoreClaim) and earlier is not None:
        each["re-weight"] = reweighted_gain(earlier, sums)
        changed += ["inputs"] if claim.inputs_changed(earlier, sums) else []
    offset_gains = each["re-offset"][0] > EVIDENCE * each["re-offset"][1]
    decision = "re-offset" if changed[0] == "rates" and offset_gains else "re-fit"
    gain, error = each[decision]
    size, gains = f"{gain:.4f} ± {error:.4f}", {kind: one[0] for kind, one in each.items()}
    if gain <= EVIDENCE * error:
        reason = (
            f"{found}; the {rows:,.0f} rows since then do not show yet that a re-fit helps (log"
            f" loss lower by {size})"
        )
        return Advice("wait", reason, since, rows, gain, error, changed, gains)
    watched = {"answer": "confidence", "forecast": "forecast's intervals"}.get(target, "risk")
    repair = "an offset" if decision == "re-offset" else "a re-fit"
    reason = (
        f"{found}; {repair} on the {rows:,.0f} rows since then takes {size} off the log loss of the"
        f" {watched} out of fold"
    )
    return Advice(decision, reason, since, rows, gain, error, changed, gains)


def change_said(times: Sequence[Any], start: int, growth: np.ndarray, reference: bool) -> str:
    """Describe the evidence: a change at the batch ``start``, or errors from the first one on;
    ``growth`` is that of stakes placed at each batch.
    """
    first, since = times[0], times[start]
    if start > 0 and growth[start] - growth[0] < np.log(TOLD_APART):
        return (
            f"the predictions are miscalibrated, most likely since {since}; earlier batches do not"
            " show that they were ever calibrated"
        )
    if start > 0:
        return f"the calibration has changed, most likely since {since}"
    if reference:
        return f"the calibration is not that of the reference, from the first batch on ({first})"
    return f"the predictions were never calibrated, from the first batch on ({first})"
