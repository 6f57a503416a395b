"""The record of predictions with an expression for each of its parts, from which a calibrator makes the expression of its own."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant.contracts.expression import Expression, constant, join, source
from calibrant.predictions import Inputs

__all__ = ["SymbolicRecord", "symbolic"]


@dataclass(frozen=True)
class SymbolicRecord:
    """What ``Predictions`` derives from its values, by the same names.

    Attributes
    ----------
    values : Expression, (n, K): probabilities or logits, as given
    kind : {"probability", "logit"}
    groups : tuple of Expression, width 1 each: the positions of the row's levels of each column of groups, -1 for one that is not known

    See Also
    --------
    Expression : the nodes.
    """

    values: Expression
    kind: Inputs
    groups: tuple[Expression, ...] = ()

    @property
    def n_classes(self) -> int:
        return self.values.width

    @cached_property
    def probabilities(self) -> Expression:
        """(n, K), rows that sum to 1."""
        return self.values.softmax() if self.kind == "logit" else self.values.normalised()

    @cached_property
    def log_probabilities(self) -> Expression:
        """(n, K), finite."""
        return self.values.log_softmax() if self.kind == "logit" else self.probabilities.log_probabilities()

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
        """log((1 - mixing) softmax(logits / T) + mixing / K), what structured scalings work on."""
        scaled = self.logits * (1.0 / temperature)
        if not mixing:
            return scaled.log_softmax()
        return (scaled.softmax() * (1.0 - mixing) + mixing / self.n_classes).log()

    def with_confidence(self, confidence: Expression) -> Expression:
        """Rows with ``confidence`` at the predicted class and the rest shared as in the probabilities, equally where they have none."""
        rest = self.is_predicted.where(0.0, self.probabilities)
        total = rest.sum()
        even = constant(np.full(self.n_classes, 1.0 / max(self.n_classes - 1, 1)))
        share = total.where(rest / total.where(total, 1.0), even)
        return self.is_predicted.where(confidence, share * (1.0 - confidence))


def symbolic(n_classes: int, kind: Inputs, n_groups: int = 0) -> SymbolicRecord:
    """The record of predictions as they will be given, (n, K), or with the positions of levels behind them, (n, K + n_groups)."""
    if not n_groups:
        return SymbolicRecord(source(n_classes), kind)
    given = source(n_classes + n_groups)
    columns = [given.column(j) for j in range(given.width)]
    return SymbolicRecord(join(columns[:n_classes]), kind, tuple(columns[n_classes:]))
