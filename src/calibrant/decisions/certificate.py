"""What a threshold was certified with, said in one sentence."""

from dataclasses import dataclass
from typing import Any, Literal

from calibrant.contracts.columns import plain

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate:
    """The evidence behind a certified threshold.

    Attributes
    ----------
    n : float
        Rows (or clusters) that the threshold was certified on.
    accepted : float
        Those of them that it accepts; a row that lies on the threshold is not among them.
    errors : float
        How many of the accepted are wrong, or their summed loss.
    risk : float
        What the share of errors among accepted rows does not exceed, with probability ``confidence`` over calibration sets.
    bound : float
        Upper limit of that share at this threshold alone, as if it had been named beforehand. It is at most ``risk``, and no promise.
    confidence : float
    method : str
    unit : {"rows", "clusters"}
    quantity : str
        What is counted as an error.

    See Also
    --------
    SelectiveClassifier, NeymanPearsonClassifier : make one.
    contracts.Guarantee : the promise, with what it assumes.

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

    @property
    def share(self) -> float:
        """Of the rows, those accepted."""
        return self.accepted / self.n

    def to_dict(self) -> dict[str, Any]:
        """The fields and the share, ready for JSON."""
        return plain({**vars(self), "share": self.share})

    def __str__(self) -> str:
        lost = self.quantity == "wrong"
        held = f"{self.errors:,.0f} of them wrong" if lost else f"with a summed {self.quantity} of {self.errors:,.4g}"
        promise = (
            f"at most {100.0 * self.risk:g} % of accepted new {self.unit} are wrong" if lost
            else f"the mean {self.quantity} of accepted new {self.unit} is at most {self.risk:g}"
        )  # fmt: skip
        return (
            f"Accepts {self.accepted:,.0f} of {self.n:,.0f} {self.unit} ({100.0 * self.share:.1f} %), {held}; {promise}, "
            f"with confidence {100.0 * self.confidence:g} % ({self.method})."
        )
