"""The contract of prediction sets, check by check: the promise is simulated."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._kernels.softmax import softmax
from calibrant.decisions.conditional_sets import ConditionalSets
from calibrant.decisions.conformal_sets import ConformalSets
from calibrant.errors import InputError
from calibrant.testing.check import (
    LAYOUTS,
    Check,
    bind,
    check_guarantee,
    refuses_unfitted,
    run_all,
    same_bits,
    saved_copies,
)

__all__ = ["check_sets", "set_checks"]

#: Runs of the simulation, calibration rows and new rows of each.
RUNS, ROWS, NEW = 60, 120, 400
N_CLASSES = 4


def check_sets(sets: ConformalSets | ConditionalSets) -> None:
    """Run every check of the contract; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant import ConformalSets
    >>> check_sets(ConformalSets())
    """
    run_all(set_checks(sets))


def set_checks(sets: ConformalSets | ConditionalSets) -> Iterator[Check]:
    """The checks, each a callable with a name."""
    of_all = [
        check_unfitted,
        check_promise,
        check_repetition,
        check_row_order,
        check_column_order,
        check_saved,
    ]
    if isinstance(sets, ConditionalSets):
        # Their sets need not be nested, and no counts add up to them.
        return bind([*of_all, check_alone], sets, {})
    return bind([*of_all, check_alone, check_nested, check_p_values, check_state], sets, {})


def drawn(
    n: int, seed: int, discrete: bool = False
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """(P, y, groups by the kind that is asked for): an overconfident model; ``discrete`` makes
    many of its rows equal.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, N_CLASSES))
    logits = np.round(logits) if discrete else logits
    y = (softmax(logits).cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, N_CLASSES - 1)
    groups = rng.integers(0, 3, n)
    return (
        softmax(2.0 * logits),
        y,
        {"groups": groups, "overlapping": np.column_stack([groups > 0, groups < 2])},
    )


def _given(
    sets: Any, groups: dict[str, np.ndarray], rows: Any = slice(None)
) -> dict[str, np.ndarray]:
    if isinstance(sets, ConditionalSets):
        return {"features": groups["overlapping"][rows]}
    return {"groups": groups[sets.by][rows]} if sets.by in groups else {}


def _fitted(sets: Any, n: int = ROWS, seed: int = 0, **options: Any) -> Any:
    P, y, groups = drawn(n, seed)
    return clone(sets).set_params(**options).fit(P, y, **_given(sets, groups))


def check_unfitted(sets: Any) -> None:
    """Sets are not asked for before fit."""
    refuses_unfitted(sets, lambda: clone(sets).predict_set(drawn(5, 0)[0]), "predict_set")


def check_promise(sets: Any) -> None:
    """New rows are covered as promised, of every class or group that the promise is of, with and
    without ties.
    """
    for discrete in (False, True):
        covered: dict[Any, list[float]] = {}
        for run in range(RUNS):
            P, y, groups = drawn(ROWS + NEW, run, discrete)
            kept = {name: value[:ROWS] for name, value in groups.items()}
            fitted = clone(sets).set_params(level=0.8).fit(P[:ROWS], y[:ROWS], **_given(sets, kept))
            new = {name: value[ROWS:] for name, value in groups.items()}
            held = fitted.predict_set(P[ROWS:], **_given(sets, new))[np.arange(NEW), y[ROWS:]]
            for name, rows in _asked_for(sets, y[ROWS:], new).items():
                covered.setdefault(name, []).append(float(held[rows].mean()))
        for realised in covered.values():
            check_guarantee(fitted.guarantee_, realised)


def _asked_for(sets, y, groups):
    """Name -> rows of each part that the promise is of."""
    everyone = {None: np.ones(len(y), dtype=bool)}
    if isinstance(sets, ConditionalSets):
        return {**everyone, **{k: groups["overlapping"][:, k] for k in range(2)}}
    if sets.by == "class":
        return {k: y == k for k in range(N_CLASSES)}
    if sets.by == "groups":
        return {g: groups["groups"] == g for g in range(3)}
    if sets.by == "overlapping":
        return {k: groups["overlapping"][:, k] for k in range(2)}
    return everyone


def check_nested(sets: Any) -> None:
    """A higher level takes no class away."""
    fitted = _fitted(sets)
    P, _, groups = drawn(NEW, 1)
    before = np.zeros((NEW, N_CLASSES), dtype=bool)
    for level in np.linspace(0.05, 0.95, 19):
        found = fitted.predict_set(P, level=float(level), **_given(sets, groups))
        assert not (before & ~found).any(), f"a class leaves its set at {level:g}"
        before = found


def check_p_values(sets: Any) -> None:
    """A class is in the set where its p-value is above 1 - level; smoothed ones are no larger."""
    fitted = _fitted(sets)
    P, _, groups = drawn(NEW, 1)
    given = _given(sets, groups)
    p, found = fitted.p_values(P, **given), fitted.predict_set(P, **given)
    above = p > 1.0 - fitted.level + 1e-9
    if sets.never_empty:
        above[~above.any(axis=1)] = found[~above.any(axis=1)]
    assert (found == above).all(), "sets and p-values disagree"
    assert (fitted.p_values(P, smoothed=True, **given) <= p + 1e-12).all(), (
        "a smoothed p-value is larger"
    )


def check_repetition(sets: Any) -> None:
    """A row of weight 2 is the row twice; other weights than whole numbers are refused."""
    P, y, groups = drawn(ROWS, 0)
    weight = np.random.default_rng(5).integers(0, 4, ROWS)
    rows = np.repeat(np.arange(ROWS), weight)
    weighted = clone(sets).fit(P, y, sample_weight=weight, **_given(sets, groups))
    repeated = clone(sets).fit(P[rows], y[rows], **_given(sets, groups, rows))
    new, _, others = drawn(NEW, 1)
    same_bits(
        weighted.predict_set(new, **_given(sets, others)),
        repeated.predict_set(new, **_given(sets, others)),
        "weights",
    )
    assert weighted.guarantee_ == repeated.guarantee_, "weights must count as rows"
    try:
        clone(sets).fit(P, y, sample_weight=weight + 0.5, **_given(sets, groups))
    except InputError:
        return
    raise AssertionError("weights that are no repetitions must raise InputError")


def check_row_order(sets: Any) -> None:
    """The order of the calibration rows changes nothing."""
    P, y, groups = drawn(ROWS, 0)
    rows = np.random.default_rng(5).permutation(ROWS)
    new, _, others = drawn(NEW, 1)
    one, other = (
        clone(sets).fit(P[r], y[r], **_given(sets, groups, r)) for r in (rows, slice(None))
    )
    given = _given(sets, others)
    same_bits(one.predict_set(new, **given), other.predict_set(new, **given), "order of the rows")


def check_column_order(sets: Any) -> None:
    """The order of the classes changes the order of the columns, and nothing else."""
    P, y, groups = drawn(ROWS, 0)
    new, _, others = drawn(NEW, 1)
    order = np.array([2, 0, 3, 1])
    one = (
        clone(sets)
        .set_params(classes=list("abcd"))
        .fit(P, np.array(list("abcd"))[y], **_given(sets, groups))
    )
    other = (
        clone(sets)
        .set_params(classes=list("cadb"))
        .fit(P[:, order], np.array(list("abcd"))[y], **_given(sets, groups))
    )
    there = other.predict_set(new[:, order], **_given(sets, others))
    same_bits(one.predict_set(new, **_given(sets, others))[:, order], there, "order of the columns")


def check_alone(sets: Any) -> None:
    """The set of a row does not depend on the rows beside it, on when it is asked for, nor on
    the memory order.
    """
    fitted = _fitted(sets)
    new, _, others = drawn(50, 1)
    for name, layout in LAYOUTS.items():
        same_bits(
            fitted.predict_set(layout(new), **_given(sets, others)),
            fitted.predict_set(new, **_given(sets, others)),
            name,
        )
    alone = [fitted.predict_set(new[[i]], **_given(sets, others, [i])) for i in range(50)]
    same_bits(np.concatenate(alone), fitted.predict_set(new, **_given(sets, others)), "rows alone")


def check_saved(sets: Any) -> None:
    """A copy that was saved gives the same sets and the same promise."""
    fitted = _fitted(sets)
    new, _, others = drawn(NEW, 1)
    for how, copy in saved_copies(fitted):
        same_bits(
            copy.predict_set(new, **_given(sets, others)),
            fitted.predict_set(new, **_given(sets, others)),
            how,
        )
        assert copy.guarantee_ == fitted.guarantee_, how


def check_state(sets: Any) -> None:
    """Sums of parts hold what the whole does, but for bins; where something is fitted first, a
    state is refused.
    """
    P, y, groups = drawn(2000, 0)
    try:
        parts = [
            clone(sets).state(P[r], y[r], **_given(sets, groups, r))
            for r in (slice(0, 700), slice(700, 2000))
        ]
    except InputError:
        assert (
            sets.by == "similar_classes" or sets.score == "raps" or sets.calibrator is not None
        ), "a state must be had"
        return
    whole, new = clone(sets).fit(P, y, **_given(sets, groups)), drawn(NEW, 1)
    summed: Any = sum(parts)
    binned = clone(sets).fit_state(summed)
    exact, found = (s.predict_set(new[0], **_given(sets, new[2])) for s in (whole, binned))
    assert not (exact & ~found).any(), "bins must not take classes away"
    assert (found != exact).mean() <= 1e-3, "bins add too many classes"
    assert binned.guarantee_.n == whole.guarantee_.n
