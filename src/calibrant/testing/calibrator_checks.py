"""The contract of a calibrator, of classes or of forecasts: the laws that every part keeps, and what is its kind's own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.kinds import require_any_calibrator
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.testing import calibrator_edge_checks as edge
from calibrant.testing.check import Check, bind, run_all, same_bits, show_near
from calibrant.testing.expression_checks import check_expression
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.forecast_checks import FORECAST_CHECKS
from calibrant.testing.laws import LAWS, WEIGHT_LAWS
from calibrant.testing.runs import answer, fit, fitted, given, ordinary, predicted

__all__ = ["calibrator_checks", "check_calibrator"]

#: Risks at which a method shows that it keeps their order, and those at which it must then keep it too.
MIDDLE = np.concatenate([np.geomspace(1e-8, 0.4, 40), 1.0 - np.geomspace(0.4, 1e-8, 40)])
NEAR_ZERO = np.array([0.0, 1e-300, 1e-30, 1e-12, 1e-9])


def check_calibrator(calibrator: Calibrator | RegressionCalibrator) -> None:
    """Run every check of the contract that applies to ``calibrator``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant import StdScaling, TemperatureScaling
    >>> check_calibrator(TemperatureScaling())
    >>> check_calibrator(StdScaling())
    """
    run_all(calibrator_checks(calibrator))


def calibrator_checks(calibrator: Calibrator | RegressionCalibrator) -> Iterator[Check]:
    """The checks that apply to ``calibrator`` by its kind and tags, each a callable with a name."""
    tags = require_any_calibrator(calibrator).tags
    own = FORECAST_CHECKS if isinstance(calibrator, RegressionCalibrator) else _of_classes(calibrator)
    return bind([*LAWS, *WEIGHT_LAWS, *own], calibrator, tags.exceptions)


def _of_classes(calibrator):
    tags = calibrator.tags
    yield from (
        check_one_column_is_two,
        check_order_at_zero,
        check_named_classes,
        check_confidence_is_consistent,
        check_logit_route,
        check_expression,
    )
    yield from edge.EDGE_CHECKS
    yield from extreme_checks("calibrator", "logits", "probabilities", "weights")
    if tags.keeps_argmax:
        yield check_keeps_argmax
    if {"signal", "signals"} & calibrator.get_params(deep=False).keys():
        yield check_signals_follow_inputs
    if not tags.binary_only:
        yield edge.check_absent_class


def check_one_column_is_two(calibrator: Any) -> None:
    """Binary predictions as one column are the same predictions."""
    held = given(calibrator, ordinary(calibrator)[0])
    logit = calibrator.inputs == "logit"
    one = {name: held[name][:, 1] - held[name][:, 0] if logit else held[name][:, 1] for name in ("P", "P_test")}
    two = held | {name: np.column_stack([np.zeros_like(a) if logit else 1.0 - a, a]) for name, a in one.items()}
    one = held | one
    show_near(answer(fit(calibrator, one), one), answer(fit(calibrator, two), two), "one column against two", 1e-12)


def check_order_at_zero(calibrator: Any) -> None:
    """Where the risk rises with the risk predicted, it does so down to an exact 0 and up to an exact 1."""
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
        assert (np.diff(low) >= -1e-9 * low[1:]).all(), f"risks at {NEAR_ZERO.tolist()} become {low.tolist()}, {name}"
        assert (np.diff(high) >= -1e-9 * high[1:]).all(), f"risks near 1 become {high.tolist()}, {name}"


def _risks_of(fresh, data, risk):
    held = given(fresh, data.only(np.zeros(len(risk), dtype=np.intp)))
    return answer(fresh, held | {"P_test": np.column_stack([1.0 - risk, risk])}, "predict_proba")[:, 1]


def check_named_classes(calibrator: Any) -> None:
    """Any labels, in the order the columns have, not in sorted order."""
    for data in ordinary(calibrator):
        held, plain = given(calibrator, data), fitted(calibrator, data)
        assert plain.classes_.tolist() == list(range(data.n_classes)), f"classes_ is {plain.classes_}"
        names = np.array([f"c{data.n_classes - k}" for k in range(data.n_classes)])
        labelled = held | {name: names[held[name]] for name in ("y", "y_train") if name in held}
        named = fit(clone(calibrator).set_params(classes=names.tolist()), labelled)
        same_bits(answer(named, held), answer(plain, held), f"named classes on {data.name}")
        assert named.classes_.tolist() == names.tolist(), "classes_ must keep the order of classes="
        labels = names[answer(plain, held, "predict")]
        assert answer(named, held, "predict").tolist() == labels.tolist(), "predict must return the labels"


def check_confidence_is_consistent(calibrator: Any) -> None:
    """predict_confidence is predict_proba's entry at the model's own label; predict is predict_proba's argmax."""
    for data in ordinary(calibrator):
        fresh, held = fitted(calibrator, data), given(calibrator, data)
        Q, confidence, label = (answer(fresh, held, method) for method in ("predict_proba", "predict_confidence", "predict"))
        assert confidence.shape == (len(Q),), f"predict_confidence has shape {confidence.shape}"
        show_near(confidence, _at_own_label(Q, held), f"confidence on {data.name}", 1e-12)
        assert (label == fresh.classes_[Q.argmax(axis=1)]).all(), "predict must be the argmax of predict_proba"


def _at_own_label(Q, held):
    return Q[np.arange(len(Q)), held["P_test"].argmax(axis=1)]


def _routes(calibrator):
    """(problem, what is held and a fitted clone: of probabilities, then of their logarithms as logits)."""
    parts = [clone(calibrator).set_params(inputs=inputs) for inputs in ("probability", "logit")]
    for data in ordinary(calibrator):
        held = given(parts[0], data)
        # Probabilities, and not logits, are read as the least of the fit where they are below it.
        held["P_test"] = np.maximum(held["P_test"], held["P"].min())
        logits = held | {name: np.log(held[name]) for name in ("P", "P_test")}
        yield data, [(each, fit(part, each)) for part, each in zip(parts, (held, logits), strict=True)]


def check_logit_route(calibrator: Any) -> None:
    """Probabilities, and their logarithms as logits, are the same predictions."""
    for data, routes in _routes(calibrator):
        a, b = (answer(fresh, held) for held, fresh in routes)
        show_near(a, b, f"logits on {data.name}")


def check_signals_follow_inputs(calibrator: Calibrator) -> None:
    """The fitted signals read what the calibrator was fitted on, be it probabilities or logits."""
    for data, routes in _routes(calibrator):
        scores = []
        for held, fresh in routes:
            signals = fresh.signals_ if hasattr(fresh, "signals_") else [fresh.signal_]
            scores.append([s.score(held["P_test"], **({"X": data.X_test} if s.tags.uses_features else {})) for s in signals])
        for a, b in zip(*scores, strict=True):
            show_near(a, b, f"signals of logits on {data.name}")


def check_keeps_argmax(calibrator: Calibrator) -> None:
    """The model's own label keeps the largest probability."""
    for data in ordinary(calibrator):
        Q = predicted(fitted(calibrator, data), data)
        own = _at_own_label(Q, given(calibrator, data))
        assert (own == Q.max(axis=1)).all(), f"the tag keeps_argmax is wrong on {data.name}: {int((own < Q.max(axis=1)).sum())} rows moved"
