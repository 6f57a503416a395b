"""The answer of an internal validation."""

from dataclasses import dataclass
from typing import Any

from calibrant._support.extras import import_extra
from calibrant._support.text_table import text_table
from calibrant.contracts.columns import plain

__all__ = ["ValidatedMetric", "Validation"]

#: AUROCs corrected in two ways that lie further apart than this say that resamples show too little of the optimism.
APART = 0.05


@dataclass(frozen=True)
class ValidatedMetric:
    """One metric of an internally validated model.

    Attributes
    ----------
    key, name : str
        The metric's key and its name.
    apparent : float
        Its value on the rows that the model was fitted to.
    training, test : float
        Means over the resamples: on the resample that a model was fitted to, and of that model on all rows.
    optimism : float
        ``training - test``.
    corrected : float
        ``apparent - optimism``: the estimate of the metric on new rows.
    low, high : float
        The interval of ``corrected``; nan without one.
    corrected_632 : float
        The .632+ estimate of the same.
    low_632, high_632 : float
        Its interval; nan without one.
    resamples : int
        The resamples on which the metric was defined.
    """

    key: str
    name: str
    apparent: float
    training: float
    test: float
    optimism: float
    corrected: float
    low: float
    high: float
    corrected_632: float
    low_632: float
    high_632: float
    resamples: int


@dataclass(frozen=True, repr=False)
class Validation:
    """The metrics of an internally validated model; printing it gives a table, and ``result["event_auroc"]`` one metric.

    Attributes
    ----------
    metrics : tuple of ValidatedMetric
        One for each metric.
    n, events : float
        Rows, and rows with the event (sums of weights).
    n_resamples : int
        Resamples that the optimism is a mean over.
    level : float
        The level of the intervals.

    See Also
    --------
    validate : makes one.
    """

    metrics: tuple[ValidatedMetric, ...]
    n: float
    events: float
    n_resamples: int
    level: float

    def __getitem__(self, key: str) -> ValidatedMetric:
        """The metric of this key, such as "log_loss"."""
        return {one.key: one for one in self.metrics}[key]

    @property
    def caution(self) -> str | None:
        """Which column to read where the two corrections do not agree; None where they do."""
        one = self["event_auroc"]
        if not one.corrected - one.corrected_632 > APART:
            return None
        return (
            f"The corrected AUROC ({one.corrected:.3f}) is far above .632+ ({one.corrected_632:.3f}): the model learns its rows by heart, "
            "so that the resamples show too little optimism; read .632+."
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values, ready for JSON; ``metrics`` is by key."""
        known = {name: getattr(self, name) for name in ("n", "events", "n_resamples", "level", "caution")}
        return plain({**known, "metrics": {one.key: vars(one) for one in self.metrics}})

    def frame(self) -> Any:
        """One row a metric, as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of a validation", "frames")
        return pandas.DataFrame([vars(one) for one in self.metrics])

    def __repr__(self) -> str:
        interval = f"{self.level:.0%} interval"
        head = ("metric", "apparent", "optimism", "corrected", interval, ".632+", interval)
        rows = [
            (one.name, *_said(one.apparent, one.optimism, one.corrected), _range(one.low, one.high), *_said(one.corrected_632),
             _range(one.low_632, one.high_632))
            for one in self.metrics
        ]  # fmt: skip
        said = f"{self.n:,.0f} rows, {self.events:,.0f} events, {self.n_resamples:,} resamples"
        return "\n".join([said, *text_table(head, rows), *([self.caution] if self.caution else [])])


def _said(*values: float) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _range(low: float, high: float) -> str:
    return "" if low != low else f"[{low:.3f}, {high:.3f}]"
