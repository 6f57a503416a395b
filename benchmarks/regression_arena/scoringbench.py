"""Our error bars by ScoringBench's protocol, as ScoringBench's results:
``python -m benchmarks.regression_arena.scoringbench --data FOLDER``.

ScoringBench (https://github.com/jonaslandsgesell/ScoringBench; Landsgesell 2026,
https://arxiv.org/abs/2603.08206) asks a model for a histogram of each test row and keeps scores of
every fold in ``OUTPUT/raw/MODEL/SET.parquet``. This command writes the same files of the models of
``benchmarks.regression_arena``, so that its ``aggregate_datasets.py`` and
``autorank_leaderboard.py`` read ours beside theirs. Each model is entered alone, trained on all
rows of the fold, and with each calibrator, fitted on a quarter of these rows that the model does
not see.

Protocol: five folds (``KFold`` with shuffling, seed 42), of which at most 2,400 rows train and 600
test. The histogram is that of its own quantile models: the quantiles at 1 to 99 % are its edges,
and one more bin as wide as its neighbour lies on either side. ``scores`` follows its definitions,
in float32 as there.

A set is a file ``NAME.csv`` whose last column is the outcome. With ScoringBench installed, its own
sets are written so::

    from scoringbench.datasets import get_DATASETS_CONFIG, load_dataset

    for each in get_DATASETS_CONFIG():
        X, y = load_dataset(each)
        X.assign(outcome=y).to_csv(f"FOLDER/{each['name'].replace(' ', '_')}.csv", index=False)
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.arena.run import attempt, chosen
from benchmarks.arena.tabular import numbers
from benchmarks.regression_arena.calibrators import discovered
from benchmarks.regression_arena.cases import MODELS
from benchmarks.regression_arena.predictions import Said
from scipy.stats import rankdata
from sklearn.model_selection import KFold

__all__ = ["LEVELS", "folds", "histogram", "main", "ranks", "scores"]

LEVELS = np.arange(1, 100) / 100.0
SEED, FOLDS, MOST_ROWS = 42, 5, 3_000
#: Share of the training rows that calibrate.
HELD_OUT = 0.25
POWERS = (-0.5, -0.2, 0.2)
EXPONENTS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.5, 1.7, 1.8, 1.9)
Fold = tuple[np.ndarray, np.ndarray]


# -- Its protocol ----------------------------------------------------------------------------------


def folds(n: int) -> Iterator[Fold]:
    """(rows to train, rows to test) of each fold, cut as ScoringBench cuts them."""
    splitter = KFold(FOLDS, shuffle=True, random_state=SEED)
    for k, (train, test) in enumerate(splitter.split(np.zeros(n))):
        caps = MOST_ROWS * (FOLDS - 1) // FOLDS, MOST_ROWS // FOLDS
        yield tuple(
            rows
            if len(rows) <= cap
            else np.random.default_rng(SEED * 10_007 + k + step).choice(rows, cap, replace=False)
            for step, (rows, cap) in enumerate(zip((train, test), caps, strict=True))
        )


def histogram(quantiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(masses (n, 100), edges (n, 101)) of quantiles (n, 99) at ``LEVELS``."""
    q = np.sort(quantiles, axis=1)
    left, right = (np.maximum(q[:, b] - q[:, a], 1e-7) for a, b in ((0, 1), (-2, -1)))
    edges = np.column_stack([q[:, 0] - left, q, q[:, -1] + right])
    return np.full((len(q), len(LEVELS) + 1), 0.01), edges


# -- Its scores ------------------------------------------------------------------------------------


def scores(masses: np.ndarray, edges: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Column -> value of histograms (n, bins) with edges (n, bins + 1), in ScoringBench's
    names.
    """
    p, edges, y = (np.asarray(a, dtype=np.float32) for a in (masses, edges, y))
    width, middle = np.diff(edges, axis=1), (edges[:, :-1] + edges[:, 1:]) / 2
    mean, rows = (p * middle).sum(axis=1), np.arange(len(y))
    cdf = np.cumsum(p, axis=1, dtype=np.float64).astype(np.float32)
    at = np.minimum((edges[:, 1:] < y[:, None]).sum(axis=1), p.shape[1] - 1)
    wide = np.maximum(width, 1e-10)
    density = np.maximum(p[rows, at] / wide[rows, at], 1e-10)
    spread = np.sqrt(np.maximum((p * middle**2).sum(axis=1) - mean**2, 0.0))
    found = {
        "mae": np.abs(y - mean).mean(),
        "rmse": np.sqrt(np.square(y - mean).mean()),
        "r2": 1.0 - np.square(y - mean).mean() / max(float(y.var()), 1e-12),
        **(energy := _energy(p, width, middle, y)),
        "crps": energy["energy_score_beta_1.0"],
        "log_score": -np.log(density).mean(),
        "sharpness": spread.mean(),
        "dispersion": spread.std(),
        "crls": _ranked_log(cdf, width, at),
        "cde_loss": ((p**2 / wide).sum(axis=1) - 2.0 * p[rows, at] / wide[rows, at]).mean(),
        **{
            f"cressie_read_lambda_{power}": ((density**-power - 1.0) / (power * (power + 1))).mean()
            for power in POWERS
        },
        **_weighted(cdf, middle, y),
    }
    for alpha in (0.1, 0.05):
        level = f"{100 * (1 - alpha):.0f}"
        low, high = _interval(cdf, edges, alpha)
        outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
        found[f"coverage_{level}"] = (outside == 0.0).mean()
        found[f"interval_score_{level}"] = (high - low + 2.0 / alpha * outside).mean()
    return {name: float(value) for name, value in found.items()}


def _energy(
    p: np.ndarray, width: np.ndarray, middle: np.ndarray, y: np.ndarray
) -> dict[str, np.ndarray]:
    """Energy scores E|X - y|^b - E|X - X'|^b / 2 for each exponent b, a bin's mass spread evenly
    over it. For two bins |X - X'| is the distance of their middles.
    """
    left, right = (middle + side * width / 2 - y[:, None] for side in (-1, 1))
    with np.errstate(divide="ignore"):
        log_between = np.log(np.abs(middle[:, :, None] - middle[:, None, :]))
    found = {}
    for b in EXPONENTS:
        area = right * np.abs(right) ** b - left * np.abs(left) ** b
        to_y = (p * area / (np.maximum(width, 1e-10) * (b + 1.0))).sum(axis=1)
        between = np.exp(np.float32(b) * log_between)
        within = (p**2 * width**b).sum(axis=1) * 2.0 / ((b + 1.0) * (b + 2.0))
        pairs = np.matmul(np.matmul(p[:, None, :], between), p[:, :, None])[:, 0, 0] + within
        found[f"energy_score_beta_{b}"] = (to_y - 0.5 * pairs).mean()
    return found


def _ranked_log(cdf: np.ndarray, width: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Continuous ranked logarithmic score: cross-entropy of the cumulated histogram and the step
    at the outcome's bin, weighted by the bins' widths.
    """
    least = np.finfo(np.float32).eps
    inside = np.clip(cdf, least, 1.0 - least)
    after = np.arange(cdf.shape[1]) >= at[:, None]
    return (np.where(after, -np.log(inside), -np.log1p(-inside)) * width).sum(axis=1).mean()


def _weighted(cdf: np.ndarray, middle: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Quantile-weighted CRPS of the lower tail, the centre and the upper tail (Gneiting and
    Ranjan 2011).
    """
    # The levels that torch.linspace gives, as the bins' sums reach some of them by rounding only.
    first, last, step = np.float32([0.01, 0.99, 0.01]).astype(np.float64)
    k = np.arange(99)
    levels = np.where(k < 49, first + step * k, last - step * (98 - k)).astype(np.float32)
    index = np.stack([(cdf < level).sum(axis=1) for level in levels], axis=1)
    q = np.take_along_axis(middle, np.minimum(index, cdf.shape[1] - 1), axis=1)
    pinball = 2.0 * ((y[:, None] <= q) - levels) * (q - y[:, None])
    weights = {"left": (1 - levels) ** 2, "right": levels**2, "center": levels * (1 - levels)}
    return {f"wcrps_{name}": (pinball * v).sum(axis=1).mean() / 100 for name, v in weights.items()}


def _interval(cdf: np.ndarray, edges: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """The edges around the middle of so much mass: the one before the first bin that reaches the
    lower level, and the one after that of the upper level.
    """
    last, rows = cdf.shape[1] - 1, np.arange(len(cdf))
    low, high = (
        (cdf < np.float32(level)).sum(axis=1) for level in (alpha / 2.0, 1.0 - alpha / 2.0)
    )
    return edges[rows, np.clip(low, 0, last)], edges[rows, np.clip(high + 1, 0, last)]


# -- Models and calibrators ------------------------------------------------------------------------


def _entries(models: list[str], methods: list[Any]) -> dict[str, tuple[Callable[..., Any], Any]]:
    """Name -> (fits the model, calibrator or None)."""
    found = {}
    for model in models:
        found[model] = MODELS[model], None
        found |= {f"{model}+{method.name}": (MODELS[model], method) for method in methods}
    return found


def _said(predict: Callable[..., Any], X: np.ndarray, y: np.ndarray) -> Said:
    import calibrant as cb

    answer = predict(X)
    if "levels" not in answer:
        return Said(answer["mean"], answer["std"], y)
    forecast = cb.QuantileForecast(answer["levels"], answer["values"])
    return Said(forecast.mean, forecast.std, y, answer["levels"], answer["values"])


def one(
    entry: tuple[Callable[..., Any], Any], X: np.ndarray, y: np.ndarray, fold: Fold, seed: int
) -> dict[str, Any]:
    """The scores of one entry on one fold. A calibrator that fails raises RuntimeError."""
    fit_model, method = entry
    train, test = fold
    start = time.time()
    held_out = train[:0]
    if method is not None:
        train = np.random.default_rng(seed).permutation(train)
        train, held_out = np.split(train, [len(train) - int(HELD_OUT * len(train))])
    scale = X[train].std(axis=0)
    Z = (X - X[train].mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
    middle, spread = y[train].mean(), max(y[train].std(), 1e-12)
    t = (y - middle) / spread
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predict = fit_model(Z[train], t[train], seed)
        tested = _said(predict, Z[test], t[test])
        if method is None:
            quantiles = tested.forecast().quantile(LEVELS)
        else:
            quantiles, remarks = attempt(
                method.make,
                lambda made: made.fit(_said(predict, Z[held_out], t[held_out])),
                lambda made: made.calibrator.predict(tested.forecast()).quantile(LEVELS),
            )
            if quantiles is None:
                raise RuntimeError(f"{method.name}: {remarks['problem']}")
    masses, edges = histogram(middle + spread * np.asarray(quantiles))
    return scores(masses, edges, y[test]) | {"train_time": time.time() - start}


def run(name: str, X: np.ndarray, y: np.ndarray, entries: dict[str, Any], output: Path) -> int:
    """Every entry on every fold of a set that has no file yet; returns how many files were
    written.
    """
    written = 0
    for entry, made_of in entries.items():
        path = output / "raw" / entry / f"{name}.parquet"
        if path.exists():
            continue
        try:
            rows = [
                one(made_of, X, y, fold, SEED) | {"fold": k, "dataset": name, "model": entry}
                for k, fold in enumerate(folds(len(y)))
            ]
        except RuntimeError as failed:
            print(f"{name}, {entry} is left out: {failed}", file=sys.stderr)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_parquet(path, index=False)
        written += 1
    return written


def ranks(folders: list[Path], metric: str) -> list[tuple[str, float, float, int]]:
    """(model, mean rank over the sets, mean score, sets) of every model with results in one of
    the folders, on the sets that all of them have; the best rank first.

    A folder holds ``raw/MODEL/SET.parquet`` or the aggregated ``MODEL.parquet``.
    """
    kinds = ("raw/*/*.parquet", "*.parquet")
    files = [file for folder in folders for kind in kinds for file in sorted(folder.glob(kind))]
    parts = [pd.read_parquet(file) for file in files]
    parts = [part[["model", "dataset", metric]] for part in parts if metric in part]
    if not parts:
        return []
    table = pd.concat(parts).groupby(["dataset", "model"])[metric].mean().unstack().dropna()
    best = rankdata(table.to_numpy(), axis=1).mean(axis=0) if len(table) else []
    found = zip(table.columns, best, table.mean(), strict=False)
    return sorted(((m, float(r), float(s), len(table)) for m, r, s in found), key=lambda x: x[1])


def main() -> None:
    """Run what is missing, then print the ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder of NAME.csv")
    parser.add_argument("--output", type=Path, default=Path("output"), help="results (output)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument(
        "--methods", nargs="+", default=["ForecastIdentity", "AutoRegressionCalibrator"]
    )
    parser.add_argument(
        "--beside", type=Path, nargs="+", default=[], help="ScoringBench's own output folders"
    )
    parser.add_argument("--metric", default="crps", help="what the ranks are of (crps)")
    options = parser.parse_args()
    sets = sorted(options.data.glob("*.csv"))
    if not sets:
        raise SystemExit(f"no set NAME.csv is in {options.data}: see --help of this module")
    entries = _entries(options.models, chosen(discovered(), options.methods))
    for path in sets:
        frame = pd.read_csv(path)
        outcome = frame.columns[-1]
        frame = frame.dropna(subset=[outcome])
        X, y = numbers(frame.drop(columns=outcome)), frame[outcome].to_numpy(dtype=float)
        print(f"{path.stem}: {run(path.stem, X, y, entries, options.output)} new results")
    for name, rank, mean, n in ranks([options.output, *options.beside], options.metric):
        print(f"{name:55} rank {rank:6.2f}  {options.metric} {mean:.4f}  ({n} sets)")


if __name__ == "__main__":
    main()
