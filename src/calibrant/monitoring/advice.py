"""Re-fit or leave: what the evidence of drift and the gain to be had say together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.contracts.columns import plain
from calibrant.monitoring.claims import PitClaim
from calibrant.select.trust import EVIDENCE, LEAST_ROWS

if TYPE_CHECKING:
    from calibrant.monitoring.monitor import CalibrationMonitor

__all__ = ["Advice", "advise"]

#: A change at a batch is told from errors since the first where it makes what was seen this many
#: times as likely.
TOLD_APART = 20.0


@dataclass(frozen=True)
class Advice:
    """What to do with the calibration, and why; ``print`` it for the decision and its reason.

    Attributes
    ----------
    decision : "leave" (no evidence of drift), "re-fit" (drift, and a re-fit gains), or "wait"
        (drift, but the rows since then do not
        show a gain yet).
    reason : one sentence.
    since : time of the batch from which the calibration is most likely off, or None without an
        alarm. Where it is the first batch, nothing
        has changed: the reason says that the predictions were never calibrated, or not as in the
        reference.
    rows : rows since then, or seen in all without an alarm.
    gain, standard_error : what a re-fit on those rows takes off the log loss of the confidence or
        risk, or for forecasts of the interval
        between levels that holds the outcome, out of fold; nan without an alarm, or with too few
        rows.
    """

    decision: str
    reason: str
    since: Any
    rows: float
    gain: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.decision}. {self.reason[0].upper()}{self.reason[1:]}."

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: nan becomes None."""
        return plain(vars(self))


def advise(monitor: "CalibrationMonitor") -> Advice:
    """The advice for a :class:`CalibrationMonitor`."""
    said = f"evidence {_short(monitor.evidence_)}, alarm at {monitor.threshold_:g}"
    if not monitor.alarm_:
        reason = f"no drift shown in {monitor.n_:,.0f} rows ({said})"
        return Advice("leave", reason, None, monitor.n_, float("nan"), float("nan"))
    start = monitor.since()
    sums = np.sum(monitor.batches_[start:], axis=0)
    rows, since = monitor.claim.rows(sums), monitor.times_[start]
    found = f"{_what(monitor, start)} ({said})"
    if isinstance(monitor.claim, PitClaim):
        found = f"{found}: {monitor.claim.words(sums)}"
    if rows < LEAST_ROWS:
        reason = f"{found}; {rows:,.0f} rows since then are too few to fit on"
        return Advice("wait", reason, since, rows, float("nan"), float("nan"))
    gain, error = monitor.claim.refit_gain(sums)
    size = f"{gain:.4f} ± {error:.4f}"
    if gain <= EVIDENCE * error:
        reason = (
            f"{found}; the {rows:,.0f} rows since then do not show yet that a re-fit helps (log"
            f" loss lower by {size})"
        )
        return Advice("wait", reason, since, rows, gain, error)
    reason = (
        f"{found}; a re-fit on the {rows:,.0f} rows since then takes {size} off the log loss of the"
        f" {_watched(monitor)} out of fold"
    )
    return Advice("re-fit", reason, since, rows, gain, error)


def _watched(monitor):
    return {"answer": "confidence", "forecast": "forecast's intervals"}.get(monitor.target, "risk")


def _what(monitor, start):
    """What the evidence says: a change at a batch, or errors from the first one on, before which
    nothing was seen.
    """
    first, since, growth = monitor.times_[0], monitor.times_[start], monitor.growth_since()
    if start > 0 and growth[start] - growth[0] < np.log(TOLD_APART):
        return (
            f"the calibration is off, most likely since {since}; the batches before do not show"
            " that it was ever right"
        )
    if start > 0:
        return f"the calibration has changed, most likely since {since}"
    if monitor.reference_:
        return f"the calibration is not that of the reference, from the first batch on ({first})"
    return f"the predictions were never calibrated, from the first batch on ({first})"


def _short(value):
    return f"{value:.3g}" if np.isfinite(value) else "beyond 1e308"
