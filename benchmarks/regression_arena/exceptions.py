"""Runs whose ENCE exceeded its 95 % null quantile before and did not fall by std scaling: which,
and why, by three further numbers.

The factor is fitted to the calibration rows. The test rows may ask for another one (sampling); they
may ask for the same one, which lowers the NLL and not the ENCE, because the NLL heeds the rows with
the largest errors in units of their std, and the ENCE all bins alike; and there may be no factor at
all that lowers the ENCE (the std are wrong in shape, not in scale).
"""

from dataclasses import dataclass

import numpy as np
from benchmarks.regression_arena import predictions
from benchmarks.regression_arena.table import DRAWS

from calibrant import metrics

SCALING = "StdScaling"
FACTORS = np.exp(np.linspace(-2.0, 2.0, 401))
HEADER = (
    "set, model, seed",
    "ENCE before",
    "null",
    "ENCE after",
    "rise",
    "factor fitted",
    "factor of the test rows",
    "ENCE with that",
    "least ENCE by any factor",
    "why",
)


@dataclass(frozen=True)
class Rise:
    """One exception. ``interval``: of the rise, 95 %, over resampled test rows; ``own``: the
    factor that minimises the test rows' NLL.
    """

    run: object
    before: float
    null: float
    after: float
    interval: tuple
    factor: float
    own: float
    with_own: float
    least: float

    @property
    def clear(self):
        """Whether the rise is more than the choice of test rows explains."""
        return self.interval[0] > 0.0

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

    own, factor = best_factor(test), best_factor(fit)
    before, null = (table.value[column][table.nothing, j] for column in ("ence", "null"))
    after = table.value["ence"][scaling, j]
    return Rise(
        table.runs[j],
        before,
        null,
        after,
        _interval(test, factor),
        factor,
        own,
        ence(own),
        min(map(ence, FACTORS)),
    )


def _interval(said, factor):
    """95 % percentile interval of what the factor adds to the ENCE, test rows drawn with
    replacement.
    """
    ence, rng = metrics.expected_normalized_calibration_error, np.random.default_rng(0)
    rises = []
    for _ in range(DRAWS):
        rows = rng.integers(0, len(said.y), len(said.y))
        y, mean, std = said.y[rows], said.mean[rows], said.std[rows]
        rises.append(ence(y, mean, factor * std) - ence(y, mean, std))
    return tuple(np.quantile(rises, [0.025, 0.975]).tolist())


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
    counted = ", ".join(
        f"{reasons.count(reason)} ({reason})" for reason in dict.fromkeys(sorted(reasons))
    )
    clear = sum(e.clear for e in exceptions)
    return [
        (
            f"The ENCE exceeded its 95 % null quantile in {over.sum()} of {len(table.runs)} runs"
            f" before calibration. Std scaling lowered it in {over.sum() - len(exceptions)} of"
            f" these; {still.sum()} still exceed their null after it."
        ),
        f"Exceptions: {len(exceptions)}, of which {clear} are clear (the 95 % interval of the rise"
        " over resampled test rows is above 0)"
        + (f". By reason: {counted}." if exceptions else "."),
    ]


def rows_of(exceptions):
    """The table's cells."""
    rows = []
    for e in exceptions:
        rise = "{:+.3f} ({:+.3f}, {:+.3f})".format(e.after - e.before, *e.interval)
        numbers = [
            f"{number:.3f}"
            for number in (e.before, e.null, e.after, e.factor, e.own, e.with_own, e.least)
        ]
        rows.append(
            (
                e.run.name.replace("+", ", ").replace("~", ", "),
                *numbers[:3],
                rise,
                *numbers[3:],
                e.why,
            )
        )
    return rows
