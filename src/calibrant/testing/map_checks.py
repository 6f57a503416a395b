"""Checks of the contract of maps."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.core.estimators import clone
from calibrant.core.kinds import require_map
from calibrant.core.map import Map
from calibrant.testing.check import Check, bind, run_all, same_bits, seeded
from calibrant.testing.data import score_problem
from calibrant.testing.extremes import extreme_checks
from calibrant.testing.laws import LAWS, WEIGHT_LAWS, check_map_expression
from calibrant.testing.runs import valid

__all__ = ["check_map", "map_checks"]


def check_map(map: Map) -> None:
    """Run every check of the contract that applies to ``map``.

    An AssertionError names the check that fails.

    Examples
    --------
    >>> from calibrant import Isotonic
    >>> check_map(Isotonic())
    """
    run_all(map_checks(map))


def map_checks(map: Map) -> Iterator[Check]:
    """The checks that apply to ``map`` by its tags, each a callable with a name."""
    tags = require_map(map).tags
    functions = [
        *LAWS,
        *WEIGHT_LAWS,
        check_constant_scores,
        check_one_outcome_only,
        check_perfect_separation,
        check_two_rows,
        check_near_equal_scores,
        check_boolean_outcomes,
        check_two_columns,
        check_map_expression,
        *extreme_checks("map", "scores", "weights"),
        check_scale_of_scores if tags.domain == "real" else check_exact_zero_and_one,
        *([check_monotone] if tags.monotone else []),
    ]
    return bind(functions, map, tags.exceptions)


def _fitted(map: Any, score: Any, correct: Any) -> Any:
    return seeded(clone(map)).fit(score, correct)


def _ordinary(map: Any) -> Any:
    return score_problem(map.tags.domain)


def _valid(fresh: Any, test: np.ndarray, where: str) -> np.ndarray:
    valid(fresh, replace(_ordinary(fresh), name=f"scores {where}", test=np.asarray(test)))
    return fresh.predict(test)


def check_constant_scores(map: Map) -> None:
    """Check that a fit to a constant score predicts about the base rate, also at 0 and 1."""
    data = _ordinary(map)
    for value in (0.7, 0.0, 1.0):
        fresh = _fitted(map, np.full(len(data.score), value), data.correct)
        _valid(fresh, data.test, f"after constant scores {value}")
        at, base = float(fresh.predict([value])[0]), data.correct.mean()
        assert abs(at - base) < 0.05, (
            f"after constant scores {value} the prediction is {at:.3f} and the base rate {base:.3f}"
        )


def check_one_outcome_only(map: Map) -> None:
    """Check fits in which all outcomes are right, or all are wrong."""
    data = _ordinary(map)
    for outcome in (0.0, 1.0):
        fresh = _fitted(map, data.score, np.full(len(data.score), outcome))
        out = _valid(fresh, data.test, f"when all outcomes are {outcome:g}")
        off = abs(float(fresh.predict([float(np.median(data.score))])[0]) - outcome)
        assert off < 0.1, (
            f"when all outcomes are {outcome:g} the prediction at the median is {off:.3f} away"
            f" ({out.min():.3f} to {out.max():.3f})"
        )


def check_perfect_separation(map: Map) -> None:
    """Check fits to separated outcomes: higher scores right, lower scores right, and two rows."""
    data = _ordinary(map)
    above = (data.score > np.median(data.score)).astype(np.float64)
    _valid(_fitted(map, data.score, above), data.test, "when separated")
    _valid(_fitted(map, data.score, 1.0 - above), data.test, "when separated in reverse")
    _valid(_fitted(map, [0.0, 1.0], [0, 1]), data.test, "when p = [0, 1], y = [0, 1]")


def check_two_rows(map: Map) -> None:
    """Check fits to two rows and to one row."""
    data = _ordinary(map)
    for score, correct in (
        ([0.2, 0.8], [0, 1]),
        ([0.8, 0.2], [0, 1]),
        ([0.5, 0.5], [0, 1]),
        ([0.5, 0.6], [1, 1]),
        ([0.5], [1]),
    ):
        _valid(_fitted(map, score, correct), data.test, f"after scores {score}, outcomes {correct}")


def check_near_equal_scores(map: Map) -> None:
    """Check scores that differ by 1e-300, or by one unit in the last place."""
    score = np.array(
        [0.0, 1e-300, 2e-300, 0.5, np.nextafter(0.5, 1.0), 0.7, 0.7, np.nextafter(0.7, 0.0), 1.0]
    )
    correct = np.array([0, 1, 0, 1, 0, 1, 0, 1, 1])
    _valid(
        _fitted(map, score, correct),
        np.concatenate([score, [1e-299, 0.3]]),
        "after scores that nearly tie",
    )


def check_boolean_outcomes(map: Map) -> None:
    """Check that outcomes as booleans, integers or a list give the same predictions."""
    data = _ordinary(map)
    whole = _fitted(map, data.score, data.correct).predict(data.test)
    for other in (data.correct.astype(bool), data.correct.astype(int), data.correct.tolist()):
        same_bits(
            _fitted(map, data.score.tolist(), other).predict(data.test),
            whole,
            f"outcomes as {type(other).__name__}",
        )


def check_two_columns(map: Map) -> None:
    """Check that ``predict_proba`` gives the same probabilities in two columns."""
    data = _ordinary(map)
    fresh = _fitted(map, data.score, data.correct)
    p = fresh.predict(data.test)
    assert np.array_equal(fresh.predict_proba(data.test), np.column_stack([1.0 - p, p])), (
        "predict_proba is not the columns 1 - p and p of predict"
    )


def check_exact_zero_and_one(map: Map) -> None:
    """Check scores of exactly 0 and 1 among the others, some wrong."""
    data = _ordinary(map)
    score = np.concatenate([data.score, [0.0, 0.0, 1.0, 1.0]])
    _valid(
        _fitted(map, score, np.concatenate([data.correct, [0, 1, 0, 1]])),
        data.test,
        "with exact 0 and 1",
    )


def check_scale_of_scores(map: Map) -> None:
    """Check scores scaled by 1e-6 to 1e8."""
    data = _ordinary(map)
    for scale in (1e-6, 1e3, 1e8):
        _valid(
            _fitted(map, data.score * scale, data.correct),
            data.test * scale,
            f"when scores are x {scale:g}",
        )


def check_monotone(map: Map) -> None:
    """Check that the prediction never decreases as the score increases, for any data."""
    data = _ordinary(map)
    grid = np.linspace(data.test[0], data.test[-1], 2001)
    if map.tags.domain == "unit":
        grid = np.unique(
            np.concatenate([grid, [1e-300, 1e-30, 1e-12, 1e-9, 1.0 - 1e-9, 1.0 - 1e-12]])
        )
    for name, correct in (
        ("ordinary", data.correct),
        ("reversed", 1.0 - data.correct),
        ("alternating", np.arange(len(data.score)) % 2),
    ):
        step = np.diff(_fitted(map, data.score, correct).predict(grid))
        assert (step >= -1e-12).all(), (
            f"the tag monotone is wrong on {name} outcomes: the prediction decreases by"
            f" {-step.min():.3g}"
        )
