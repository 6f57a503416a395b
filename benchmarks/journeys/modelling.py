"""A calibrated model, beside the model alone and beside scikit-learn's wrapper."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.journeys.outcomes import Outcome
from benchmarks.journeys.truth import expected_loss
from benchmarks.journeys.worlds import Rows, World, logit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibrant as cb

__all__ = ["around_a_model"]

MODELS = (
    GaussianNB(),
    HistGradientBoostingClassifier(max_iter=30, random_state=0),
    LogisticRegression(),
)
#: Losing up to 1 % of the expected log loss to the model alone, or to the rival, is no harm.
HARM = 0.01


def around_a_model(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Each model is wrapped as a person would, and judged on rows to come."""
    if world.kind != "event" or world.suspect or world.name == "clustered" or world.n > 1_000:
        return
    rows, fresh = world.rows(seed), world.fresh(seed)
    X, new = _features(rows, seed), _features(fresh, seed + 7)
    for model in MODELS[:1] if quick else MODELS:
        name = type(model).__name__
        loss = {
            "the model alone": _loss(model, X, rows.outcome, new, fresh.truth),
            "scikit-learn's wrapper": _loss(
                CalibratedClassifierCV(model), X, rows.outcome, new, fresh.truth
            ),
        }
        ours = _loss(cb.CalibratedClassifier(model), X, rows.outcome, new, fresh.truth)
        for rival, other in loss.items():
            detail = f"{name}: expected log loss {ours:.4f}, {rival} {other:.4f}"
            worse = ours > (1.0 + HARM) * other
            yield Outcome(f"{name}, beside {rival}", "wrong advice", worse, 0.05, detail)


def _features(rows: Rows, seed: int) -> np.ndarray:
    """Five noisy views of what was said, which naive Bayes takes for independent evidence."""
    rng = np.random.default_rng([seed, 41])
    return logit(rows.said)[:, None] + rng.normal(0.0, 1.0, (len(rows.said), 5))


def _loss(model: Any, X: np.ndarray, y: np.ndarray, new: np.ndarray, truth: np.ndarray) -> float:
    return expected_loss(truth, clone(model).fit(X, y).predict_proba(new)[:, 1])
