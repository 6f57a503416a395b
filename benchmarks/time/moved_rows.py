"""Labelled rows and new rows, where the inputs changed: natural shifts, tilts and simulations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.arena.outputs import FOLDER as STAGE2
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

__all__ = ["Case", "Moved", "cases"]

OLD, NEW = 3_000, 1_500


@dataclass(frozen=True)
class Moved:
    """Risks, labels and inputs of labelled rows and of new ones; ``truth`` (m,), if known, are the
    new rows' true risks.
    """

    p: np.ndarray
    y: np.ndarray
    X: np.ndarray
    p_new: np.ndarray
    y_new: np.ndarray
    X_new: np.ndarray
    truth: np.ndarray | None = None


@dataclass(frozen=True)
class Case:
    """A shift; ``kind`` is "simulated", "tilted" (the assumption holds by construction) or
    "natural".
    """

    name: str
    kind: str
    draw: Callable[[np.random.Generator], Moved]


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def _simulated(law: str, trees: bool) -> Callable[[np.random.Generator], Moved]:
    def inputs(rng: np.random.Generator, n: int, moved: bool) -> np.ndarray:
        if law == "heavy tails":
            return rng.standard_t(5, size=(n, 4)) + (0.6 if moved else 0.0)
        if law == "spread":
            return rng.normal(size=(n, 4)) * (1.5 if moved else 1.0)
        X = rng.random((n, 4))
        return np.sqrt(X) if moved else X

    def risk(X: np.ndarray) -> np.ndarray:
        if law == "heavy tails":
            return _sigmoid(1.5 * np.tanh(X[:, 0]) + np.abs(X[:, 1]) - 1.0 + 0.4 * X[:, 2])
        if law == "spread":
            return _sigmoid(X[:, 0] * (1.0 + X[:, 1]) - 0.3)
        return _sigmoid(np.where(X[:, 0] > 0.6, -3.5 + 4.0 * X[:, 1], -4.0 + 2.0 * X[:, 2]))

    def draw(rng: np.random.Generator) -> Moved:
        X, old, new = inputs(rng, 1_500, False), inputs(rng, OLD, False), inputs(rng, NEW, True)
        labels = [(rng.random(len(x)) < risk(x)).astype(int) for x in (X, old, new)]
        model: Any = HistGradientBoostingClassifier(max_iter=50) if trees else LogisticRegression()
        model.fit(X, labels[0])
        p, p_new = (model.predict_proba(x)[:, 1] for x in (old, new))
        return Moved(p, labels[1], old, p_new, labels[2], new, risk(new))

    return draw


def _rows(name: str, risk: str) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    held = np.load(STAGE2 / f"{name}.npz")
    p = (held[risk] - 0.5) / 10.0 if "decile" in risk else held[risk]
    given = {key: held[key] for key in held.files}
    return p.astype(float), held["label"].astype(int), given


def _tilted(name: str, risk: str, by: str, levels: tuple[str, ...]) -> Any:
    """New rows have six times as many of some levels; the inputs include the tilted column."""

    def draw(rng: np.random.Generator) -> Moved:
        p, y, held = _rows(name, risk)
        chosen = np.isin(held[by], levels)
        X = np.column_stack([held["features"].astype(float), chosen])
        order = rng.permutation(len(y))
        old, rest = order[: min(OLD, len(y) // 2)], order[len(y) // 2 :]
        weight = np.where(chosen[rest], 6.0, 1.0)
        size = min(NEW, len(rest) // 3)
        new = rng.choice(rest, size, replace=False, p=weight / weight.sum())
        return Moved(p[old], y[old], X[old], p[new], y[new], X[new])

    return draw


def _later(name: str, risk: str, start: float, by: str | None = None) -> Any:
    """Rows of a window in time, and those of the next."""

    def draw(rng: np.random.Generator) -> Moved:
        p, y, held = _rows(name, risk)
        order = np.arange(len(y)) if by is None else np.argsort(held[by], kind="stable")
        window, begin = min(2 * OLD, len(y) // 3), int(start * len(y))
        old = rng.permutation(order[begin : begin + window])[:OLD]
        new = rng.permutation(order[begin + window : begin + 2 * window])[:NEW]
        X = held["features"].astype(float)
        return Moved(p[old], y[old], X[old], p[new], y[new], X[new])

    return draw


def cases() -> list[Case]:
    """All shifts."""
    out = [
        Case(f"{law}, {'trees' if trees else 'logistic'}", "simulated", _simulated(law, trees))
        for law in ("heavy tails", "spread", "rare event")
        for trees in (False, True)
    ]
    tilts = (
        ("groups_adult", "p_logreg", "g_age", ("<=25", "66+")),
        ("groups_adult", "p_hgb", "g_education", ("advanced", "bachelors")),
        ("groups_adult", "p_logreg", "g_marital", ("Married-civ-spouse",)),
        ("groups_adult", "p_hgb", "g_sex", ("Female",)),
        ("groups_bank", "p_logreg", "g_age", ("66+", "<=25", "56-65")),
        ("groups_bank", "p_hgb", "g_poutcome", ("success",)),
        ("groups_bank", "p_logreg", "g_job", ("retired", "student")),
        ("groups_compas", "decile_score", "age_cat", ("Less than 25",)),
        ("groups_compas", "decile_score", "race", ("Caucasian",)),
        ("groups_law_school", "p_logreg", "g_tier", ("1", "2")),
        ("groups_law_school", "p_hgb", "g_race", ("Non-White",)),
    )
    out += [
        Case(f"{n[7:]} by {b[2:] if b[:2] == 'g_' else b}", "tilted", _tilted(n, r, b, v))
        for n, r, b, v in tilts
    ]
    times = (
        ("groups_bank", "p_logreg", 0.0, None),
        ("groups_bank", "p_hgb", 0.3, None),
        ("groups_compas", "decile_score", 0.0, "screening_day"),
        ("groups_compas", "decile_score", 0.3, "screening_day"),
        ("drift_elec2", "p_logreg", 0.0, None),
        ("drift_elec2", "p_hgb", 0.2, None),
        ("drift_elec2", "p_logreg", 0.4, None),
        ("drift_elec2", "p_hgb", 0.6, None),
    )
    return out + [
        Case(f"{n.split('_')[1]} in time from {s:g}", "natural", _later(n, r, s, b))
        for n, r, s, b in times
    ]
