"""The data of the benchmark and what two models say of it: a mean with a std, and seven
quantiles.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
SIMULATED = ("constant", "heteroscedastic", "skewed", "heavy tails")
REAL = ("diabetes", "concrete", "energy", "kin8nm", "power-plant", "yacht")
LEVELS = (0.5, 0.9, 0.99)
QUANTILES = (0.005, 0.05, 0.25, 0.5, 0.75, 0.95, 0.995)
MOST_ROWS = 2500
#: Standard deviation of a normal error over its mean absolute value.
STD_OF_ABSOLUTE = 1.2533


@dataclass
class Case:
    """What was said of calibration and test rows: arrays by name, with "_cal" and "_test" at the
    end; y in units of its own std.
    """

    name: str
    seed: int
    held: dict[str, np.ndarray]


def names() -> list[str]:
    """The sets that are here."""
    return [
        *SIMULATED,
        *(name for name in REAL if name == "diabetes" or (DATA / "uci" / f"{name}.npz").exists()),
    ]


def rows_of(name: str, seed: int, n: int = MOST_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Shuffled features and outcomes, the outcomes in units of their standard deviation."""
    rng = np.random.default_rng([seed, len(name)])
    if name in SIMULATED:
        X = rng.uniform(-1.0, 1.0, (n, 4))
        noise = {
            "constant": lambda: rng.normal(size=n),
            "heteroscedastic": lambda: np.exp(1.5 * X[:, 1]) * rng.normal(size=n),
            "skewed": lambda: (1.2 + X[:, 1]) * (rng.gamma(0.7, 1.4, n) - 1.0),
            "heavy tails": lambda: np.exp(X[:, 1]) * rng.standard_t(2.5, n) / 2.0,
        }[name]()
        y = 2.0 * np.sin(3.0 * X[:, 0]) + X[:, 2] + 0.5 * noise
    elif name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        with np.load(DATA / "uci" / f"{name}.npz") as file:
            X, y = file["X"], file["y"]
    rows = rng.permutation(len(y))[:n]
    return X[rows], y[rows] / y[rows].std()


def case(name: str, seed: int) -> Case:
    """A forest's mean and std and a boosting's quantiles, fitted on 40 % of the rows, of 30 % to
    calibrate and 30 % to test.
    """
    X, y = rows_of(name, seed)
    a, b = int(0.4 * len(y)), int(0.7 * len(y))
    forest = RandomForestRegressor(60, min_samples_leaf=3, oob_score=True, random_state=seed).fit(
        X[:a], y[:a]
    )
    error = np.abs(y[:a] - forest.oob_prediction_)
    scale = RandomForestRegressor(60, min_samples_leaf=15, random_state=seed).fit(X[:a], error)
    boosted = [
        HistGradientBoostingRegressor(
            loss="quantile", quantile=q, max_iter=60, max_leaf_nodes=8, random_state=seed
        ).fit(X[:a], y[:a])
        for q in QUANTILES
    ]
    held = {}
    for part, rows in (("cal", slice(a, b)), ("test", slice(b, None))):
        held[f"y_{part}"] = y[rows]
        held[f"mean_{part}"] = forest.predict(X[rows])
        held[f"std_{part}"] = STD_OF_ABSOLUTE * np.maximum(
            scale.predict(X[rows]), 0.05 * error.mean()
        )
        # A tiny step keeps equal quantiles apart, which no density can have.
        values = np.sort(np.stack([model.predict(X[rows]) for model in boosted], axis=1), axis=1)
        held[f"quantiles_{part}"] = values + 1e-9 * np.arange(len(QUANTILES))
    return Case(name, seed, held)
