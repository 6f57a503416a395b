"""The cases: models on data sets, with the seeds of the permutation of rows and the rows to
calibrate on. A set or a model is one line.

Parts: "uci", every model on the five UCI sets that the arena began with; the others two models on
each of the sets of ``number_sets``, by its name, at several numbers of rows to calibrate on. What
is chosen is chosen on "choose"; "aside" was judged when the average came and again since; "new" was
looked at once, when all was chosen, and so was "simulated", ten-thousand rows each of known
formulas.
"""

from dataclasses import dataclass

import numpy as np
from benchmarks.arena.tabular import drawn
from benchmarks.regression_arena import models, number_sets

DATA = number_sets.DATA
#: At most so many rows of a UCI set, cut 60 / 20 / 20 into rows to train, to calibrate and to test.
ROWS, TO_TRAIN, TO_CALIBRATE = 3_000, 0.6, 0.2
#: Elsewhere at most so many rows to train and to test, a quarter of the rows to test and to
#: calibrate, and these numbers of the latter; and half of the rows to calibrate, where that is
#: more.
MOST, SIZES = 1_000, (50, 200, 1_000)

SETS = number_sets.UCI
MODELS = {
    "networks": models.network_ensemble,
    "mean-variance": models.mean_variance_network,
    "quantile-boosting": models.quantile_boosting,
    "gaussian-process": models.gaussian_process,
    "forest": models.random_forest,
}
#: Says quantiles, where the others say mean and standard deviation.
SAYS_QUANTILES = ("quantile-boosting",)
PARTS = ("uci", "choose", "aside", "new", "simulated")


@dataclass(frozen=True)
class Case:
    """One (data set, model)."""

    data: str
    model: str

    @property
    def name(self):
        return f"{self.data}+{self.model}"


@dataclass(frozen=True)
class Run:
    """One case with one permutation of the rows: what every calibrator is fitted on and tested
    on; ``size``: rows to calibrate on.
    """

    case: Case
    seed: int
    size: int | None = None

    @property
    def name(self):
        """Folder-safe and unique."""
        return self.said if self.size is None else f"{self.said}~{self.size}"

    @property
    def half(self):
        """Whether half of all rows calibrate."""
        return self.size is not None and self.size > SIZES[-1]

    @property
    def said(self):
        """Name of what the model said, which runs of several sizes share, but for half of the
        rows.
        """
        kind = "" if self.size is None else "half-" if self.half else "sized-"
        return f"{kind}{self.case.name}~{self.seed}"


def grid(seeds=5, sets=SETS):
    """All runs on UCI sets; seeds vary slowest, so that a race cut short has whole seeds first."""
    return [
        Run(Case(data, model), seed) for seed in range(seeds) for data in sets for model in MODELS
    ]


def models_of(name):
    """Two models by the set's name."""
    return [list(MODELS)[(drawn(name, 1) + step) % len(MODELS)] for step in (0, 2)]


def sized(part, seeds=1, sets=None):
    """All runs on the sets of a part, at every size that the rows allow."""
    return [
        Run(Case(data, model), seed, size)
        for seed in range(seeds)
        for data in number_sets.names()
        if number_sets.part_of(data) == part and (sets is None or data in sets)
        for model in models_of(data)
        for size in sizes_of(len(number_sets.load(data)[1]))
    ]


def sizes_of(n):
    """The rows to calibrate on that n rows allow."""
    return [*(size for size in SIZES if n // 4 >= size), *([n // 2] if n // 2 > SIZES[-1] else [])]


def runs_of(part, seeds=None, sets=None):
    """The runs of a part."""
    if part == "uci":
        return grid(seeds or 5, sets or SETS)
    return sized(part, seeds or 1, sets)


def for_the_slow(run):
    """Whether peers that take seconds a fit enter a run: 200 rows of a third of the sets, by
    their names; all of "uci".
    """
    return run.size is None or (run.size == 200 and drawn(run.case.data, 2) % 3 == 0)


def rows_of(run):
    """(inputs, outcomes) of the rows to train, to calibrate and to test, standardised by the
    rows to train.
    """
    X, y = number_sets.load(run.case.data)
    order = np.random.default_rng(run.seed).permutation(len(y))
    if run.size is None:
        order = order[:ROWS]
        parts = np.split(
            order, [int(TO_TRAIN * len(order)), int((TO_TRAIN + TO_CALIBRATE) * len(order))]
        )
    else:
        quarter = min(len(y) // 4, MOST)
        calibrate = run.size if run.half else quarter
        parts = [
            order[calibrate + quarter :][:MOST],
            order[:calibrate],
            order[calibrate : calibrate + quarter],
        ]
    train = parts[0]
    scale = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
    y = (y - y[train].mean()) / y[train].std()
    return [(X[rows], y[rows]) for rows in parts]
