"""What a part says of itself as an expression is what it predicts, on ordinary rows, on ties, on its own knots, on exact 0 and 1."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from calibrant.contracts.compiled import Compiled
from calibrant.contracts.expression import Expression, source
from calibrant.contracts.symbolic import symbolic
from calibrant.errors import InputError
from calibrant.testing.check import seeded, show_near
from calibrant.testing.data import forecast_problems
from calibrant.testing.runs import answer, fitted, given, groups_beside, ordinary

__all__ = ["check_expression", "check_forecast_expression", "check_map_expression", "check_signal_expression"]

#: How near the two must be, where no steep line between knots enlarges the rounding.
EXACT = 1e-12
#: Primitives that no two languages, nor two lengths of a row, round alike.
ROUNDED_OTHERWISE = ("exp", "log", "sigmoid", "softmax", "log_softmax", "log_probabilities", "matrix")


def check_expression(calibrator: Any) -> None:
    """Where a calibrator has an expression, it gives what predict_proba gives; and so does the formula of what it shows."""
    for data in ordinary(calibrator):
        fresh, held = fitted(calibrator, data), given(calibrator, data)
        # Probabilities below the least of the fit are read as that.
        least = held["P"].min() if calibrator.inputs == "probability" else -np.inf
        _show_logit_formula(fresh, np.maximum(held["P_test"], least), data)
        try:
            run = fresh.compile()
        except InputError:
            return
        levels, edges = fresh.group_levels(), _edges(data.n_classes, calibrator.inputs)
        tied = [(one_ulp_off(held["P"], calibrator.inputs, end), "groups") for end in (-np.inf, np.inf)]
        for P, of in ((held["P_test"], "groups_test"), (held["P"], "groups"), (edges, "groups"), *tied):
            beside = {"groups_test": held[of][: len(P)]} if of in held else {}
            rows = P if levels is None else np.hstack([P, levels.codes(beside["groups_test"])])
            expected = answer(fresh, {"P_test": P, **beside})
            show_near(run(rows), expected, f"expression on {data.name}", EXACT)
            show_near(Compiled(shaken(fresh.expression()))(rows), expected, f"expression rounded otherwise on {data.name}", EXACT)
            show_near(np.vstack([run(row[None]) for row in rows[-20:]]), expected[-20:], f"expression of single rows on {data.name}", EXACT)


def one_ulp_off(P: np.ndarray, inputs: str, end: float) -> np.ndarray:
    """The numbers next to those given, towards ``end``; probabilities stay in [0, 1]."""
    near = np.nextafter(P, end)
    return np.clip(near, 0.0, 1.0) if inputs == "probability" else near


def shaken(expression: Expression) -> Expression:
    """The same expression, with what languages round in their own way moved by a unit of its last place, up or down by turns."""
    made: dict[int, Expression] = {}
    for j, node in enumerate(expression.nodes()):
        moved = replace(node, of=tuple(made[id(x)] for x in node.of))
        if node.op in ROUNDED_OTHERWISE:
            moved = moved * (1.0 + np.finfo(np.float64).eps * (-1.0) ** (j + np.arange(node.width)))
        made[id(node)] = moved
    return made[id(expression)]


def _show_logit_formula(fresh, P, data):
    """What a calibrator shows as ``scale_`` (or square ``matrix_``) and ``shift_`` has one meaning, so that a server with it is right:
    softmax(scale z + shift), z = log((1 - mixing) softmax(logits / temperature) + mixing / K)."""
    K = data.n_classes
    scale, shift = getattr(fresh, "scale_", None), getattr(fresh, "shift_", None)
    matrix = getattr(fresh, "matrix_", None) if scale is None else scale * np.eye(K)
    if not (isinstance(shift, np.ndarray) and isinstance(matrix, np.ndarray) and matrix.shape == (K, K)):
        return
    logits = P if fresh.inputs == "logit" else np.log(P)
    z = np.log((1.0 - fresh.mixing_) * softmax(logits / fresh.temperature_, axis=1) + fresh.mixing_ / K)
    show_near(softmax(z @ matrix.T + shift, axis=1), answer(fresh, {"P_test": P}), f"the formula of what it shows on {data.name}", 1e-9)


def check_forecast_expression(calibrator: Any) -> None:
    """Where a calibrator of normal forecasts has an expression, it gives the mean, std and quantiles of predict."""
    levels = (0.05, 0.5, 0.9)
    data = forecast_problems()[0]
    fresh = seeded(clone(calibrator)).fit(data.forecast, data.y, **groups_beside(calibrator, data.forecast.mean))
    try:
        run = Compiled(fresh.expression(levels))
    except InputError:
        return
    for given_ in (data.test, data.forecast):
        found, made = run(np.column_stack([given_.mean, given_.std])), fresh.predict(given_)
        expected = np.column_stack([made.mean, made.std, made.quantile(levels)])
        show_near(found / made.std[:, None], expected / made.std[:, None], "expression in units of the std", 1e-9)


def check_map_expression(map: Any) -> None:
    """Where a map has an expression, it gives what predict gives, on its knots too."""
    for data in ordinary(map):
        fresh = fitted(map, data)
        try:
            run = Compiled(fresh.expression())
        except InputError:
            return
        ends = [] if map.tags.domain == "real" else [0.0, 1.0, *np.arange(1, 15) / 15.0]
        score = np.concatenate([data.score, data.test, ends])
        show_near(run(score[:, None])[:, 0], fresh.predict(score), "expression", EXACT)
        near = Compiled(shaken(fresh.express(source(1) * (1.0 + np.finfo(np.float64).eps))))
        show_near(near(data.score[:, None])[:, 0], fresh.predict(data.score), "expression of the fit's scores rounded otherwise", EXACT)


def check_signal_expression(signal: Any) -> None:
    """Where a signal has an expression, it gives what score gives."""
    for data in ordinary(signal):
        fresh, held = fitted(seeded(signal), data), given(signal, data)
        try:
            run = Compiled(fresh.express(symbolic(data.n_classes, signal.inputs)))
        except InputError:
            return
        P = held["P_test"]
        show_near(run(P)[:, 0], answer(fresh, {"P_test": P}), f"expression on {data.name}", EXACT)


def _edges(n_classes, inputs):
    """Certain rows, equal ones, and rows with one class ruled out."""
    rest = (1.0 - np.eye(n_classes)) / (n_classes - 1)
    rows = np.vstack([np.eye(n_classes), np.full((1, n_classes), 1.0 / n_classes), *([rest] if n_classes > 2 else [])])
    return rows if inputs == "probability" else np.log(np.maximum(rows, 1e-300))
