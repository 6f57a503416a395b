"""Small made problems that the checks run on: an overconfident model of classes, scores for maps, forecasts whose spread is too small.

Each has ``take(rows)``, the same problem with some of its rows to fit, ``only(rows)``, with some of its rows to predict, and ``len``.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from calibrant._kernels.softmax import log_softmax, softmax
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.normal import NormalForecast
from calibrant.forecasts.quantiles import QuantileForecast

__all__ = ["ForecastProblem", "Problem", "ScoreProblem", "forecast_problems", "joint_rows", "problem", "problems", "score_problem"]

#: Rows to fit, by the number of classes.
ROWS = {2: 120, 3: 120, 10: 200, 20: 200}


@dataclass(frozen=True)
class Problem:
    """A calibration problem: what the model said on rows to fit and rows to predict, what was true, and the features.

    Attributes
    ----------
    logits, logits_test : (n, K) float64
    y : (n,) positions of the true classes.
    weight : (n,) whole numbers from 0 to 3.
    X, X_test : (n, 2)
    reference : (X_train, y_train)
    P_override, P_test_override : (n, K) or None
        Probabilities to use instead of the softmax of the logits.
    """

    name: str
    logits: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    X: np.ndarray
    logits_test: np.ndarray
    X_test: np.ndarray
    reference: tuple[np.ndarray, np.ndarray]
    P_override: np.ndarray | None = None
    P_test_override: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        return self.logits.shape[1]

    @property
    def P(self) -> np.ndarray:
        """(n, K) probabilities of the rows to fit."""
        return _exact_binary(softmax(self.logits)) if self.P_override is None else self.P_override

    @property
    def P_test(self) -> np.ndarray:
        """(n, K) probabilities of the rows to predict."""
        return _exact_binary(softmax(self.logits_test)) if self.P_test_override is None else self.P_test_override

    @property
    def said(self) -> tuple[Any, ...]:
        """What a metric is given beside y."""
        return (self.P,)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "Problem":
        P = None if self.P_override is None else self.P_override[rows]
        return replace(self, logits=self.logits[rows], y=self.y[rows], weight=self.weight[rows], X=self.X[rows], P_override=P)

    def only(self, rows: Any) -> "Problem":
        P = None if self.P_test_override is None else self.P_test_override[rows]
        return replace(self, logits_test=self.logits_test[rows], X_test=self.X_test[rows], P_test_override=P)

    def with_probabilities(self, P: np.ndarray, P_test: np.ndarray | None = None) -> "Problem":
        """The same problem with other probabilities, and their logits."""
        P_test = self.P_test if P_test is None else P_test
        return replace(self, P_override=P, P_test_override=P_test, logits=_logits(P), logits_test=_logits(P_test))


def _exact_binary(P):
    """Two columns as the door makes them of one, so that both forms hold the same numbers."""
    return np.column_stack([1.0 - P[:, 1], P[:, 1]]) if P.shape[1] == 2 else P


def _logits(P):
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(np.asarray(P, dtype=np.float64)), -800.0)


@cache
def problem(n_classes: int, seed: int = 0) -> Problem:
    """Blobs on a circle, and a nearest-mean model that is twice too sure."""
    rng = np.random.default_rng([seed, n_classes])
    n = ROWS[n_classes]
    angle = 2.0 * np.pi * np.arange(n_classes) / n_classes
    mean = 0.45 * n_classes**0.75 * np.column_stack([np.cos(angle), np.sin(angle)])

    def draw(rows):
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rows - n_classes)])
        X = mean[y] + rng.normal(size=(rows, 2))
        distance = ((X[:, None, :] - mean[None]) ** 2).sum(axis=2)
        return X, y, log_softmax(-distance)

    X, y, logits = draw(n)
    X_test, _, logits_test = draw(40)
    X_train, y_train, _ = draw(80)
    weight = rng.integers(0, 4, n).astype(np.float64)
    return Problem(f"{n_classes} classes", logits, y, weight, X, logits_test, X_test, (X_train, y_train))


def problems(*, binary_only: bool = False) -> list[Problem]:
    """The ordinary problems: two, three and ten classes."""
    return [problem(2)] if binary_only else [problem(2), problem(3), problem(10)]


@dataclass(frozen=True)
class ScoreProblem:
    """Scores and outcomes for a map: fit on (score, correct, weight), predict ``test``."""

    name: str
    score: np.ndarray
    correct: np.ndarray
    weight: np.ndarray
    test: np.ndarray

    def __len__(self) -> int:
        return len(self.score)

    def take(self, rows: Any) -> "ScoreProblem":
        return replace(self, score=self.score[rows], correct=self.correct[rows], weight=self.weight[rows])

    def only(self, rows: Any) -> "ScoreProblem":
        return replace(self, test=self.test[rows])


@cache
def score_problem(domain: str) -> ScoreProblem:
    """150 scores in [0, 1] with ties, more often right the higher they are; for "real", their log-odds."""
    rng = np.random.default_rng(7)
    score = np.round(rng.beta(3.0, 1.5, 150), 2).clip(0.01, 0.99)
    correct = (rng.random(150) < score**1.5).astype(np.float64)
    test = np.linspace(0.0, 1.0, 61)
    if domain == "real":
        score, test = np.log(score / (1.0 - score)), np.linspace(-8.0, 8.0, 61)
    return ScoreProblem(f"{domain} scores", score, correct, rng.integers(0, 4, 150).astype(np.float64), test)


@dataclass(frozen=True)
class ForecastProblem:
    """Forecasts and outcomes of rows to fit, forecasts and outcomes of rows to predict, and whole-number weights from 0 to 3."""

    name: str
    forecast: Forecast
    y: np.ndarray
    weight: np.ndarray
    test: Forecast
    y_test: np.ndarray

    @property
    def said(self) -> tuple[Any, ...]:
        """What a metric is given beside y."""
        return as_arguments(self.forecast)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "ForecastProblem":
        return replace(self, forecast=self.forecast.take(rows), y=self.y[rows], weight=self.weight[rows])

    def only(self, rows: Any) -> "ForecastProblem":
        return replace(self, test=self.test.take(rows), y_test=self.y_test[rows])


def as_arguments(forecast: Any) -> tuple[Any, ...]:
    """(mean, std) of normal forecasts, others as they are."""
    return (forecast.mean, forecast.std) if isinstance(forecast, NormalForecast) else (forecast,)


@cache
def forecast_problems() -> list[ForecastProblem]:
    """One output, three outputs, and quantile forecasts; errors are half as large again as the standard deviations say."""
    rng = np.random.default_rng(5)

    def draw(shape):
        mean, std = 3.0 * rng.normal(size=shape), np.exp(0.5 * rng.normal(size=shape))
        return NormalForecast(mean, std), mean + 1.5 * std * rng.normal(size=shape)

    def quantiles(forecast):
        levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
        return QuantileForecast(levels, forecast.quantile(levels) + 0.1 * forecast.std[..., None])

    weight = rng.integers(0, 4, 150).astype(np.float64)
    one, y, test, y_test = *draw(150), *draw(40)
    three, y3, test3, y_test3 = *draw((150, 3)), *draw((40, 3))
    return [
        ForecastProblem("one output", one, y, weight, test, y_test),
        ForecastProblem("three outputs", three, y3, weight, test3, y_test3),
        ForecastProblem("quantiles", quantiles(one), y, weight, quantiles(test), y_test),
    ]


def joint_rows(n: int, d: int, random_state: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated forecasts of d outputs together: (n, d) means, (n, d, d) covariances and (n, d) outcomes drawn from them."""
    rng = np.random.default_rng(random_state)
    mean, root = rng.normal(size=(n, d)), rng.normal(size=(n, d, d)) / np.sqrt(d) + 0.5 * np.eye(d)
    cov = root @ root.transpose(0, 2, 1) + 0.05 * np.eye(d)
    return mean, cov, mean + np.einsum("nij,nj->ni", np.linalg.cholesky(cov), rng.normal(size=(n, d)))
