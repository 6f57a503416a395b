"""Runs whose ENCE exceeded its 95 % null quantile before and did not fall by std scaling: which, and why, by three further numbers.

The factor is fitted to the calibration rows. The test rows may ask for another one (sampling); they may ask for the same one, which
lowers the NLL and not the ENCE, because the NLL heeds the rows with the largest errors in units of their std, and the ENCE all bins
alike; and there may be no factor at all that lowers the ENCE (the std are wrong in shape, not in scale).
"""

from dataclasses import dataclass

import numpy as np
from benchmarks.regression_arena import predictions

from calibrant import metrics

SCALING = "StdScaling"
FACTORS = np.exp(np.linspace(-2.0, 2.0, 401))
HEADER = (
    "set, model, seed", "ENCE before", "null", "ENCE after", "null after", "factor fitted", "factor of the test rows",
    "ENCE with that", "least ENCE by any factor", "why",
)  # fmt: skip


@dataclass(frozen=True)
class Exception_:
    """One run. ``own`` is the factor that minimises the NLL of the test rows, ``with_own`` the ENCE it gives them."""

    run: object
    before: float
    null: float
    after: float
    null_after: float
    factor: float
    own: float
    with_own: float
    least: float

    @property
    def why(self):
        """The reason, by the numbers."""
        if self.least >= self.before - 0.005:
            return "no factor lowers it"
        if self.with_own < self.before:
            return "sampling: the test rows ask for another factor"
        return "shape: the factor of the lowest NLL is not that of the lowest ENCE"


def exceeded(table):
    """(R,) bool: runs whose ENCE exceeded its null before."""
    return table.value["ence"][table.nothing] > table.value["null"][table.nothing]


def found(table):
    """The exceptions, in the order of the runs; none before std scaling has run."""
    if SCALING not in table.methods:
        return []
    before, after = (table.value["ence"][i] for i in (table.nothing, table.methods.index(SCALING)))
    return [_explained(table, j) for j in np.flatnonzero(exceeded(table) & (after >= before))]


def _explained(table, j):
    fit, test = predictions.load(table.runs[j])
    scaling = table.methods.index(SCALING)

    def ence(factor):
        return metrics.expected_normalized_calibration_error(test.y, test.mean, factor * test.std)

    own = best_factor(test)
    return Exception_(
        table.runs[j], table.value["ence"][table.nothing, j], table.value["null"][table.nothing, j], table.value["ence"][scaling, j],
        table.value["null"][scaling, j], best_factor(fit), own, ence(own), min(map(ence, FACTORS)),
    )  # fmt: skip


def best_factor(said):
    """The factor of the lowest NLL, in closed form."""
    return float(np.sqrt(np.mean(np.square((said.y - said.mean) / said.std))))


def summary(table, exceptions):
    """What std scaling does to the ENCE, in two sentences."""
    if SCALING not in table.methods:
        return []
    scaling = table.methods.index(SCALING)
    over = exceeded(table)
    still = over & (table.value["ence"][scaling] > table.value["null"][scaling])
    reasons = [e.why for e in exceptions]
    counted = ", ".join(f"{reasons.count(reason)} ({reason})" for reason in dict.fromkeys(sorted(reasons)))
    return [
        f"The ENCE exceeded its 95 % null quantile in {over.sum()} of {len(table.runs)} runs before calibration. Std scaling lowered it in "
        f"{over.sum() - len(exceptions)} of these; {still.sum()} still exceed their null after it.",
        f"Exceptions: {len(exceptions)}" + (f": {counted}." if exceptions else "."),
    ]


def rows_of(exceptions):
    """The table's cells."""
    return [
        (e.run.name.replace("+", ", ").replace("~", ", "), *(f"{getattr(e, name):.3f}" for name in (
            "before", "null", "after", "null_after", "factor", "own", "with_own", "least")), e.why)
        for e in exceptions
    ]  # fmt: skip
