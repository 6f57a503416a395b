"""Checks of the contract of calibrators, including edge cases of the data."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.domain import Facet
from calibrant.core.estimators import clone
from calibrant.core.kinds import require_any_calibrator
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.testing.check import Check, bind, run_all, same_bits, show_near
from calibrant.testing.extremes import extreme_checks
from calibrant.testing.forecast_checks import FORECAST_CHECKS
from calibrant.testing.laws import LAWS, WEIGHT_LAWS, check_expression
from calibrant.testing.runs import answer, fit, fitted, given, ordinary, predicted, valid

__all__ = ["EDGE_CHECKS", "calibrator_checks", "check_absent_class", "check_calibrator"]


def _one_hot(labels: Any, n_classes: int) -> np.ndarray:
    return np.eye(n_classes)[labels]


def check_constant_scores(calibrator: Any) -> None:
    """Check fits in which every row has the same prediction: ordinary, uniform, or certain."""
    for data in ordinary(calibrator):
        k = data.n_classes
        rows = {
            "one prediction": np.append(0.7, np.full(k - 1, 0.3 / (k - 1))),
            "uniform": np.full(k, 1.0 / k),
            "first class certain": _one_hot(0, k),
            "last class certain": _one_hot(k - 1, k),
        }
        for name, row in rows.items():
            constant = replace(data, name=f"{data.name}, {name}").with_probabilities(
                np.tile(row, (len(data.y), 1))
            )
            valid(fitted(calibrator, constant), constant)


def check_one_class_only(calibrator: Any) -> None:
    """Check fits in which all labels are the first, or the last, class."""
    for data in ordinary(calibrator):
        for label in (0, data.n_classes - 1):
            single = replace(data, name=f"{data.name}, all {label}", y=np.full_like(data.y, label))
            valid(fitted(calibrator, single), single)


def check_perfect_separation(calibrator: Any) -> None:
    """Check fits in which every prediction is right, or every prediction is wrong."""
    for data in ordinary(calibrator):
        right = data.P.argmax(axis=1)
        for name, y in (("all right", right), ("all wrong", (right + 1) % data.n_classes)):
            separated = replace(data, name=f"{data.name}, {name}", y=y)
            valid(fitted(calibrator, separated), separated)


def check_two_rows(calibrator: Any) -> None:
    """Check fits to two rows: ordinary, certain, of one class, or equal."""
    for data in ordinary(calibrator):
        k = data.n_classes
        pair = data.take([0, 1])
        certain = _one_hot([0, k - 1], k)
        for name, two in {
            "two rows": pair,
            "certain and right": replace(pair.with_probabilities(certain), y=np.array([0, k - 1])),
            "certain and wrong": replace(pair.with_probabilities(certain), y=np.array([k - 1, 0])),
            "of one class": replace(pair, y=np.array([1, 1])),
            "twice the same": replace(data.take([0, 0]), y=np.array([0, 1])),
        }.items():
            named = replace(two, name=f"{data.name}, {name}")
            valid(fitted(calibrator, named), named)


def check_exact_zero_and_one(calibrator: Any) -> None:
    """Check probabilities of exactly 0 and 1 among the others, some wrong, to fit and predict."""
    for data in ordinary(calibrator):
        k = data.n_classes
        P, P_test = data.P.copy(), data.P_test.copy()
        for values in (P, P_test):
            values[0], values[1], values[2] = _one_hot(0, k), _one_hot(k - 1, k), _one_hot(1, k)
        y = data.y.copy()
        y[:3] = 0
        exact = replace(data, name=f"{data.name} with exact 0 and 1", y=y).with_probabilities(
            P, P_test
        )
        valid(fitted(calibrator, exact), exact)


def check_unseen_extremes(calibrator: Any) -> None:
    """Check a fit to ordinary rows that then predicts certain ones."""
    for data in ordinary(calibrator):
        k = data.n_classes
        certain = _one_hot(np.arange(len(data.logits_test)) % k, k)
        extreme = replace(data, name=f"{data.name}, certain test rows").with_probabilities(
            data.P, certain
        )
        valid(fitted(calibrator, extreme), extreme)


def check_scale_of_logits(calibrator: Any) -> None:
    """Check that logits scaled by 1e-6 to 1e8 give valid probabilities."""
    logit = clone(calibrator).set_params(inputs="logit")
    for data in ordinary(calibrator)[:2]:
        for scale in (1e-6, 1e3, 1e8):
            scaled = replace(
                data,
                name=f"{data.name}, logits x {scale:g}",
                logits=data.logits * scale,
                logits_test=data.logits_test * scale,
            )
            valid(fitted(logit, scaled), scaled)


def check_zero_weight_rows(calibrator: Any) -> None:
    """Check that a row of weight 0 is ignored, even if it is the only one of its class."""
    data = ordinary(calibrator)[-1]
    last = data.n_classes - 1
    rows = np.flatnonzero(data.y != last)
    with_it = replace(data, y=np.where(data.y == last, 0, data.y))
    held = given(calibrator, with_it)
    longer = {
        name: np.concatenate([held[name], held[name][:1]])
        for name in ("P", "X", "groups")
        if name in held
    }
    weight = np.append(np.ones(len(data)), 0.0)
    fresh = fit(
        calibrator, held | longer | {"y": np.append(with_it.y, last), "sample_weight": weight}
    )
    assert len(rows), "the problem must hold other classes"
    show_near(valid(fresh, data), valid(fitted(calibrator, with_it), data), "a row of weight 0")


def check_absent_class(calibrator: Any) -> None:
    """Check that a class without labels keeps its column of P and some probability."""
    for data in ordinary(calibrator)[1:]:
        last = data.n_classes - 1
        absent = replace(data.take(np.flatnonzero(data.y != last)), name=f"{data.name}, one absent")
        Q = valid(fitted(calibrator, absent), absent)
        assert Q[:, last].max() > 0.0, (
            f"the absent class has probability 0 in every row on {data.name}"
        )
        names, held = np.array([f"c{k}" for k in range(last + 1)]), given(calibrator, absent)
        labelled = held | {name: names[held[name]] for name in ("y", "y_train") if name in held}
        fresh = fit(clone(calibrator).set_params(classes=names.tolist()), labelled)
        assert fresh.classes_.tolist() == names.tolist(), "classes_ must hold the absent class"
        show_near(valid(fresh, absent), Q, f"named classes, one absent, on {data.name}")


EDGE_CHECKS = (
    check_constant_scores,
    check_one_class_only,
    check_perfect_separation,
    check_two_rows,
    check_exact_zero_and_one,
    check_unseen_extremes,
    check_scale_of_logits,
    check_zero_weight_rows,
)


#: A method that preserves the order of the risks in MIDDLE must preserve it near 0 and 1 too.
MIDDLE = np.concatenate([np.geomspace(1e-8, 0.4, 40), 1.0 - np.geomspace(0.4, 1e-8, 40)])
NEAR_ZERO = np.array([0.0, 1e-300, 1e-30, 1e-12, 1e-9])


def check_calibrator(calibrator: DomainCalibrator) -> None:
    """Run every check of the contract that applies to ``calibrator``.

    An AssertionError names the check that fails.

    Examples
    --------
    >>> from calibrant import StdScaling, TemperatureScaling
    >>> check_calibrator(TemperatureScaling())
    >>> check_calibrator(StdScaling())
    """
    run_all(calibrator_checks(calibrator))


def calibrator_checks(calibrator: DomainCalibrator) -> Iterator[Check]:
    """The checks that apply to ``calibrator`` by its kind and tags, each a callable with a name."""
    own = CALIBRATOR_CHECKS[require_any_calibrator(calibrator).domain](calibrator)
    return bind([*LAWS, *WEIGHT_LAWS, *own], calibrator, calibrator.tags.exceptions)


def _of_classes(calibrator: Any) -> Iterator[Any]:
    tags = calibrator.tags
    yield from (
        check_one_column_is_two,
        check_order_at_zero,
        check_named_classes,
        check_confidence_is_consistent,
        check_logit_route,
        check_expression,
    )
    yield from EDGE_CHECKS
    yield from extreme_checks("calibrator", "logits", "probabilities", "weights")
    if tags.keeps_argmax:
        yield check_keeps_argmax
    if {"signal", "signals"} & calibrator.get_params(deep=False).keys():
        yield check_signals_follow_inputs
    if not tags.binary_only:
        yield check_absent_class


def check_one_column_is_two(calibrator: Any) -> None:
    """Check that binary predictions as one column give the same answers as two columns."""
    held = given(calibrator, ordinary(calibrator)[0])
    logit = calibrator.inputs == "logit"
    one = {
        name: held[name][:, 1] - held[name][:, 0] if logit else held[name][:, 1]
        for name in ("P", "P_test")
    }
    two = held | {
        name: np.column_stack([np.zeros_like(a) if logit else 1.0 - a, a])
        for name, a in one.items()
    }
    one = held | one
    show_near(
        answer(fit(calibrator, one), one),
        answer(fit(calibrator, two), two),
        "one column against two",
        1e-12,
    )


def check_order_at_zero(calibrator: Any) -> None:
    """Check that increasing calibrated risks increase down to exact 0 and up to exact 1."""
    part = clone(calibrator).set_params(inputs="probability")
    data = ordinary(part)[0]
    some_zeros = data.P.copy()
    some_zeros[some_zeros[:, 1] < 1e-3] = [1.0, 0.0]
    for name, P in (("ordinary", data.P), ("with exact zeros", some_zeros)):
        fresh = fitted(part, data.with_probabilities(P, data.P_test))
        middle, low = (_risks_of(fresh, data, scores) for scores in (MIDDLE, NEAR_ZERO))
        if not (np.diff(middle) >= 0.0).all():
            return
        high = _risks_of(fresh, data, 1.0 - NEAR_ZERO[::-1])
        assert (np.diff(low) >= -1e-9 * low[1:]).all(), (
            f"risks {NEAR_ZERO.tolist()} become {low.tolist()}, not in order, {name}"
        )
        assert (np.diff(high) >= -1e-9 * high[1:]).all(), (
            f"risks near 1 become {high.tolist()}, not in order, {name}"
        )


def _risks_of(fresh: Any, data: Any, risk: np.ndarray) -> np.ndarray:
    held = given(fresh, data.only(np.zeros(len(risk), dtype=np.intp)))
    return answer(fresh, held | {"P_test": np.column_stack([1.0 - risk, risk])}, "predict_proba")[
        :, 1
    ]


def check_named_classes(calibrator: Any) -> None:
    """Check that labels may be of any type, in the order of the columns, not in sorted order."""
    for data in ordinary(calibrator):
        held, plain = given(calibrator, data), fitted(calibrator, data)
        assert plain.classes_.tolist() == list(range(data.n_classes)), (
            f"classes_ is {plain.classes_}"
        )
        names = np.array([f"c{data.n_classes - k}" for k in range(data.n_classes)])
        labelled = held | {name: names[held[name]] for name in ("y", "y_train") if name in held}
        named = fit(clone(calibrator).set_params(classes=names.tolist()), labelled)
        same_bits(answer(named, held), answer(plain, held), f"named classes on {data.name}")
        assert named.classes_.tolist() == names.tolist(), "classes_ must keep the order of classes="
        labels = names[answer(plain, held, "predict")]
        assert answer(named, held, "predict").tolist() == labels.tolist(), (
            "predict must return the labels"
        )


def check_confidence_is_consistent(calibrator: Any) -> None:
    """Check that predict_confidence and predict agree with predict_proba.

    The confidence is the probability of the model's own label; predict returns the argmax.
    """
    for data in ordinary(calibrator):
        fresh, held = fitted(calibrator, data), given(calibrator, data)
        Q, confidence, label = (
            answer(fresh, held, method)
            for method in ("predict_proba", "predict_confidence", "predict")
        )
        assert confidence.shape == (len(Q),), f"predict_confidence has shape {confidence.shape}"
        show_near(confidence, _at_own_label(Q, held), f"confidence on {data.name}", 1e-12)
        assert (label == fresh.classes_[Q.argmax(axis=1)]).all(), (
            "predict must be the argmax of predict_proba"
        )


def _at_own_label(Q: np.ndarray, held: dict[str, np.ndarray]) -> np.ndarray:
    return Q[np.arange(len(Q)), held["P_test"].argmax(axis=1)]


def _routes(calibrator: Any) -> Iterator[Any]:
    """Yield (problem, [(arguments, fitted clone)]) for probabilities and for logits.

    The logits are the logarithms of the probabilities.
    """
    parts = [clone(calibrator).set_params(inputs=inputs) for inputs in ("probability", "logit")]
    for data in ordinary(calibrator):
        held = given(parts[0], data)
        # Probabilities below the smallest one of the fit are raised to it, and logits are not.
        held["P_test"] = np.maximum(held["P_test"], held["P"].min())
        logits = held | {name: np.log(held[name]) for name in ("P", "P_test")}
        yield (
            data,
            [(each, fit(part, each)) for part, each in zip(parts, (held, logits), strict=True)],
        )


def check_logit_route(calibrator: Any) -> None:
    """Check that probabilities, and their logarithms as logits, give the same answers."""
    for data, routes in _routes(calibrator):
        a, b = (answer(fresh, held) for held, fresh in routes)
        show_near(a, b, f"logits on {data.name}")


def check_signals_follow_inputs(calibrator: Calibrator) -> None:
    """Check that the fitted signals take the calibrator's inputs, probabilities or logits."""
    for data, routes in _routes(calibrator):
        scores = []
        for held, fresh in routes:
            signals = fresh.signals_ if hasattr(fresh, "signals_") else [fresh.signal_]
            scores.append(
                [
                    s.score(held["P_test"], **({"X": data.X_test} if s.tags.uses_features else {}))
                    for s in signals
                ]
            )
        for a, b in zip(*scores, strict=True):
            show_near(a, b, f"signals of logits on {data.name}")


def check_keeps_argmax(calibrator: Calibrator) -> None:
    """Check that the model's own label keeps the largest probability."""
    for data in ordinary(calibrator):
        Q = predicted(fitted(calibrator, data), data)
        own = _at_own_label(Q, given(calibrator, data))
        assert (own == Q.max(axis=1)).all(), (
            f"the tag keeps_argmax is wrong on {data.name}: the argmax of"
            f" {int((own < Q.max(axis=1)).sum())} rows changed"
        )


#: Checks of a domain's calibrators, in addition to the laws of all components.
CALIBRATOR_CHECKS: Facet[Any] = Facet("checks of calibrators")
CALIBRATOR_CHECKS.register(CLASSIFICATION, lambda: _of_classes)
CALIBRATOR_CHECKS.register(REGRESSION, lambda: lambda calibrator: FORECAST_CHECKS)
