"""Synthetic problems, some with exactly representable numbers, and metrics evaluated on them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from calibrant._numerics.logistic import log_softmax, softmax
from calibrant.core.domain import Domain, Facet
from calibrant.core.forecast import Forecast, NormalForecast
from calibrant.core.quantile_forecast import QuantileForecast
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.metrics.forecast_joint import JOINT
from calibrant.metrics.sets import SETS

__all__ = [
    "COARSE",
    "ForecastProblem",
    "Problem",
    "ScoreProblem",
    "exact_forecasts",
    "exact_problem",
    "exact_scores",
    "forecast_problems",
    "joint_rows",
    "kind_of",
    "near",
    "ordinary",
    "problem",
    "problems",
    "score_problem",
    "valid",
    "value",
]

#: Number of rows to fit, by the number of classes.
ROWS = {2: 120, 3: 120, 10: 200, 20: 200}


@dataclass(frozen=True)
class Problem:
    """A calibration problem: predictions of rows to fit and to predict, labels, and features.

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
        return (
            _exact_binary(softmax(self.logits_test))
            if self.P_test_override is None
            else self.P_test_override
        )

    @property
    def said(self) -> tuple[Any, ...]:
        """Arguments of a metric after y."""
        return (self.P,)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "Problem":
        P = None if self.P_override is None else self.P_override[rows]
        return replace(
            self,
            logits=self.logits[rows],
            y=self.y[rows],
            weight=self.weight[rows],
            X=self.X[rows],
            P_override=P,
        )

    def only(self, rows: Any) -> "Problem":
        P = None if self.P_test_override is None else self.P_test_override[rows]
        return replace(
            self, logits_test=self.logits_test[rows], X_test=self.X_test[rows], P_test_override=P
        )

    def with_probabilities(self, P: np.ndarray, P_test: np.ndarray | None = None) -> "Problem":
        """The same problem with other probabilities, and their logits."""
        P_test = self.P_test if P_test is None else P_test
        return replace(
            self,
            P_override=P,
            P_test_override=P_test,
            logits=_logits(P),
            logits_test=_logits(P_test),
        )


def _exact_binary(P: np.ndarray) -> np.ndarray:
    """Compute two columns from the second as ``read`` does, so that both forms are identical."""
    return np.column_stack([1.0 - P[:, 1], P[:, 1]]) if P.shape[1] == 2 else P


def _logits(P: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(np.asarray(P, dtype=np.float64)), -800.0)


@cache
def problem(n_classes: int, seed: int = 0) -> Problem:
    """Normal clusters on a circle, and a nearest-mean model whose logits are twice too large."""
    rng = np.random.default_rng([seed, n_classes])
    n = ROWS[n_classes]
    angle = 2.0 * np.pi * np.arange(n_classes) / n_classes
    mean = 0.45 * n_classes**0.75 * np.column_stack([np.cos(angle), np.sin(angle)])

    def draw(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rows - n_classes)])
        X = mean[y] + rng.normal(size=(rows, 2))
        distance = ((X[:, None, :] - mean[None]) ** 2).sum(axis=2)
        return X, y, log_softmax(-distance)

    X, y, logits = draw(n)
    X_test, _, logits_test = draw(40)
    X_train, y_train, _ = draw(80)
    weight = rng.integers(0, 4, n).astype(np.float64)
    return Problem(
        f"{n_classes} classes", logits, y, weight, X, logits_test, X_test, (X_train, y_train)
    )


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
        return replace(
            self, score=self.score[rows], correct=self.correct[rows], weight=self.weight[rows]
        )

    def only(self, rows: Any) -> "ScoreProblem":
        return replace(self, test=self.test[rows])


@cache
def score_problem(domain: str) -> ScoreProblem:
    """150 scores in [0, 1] with ties, or their log-odds for "real".

    Higher scores are right more often.
    """
    rng = np.random.default_rng(7)
    score = np.round(rng.beta(3.0, 1.5, 150), 2).clip(0.01, 0.99)
    correct = (rng.random(150) < score**1.5).astype(np.float64)
    test = np.linspace(0.0, 1.0, 61)
    if domain == "real":
        score, test = np.log(score / (1.0 - score)), np.linspace(-8.0, 8.0, 61)
    return ScoreProblem(
        f"{domain} scores", score, correct, rng.integers(0, 4, 150).astype(np.float64), test
    )


@dataclass(frozen=True)
class ForecastProblem:
    """Forecasts and outcomes of rows to fit and to predict, and integer weights from 0 to 3."""

    name: str
    forecast: Forecast
    y: np.ndarray
    weight: np.ndarray
    test: Forecast
    y_test: np.ndarray

    @property
    def said(self) -> tuple[Any, ...]:
        """Arguments of a metric after y."""
        return as_arguments(self.forecast)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "ForecastProblem":
        return replace(
            self, forecast=self.forecast.take(rows), y=self.y[rows], weight=self.weight[rows]
        )

    def only(self, rows: Any) -> "ForecastProblem":
        return replace(self, test=self.test.take(rows), y_test=self.y_test[rows])


def as_arguments(forecast: Any) -> tuple[Any, ...]:
    """(mean, std) of normal forecasts; other forecasts unchanged, in a tuple."""
    return (forecast.mean, forecast.std) if isinstance(forecast, NormalForecast) else (forecast,)


@cache
def forecast_problems() -> list[ForecastProblem]:
    """Forecasts of one output, of three outputs, and by quantiles.

    The errors are 1.5 times as large as the predicted standard deviations.
    """
    rng = np.random.default_rng(5)

    def draw(shape: Any) -> tuple[NormalForecast, np.ndarray]:
        mean, std = 3.0 * rng.normal(size=shape), np.exp(0.5 * rng.normal(size=shape))
        return NormalForecast(mean, std), mean + 1.5 * std * rng.normal(size=shape)

    def quantiles(forecast: NormalForecast) -> QuantileForecast:
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
    """Calibrated joint forecasts of d outputs: (means, covariances, outcomes drawn from them).

    Their shapes are (n, d), (n, d, d) and (n, d).
    """
    rng = np.random.default_rng(random_state)
    mean, root = rng.normal(size=(n, d)), rng.normal(size=(n, d, d)) / np.sqrt(d) + 0.5 * np.eye(d)
    cov = root @ root.transpose(0, 2, 1) + 0.05 * np.eye(d)
    return (
        mean,
        cov,
        mean + np.einsum("nij,nj->ni", np.linalg.cholesky(cov), rng.normal(size=(n, d))),
    )


EXACT_ROWS, TEST_ROWS = 40, 12
#: Numbers are integer multiples of these. No coarse number lies within bfloat16's rounding below an
#: edge of 5, 10 or 15 bins, where it would count as on the edge.
FINE, COARSE, REAL_STEP = 1.0 / 64.0, 1.0 / 8.0, 1.0 / 8.0


@cache
def exact_problem(n_classes: int, step: float = FINE) -> Problem:
    """The ordinary problem in multiples of ``step``, with weights from 1 to 3."""
    data = problem(n_classes).take(slice(0, EXACT_ROWS))
    P, P_test = _exact(data.P, step), _exact(data.P_test[:TEST_ROWS], step)
    rounded = {name: _rounded(getattr(data, name)) for name in ("X", "X_test")}
    logits = {"logits": _rounded(np.log(P)), "logits_test": _rounded(np.log(P_test))}
    reference = _rounded(data.reference[0][:EXACT_ROWS]), data.reference[1][:EXACT_ROWS]
    rounded["X_test"] = rounded["X_test"][:TEST_ROWS]
    return replace(
        data,
        P_override=P,
        P_test_override=P_test,
        reference=reference,
        weight=1.0 + np.arange(EXACT_ROWS) % 3,
        **rounded,
        **logits,
    )


def _rounded(values: np.ndarray, step: float = REAL_STEP) -> np.ndarray:
    return np.round(values / step) * step


def _exact(P: np.ndarray, step: float) -> np.ndarray:
    steps = round(1.0 / step)
    counts = 1.0 + np.floor(P * (steps - P.shape[1]))
    counts[np.arange(len(P)), P.argmax(axis=1)] += steps - counts.sum(axis=1)
    return counts / steps


def exact_scores(domain: str) -> ScoreProblem:
    """The scores for maps, rounded to exact numbers, with weights from 1 to 3."""
    data, step = score_problem(domain), FINE if domain == "unit" else REAL_STEP
    test = _rounded(data.test[:: len(data.test) // TEST_ROWS], step)
    return replace(
        data.take(slice(0, EXACT_ROWS)),
        score=_rounded(data.score[:EXACT_ROWS], step),
        weight=1.0 + np.arange(EXACT_ROWS) % 3,
        test=test,
    )


def exact_forecasts(j: int) -> ForecastProblem:
    """Rounded normal forecasts with weights from 1 to 3: one output for j = 0, two for j = 1.

    The outcomes to predict are 0.
    """
    data = forecast_problems()[j].take(slice(0, EXACT_ROWS)).only(slice(0, TEST_ROWS))
    forecast, test = (_exact_forecast(each) for each in (data.forecast, data.test))
    y, weight = (
        _rounded(data.y)[..., :2] if j else _rounded(data.y),
        1.0 + np.arange(EXACT_ROWS) % 3,
    )
    return replace(
        data, forecast=forecast, test=test, y=y, weight=weight, y_test=np.zeros(test.shape)
    )


def _exact_forecast(forecast: Any) -> NormalForecast:
    mean, std = _rounded(forecast.mean), np.maximum(_rounded(forecast.std), REAL_STEP)
    return NormalForecast(mean, std) if mean.ndim == 1 else NormalForecast(mean[:, :2], std[:, :2])


@dataclass(frozen=True)
class ScoredProblem:
    """A problem for metrics without calibrators: outcomes, predictions and weights.

    ``said`` holds the arguments of a metric after y; ``name`` is that of the first.
    """

    name: str
    y: np.ndarray
    said: tuple[Any, ...]
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "ScoredProblem":
        return replace(
            self,
            y=self.y[rows],
            said=tuple(each[rows] for each in self.said),
            weight=self.weight[rows],
        )


#: Number of rows, as in the forecast problems.
SCORED_ROWS = 150


@cache
def scored_problem(domain: Domain) -> ScoredProblem:
    """Joint forecasts of two outputs, or sets of three labels; numbers are multiples of 1/8."""
    weight = 1.0 + np.arange(SCORED_ROWS) % 3
    if domain is JOINT:
        mean, cov, y = joint_rows(SCORED_ROWS, 2)
        return ScoredProblem("mean", _rounded(y), (_rounded(mean), cov), weight)
    rng = np.random.default_rng(0)
    sets = rng.random((SCORED_ROWS, 3)) < 0.6
    return ScoredProblem("sets", rng.integers(0, 3, SCORED_ROWS), (sets,), weight)


@dataclass(frozen=True)
class Made:
    """Test data for the metrics of a domain.

    They are the metrics' kind, synthetic problems with one output, and whether values have a unit.
    """

    kind: str
    ordinary: Callable[[Any], list[Any]]
    has_unit: bool = False


MADE: Facet[Made] = Facet("made problems")
MADE.register(
    CLASSIFICATION, lambda: Made("metric", lambda metric: problems(binary_only=metric.binary_only))
)
MADE.register(
    REGRESSION,
    lambda: Made(
        "regression metric",
        lambda _: [data for data in forecast_problems() if data.y.ndim == 1],
        has_unit=True,
    ),
)


MADE.register(
    JOINT,
    lambda: Made("scored metric", lambda metric: [scored_problem(metric.domain)], has_unit=True),
)
MADE.register(SETS, lambda: Made("scored metric", lambda metric: [scored_problem(metric.domain)]))


def kind_of(metric: Any) -> str:
    """The kind of a metric: "metric", "regression metric" or "scored metric"."""
    return MADE[metric.domain].kind


def ordinary(metric: Any) -> list[Any]:
    """The synthetic problems with one output that the metric accepts."""
    return MADE[metric.domain].ordinary(metric)


def value(metric: Any, data: Any, weight: np.ndarray | None = None, **options: Any) -> Any:
    """The metric's value on a problem."""
    return metric(data.y, *data.said, sample_weight=weight, **options)


def near(metric: Any, a: Any, b: Any, what: str, tolerance: float = 1e-9) -> None:
    """Check that two values agree; values with a unit are compared relative to their size."""
    scale = 1.0 + abs(b) if MADE[metric.domain].has_unit else 1.0
    assert abs(a - b) <= tolerance * scale, f"{what}: {a!r} and {b!r}"


def valid(metric: Any, found: Any, what: str) -> None:
    """Check that a value is a finite float in the metric's declared range."""
    low, high = metric.range
    assert type(found) is float, f"{what}: the value is a {type(found).__name__}, not a float"
    assert np.isfinite(found), f"{what}: the value is {found}"
    assert low - 1e-12 <= found <= high + 1e-12, (
        f"{what}: {found} is outside the declared range {metric.range}"
    )
