"""Multilabel tables and ordinal targets: pooled maps beside independent and nominal ones.

The ordinal targets are columns of Rdatasets (CALIBRANT_RDATASETS, see
``benchmarks.arena.table_sets``) and targets of five UCI sets in five bins of equal counts.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from benchmarks.arena.datasets import DATA
from benchmarks.arena.outputs import FOLDER as STAGE2
from benchmarks.arena.table_sets import FOLDER
from benchmarks.questions.table import goal, line
from sklearn.ensemble import RandomForestClassifier

import calibrant as cb

__all__ = ["multilabel", "ordinal"]

MULTILABEL = ("scene", "yeast", "enron", "bibtex", "tmc2007_500")
UCI = ("concrete", "energy", "kin8nm", "power-plant", "yacht")
#: Table of Rdatasets -> (target, its levels in order, columns left out because they tell it).
TABLES: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "carData/WVS": ("poverty", ["Too Little", "About Right", "Too Much"], ()),
    "carData/BEPS": ("economic.cond.national", list("12345"), ()),
    "AER/Affairs": ("rating", list("12345"), ()),
    "ordinal/soup": ("SURENESS", list("123456"), ("PRODID",)),
    "ggplot2/diamonds": ("cut", ["Fair", "Good", "Very Good", "Premium", "Ideal"], ()),
}
#: Rows of an ordinal set, at most.
ROWS = 4_000
#: Smallest probability of a label in the log loss, as in the sets' own table.
FLOOR = 1e-6


def _log_loss(P: np.ndarray, Y: np.ndarray) -> float:
    P = np.clip(P, FLOOR, 1.0 - FLOOR)
    return float(-(Y * np.log(P) + (1 - Y) * np.log1p(-P)).mean())


def _apart(P: np.ndarray, Y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """One Platt map for each label that has both outcomes."""
    out = new.copy()
    for j in range(P.shape[1]):
        if 0 < Y[:, j].sum() < len(Y):
            out[:, j] = cb.Platt().fit(P[:, j], Y[:, j]).predict(new[:, j])
    return out


def _labels(P: np.ndarray, Y: np.ndarray, seed: int) -> list[float]:
    """Macro log losses and Brier scores of nothing, one map, independent maps and pooled maps."""
    order = np.random.default_rng(seed).permutation(len(P))
    fit, new = order[: len(P) // 2], order[len(P) // 2 :]
    found = [
        P[new],
        cb.QuestionCalibrator(by="one").fit(P[fit], Y[fit]).predict(P[new]),
        _apart(P[fit], Y[fit], P[new]),
        cb.QuestionCalibrator().fit(P[fit], Y[fit]).predict(P[new]),
    ]
    brier = [float(np.mean((one - Y[new]) ** 2)) for one in found]
    return [_log_loss(one, Y[new]) for one in found] + brier


def multilabel(repeats: int) -> None:
    """Print losses on half the rows, after a fit on the other half."""
    names = ("none", "one", "apart", "pooled")
    line("set, outputs (log loss, Brier)", names * 2)
    means = list[np.ndarray]()
    for name in MULTILABEL:
        with np.load(STAGE2 / f"multilabel_{name}.npz") as z:
            for output in (one for one in z.files if one.startswith("p_")):
                P, Y = z[output].astype(float), z["label"]
                mean = np.mean([_labels(P, Y, seed) for seed in range(repeats)], axis=0)
                line(f"{name} {output[2:]}, {P.shape[1]} labels", mean.tolist())
                means.append(mean)
    every = np.array(means)
    for k, score in ((0, "macro log loss"), (4, "Brier score")):
        for other in (0, 2):
            lower = every[:, k + 3] < every[:, k + other]
            words = f"{score} of pooled below {('nothing', '', 'independent maps')[other]}"
            goal(words, f"{lower.sum()} of {len(lower)} outputs", bool(lower.all()))


def _targets() -> Iterator[tuple[str, np.ndarray, np.ndarray, int]]:
    """(name, features, level from 0, number of levels)."""
    for name, (target, levels, left_out) in TABLES.items():
        table = pd.read_csv(FOLDER / "csv" / f"{name}.csv").dropna(subset=[target])
        table = table.sample(min(ROWS, len(table)), random_state=0)
        text = table[target].astype(str).str.removesuffix(".0")
        y = text.map({level: k for k, level in enumerate(levels)})
        features = table.drop(columns=["rownames", target, *left_out], errors="ignore")
        X = pd.get_dummies(features[y.notna()], dtype=float).fillna(0.0)
        yield f"{name} {target}", X.to_numpy(), y.dropna().to_numpy(int), len(levels)
    for name in UCI:
        with np.load(DATA / "uci" / f"{name}.npz") as z:
            X, value = z["X"][:ROWS], z["y"][:ROWS].ravel()
        edges = np.quantile(value, (0.2, 0.4, 0.6, 0.8))
        yield f"uci/{name}, 5 bins", X, np.searchsorted(edges, value), 5


def _ranked(P: np.ndarray, y: np.ndarray) -> float:
    """Ranked probability score, divided by the number of thresholds."""
    K = P.shape[1]
    steps = np.cumsum(P, axis=1) - (np.arange(K) >= y[:, None])
    return float((steps**2).sum(axis=1).mean() / (K - 1))


def _scores(X: np.ndarray, y: np.ndarray, K: int, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(y))
    third = len(y) // 3
    train, fit, new = order[: -2 * third], order[-2 * third : -third], order[-third:]
    model = RandomForestClassifier(60, random_state=seed).fit(X[train], y[train])
    P = np.zeros((len(y), K))
    P[:, model.classes_] = model.predict_proba(X)
    # The 61st vote is split evenly, so that no level has probability 0.
    P = (60.0 * P + 1.0 / K) / 61.0
    found = [
        P[new],
        cb.TemperatureScaling(classes=range(K)).fit(P[fit], y[fit]).predict_proba(P[new]),
        cb.calibrators.VectorScaling(classes=range(K)).fit(P[fit], y[fit]).predict_proba(P[new]),
        cb.QuestionCalibrator(ordered=True).fit(P[fit], y[fit]).predict(P[new]),
    ]
    return [_ranked(one, y[new]) for one in found]


def ordinal(repeats: int) -> None:
    """Print ranked probability scores of random forests on a third of the rows."""
    line("target (ranked probability score)", ("none", "temperature", "vector", "ordered"))
    means = list[np.ndarray]()
    for name, X, y, K in _targets():
        means.append(np.mean([_scores(X, y, K, seed) for seed in range(repeats)], axis=0))
        line(f"{name} {len(y)}", means[-1].tolist())
    every = np.array(means)
    for k, other in ((1, "temperature scaling"), (2, "vector scaling"), (0, "nothing")):
        lower = every[:, 3] <= every[:, k]
        away = float((every[:, 3] / every[:, k] - 1.0).mean())
        words = f"ordered is at or below {other}"
        goal(words, f"{lower.sum()} of {len(lower)} sets, mean {away:+.2%}", bool(lower.all()))
