"""Checks of the contract of prediction sets; the guarantee is checked by simulation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from calibrant._numerics.logistic import softmax
from calibrant.core.estimators import clone
from calibrant.decisions.conditional_sets import ConditionalSets
from calibrant.decisions.sets import ConformalSets
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

#: Number of simulation runs, and of calibration rows and new rows in each.
RUNS, ROWS, NEW = 60, 120, 400
N_CLASSES = 4


def check_sets(sets: ConformalSets | ConditionalSets) -> None:
    """Run every check of the contract; an AssertionError names the check that fails.

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
        # Conditional sets need not be nested, and they have no state.
        return bind([*of_all, check_alone], sets, {})
    return bind([*of_all, check_alone, check_nested, check_p_values, check_state], sets, {})


def drawn(
    n: int, seed: int, discrete: bool = False
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """(P, y, groups by kind) of an overconfident model; ``discrete`` makes many rows equal."""
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
    """Check that predict_set before fit raises NotFittedError."""
    refuses_unfitted(sets, lambda: clone(sets).predict_set(drawn(5, 0)[0]), "predict_set")


def check_promise(sets: Any) -> None:
    """Check the guaranteed coverage of new rows, with and without ties.

    It must hold in each class or group for which it is guaranteed.
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


def _asked_for(sets: ConformalSets, y: np.ndarray, groups: dict[str, np.ndarray]) -> Any:
    """Name -> mask of the rows of each class or group for which coverage is guaranteed."""
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
    """Check that a higher level removes no class from a set."""
    fitted = _fitted(sets)
    P, _, groups = drawn(NEW, 1)
    before = np.zeros((NEW, N_CLASSES), dtype=bool)
    for level in np.linspace(0.05, 0.95, 19):
        found = fitted.predict_set(P, level=float(level), **_given(sets, groups))
        assert not (before & ~found).any(), f"a class leaves its set at {level:g}"
        before = found


def check_p_values(sets: Any) -> None:
    """Check that a set holds the classes with p-values above 1 - level.

    Smoothed p-values must not be larger.
    """
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
    """Check that integer weights are equivalent to repeated rows, and others are refused."""
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
    raise AssertionError("weights that are not integers must raise InputError")


def check_row_order(sets: Any) -> None:
    """Check that the order of the calibration rows does not matter."""
    P, y, groups = drawn(ROWS, 0)
    rows = np.random.default_rng(5).permutation(ROWS)
    new, _, others = drawn(NEW, 1)
    one, other = (
        clone(sets).fit(P[r], y[r], **_given(sets, groups, r)) for r in (rows, slice(None))
    )
    given = _given(sets, others)
    same_bits(one.predict_set(new, **given), other.predict_set(new, **given), "order of the rows")


def check_column_order(sets: Any) -> None:
    """Check that the order of the classes changes only the order of the columns."""
    P, y, groups = drawn(ROWS, 0)
    new, _, others = drawn(NEW, 1)
    # The order of levels means something: only its reversal leaves their intervals the same.
    order = np.array([3, 2, 1, 0] if sets.score == "ordered" else [2, 0, 3, 1])
    one = (
        clone(sets)
        .set_params(classes=list("abcd"))
        .fit(P, np.array(list("abcd"))[y], **_given(sets, groups))
    )
    other = (
        clone(sets)
        .set_params(classes=np.array(list("abcd"))[order].tolist())
        .fit(P[:, order], np.array(list("abcd"))[y], **_given(sets, groups))
    )
    there = other.predict_set(new[:, order], **_given(sets, others))
    same_bits(one.predict_set(new, **_given(sets, others))[:, order], there, "order of the columns")


def check_alone(sets: Any) -> None:
    """Check that the set of a row does not depend on other rows or on the memory order."""
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
    """Check that a saved copy gives the same sets and the same guarantee."""
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
    """Check that the sum of states of parts gives the sets of the whole, up to bins.

    A state is refused only if a score, a calibrator or clusters of classes must be fitted first.
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
        ), "state must not raise InputError unless something has to be fitted first"
        return
    whole, new = clone(sets).fit(P, y, **_given(sets, groups)), drawn(NEW, 1)
    summed: Any = sum(parts)
    binned = clone(sets).fit_state(summed)
    exact, found = (s.predict_set(new[0], **_given(sets, new[2])) for s in (whole, binned))
    assert not (exact & ~found).any(), "bins must not remove classes"
    assert (found != exact).mean() <= 1e-3, "bins add too many classes"
    assert binned.guarantee_.n == whole.guarantee_.n
