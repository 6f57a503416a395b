"""Every kind of part crossed with every extreme value."""

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.base import clone

from calibrant.contracts.sum_metric import MeanMetric
from calibrant.testing.calibrator_runs import fitted, ordinary, predicted
from calibrant.testing.check import seeded
from calibrant.testing.data import Problem, problems, score_problem
from calibrant.testing.extremes import FORECASTS, LOGITS, NO_DATA, PLAIN, PROBABILITIES, REAL_SCORES, ROWS, SCORES, WEIGHTS
from calibrant.testing.grid import Case, require_good
from calibrant.testing.regression_data import forecast_problems
from calibrant.testing.regression_runs import numbers_of

__all__ = ["EXTREME_CASES", "extreme_checks"]


def _case(family, value, what, argument, call, right) -> Case:
    return Case(family, f"{what}{value}", argument, call, right, answered=value not in NO_DATA, refused=value not in PLAIN)


def _few_rows(data: Problem) -> Problem:
    few = data.take(slice(0, ROWS))
    return Problem(
        few.name, few.logits, few.y, few.weight, few.X, few.logits_test[:10], few.X_test[:10], few.reference, few.P, few.P_test[:10]
    )


def _with_row(rows, row, dtype=np.float64):
    out = rows.astype(dtype)
    out[1] = row
    return out


def _logit_rows(data):
    """(name, logits, logits to predict) with each extreme row."""
    for name, (row, dtype) in LOGITS.items():
        yield name, *(_with_row(rows, row(data.n_classes), dtype) for rows in (data.logits, data.logits_test))


def _probability_rows(data):
    for name, row in PROBABILITIES.items():
        yield name, *(_with_row(rows, row(data.n_classes)) for rows in (data.P, data.P_test))


def _unit(p):
    assert ((p >= 0.0) & (p <= 1.0)).all(), f"{p.min()} to {p.max()}"


def _rows_of_one(Q):
    _unit(Q)
    assert np.abs(Q.sum(axis=1) - 1.0).max() <= 1e-9, f"rows sum to {Q.sum(axis=1)}"


def calibrator_cases(calibrator) -> Iterator[Case]:
    """Extreme logits, probabilities and weights, in the rows to fit and in those to predict."""
    data = _few_rows(ordinary(calibrator)[:2][-1])

    def run(inputs, rows, test, weight=None):
        given = Problem("", rows, data.y, data.weight, data.X, test, data.X_test, data.reference, rows, test)
        return predicted(fitted(clone(calibrator).set_params(inputs=inputs), given, weight), given)

    for inputs, kind, plain, rows in (
        ("logit", "logits", data.logits, _logit_rows(data)), ("probability", "probabilities", data.P, _probability_rows(data)),
    ):  # fmt: skip
        for name, fit, test in rows:
            yield _case(kind, name, f"fitted on {kind} of ", "P", lambda i=inputs, f=fit, t=test: run(i, f, t), _rows_of_one)
            yield _case(kind, name, f"predicting {kind} of ", "P", lambda i=inputs, f=plain, t=test: run(i, f, t), _rows_of_one)
    for name, w in WEIGHTS.items():
        weighted = lambda w=w: run("probability", data.P, data.P_test, w(ROWS))  # noqa: E731
        yield _case("weights", name, "weights ", "sample_weight", weighted, _rows_of_one)


def map_cases(map) -> Iterator[Case]:
    """Extreme scores and weights."""
    data = score_problem(map.tags.domain)
    score, correct, test = data.score[:ROWS], data.correct[:ROWS], data.test

    def run(score, test, weight=None):
        return seeded(clone(map)).fit(score, correct, sample_weight=weight).predict(test)

    for name, value in (SCORES | (REAL_SCORES if map.tags.domain == "real" else {})).items():
        fit, beyond = _with_row(score, value), _with_row(test, value)
        yield _case("scores", name, "fitted on a score of ", "score", lambda f=fit, t=beyond: run(f, t), _unit)
        yield _case("scores", name, "predicting a score of ", "score", lambda t=beyond: run(score, t), _unit)
    for name, w in WEIGHTS.items():
        yield _case("weights", name, "weights ", "sample_weight", lambda w=w: run(score, test, w(ROWS)), _unit)


def signal_cases(signal) -> Iterator[Case]:
    """Extreme logits and probabilities."""
    data, tags = _few_rows(problems()[1]), signal.tags

    def run(inputs, rows, test):
        fresh = seeded(clone(signal)).set_params(inputs=inputs)
        fresh.fit(rows, data.y, X=data.X if tags.uses_features else None, reference=data.reference if tags.needs_reference else None)
        return fresh.score(test, **({"X": data.X_test} if tags.uses_features else {}))

    def right(score):
        assert np.isfinite(score).all(), f"{score.min()} to {score.max()}"
        assert tags.domain == "real" or ((score >= 0.0) & (score <= 1.0)).all(), f"{score.min()} to {score.max()}"

    for name, fit, test in _logit_rows(data):
        yield _case("logits", name, "logits of ", "P", lambda f=fit, t=test: run("logit", f, t), right)
    for name, fit, test in _probability_rows(data):
        yield _case("probabilities", name, "probabilities of ", "P", lambda f=fit, t=test: run("probability", f, t), right)


def metric_cases(metric) -> Iterator[Case]:
    """Extreme logits, probabilities and weights: the value and its interval."""
    data = _few_rows(problems(binary_only=metric.binary_only)[:2][-1])
    for name, L, _ in _logit_rows(data):
        yield from _measured("logits", name, "logits of ", "P", metric, (data.y, L), inputs="logit")
    for name, P, _ in _probability_rows(data):
        yield from _measured("probabilities", name, "probabilities of ", "P", metric, (data.y, P))
    yield from _weighted(metric, (data.y, data.P))


def _measured(family, name, what, argument, metric, given, expected=None, **options) -> Iterator[Case]:
    low, high = metric.range

    def right_value(value):
        assert np.isfinite(value), f"the value is {value}"
        assert low - 1e-12 <= value <= high + 1e-12, f"the value is {value}"
        assert expected is None or abs(value - expected) <= 1e-9 * (1.0 + abs(expected)), f"the value is {value}, not {expected}"

    def right_interval(found):
        right_value(found.value if found.plain is None else found.plain)
        assert found.low <= found.high, f"the interval is {found!r}"

    yield _case(family, name, what, argument, lambda: metric(*given, **options), right_value)
    yield _case(family, name, f"interval, {what}", argument, lambda: metric.interval(*given, n_resamples=10, **options), right_interval)


def _weighted(metric, given) -> Iterator[Case]:
    """Weights of one size leave a mean where it is."""
    expected = metric(*given) if isinstance(metric, MeanMetric) else None
    for name, w in WEIGHTS.items():
        weight = w(ROWS)
        even = expected if weight.min() == weight.max() else None
        yield from _measured("weights", name, "weights ", "sample_weight", metric, given, even, sample_weight=weight)


def _forecast_row(values):
    """(mean, std, y) with the extreme row."""
    data = forecast_problems()[0]
    columns = [column[:ROWS] for column in (data.forecast.mean, data.forecast.std, data.y)]
    return [_with_row(column, value) for column, value in zip(columns, values, strict=True)]


def regression_cases(calibrator) -> Iterator[Case]:
    """Extreme means, standard deviations, outcomes and weights."""
    plain = _forecast_row((0.0, 1.0, 0.5))

    def run(mean, std, y, weight=None, test=None):
        fresh = seeded(clone(calibrator)).fit(mean, y, std=std, sample_weight=weight)
        return numbers_of(fresh.predict(*(test or (mean, std))), y)

    def right(numbers):
        # With the weight of a row or less, conformal intervals are everything, and rightly so.
        assert np.isfinite(numbers[:, :2]).all(), "not finite"
        assert not np.isnan(numbers).any(), "not a number"

    for name, row in FORECASTS.items():
        columns = _forecast_row(row)
        yield _case("forecasts", name, "fitted on ", "", lambda c=columns: run(*c), right)
        if "outcome" not in name:
            yield _case("forecasts", name, "predicting ", "", lambda c=columns: run(*plain, test=tuple(c[:2])), right)
    for name, w in WEIGHTS.items():
        yield _case("weights", name, "weights ", "sample_weight", lambda w=w: run(*plain, weight=w(ROWS)), right)


def regression_metric_cases(metric) -> Iterator[Case]:
    """Extreme means, standard deviations, outcomes and weights: the value and its interval."""
    for name, row in FORECASTS.items():
        mean, std, y = _forecast_row(row)
        yield from _measured("forecasts", name, "", "", metric, (y, mean, std))
    mean, std, y = _forecast_row((0.0, 1.0, 0.5))
    yield from _weighted(metric, (y, mean, std))


#: Kind of part -> its cases.
EXTREME_CASES: dict[str, Callable] = {
    "calibrator": calibrator_cases, "map": map_cases, "signal": signal_cases, "metric": metric_cases,
    "regression calibrator": regression_cases, "regression metric": regression_metric_cases,
}  # fmt: skip


def extreme_checks(kind: str, *families: str) -> list[Callable]:
    """A check of each family of extreme values, for one kind of part."""

    def check_of(family):
        def check(part):
            require_good(case for case in EXTREME_CASES[kind](part) if case.family == family)

        check.__name__, check.__doc__ = f"check_extreme_{family}", f"Extreme {family} end in a right answer or one clear error."
        return check

    return [check_of(family) for family in families]
