"""Coverage of estimates without labels: no shift, a mild and a strong tilt, and new class rates.

The model is a logistic regression that lacks an interaction. Weights come from logistic regression
alone, so that 200 draws of a shift take minutes.
"""

import numpy as np
from benchmarks.questions.table import line
from benchmarks.time.estimate import true_metrics
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant as cb
from calibrant.monitoring.estimates import estimates

__all__ = ["run"]

METRICS = ("accuracy", "log_loss", "event_auroc")
TILTS = {"no shift": 0.0, "mild tilt": 0.6, "strong tilt": 1.5}
OLD, NEW, RATE = 1_500, 750, 0.65


def _risk(X: np.ndarray) -> np.ndarray:
    bend = 0.35 * np.maximum(X[:, 0] - 1.0, 0.0) ** 2
    return 1.0 / (1.0 + np.exp(0.6 - 1.1 * X[:, 0] - 0.5 * X[:, 0] * X[:, 1] + bend))


def _labelled(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(X)) < _risk(X)).astype(int)


def _new(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and labels of new rows."""
    if kind in TILTS:
        X = rng.normal((TILTS[kind], 0.0), size=(NEW, 2))
        return X, _labelled(X, rng)
    X = rng.normal(size=(20 * NEW, 2))
    y, events = _labelled(X, rng), int(RATE * NEW)
    rows = np.concatenate([np.flatnonzero(y == 1)[:events], np.flatnonzero(y == 0)[: NEW - events]])
    return X[rows], y[rows]


def _measured(kind: str, seed: int) -> list[list[float]]:
    """By metric: whether the interval covers, whether the state holds, the error, the width."""
    rng = np.random.default_rng([seed, 7])
    X = rng.normal(size=(1_000, 2))
    model = LogisticRegression().fit(X, _labelled(X, rng))
    X = rng.normal(size=(OLD, 2))
    y, (X_new, y_new) = _labelled(X, rng), _new(kind, rng)
    p, p_new = (model.predict_proba(x)[:, 1] for x in (X, X_new))
    weights = cb.ImportanceWeights(model=make_pipeline(StandardScaler(), LogisticRegression()))
    found = estimates(p_new, METRICS, reference=(p, y), X=(X, X_new), importance=weights)
    truth = true_metrics(y_new, p_new)
    return [
        [
            float(one.low <= truth[one.metric] <= one.high),
            float(one.state == "holds"),
            one.value - truth[one.metric],
            one.high - one.low,
        ]
        for one in found
    ]


def run(repeats: int) -> None:
    """Print coverage, the share of states that hold, coverage among these, bias and width."""
    line("shift, metric", ["covers", "holds", "covers if", "bias", "width"])
    for kind in (*TILTS, "new class rates"):
        drawn = np.array([_measured(kind, seed) for seed in range(repeats)])
        for metric, one in zip(METRICS, drawn.swapaxes(0, 1), strict=True):
            covers, holds, error, width = one.T
            sure = covers[holds == 1.0]
            shares = [covers.mean(), holds.mean(), sure.mean() if len(sure) else np.nan]
            numbers = [*shares, error.mean(), width.mean()]
            line(f"{kind}, {metric}", [f"{number:.3f}" for number in numbers])
