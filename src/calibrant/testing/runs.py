"""Functions that fit each kind of component and predict, and the instances that are tested."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant import metrics
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.estimators import clone, offered, registered
from calibrant.core.map import Map, Signal
from calibrant.core.metric_kinds import Metric
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.decisions.conditional_sets import ConditionalSets
from calibrant.decisions.sets import ConformalSets
from calibrant.testing.check import TOLERANCE, seeded, show_near
from calibrant.testing.data import (
    Problem,
    as_arguments,
    forecast_problems,
    problem,
    problems,
    score_problem,
)

__all__ = [
    "HANDLINGS",
    "Handling",
    "all_calibrators",
    "all_maps",
    "all_metrics",
    "all_regression_calibrators",
    "all_sets",
    "all_signals",
    "answer",
    "every_calibrator",
    "fit",
    "fitted",
    "given",
    "groups_beside",
    "handling",
    "many_rows",
    "near",
    "numbers_of",
    "ordinary",
    "predicted",
    "refit",
    "valid",
]

#: Positional arguments of fit.
DATA = ("P", "score", "forecast", "y", "correct")
#: Levels of the intervals that are compared.
LEVELS = (0.1, 0.5, 0.8)


@dataclass(frozen=True)
class Handling:
    """Functions and tolerances for one kind of component.

    Attributes
    ----------
    kind : str
    methods : names of the prediction methods; outputs of the first are compared
    ordinary : function of the component that returns the synthetic problems it accepts
    given : function of the component and a problem that returns arguments by name; names of
        arguments to predict on end in "_test"
    valid : function of the fitted component, its output and a problem that raises AssertionError
        if the output is not valid
    narrow : float dtype -> allowed difference from the output of the same numbers in float64
    relative : whether outputs are compared relative to their size
    numbers : function of an output and the outcomes to predict on that returns a (n, ...) array
    """

    kind: str
    methods: tuple[str, ...]
    ordinary: Callable[[Any], list]
    given: Callable[[Any, Any], dict[str, Any]]
    valid: Callable[[Any, np.ndarray, Any], None]
    narrow: dict[type, float]
    relative: bool = False
    numbers: Callable[[Any, Any], np.ndarray] = lambda out, y: out


def _of_classes(part: Any, data: Problem) -> dict[str, np.ndarray]:
    held = _of_features(part, data)
    return (
        held | {"groups": _groups_of(data.X), "groups_test": _groups_of(data.X_test)}
        if part.tags.uses_groups
        else held
    )


def _of_features(part: Any, data: Problem) -> dict[str, np.ndarray]:
    logit, tags = part.inputs == "logit", part.tags
    held = {
        "P": data.logits if logit else data.P,
        "y": data.y,
        "P_test": data.logits_test if logit else data.P_test,
    }
    if tags.uses_features:
        held |= {"X": data.X, "X_test": data.X_test}
    if tags.needs_reference:
        held |= {"X_train": data.reference[0], "y_train": data.reference[1]}
    return held


def _groups_of(X: np.ndarray) -> np.ndarray:
    """(n, 2) groups from synthetic features: one of two levels, and a number to be binned."""
    return np.column_stack([(X[:, 0] > 0.0).astype(np.float64), X[:, 1]])


def groups_beside(part: Any, mean: np.ndarray) -> dict[str, np.ndarray]:
    """Return ``groups`` for a component that uses them, and nothing for others.

    There are two groups, by the sign of the forecast means (n,) or (n, d).
    """
    return (
        {"groups": np.where(mean.reshape(len(mean), -1)[:, 0] > 0.0, 1.0, 0.0)}
        if part.tags.uses_groups
        else {}
    )


def _of_forecasts(part: Any, data: Any) -> Any:
    held = dict(zip(("forecast", "std"), as_arguments(data.forecast), strict=False))
    held |= dict(zip(("forecast_test", "std_test"), as_arguments(data.test), strict=False))
    held |= groups_beside(part, data.forecast.mean)
    held |= {f"{name}_test": groups for name, groups in groups_beside(part, data.test.mean).items()}
    return {"forecast": held.pop("forecast"), "y": data.y, **held, "y_test": data.y_test}


def _formed(out: np.ndarray, shape: tuple[int, ...], where: str) -> None:
    assert out.shape == shape, f"the answer has shape {out.shape}, not {shape}, {where}"
    assert out.dtype == np.float64, f"the answer has dtype {out.dtype} {where}"
    assert np.isfinite(out).all(), f"the answer is not finite {where}"


def _in_unit(out: np.ndarray, where: str) -> None:
    assert ((out >= 0.0) & (out <= 1.0)).all(), (
        f"the answer leaves [0, 1] {where}: {out.min()} to {out.max()}"
    )


def _valid_probabilities(fresh: Any, Q: np.ndarray, data: Problem) -> None:
    where = f"on {data.name}"
    _formed(Q, (len(data.logits_test), data.n_classes), where)
    _in_unit(Q, where)
    worst = float(np.abs(Q.sum(axis=1) - 1.0).max())
    assert worst <= 1e-9, f"sums of predict_proba's rows differ from 1 by {worst:.3g} {where}"


def _valid_outcomes(fresh: Any, p: np.ndarray, data: Any) -> None:
    for scores, out in ((data.test, p), (data.score, fresh.predict(data.score))):
        _formed(out, scores.shape, f"on {data.name}")
        _in_unit(out, f"on {data.name}")


def _valid_scores(fresh: Any, score: np.ndarray, data: Problem) -> None:
    _formed(score, (len(data.logits_test),), f"on {data.name}")
    if fresh.tags.domain == "unit":
        _in_unit(score, f"on {data.name}")


def _valid_forecast(fresh: Any, numbers: np.ndarray, data: Any) -> None:
    where = f"on {data.name}"
    _formed(numbers, (*data.test.shape, 2 * len(LEVELS) + 3), where)
    std, cdf = numbers[..., 1], numbers[..., -1]
    assert (std > 0.0).all(), f"a std is not positive {where}"
    assert ((cdf >= 0.0) & (cdf <= 1.0)).all(), f"the cdf leaves [0, 1] {where}"
    widths = np.moveaxis(numbers[..., 3:-1:2] - numbers[..., 2:-1:2], -1, 0)
    assert (widths >= 0.0).all(), f"an interval's lower end exceeds its upper end {where}"
    assert (np.diff(widths, axis=0) >= -1e-12 * np.abs(widths[1:])).all(), (
        f"an interval of a higher level is narrower {where}"
    )


def numbers_of(forecast: Any, y: ArrayLike) -> np.ndarray:
    """Mean, std, ends of intervals and CDF at y of a forecast, stacked in the last axis."""
    ends = [end for level in LEVELS for end in forecast.interval(level)]
    return np.stack([forecast.mean, forecast.std, *ends, forecast.cdf(y)], axis=-1)


#: Base class of a component -> its handling; a kind of prediction adds that of its calibrators.
HANDLINGS: dict[type, Handling] = {
    Calibrator: Handling(
        "calibrator",
        ("predict_proba", "predict_confidence", "predict"),
        lambda part: problems(binary_only=part.tags.binary_only),
        _of_classes,
        _valid_probabilities,
        {np.float32: 0.0, np.float16: 1e-4},
    ),
    Map: Handling(
        "map",
        ("predict",),
        lambda part: [score_problem(part.tags.domain)],
        lambda part, data: {"score": data.score, "correct": data.correct, "score_test": data.test},
        _valid_outcomes,
        {np.float32: 0.0, np.float16: 0.0},
    ),
    Signal: Handling(
        "signal",
        ("score",),
        lambda part: problems(),
        _of_features,
        _valid_scores,
        {np.float32: 0.0},
    ),
    RegressionCalibrator: Handling(
        "regression calibrator",
        ("predict",),
        lambda part: forecast_problems(),
        _of_forecasts,
        _valid_forecast,
        {np.float32: 0.0},
        relative=True,
        numbers=numbers_of,
    ),
}


def handling(part: Any) -> Handling:
    """The handling of this kind of component."""
    return next(how for kind, how in HANDLINGS.items() if isinstance(part, kind))


def ordinary(part: Any) -> list[Any]:
    """The synthetic problems that this component accepts."""
    return handling(part).ordinary(part)


def many_rows(part: Any) -> list[Any]:
    """Return synthetic problems with enough rows to reach every code path.

    For classes, they have two classes, and twenty with as many rows to predict as to fit.
    """
    found = ordinary(part)
    if not isinstance(found[0], Problem) or len(found) == 1:
        return found
    twenty = problem(20)
    return [
        found[0],
        replace(twenty, name="20 classes, 200 rows", logits_test=twenty.logits, X_test=twenty.X),
    ]


def given(part: Any, data: Any) -> dict[str, Any]:
    """The component's arguments for a problem, by name.

    Names of arguments to predict on end in "_test".
    """
    return handling(part).given(part, data)


def refit(part: Any, held: Any) -> Any:
    """Fit the component itself to arguments held by name, and return the result of ``fit``."""
    data = [held[name] for name in DATA if name in held]
    options = {name: held[name] for name in ("std", "sample_weight", "X", "groups") if name in held}
    if "X_train" in held:
        options["reference"] = held["X_train"], held["y_train"]
    return part.fit(*data, **options)


def fit(part: Any, held: Any) -> Any:
    """A fitted clone of the component, which itself does not change."""
    return refit(seeded(clone(part)), held)


def answer(fresh: Any, held: Any, method: str | None = None) -> np.ndarray:
    """The output of a method of the fitted component for the rows to predict.

    A distribution is returned as its numbers, with the CDF at ``y_test``.
    """
    asked = {
        name.removesuffix("_test"): value for name, value in held.items() if name.endswith("_test")
    }
    at = asked.pop("y", None)
    out = getattr(fresh, method or handling(fresh).methods[0])(**asked)
    return handling(fresh).numbers(out, at)


def fitted(part: Any, data: Any, sample_weight: ArrayLike | None = None) -> Any:
    """A clone of the component, fitted to the problem."""
    return fit(
        part,
        given(part, data) | ({} if sample_weight is None else {"sample_weight": sample_weight}),
    )


def predicted(fresh: Any, data: Any) -> np.ndarray:
    """The output of the fitted component for the problem's rows to predict."""
    return answer(fresh, given(fresh, data))


def valid(fresh: Any, data: Any) -> np.ndarray:
    """The output of the fitted component for the problem, after a check that it is valid."""
    out = predicted(fresh, data)
    assert isinstance(fresh, Signal) or isinstance(fresh.status_, str), "status_ must be a string"
    handling(fresh).valid(fresh, out, data)
    return out


def near(part: Any, a: Any, b: Any, what: str, tolerance: float = TOLERANCE) -> None:
    """Check that two outputs of the component agree."""
    show_near(a, b, what, tolerance, relative=handling(part).relative)


def _examples_of(base: type[Any], extensions: bool) -> list[Any]:
    others = [cls for cls in registered(base) if extensions and not inspect.isabstract(cls)]
    return [example for cls in (*offered(base), *others) for example in cls._examples()]


def all_calibrators(*, extensions: bool = False) -> list[Calibrator]:
    """Example instances of every calibrator in calibrant; ``extensions`` adds registered ones."""
    return _examples_of(Calibrator, extensions)


def all_maps(*, extensions: bool = False) -> list[Map]:
    """Example instances of every map in calibrant; ``extensions`` adds registered ones."""
    return _examples_of(Map, extensions)


def all_signals(*, extensions: bool = False) -> list[Signal]:
    """Example instances of every signal in calibrant; ``extensions`` adds registered ones."""
    return _examples_of(Signal, extensions)


def all_regression_calibrators(*, extensions: bool = False) -> list[RegressionCalibrator]:
    """Example instances of every regression calibrator; ``extensions`` adds registered ones."""
    return _examples_of(RegressionCalibrator, extensions)


def every_calibrator(*, extensions: bool = False) -> list[DomainCalibrator]:
    """Example instances of every calibrator of every kind of prediction; ``extensions`` adds
    registered ones.
    """
    return _examples_of(DomainCalibrator, extensions)


def all_sets() -> list[ConformalSets | ConditionalSets]:
    """Example instances of the predictors of sets."""
    return [
        *_examples_of(ConformalSets, extensions=False),
        *_examples_of(ConditionalSets, extensions=False),
    ]


def all_metrics() -> list[Metric]:
    """Example instances of every metric in ``calibrant.metrics.__all__``."""
    exported = [getattr(metrics, name) for name in metrics.__all__]
    return [example for m in exported if isinstance(m, Metric) for example in type(m)._examples()]
