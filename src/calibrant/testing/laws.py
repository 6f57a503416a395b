"""The laws of every kind of component, and the checks of their exported expressions."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import NotFittedError

from calibrant._numerics.logistic import normalise_rows
from calibrant.core.compiled import Compiled
from calibrant.core.estimators import clone
from calibrant.core.expression import Expression, source, symbolic
from calibrant.core.map import Signal
from calibrant.errors import InputError
from calibrant.testing.check import (
    LAYOUTS,
    digest,
    laid_out,
    refuses_unfitted,
    require_good,
    same_bits,
    same_rows,
    saved_copies,
    seeded,
    show_near,
    splits,
)
from calibrant.testing.containers import CONTAINER_CASES
from calibrant.testing.data import forecast_problems
from calibrant.testing.runs import (
    answer,
    fit,
    fitted,
    given,
    groups_beside,
    handling,
    many_rows,
    near,
    ordinary,
    predicted,
    refit,
    valid,
)

__all__ = [
    "LAWS",
    "WEIGHT_LAWS",
    "check_expression",
    "check_forecast_expression",
    "check_map_expression",
    "check_signal_expression",
]


def check_output_is_valid(part: Any) -> None:
    """Check that the output is well formed, finite and in range, and that fit returns self."""
    for data in ordinary(part):
        fresh = seeded(clone(part))
        assert refit(fresh, given(part, data)) is fresh, "fit must return self"
        valid(fresh, data)


def check_weights_are_repetition(part: Any) -> None:
    """Check that integer weights are equivalent to repeated rows, and weight 0 to no row."""
    for data in ordinary(part):
        weighted = fitted(part, data, data.weight)
        repeated = fitted(part, data.take(np.repeat(np.arange(len(data)), data.weight.astype(int))))
        near(
            part,
            predicted(weighted, data),
            predicted(repeated, data),
            f"weights against repetition on {data.name}",
        )
        counts = [getattr(fresh, "n_fit_", None) for fresh in (weighted, repeated)]
        assert np.array_equal(*counts), (
            f"n_fit_ is {counts[0]} with weights, {counts[1]} with repetition"
        )


def check_row_order(part: Any) -> None:
    """Check that the order of the rows does not matter."""
    for data in ordinary(part):
        shuffled = data.take(np.random.default_rng(1).permutation(len(data)))
        near(
            part,
            predicted(fitted(part, shuffled), data),
            predicted(fitted(part, data), data),
            f"row order on {data.name}",
        )


def check_fit_twice(part: Any) -> None:
    """Check that a second fit, on other data or the same, does not depend on the first."""
    sets = ordinary(part)
    for first, second in zip(sets, sets[1:] + sets[:1], strict=True):
        used = fitted(part, first)
        for data in (second.take(slice(0, None, 2)), second):
            refit(used, given(used, data))
        same_bits(
            predicted(used, second),
            predicted(fitted(part, second), second),
            f"a second fit, on {second.name}",
        )


def check_clone_and_parameters(part: Any) -> None:
    """Check that the constructor only stores, clone copies, and fit keeps the parameters."""
    parameters = part.get_params(deep=False)
    rebuilt = type(part)(**parameters)
    for name, value in parameters.items():
        assert getattr(rebuilt, name) is value, f"the constructor must store {name} as it is"
    assert not [a for a in vars(rebuilt) if a.endswith("_")], (
        f"the constructor must not set fitted attributes; it set {sorted(vars(rebuilt))}"
    )
    before = repr(clone(part).get_params())
    fresh = fitted(part, ordinary(part)[0])
    assert repr(clone(fresh).get_params()) == repr(seeded(clone(part)).get_params()), (
        "fit changed the parameters"
    )
    assert repr(clone(part).get_params()) == before, "clone shares its parameters with the original"
    for name, value in fresh.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            assert not [a for a in vars(value) if a.endswith("_") and not a.startswith("_")], (
                f"fit fitted the parameter {name} in place"
            )


def check_inputs_untouched(part: Any) -> None:
    """Check that no argument is changed, and that no output shares memory.

    Outputs must not share memory with an argument or the fitted object.
    """
    for data in ordinary(part):
        held = {
            name: _copied(value)
            for name, value in (given(part, data) | {"sample_weight": data.weight}).items()
        }
        before = _digest(held)
        fresh = fit(part, held)
        methods = handling(part).methods
        outputs = [answer(fresh, held, method) for method in methods]
        kept = [out.copy() for out in outputs]
        for out in outputs:
            out[...] = -1.0
        assert _digest(held) == before, f"an argument was changed, on {data.name}"
        for method, out in zip(methods, kept, strict=True):
            same_bits(
                answer(fresh, held, method),
                out,
                f"{method} once its output is overwritten, on {data.name}",
            )


def _copied(value: np.ndarray) -> np.ndarray:
    return value.copy() if isinstance(value, np.ndarray) else value


def _digest(held: dict[str, np.ndarray]) -> str:
    return digest(*(value for value in held.values() if isinstance(value, np.ndarray)))


def check_determinism(part: Any) -> None:
    """Check that the same data give the same bits, without NumPy's global generator."""
    state = np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    for data in ordinary(part):
        first, second = fitted(part, data), fitted(part, data)
        same_bits(predicted(first, data), predicted(second, data), "two fits on the same data")
        same_bits(predicted(first, data), predicted(first, data), "two answers of one fit")
    assert np.random.get_state(legacy=False)["state"]["key"].tobytes() == state, (  # noqa: NPY002
        "the global random generator was used"
    )


def check_saving(part: Any) -> None:
    """Check that a saved and loaded, or pickled, object predicts the same bits."""
    for data in ordinary(part):
        fresh = fitted(part, data)
        for how, copy in saved_copies(fresh):
            same_bits(predicted(copy, data), predicted(fresh, data), f"{how} on {data.name}")
            assert repr(copy.get_params()) == repr(fresh.get_params()), f"{how}: parameters differ"
            assert list(getattr(copy, "classes_", [])) == list(getattr(fresh, "classes_", [])), (
                f"{how}: classes_ differ"
            )


def check_narrow_floats(part: Any) -> None:
    """Check that narrow floats give the same output as the same numbers in float64."""
    for data in ordinary(part):
        held = given(part, data)
        for dtype, tolerance in handling(part).narrow.items():
            narrow = held | {name: held[name].astype(dtype) for name in _said(held)}
            wide = narrow | {name: _wide(part, name, narrow[name]) for name in _said(held)}
            what = f"{np.dtype(dtype)} on {data.name}"
            near(
                part,
                answer(fit(part, narrow), narrow),
                answer(fit(part, wide), wide),
                what,
                tolerance,
            )


def _said(held: dict[str, np.ndarray]) -> list[str]:
    """Names of the arguments that are float arrays of predictions or outcomes."""
    said = [
        name
        for name in held
        if name.removesuffix("_test") in ("P", "score", "forecast", "std", "y")
    ]
    return [
        name for name in said if isinstance(held[name], np.ndarray) and held[name].dtype.kind == "f"
    ]


def _wide(part: Any, name: str, values: np.ndarray) -> np.ndarray:
    # Rows of float16 may sum to values farther from 1 than is allowed for float64.
    rounded = (
        name.removesuffix("_test") == "P"
        and part.inputs == "probability"
        and values.dtype == np.float16
    )
    return normalise_rows(values) if rounded else values.astype(np.float64)


def check_rows_are_independent(part: Any) -> None:
    """Check that the output of a row has the same bits alone, with other rows, and in any order.

    The memory order must not matter either.
    """
    tolerance = getattr(part.tags, "row_tolerance", 0.0)
    for data in many_rows(part):
        fresh, held = fitted(part, data), given(part, data)
        whole = answer(fresh, held)
        for parts in splits(len(whole)):
            found = np.concatenate([predicted(fresh, data.only(rows)) for rows in parts])
            expected = np.concatenate([whole[rows] for rows in parts])
            same_rows(
                found,
                expected,
                f"rows in slices of {len(found) // len(parts)} on {data.name}",
                tolerance,
            )
        back = slice(None, None, -1)
        same_rows(
            predicted(fresh, data.only(back)),
            whole[back],
            f"rows in another order on {data.name}",
            tolerance,
        )
        for name, layout in LAYOUTS.items():
            same_rows(
                answer(fresh, laid_out(held, layout)), whole, f"{name} on {data.name}", tolerance
            )


def check_unfitted(part: Any) -> None:
    """Check that prediction before fit raises NotFittedError with the class and the remedy.

    A signal may return scores that a fit would not change.
    """
    data = ordinary(part)[0]
    fresh, held = seeded(clone(part)), given(part, data)
    if isinstance(part, Signal) and (score := _answered(fresh, held)) is not None:
        same_bits(score, predicted(fitted(part, data), data), "before fit and after it")
        return
    for method in handling(part).methods:
        refuses_unfitted(fresh, lambda method=method: answer(fresh, held, method), method)


def _answered(fresh: Any, held: dict[str, np.ndarray]) -> np.ndarray | None:
    try:
        return answer(fresh, held)
    except NotFittedError:
        return None


def check_containers(part: Any) -> None:
    """Check that other containers give the output of plain arrays, or one clear error.

    They are frames, masked arrays, lists, narrow floats and the like.
    """
    require_good(CONTAINER_CASES[handling(part).kind](part))


#: Laws of every kind of component.
LAWS = (
    check_output_is_valid,
    check_fit_twice,
    check_clone_and_parameters,
    check_inputs_untouched,
    check_determinism,
    check_saving,
    check_narrow_floats,
    check_rows_are_independent,
    check_unfitted,
    check_containers,
)
#: Laws of components that are fitted to weighted rows.
WEIGHT_LAWS = (check_weights_are_repetition, check_row_order)


#: Tolerance of expressions, for expressions without steep segments that amplify rounding.
EXACT = 1e-12
#: Primitives whose rounding differs between languages, and between lengths of a row.
ROUNDED_OTHERWISE = (
    "exp",
    "log",
    "sigmoid",
    "softmax",
    "log_softmax",
    "log_probabilities",
    "matrix",
)


def check_expression(calibrator: Any) -> None:
    """Check that a calibrator's expression, if any, gives the probabilities of predict_proba.

    The formula of its fitted attributes must give them too.
    """
    for data in ordinary(calibrator):
        fresh, held = fitted(calibrator, data), given(calibrator, data)
        # Probabilities below the smallest one of the fit are raised to it.
        least = held["P"].min() if calibrator.inputs == "probability" else -np.inf
        _show_logit_formula(fresh, np.maximum(held["P_test"], least), data)
        try:
            run = fresh.compile()
        except InputError:
            return
        levels, edges = fresh.group_levels(), _edges(data.n_classes, calibrator.inputs)
        tied = [
            (one_ulp_off(held["P"], calibrator.inputs, end), "groups") for end in (-np.inf, np.inf)
        ]
        for P, of in (
            (held["P_test"], "groups_test"),
            (held["P"], "groups"),
            (edges, "groups"),
            *tied,
        ):
            beside = {"groups_test": held[of][: len(P)]} if of in held else {}
            rows = P if levels is None else np.hstack([P, levels.codes(beside["groups_test"])])
            expected = answer(fresh, {"P_test": P, **beside})
            show_near(run(rows), expected, f"expression on {data.name}", EXACT)
            show_near(
                Compiled(shaken(fresh.expression()))(rows),
                expected,
                f"expression rounded otherwise on {data.name}",
                EXACT,
            )
            show_near(
                np.vstack([run(row[None]) for row in rows[-20:]]),
                expected[-20:],
                f"expression of single rows on {data.name}",
                EXACT,
            )


def one_ulp_off(P: np.ndarray, inputs: str, end: float) -> np.ndarray:
    """The adjacent floats in the direction of ``end``; probabilities stay in [0, 1]."""
    near = np.nextafter(P, end)
    return np.clip(near, 0.0, 1.0) if inputs == "probability" else near


def shaken(expression: Expression) -> Expression:
    """The same expression with language-dependent results changed by one unit in the last place.

    The changes alternate between up and down.
    """
    made: dict[int, Expression] = {}
    for j, node in enumerate(expression.nodes()):
        moved = replace(node, of=tuple(made[id(x)] for x in node.of))
        if node.op in ROUNDED_OTHERWISE:
            moved = moved * (1.0 + np.finfo(np.float64).eps * (-1.0) ** (j + np.arange(node.width)))
        made[id(node)] = moved
    return made[id(expression)]


def _show_logit_formula(fresh: Any, P: np.ndarray, data: Any) -> None:
    """Check that ``scale_`` (or square ``matrix_``) and ``shift_`` reproduce the probabilities.

    The formula, which a server may use, is softmax(scale z + shift) with
    z = log((1 - mixing) softmax(logits / temperature) + mixing / K).
    """
    K = data.n_classes
    scale, shift = getattr(fresh, "scale_", None), getattr(fresh, "shift_", None)
    matrix = getattr(fresh, "matrix_", None) if scale is None else scale * np.eye(K)
    if not (
        isinstance(shift, np.ndarray) and isinstance(matrix, np.ndarray) and matrix.shape == (K, K)
    ):
        return
    logits = P if fresh.inputs == "logit" else np.log(P)
    z = np.log(
        (1.0 - fresh.mixing_) * softmax(logits / fresh.temperature_, axis=1) + fresh.mixing_ / K
    )
    show_near(
        softmax(z @ matrix.T + shift, axis=1),
        answer(fresh, {"P_test": P}),
        f"the formula of scale_ or matrix_ and shift_ on {data.name}",
        1e-9,
    )


def check_forecast_expression(calibrator: Any) -> None:
    """Check that a forecast calibrator's expression, if any, agrees with predict.

    It must give the same mean, std and quantiles of normal forecasts.
    """
    levels = (0.05, 0.5, 0.9)
    data = forecast_problems()[0]
    fresh = seeded(clone(calibrator)).fit(
        data.forecast, data.y, **groups_beside(calibrator, data.forecast.mean)
    )
    try:
        run = Compiled(fresh.expression(levels))
    except InputError:
        return
    for given_ in (data.test, data.forecast):
        found, made = run(np.column_stack([given_.mean, given_.std])), fresh.predict(given_)
        expected = np.column_stack([made.mean, made.std, made.quantile(levels)])
        show_near(
            found / made.std[:, None],
            expected / made.std[:, None],
            "expression in units of the std",
            1e-9,
        )


def check_map_expression(map: Any) -> None:
    """Check that a map's expression, if any, agrees with predict, also at its knots."""
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
        show_near(
            near(data.score[:, None])[:, 0],
            fresh.predict(data.score),
            "expression of the fit's scores rounded otherwise",
            EXACT,
        )


def check_signal_expression(signal: Any) -> None:
    """Check that a signal's expression, if any, agrees with score."""
    for data in ordinary(signal):
        fresh, held = fitted(seeded(signal), data), given(signal, data)
        try:
            run = Compiled(fresh.express(symbolic(data.n_classes, signal.inputs)))
        except InputError:
            return
        P = held["P_test"]
        show_near(run(P)[:, 0], answer(fresh, {"P_test": P}), f"expression on {data.name}", EXACT)


def _edges(n_classes: int, inputs: str) -> np.ndarray:
    """Certain rows, uniform rows, and rows with one class of probability 0."""
    rest = (1.0 - np.eye(n_classes)) / (n_classes - 1)
    rows = np.vstack(
        [
            np.eye(n_classes),
            np.full((1, n_classes), 1.0 / n_classes),
            *([rest] if n_classes > 2 else []),
        ]
    )
    return rows if inputs == "probability" else np.log(np.maximum(rows, 1e-300))
