"""Certificates: their inputs, the evidence behind a certified threshold, the sentences of refusals,
and counts by score that certify a threshold on data of any size.

The inputs are whole rows and the score of each answer. The evidence has its sentence. A refusal
says what the best evidence is, why it was not enough, and what would be. The counts are of rows and
of errors.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from calibrant._numerics.certificates import (
    Blocks,
    Start,
    Test,
    allowed_errors,
    best_place,
    certified_place,
    fewest_rows,
    rows_needed,
    starts_of,
)
from calibrant._numerics.intervals import clopper_pearson
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike, weights, whole_rows
from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.guarantee import plain
from calibrant.core.kinds import require_calibrator, require_signal
from calibrant.core.map import Signal, fitted_signal
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions
from calibrant.core.saving import Saved
from calibrant.core.text_table import percent
from calibrant.errors import InputError, NotFittedError

__all__ = [
    "Certificate",
    "ErrorCounts",
    "Search",
    "confidence_of",
    "counted_rows",
    "probabilities_of",
    "repetitions",
    "require_share",
    "too_few",
    "uncertified",
    "unrecalled",
]


def repetitions(weight: np.ndarray) -> np.ndarray:
    """Return the weights, which must be whole numbers of rows."""
    odd = np.flatnonzero(~whole_rows(weight))
    if len(odd):
        raise InputError(
            "sample_weight must be whole numbers, how often each row was observed, because a"
            f" certificate counts rows; row {odd[0]} has {weight[odd[0]]:.6g} ({len(odd)} in"
            " all); leave it out. Weights of a sampling design or of importance need weighted"
            " conformal prediction, with weights learned from other rows."
        )
    return np.rint(weight)


def require_share(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is above 0 and below 1."""
    if isinstance(value, bool) or not (isinstance(value, float | int) and 0.0 < value < 1.0):
        raise InputError(f"{name} must be above 0 and below 1; got {value!r}; 0.05 means 5 %.")


def counted_rows(n: int, sample_weight: ArrayLike | None) -> Predictions:
    """Return a record of n rows alone: which of them have weight (``kept``), and how much."""
    weight, mask = weights(sample_weight, n)
    count = n if mask is None else int(np.count_nonzero(mask))
    return Predictions(np.zeros((count, 1)), "probability", np.arange(1), weight=weight, kept=mask)


def confidence_of(
    part: Signal | Calibrator | None, record: Predictions
) -> tuple[Signal | Calibrator | None, np.ndarray]:
    """Return (the fitted part, its score of each row); an unfitted signal is fitted on the record
    without labels.
    """
    if part is None:
        return None, record.confidence
    if isinstance(part, DomainCalibrator):
        part = require_calibrator(part, "signal")
        return part, _fitted_result(part, record, "confidence_record")
    signal = require_signal(part)
    fitted = (
        signal
        if hasattr(signal, "classes_")
        else fitted_signal(signal, replace(record, labels=None))
    )
    return fitted, fitted.score_record(record)


def probabilities_of(part: Signal | Calibrator | None, record: Predictions) -> np.ndarray:
    """Return (n, K) probabilities, calibrated by the fitted part if there is one."""
    if part is None:
        return record.probabilities
    return _fitted_result(require_calibrator(part, "signal"), record, "predict_record")


def _fitted_result(part: Any, record: Predictions, method: str) -> np.ndarray:
    """Return the result of a method of a fitted calibrator."""
    if not is_fitted(part):
        raise InputError(
            "signal must be fitted on rows other than those of the certificate; got an unfitted"
            f" {type(part).__name__}; fit it first, or pass a signal such as Margin()."
        )
    try:
        return getattr(part, method)(record)
    except NotFittedError as error:
        raise InputError(str(error)) from None


@dataclass(frozen=True)
class Certificate(Saved):
    """The evidence behind a certified threshold.

    Attributes
    ----------
    n : float
        Rows (or clusters) that the threshold was certified on.
    accepted : float
        How many of them it accepts; rows tied with the threshold are not accepted.
    errors : float
        Number of errors among the accepted rows, or their summed loss.
    risk : float
        Upper limit of the share of errors among accepted rows, which holds with probability
        ``confidence`` over calibration sets.
    bound : float
        Upper limit of that share at this threshold alone, as if it had been chosen beforehand. It
        is at most ``risk``, and is not guaranteed.
    confidence : float
    method : str
    unit : {"rows", "clusters"}
    quantity : str
        The quantity that counts as an error.
    target : object
        "answer": answers are accepted. Else the event, or the class, whose alerts are accepted:
        rows that are flagged as it.
    recall : float or None
        Least share of all such rows that is flagged, with the same confidence.
    note : str
        A sentence on a class whose accepted answers are worse than the promise.

    See Also
    --------
    SelectiveClassifier, NeymanPearsonClassifier : make certificates.
    core.Guarantee : the promise, with its assumptions.

    Examples
    --------
    >>> said = Certificate(1000, 547, 41, 0.1, 0.0945, 0.9, "exact binomial, fixed sequence")
    >>> str(said).split(";")[0]
    'Accepts 547 of 1,000 rows (54.7 %), 41 of them wrong'
    """

    n: float
    accepted: float
    errors: float
    risk: float
    bound: float
    confidence: float
    method: str
    unit: Literal["rows", "clusters"] = "rows"
    quantity: str = "wrong"
    target: Any = "answer"
    recall: float | None = None
    note: str = ""

    @property
    def share(self) -> float:
        """The share of rows that are accepted."""
        return self.accepted / self.n

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the share, ready for JSON."""
        return plain({**vars(self), "share": self.share})

    def __str__(self) -> str:
        binary = self.quantity == "wrong"
        verb, action = ("Accepts", "accepted") if self.target == "answer" else ("Flags", "flagged")
        errors = (
            f"{self.errors:,.0f} of them wrong"
            if binary
            else f"with a summed {self.quantity} of {self.errors:,.4g}"
        )
        promise = (
            f"at most {100.0 * self.risk:g} % of {action} new {self.unit} are wrong"
            if binary
            else f"the mean {self.quantity} of {action} new {self.unit} is at most {self.risk:g}"
        )
        if self.recall is not None:
            promise += f", and at least {100.0 * self.recall:g} % of the events are flagged"
        return (
            f"{verb} {self.accepted:,.0f} of {self.n:,.0f} {self.unit} ({percent(self.share)}"
            f"), {errors}; {promise}, with confidence {100.0 * self.confidence:g} %"
            f" ({self.method}).{self.note and ' '}{self.note}"
        )


#: Risks that are tried for the least that these rows certify: two digits each.
RISKS = np.concatenate([np.arange(10, 100) / 10.0**digits for digits in (4, 3, 2)])


@dataclass(frozen=True)
class Search:
    """A search for a threshold that certified none: its rows, starts, and what was to be proved."""

    blocks: Blocks
    starts: list[Start]
    #: Fewest rows that may be accepted.
    least: float
    risk: float
    confidence: float
    delta: float
    test: Test
    unit: Literal["rows", "clusters"] = "rows"


def too_few(
    n: float,
    least: int,
    risk: float,
    confidence: float,
    unit: str = "rows",
    advice: str = "pass more, or allow more risk",
) -> str:
    """Return the message for too few rows, even if none of them were an error."""
    return (
        f"a risk of {risk:g} at a confidence of {confidence:g} needs at least {least:,} {unit}"
        f" without an error; got {n:,.0f}; {advice}."
    )


def uncertified(search: Search) -> str:
    """Return the message for a search without a result, all from its numbers."""
    blocks, unit = search.blocks, search.unit
    fewest = fewest_rows(search.risk, search.delta)
    if search.least > blocks.n:
        return (
            f"no share of accepted {unit} can be certified: {blocks.n:,.0f} {unit} prove a share of"
            f" {search.delta ** (1.0 / blocks.n):.3g} at most; lower accepted_share, or pass more."
        )
    place, proved = best_place(blocks, search.delta, search.test, search.least)
    loss, count = float(blocks.total_loss[place]), float(blocks.covered[place])
    advice = _advice(search, place)
    if blocks.n < fewest:
        return too_few(blocks.n, fewest, search.risk, search.confidence, unit, advice)
    rows = f"all {count:,.0f} {unit}" if count == blocks.n else f"the {count:,.0f} of highest score"
    errors = f"{loss:,.0f} wrong {unit}" if blocks.binary else f"a summed loss of {loss:,.4g}"
    best = f"{rows} hold {errors} ({percent(loss / count)})"
    return (
        f"no threshold can be certified at a risk of {search.risk:g} and a confidence of"
        f" {search.confidence:g}: {best}, which {_evidence_message(search, place, proved)};"
        f" {advice}."
    )


def _evidence_message(search: Search, place: int, proved: float) -> str:
    """Say what the best rows prove, and why that was not tested."""
    if proved > search.risk:
        return f"is the best evidence and proves a risk of {proved:.2g}"
    would = f"would prove a risk of {proved:.2g}, but only if they had been chosen beforehand"
    count = float(search.blocks.covered[place])
    before = [start for start in search.starts if start[0] <= count]
    if not before:
        return f"{would}: the tests begin at {search.starts[0][0]:,.0f} {search.unit}"
    begin, share = before[-1]
    index = int(np.searchsorted(search.blocks.covered, begin - 1e-9))
    tested, loss = float(search.blocks.covered[index]), float(search.blocks.total_loss[index])
    most = allowed_errors(int(tested), search.risk, share)
    return (
        f"{would}: the test that leads there begins at {tested:,.0f} {search.unit}, which may hold"
        f" {most} wrong ones at its share of the failure probability ({share:.2g}) and hold"
        f" {loss:,.4g}"
    )


def _advice(search: Search, place: int) -> str:
    blocks, unit = search.blocks, search.unit
    allow = _risk_advice(search)
    n_rows = rows_needed(blocks, search.risk, search.delta, search.least)
    if math.isfinite(n_rows):
        digit = 10.0 ** (math.floor(math.log10(n_rows)) - 1)
        rows = digit * math.ceil(n_rows / digit)
        return f"pass about {rows:,.0f} {unit} like these, or {allow}"
    least = clopper_pearson(blocks.total_loss[place], blocks.covered[place], search.confidence)[0]
    rate = blocks.total_loss / blocks.covered
    if least > search.risk and (rate > search.risk).all():
        return (
            f"more {unit} would not help, because no part of them is better than that; {allow}, or"
            " find a more discriminating score"
        )
    return (
        f"these {unit} do not show whether more would help; {allow}, or find a more discriminating"
        " score"
    )


def _risk_advice(search: Search) -> str:
    """Name the least risk that these rows certify, of two digits."""

    def certified(risk: float) -> bool:
        starts = starts_of(search.blocks, risk, search.delta, search.test, search.least)
        return certified_place(search.blocks, risk, starts, search.test)[0] >= 0

    low, high = int(np.searchsorted(RISKS, search.risk, side="right")), len(RISKS) - 1
    if low > high or not certified(float(RISKS[high])):
        return "allow more risk"
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if certified(float(RISKS[middle])) else (middle + 1, high)
    return f"allow a risk of {RISKS[high]:g}"


def unrecalled(recall: float, risk: float, hits: float, events: float, least: float) -> str:
    """Return the message for alerts that keep the risk and hold too few of the events."""
    return (
        f"a recall of {recall:g} cannot be certified beside a risk of {risk:g}: the rows that may"
        f" be flagged hold {hits:,.0f} of {events:,.0f} events, and a proof needs {least:,.0f};"
        " lower recall, or allow more risk."
    )


#: Cells have equal width in the logit and reach to 1.5e-8 from 0 and 1. No cell of a smooth
#: distribution holds a share of 1e-4 of the rows.
N_CELLS, REACH = 2**18, 18.0
EDGES: np.ndarray = 1.0 / (1.0 + np.exp(-np.linspace(-REACH, REACH, N_CELLS - 1)))


class ErrorCounts(Saved):
    """Counts of rows and errors in 262,144 cells of a score in [0, 1], to certify a threshold where
    the rows do not fit in memory.

    Parameters
    ----------
    counts : (262144, 2) array, optional
        Rows and errors of each cell; empty by default.

    See Also
    --------
    SelectiveClassifier : ``fit_counts`` reads them.

    Notes
    -----
    Add the counts of the parts with ``+`` or ``sum``; they take four megabytes for any number of
    rows. The threshold is the lower end of a cell, so the certificate is as exact as from the rows;
    it only accepts up to a cell of rows less.

    Examples
    --------
    >>> a = ErrorCounts().add([0.9, 0.6], [0, 1])
    >>> b = ErrorCounts().add([0.8], [0])
    >>> (a + b).n
    3.0
    """

    def __init__(self, counts: np.ndarray | None = None) -> None:
        self.counts: np.ndarray = np.zeros((N_CELLS, 2)) if counts is None else counts

    def add(
        self, score: ArrayLike, loss: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add scores (n,) in [0, 1] and losses (n,) of 0 and 1, and return self."""
        values = arrays.scores(score, domain="unit")
        errors = arrays.binary_outcomes(loss, len(values))
        weight, mask = arrays.weights(sample_weight, len(values))
        if mask is not None:
            values, errors = values[mask], errors[mask]
        cell = np.searchsorted(EDGES, values, side="right")
        times = None if weight is None else repetitions(weight)
        rows = np.bincount(cell, times, N_CELLS)
        self.counts = self.counts + np.column_stack(
            [rows, np.bincount(cell, errors if times is None else errors * times, N_CELLS)]
        )
        return self

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.counts[:, 0].sum())

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (score, loss, repetitions) in place of the rows, for both outcomes; the score is
        the largest number below the next cell.
        """
        if self.n == 0.0:
            raise InputError("counts must hold rows; got none; call add first.")
        ends = np.append(np.nextafter(EDGES, -np.inf), 1.0)
        errors, correct = self.counts[:, 1], self.counts[:, 0] - self.counts[:, 1]
        score, loss, times = (
            np.tile(ends, 2),
            np.repeat([1.0, 0.0], N_CELLS),
            np.concatenate([errors, correct]),
        )
        occupied = times > 0.0
        return score[occupied], loss[occupied], times[occupied]

    def __add__(self, other: Any) -> "ErrorCounts":
        return (
            ErrorCounts(self.counts + other.counts)
            if isinstance(other, ErrorCounts)
            else NotImplemented
        )

    def __radd__(self, other: Any) -> "ErrorCounts":
        return self if other == 0 else NotImplemented
