"""Extreme values, and the checks of how every component handles them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from calibrant.core.estimators import clone
from calibrant.core.metric_kinds import MeanMetric
from calibrant.testing.check import Case, require_good
from calibrant.testing.data import forecast_problems, problems, score_problem
from calibrant.testing.runs import answer, fit, given, groups_beside, ordinary

__all__ = [
    "EXTREME_CASES",
    "FORECASTS",
    "LOGITS",
    "NO_DATA",
    "PLAIN",
    "PROBABILITIES",
    "REAL_SCORES",
    "ROWS",
    "SCORES",
    "WEIGHTS",
    "extreme_checks",
]

#: Number of rows in each case; the second row is the extreme one.
ROWS = 40
SINGLE, DOUBLE = np.finfo(np.float32), np.finfo(np.float64)

#: One row of logits over K classes, and its dtype. All have a softmax, so none may be refused.
LOGITS: dict[Any, Any] = {
    "3.4e38 against -3.4e38 in float32": (
        lambda k: np.r_[3.4e38, -3.4e38, np.zeros(k - 2)],
        np.float32,
    ),
    "3e38 against -3e38 in float64": (lambda k: np.r_[3e38, -3e38, np.zeros(k - 2)], np.float64),
    "a float32 mask": (lambda k: np.r_[1.0, np.full(k - 1, SINGLE.min)], np.float32),
    "a float64 mask": (lambda k: np.r_[1.0, np.full(k - 1, DOUBLE.min)], np.float64),
    "1.79e308 against -1.79e308": (
        lambda k: np.r_[-1.79e308, np.full(k - 1, 1.79e308)],
        np.float64,
    ),
    "9e14 against -9e14": (lambda k: np.r_[-9e14, np.full(k - 1, 9e14)], np.float64),
    "1e-320": (lambda k: np.r_[1e-320, np.zeros(k - 1)], np.float64),
}
#: Name -> function of n that returns n weights.
WEIGHTS: dict[Any, Any] = {
    "that sum to 1": lambda n: np.full(n, 1.0 / n),
    "that sum to 1e12": lambda n: np.full(n, 1e12 / n),
    "all 1e300": lambda n: np.full(n, 1e300),
    "all 1e-300": lambda n: np.full(n, 1e-300),
    "all 1e-31": lambda n: np.full(n, 1e-31),
    "of 1e300 and 1e-300": lambda n: np.where(np.arange(n) % 2, 1e300, 1e-300),
    "of 1 and 1e-320": lambda n: np.where(np.arange(n) % 2, 1.0, 1e-320),
    "of 1 and 1e-13": lambda n: np.where(np.arange(n) % 2, 1.0, 1e-13),
    "with a nan": lambda n: np.r_[np.nan, np.ones(n - 1)],
    "with an inf": lambda n: np.r_[np.inf, np.ones(n - 1)],
}
#: One row of probabilities over K classes.
PROBABILITIES: dict[Any, Any] = {
    "1e-320": lambda k: np.r_[1.0, np.zeros(k - 2), 1e-320],
    "nan": lambda k: np.full(k, np.nan),
    "inf": lambda k: np.r_[np.inf, np.zeros(k - 1)],
}
SCORES: dict[Any, Any] = {
    "1e-320": 1e-320,
    "one ulp below 1": 1.0 - 2.0**-53,
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
}
#: Additional cases for scores that may be any real number.
REAL_SCORES: dict[Any, Any] = {"9e99": 9e99, "2e307": 2e307, "-1.79e308": -1.79e308}
#: One row of (mean, std, y).
FORECASTS: dict[Any, Any] = {
    "a std of 1e-320": (0.0, 1e-320, 1.0),
    "a std of 2e-37": (0.0, 2e-37, 1.0),
    "a std of 9e36": (0.0, 9e36, 1.0),
    "a mean of 9e36": (9e36, 2e-37, -9e36),
    "a std of 1e300": (0.0, 1e300, 1.0),
    "a std of 0": (0.0, 0.0, 0.0),
    "a std of inf": (0.0, np.inf, 0.0),
    "a std of nan": (0.0, np.nan, 0.0),
    "a mean of 1e300": (1e300, 1.0, 0.0),
    "a mean of -1.79e308": (-1.79e308, 1.0, 1.79e308),
    "a mean of nan": (np.nan, 1.0, 0.0),
    "a mean of inf": (np.inf, 1.0, 0.0),
    "an outcome of 1e300": (0.0, 1.0, 1e300),
    "an outcome of nan": (0.0, 1.0, np.nan),
    "an outcome of inf": (0.0, 1.0, np.inf),
}
#: Cases with missing or invalid data, for which no result is right.
NO_DATA = (
    "nan",
    "inf",
    "-inf",
    "with a nan",
    "with an inf",
    *(name for name in FORECASTS if name.endswith((" nan", " inf", " of 0"))),
)
#: Cases that keep all the digits needed for a result, so they may not be refused.
PLAIN = (
    *LOGITS,
    "1e-320",
    "one ulp below 1",
    "9e99",
    "of 1 and 1e-320",
    "of 1 and 1e-13",
    "that sum to 1e12",
    "a std of 2e-37",
    "a std of 9e36",
    "a mean of 9e36",
)


def _case(
    family: str,
    value: str,
    what: str,
    argument: str,
    call: Callable[..., Any],
    right: Callable[..., Any],
) -> Case:
    return Case(
        family,
        f"{what}{value}",
        argument,
        call,
        right,
        answered=value not in NO_DATA,
        refused=value not in PLAIN,
    )


def _few_rows(data: Any) -> Any:
    return data.take(slice(0, ROWS)).only(slice(0, 10))


def _with_row(rows: np.ndarray, row: Any, dtype: type[Any] = np.float64) -> np.ndarray:
    out = rows.astype(dtype)
    out[1] = row
    return out


def _logit_rows(data: Any) -> Iterator[Any]:
    """Yield (name, logits to fit, logits to predict) with each extreme row."""
    for name, (row, dtype) in LOGITS.items():
        yield (
            name,
            *(
                _with_row(rows, row(data.n_classes), dtype)
                for rows in (data.logits, data.logits_test)
            ),
        )


def _probability_rows(data: Any) -> Iterator[Any]:
    for name, row in PROBABILITIES.items():
        yield name, *(_with_row(rows, row(data.n_classes)) for rows in (data.P, data.P_test))


def _unit(p: np.ndarray) -> None:
    assert ((p >= 0.0) & (p <= 1.0)).all(), f"outside [0, 1]: {p.min()} to {p.max()}"


def _rows_of_one(Q: np.ndarray) -> None:
    _unit(Q)
    assert np.abs(Q.sum(axis=1) - 1.0).max() <= 1e-9, f"rows sum to {Q.sum(axis=1)}"


def _runs(part: Any, data: Any) -> Callable[..., Any]:
    """Return a function that fits the component to a changed problem, and predicts."""

    def run(weight: np.ndarray | None = None, **changed: Any) -> np.ndarray:
        held = given(part, data) | changed | ({} if weight is None else {"sample_weight": weight})
        return answer(fit(part, held), held)

    return run


def _class_cases(part: Any, data: Any, right: Callable[..., Any]) -> Iterator[Case]:
    """Cases of extreme logits and probabilities, in the rows to fit and in those to predict."""
    for inputs, kind, rows in (
        ("logit", "logits", _logit_rows(data)),
        ("probability", "probabilities", _probability_rows(data)),
    ):
        run = _runs(clone(part).set_params(inputs=inputs), data)
        for name, extreme, test in rows:
            yield _case(
                kind,
                name,
                f"fitted on {kind} of ",
                "P",
                partial(run, P=extreme, P_test=test),
                right,
            )
            yield _case(kind, name, f"predicting {kind} of ", "P", partial(run, P_test=test), right)


def _weight_cases(run: Callable[..., Any], right: Callable[..., Any]) -> Iterator[Case]:
    for name, w in WEIGHTS.items():
        yield _case("weights", name, "weights ", "sample_weight", partial(run, w(ROWS)), right)


def _calibrator_cases(calibrator: Any) -> Iterator[Case]:
    data = _few_rows(ordinary(calibrator)[:2][-1])
    yield from _class_cases(calibrator, data, _rows_of_one)
    yield from _weight_cases(
        _runs(clone(calibrator).set_params(inputs="probability"), data), _rows_of_one
    )


def _signal_cases(signal: Any) -> Iterator[Case]:
    def right(score: np.ndarray) -> None:
        assert np.isfinite(score).all(), f"not finite: {score.min()} to {score.max()}"
        assert signal.tags.domain == "real" or ((score >= 0.0) & (score <= 1.0)).all(), (
            f"outside [0, 1]: {score.min()} to {score.max()}"
        )

    return _class_cases(signal, _few_rows(problems()[1]), right)


def _map_cases(map: Any) -> Iterator[Case]:
    data = score_problem(map.tags.domain).take(slice(0, ROWS))
    run = _runs(map, data)
    for name, value in (SCORES | (REAL_SCORES if map.tags.domain == "real" else {})).items():
        extreme, beyond = _with_row(data.score, value), _with_row(data.test, value)
        yield _case(
            "scores",
            name,
            "fitted on a score of ",
            "score",
            partial(run, score=extreme, score_test=beyond),
            _unit,
        )
        yield _case(
            "scores",
            name,
            "predicting a score of ",
            "score",
            partial(run, score_test=beyond),
            _unit,
        )
    yield from _weight_cases(run, _unit)


def _metric_cases(metric: Any) -> Iterator[Case]:
    """Cases of a metric's value and interval for extreme logits, probabilities and weights."""
    data = _few_rows(problems(binary_only=metric.binary_only)[:2][-1])
    for name, L, _ in _logit_rows(data):
        yield from _measured("logits", name, "logits of ", "P", metric, (data.y, L), inputs="logit")
    for name, P, _ in _probability_rows(data):
        yield from _measured("probabilities", name, "probabilities of ", "P", metric, (data.y, P))
    yield from _weighted(metric, (data.y, data.P))


def _measured(
    family: str,
    name: str,
    what: str,
    argument: str,
    metric: Any,
    given: tuple[np.ndarray, ...],
    expected: float | None = None,
    **options: Any,
) -> Iterator[Case]:
    low, high = metric.range

    def right_value(value: float) -> None:
        assert np.isfinite(value), f"the value is {value}, not finite"
        assert low - 1e-12 <= value <= high + 1e-12, f"the value {value} is out of range"
        assert expected is None or abs(value - expected) <= 1e-9 * (1.0 + abs(expected)), (
            f"the value is {value}, not {expected}"
        )

    def right_interval(found: Any) -> None:
        right_value(found.value if found.plain is None else found.plain)
        assert found.low <= found.high, f"the interval's ends are not in order: {found!r}"

    yield _case(family, name, what, argument, lambda: metric(*given, **options), right_value)
    yield _case(
        family,
        name,
        f"interval, {what}",
        argument,
        lambda: metric.interval(*given, n_resamples=10, **options),
        right_interval,
    )


def _weighted(metric: Any, given: tuple[np.ndarray, ...]) -> Iterator[Case]:
    """Cases of extreme weights; equal weights must not change a mean."""
    expected = metric(*given) if isinstance(metric, MeanMetric) else None
    for name, w in WEIGHTS.items():
        weight = w(ROWS)
        even = expected if weight.min() == weight.max() else None
        yield from _measured(
            "weights", name, "weights ", "sample_weight", metric, given, even, sample_weight=weight
        )


def _forecast_row(values: tuple[float, float, float]) -> list[np.ndarray]:
    """[mean, std, y] with the extreme row."""
    data = forecast_problems()[0]
    columns = [column[:ROWS] for column in (data.forecast.mean, data.forecast.std, data.y)]
    return [_with_row(column, value) for column, value in zip(columns, values, strict=True)]


def _forecast_cases(calibrator: Any) -> Iterator[Case]:
    """Cases of extreme means, standard deviations, outcomes and weights."""
    names = ("forecast", "std", "y")

    def held(row: tuple[float, float, float], names: Any = names) -> dict[str, np.ndarray]:
        return dict(zip(names, _forecast_row(row), strict=False))

    def right(numbers: np.ndarray) -> None:
        # With a total weight of one row or less, conformal intervals are correctly infinite.
        assert np.isfinite(numbers[:, :2]).all(), "a mean or std is not finite"
        assert not np.isnan(numbers).any(), "a number of the forecast is nan"

    tests = [f"{name}_test" for name in names]
    plain = held((0.0, 1.0, 0.5)) | held((0.0, 1.0, 0.5), tests)
    for end in ("", "_test"):
        plain |= {
            f"{name}{end}": groups
            for name, groups in groups_beside(calibrator, plain[f"forecast{end}"]).items()
        }
    run = partial(_runs(calibrator, forecast_problems()[0]), **plain)
    for name, row in FORECASTS.items():
        yield _case(
            "forecasts",
            name,
            "fitted on ",
            "",
            partial(run, **held(row), **held(row, tests)),
            right,
        )
        if "outcome" not in name:
            yield _case(
                "forecasts", name, "predicting ", "", partial(run, **held(row, tests[:2])), right
            )
    yield from _weight_cases(run, right)


def _regression_metric_cases(metric: Any) -> Iterator[Case]:
    """Cases of a metric's value and interval for extreme forecasts, outcomes and weights."""
    for name, row in FORECASTS.items():
        mean, std, y = _forecast_row(row)
        yield from _measured("forecasts", name, "", "", metric, (y, mean, std))
    mean, std, y = _forecast_row((0.0, 1.0, 0.5))
    yield from _weighted(metric, (y, mean, std))


#: Kind of component -> function of a component that yields its cases.
EXTREME_CASES: dict[str, Callable[[Any], Iterator[Case]]] = {
    "calibrator": _calibrator_cases,
    "map": _map_cases,
    "signal": _signal_cases,
    "metric": _metric_cases,
    "regression calibrator": _forecast_cases,
    "regression metric": _regression_metric_cases,
}


def extreme_checks(kind: str, *families: str) -> list[Callable[..., Any]]:
    """Return a check for each family of extreme values, for one kind of component."""

    def check_of(family: str) -> Callable[..., Any]:
        def check(part: Any) -> None:
            require_good(case for case in EXTREME_CASES[kind](part) if case.family == family)

        check.__name__, check.__doc__ = (
            f"check_extreme_{family}",
            f"Check that extreme {family} end in a right result or one clear error.",
        )
        return check

    return [check_of(family) for family in families]
