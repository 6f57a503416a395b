"""The record of predictions in symbols, from which a calibrator builds its own expression."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibrant.core.expression import Expression, constant, join, source
from calibrant.core.given import Inputs

__all__ = ["RISKS", "SymbolicRecord", "symbolic"]

#: Forms of one number for the second class, and the input of the calibrator.
RISKS: dict[str, Callable[[Expression], Expression]] = {
    "probability": lambda x: x,
    "percent": lambda x: x / 100.0,
    "log_probability": Expression.exp,
    "logit": lambda x: x,
}


@dataclass(frozen=True)
class SymbolicRecord:
    """The derived values of ``Predictions`` in symbols, with the same names.

    Attributes
    ----------
    values : Expression, (n, K): probabilities or logits, as given
    kind : {"probability", "logit"}
    groups : tuple of Expression, width 1 each: the positions of the row's levels of each column of
        groups, -1 for unknown levels
    least : float, the floor of probabilities in logarithms

    See Also
    --------
    Expression : the nodes.
    """

    values: Expression
    kind: Inputs
    groups: tuple[Expression, ...] = ()
    least: float = float(np.finfo(np.float64).tiny)

    @property
    def n_classes(self) -> int:
        return self.values.width

    def above(self, least: float) -> "SymbolicRecord":
        """The same rows with probabilities of at least ``least`` in logarithms."""
        return self if least == self.least else replace(self, least=least)

    @cached_property
    def probabilities(self) -> Expression:
        """(n, K), rows that sum to 1."""
        return self.values.softmax() if self.kind == "logit" else self.values.normalised()

    @cached_property
    def log_probabilities(self) -> Expression:
        """(n, K), finite."""
        return (
            self.values.log_softmax()
            if self.kind == "logit"
            else self.probabilities.clip(self.least, np.inf).log_probabilities()
        )

    @property
    def logits(self) -> Expression:
        """(n, K): the logits as given, or the log-probabilities."""
        return self.values if self.kind == "logit" else self.log_probabilities

    @cached_property
    def predicted(self) -> Expression:
        """Position of the first largest value, width 1."""
        return self.values.argmax()

    @cached_property
    def is_predicted(self) -> Expression:
        """(n, K): 1 at the predicted class, else 0."""
        return self.predicted.gather(np.eye(self.n_classes))

    @cached_property
    def confidence(self) -> Expression:
        """The largest probability, width 1."""
        return self.probabilities.max()

    def tempered(self, temperature: float, mixing: float) -> Expression:
        """log((1 - mixing) softmax(logits / T) + mixing / K), the input of structured scalings."""
        scaled = self.logits * (1.0 / temperature)
        if not mixing:
            return scaled.log_softmax()
        return (scaled.softmax() * (1.0 - mixing) + mixing / self.n_classes).log()

    def with_confidence(self, confidence: Expression) -> Expression:
        """Rows with ``confidence`` at the predicted class and the rest shared as in the
        probabilities, equally where they have none.
        """
        rest = self.is_predicted.where(0.0, self.probabilities)
        total = rest.sum()
        even = constant(np.full(self.n_classes, 1.0 / max(self.n_classes - 1, 1)))
        share = total.where(rest / total.where(total, 1.0), even)
        return self.is_predicted.where(confidence, share * (1.0 - confidence))


def symbolic(
    n_classes: int, kind: Inputs, n_groups: int = 0, risk: str | None = None
) -> SymbolicRecord:
    """The symbolic record of input predictions, (n, K), or followed by the positions of levels, (n,
    K + n_groups).

    With ``risk``, one of ``RISKS``, one number of the second of two classes replaces the K.
    """
    width = n_classes if risk is None else 1
    if not n_groups and risk is None:
        return SymbolicRecord(source(n_classes), kind)
    given = source(width + n_groups)
    columns = [given.column(j) for j in range(given.width)]
    values = join(columns[:width])
    if risk is not None:
        second = RISKS[risk](values)
        values = join([second * 0.0 if kind == "logit" else 1.0 - second, second])
    return SymbolicRecord(values, kind, tuple(columns[width:]))
