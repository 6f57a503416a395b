"""The cases: every model on every UCI set, with the seeds of the permutation of rows. A set or a model is one line."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.regression_arena import models

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
#: At most so many rows of a set, cut 60 / 20 / 20 into rows to train, to calibrate and to test.
ROWS, TO_TRAIN, TO_CALIBRATE = 3_000, 0.6, 0.2

SETS = ("yacht", "energy", "concrete", "kin8nm", "power-plant")
MODELS = {
    "networks": models.network_ensemble,
    "mean-variance": models.mean_variance_network,
    "quantile-boosting": models.quantile_boosting,
    "gaussian-process": models.gaussian_process,
    "forest": models.random_forest,
}
#: Says quantiles, where the others say mean and standard deviation.
SAYS_QUANTILES = ("quantile-boosting",)


@dataclass(frozen=True)
class Case:
    """One (UCI set, model)."""

    data: str
    model: str

    @property
    def name(self):
        return f"{self.data}+{self.model}"


@dataclass(frozen=True)
class Run:
    """One case with one permutation of the rows: what every calibrator is fitted on and tested on."""

    case: Case
    seed: int

    @property
    def name(self):
        """Folder-safe and unique."""
        return f"{self.case.name}~{self.seed}"


def grid(seeds=5, sets=SETS):
    """All runs; seeds vary slowest, so that a race cut short has whole seeds first."""
    return [Run(Case(data, model), seed) for seed in range(seeds) for data in sets for model in MODELS]


def rows_of(run):
    """(inputs, outcomes) of the rows to train, to calibrate and to test, standardised by the rows to train."""
    with np.load(DATA / "uci" / f"{run.case.data}.npz", allow_pickle=False) as z:
        X, y = z["X"].astype(np.float64), z["y"].astype(np.float64).reshape(len(z["X"]), -1)[:, 0]
    order = np.random.default_rng(run.seed).permutation(len(y))[:ROWS]
    parts = np.split(order, [int(TO_TRAIN * len(order)), int((TO_TRAIN + TO_CALIBRATE) * len(order))])
    train = parts[0]
    scale = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
    y = (y - y[train].mean()) / y[train].std()
    return [(X[rows], y[rows]) for rows in parts]
