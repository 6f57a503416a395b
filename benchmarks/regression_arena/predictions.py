"""What the models said of the rows to calibrate and to test: made once and kept as npz in a
folder that git ignores.
"""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.regression_arena.cases import MODELS, rows_of

CACHE = Path(__file__).parent / "cache"


@dataclass(frozen=True)
class Said:
    """Mean and std of some rows, their quantiles at ``levels`` where the model says those, and
    what came true, standardised.
    """

    mean: np.ndarray
    std: np.ndarray
    y: np.ndarray
    levels: np.ndarray | None = None
    values: np.ndarray | None = None

    def first(self, n):
        """The first n rows."""
        return Said(
            self.mean[:n],
            self.std[:n],
            self.y[:n],
            self.levels,
            None if self.values is None else self.values[:n],
        )

    def forecast(self):
        """The same as a forecast of calibrant."""
        import calibrant as cb

        return (
            cb.NormalForecast(self.mean, self.std)
            if self.levels is None
            else cb.QuantileForecast(self.levels, self.values)
        )


def load(run):
    """(rows to calibrate, rows to test) of a run, each a :class:`Said`."""
    path = CACHE / f"{run.said}.npz"
    if not path.exists():
        arrays = _predict(run)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may make the same file: the last whole one stands.
        part = path.with_name(f".{path.stem}.{os.getpid()}.npz")
        np.savez_compressed(part, **arrays)
        part.replace(path)
    with np.load(path, allow_pickle=False) as z:
        arrays = {key: z[key] for key in z.files}
    keys = ("mean", "std", "y", "values") if "levels" in arrays else ("mean", "std", "y")
    fit, test = (
        Said(**{key: arrays[f"{key}_{part}"] for key in keys}, levels=arrays.get("levels"))
        for part in ("fit", "test")
    )
    return (fit if run.size is None else fit.first(run.size)), test


def _predict(run):
    train, fit, test = rows_of(run)
    with warnings.catch_warnings():
        # The models are to be fast: whether they converged does not matter here.
        warnings.simplefilter("ignore")
        predict = MODELS[run.case.model](*train, run.seed)
        arrays = {}
        for part, (X, y) in (("fit", fit), ("test", test)):
            said = predict(X)
            if "levels" in said:
                arrays["levels"] = said.pop("levels")
                said |= _moments(arrays["levels"], said["values"])
            arrays |= {f"{key}_{part}": values for key, values in {**said, "y": y}.items()}
    return arrays


def _moments(levels, values):
    """Mean and std of quantiles, for the methods that take nothing else: those of calibrant's
    quantile forecast.
    """
    import calibrant as cb

    forecast = cb.QuantileForecast(levels, values)
    return {"mean": forecast.mean, "std": forecast.std}
