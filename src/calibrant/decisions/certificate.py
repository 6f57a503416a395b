"""The evidence behind a certified threshold, and its sentence."""

from dataclasses import dataclass
from typing import Any, Literal

from calibrant.core.guarantee import plain
from calibrant.core.saving import Saved
from calibrant.core.text_table import percent

__all__ = ["Certificate"]


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
        lost = self.quantity == "wrong"
        verb, done = ("Accepts", "accepted") if self.target == "answer" else ("Flags", "flagged")
        errors = (
            f"{self.errors:,.0f} of them wrong"
            if lost
            else f"with a summed {self.quantity} of {self.errors:,.4g}"
        )
        promise = (
            f"at most {100.0 * self.risk:g} % of {done} new {self.unit} are wrong"
            if lost
            else f"the mean {self.quantity} of {done} new {self.unit} is at most {self.risk:g}"
        )
        if self.recall is not None:
            promise += f", and at least {100.0 * self.recall:g} % of the events are flagged"
        return (
            f"{verb} {self.accepted:,.0f} of {self.n:,.0f} {self.unit} ({percent(self.share)}"
            f"), {errors}; {promise}, with confidence {100.0 * self.confidence:g} %"
            f" ({self.method}).{self.note and ' '}{self.note}"
        )
