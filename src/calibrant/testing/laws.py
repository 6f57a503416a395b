"""The laws that every part keeps which is fitted: calibrators of classes and of forecasts, maps, signals."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant._kernels.softmax import normalise_rows
from calibrant.contracts.signal import Signal
from calibrant.testing.arrangements import LAYOUTS, laid_out, same_rows, splits
from calibrant.testing.check import digest, refuses_unfitted, same_bits, saved_copies, seeded
from calibrant.testing.container_cases import CONTAINER_CASES
from calibrant.testing.grid import require_good
from calibrant.testing.runs import answer, fit, fitted, given, handling, many_rows, near, ordinary, predicted, refit, valid

__all__ = ["LAWS", "WEIGHT_LAWS"]


def check_output_is_valid(part: Any) -> None:
    """What it says is well formed, finite and in range; fit returns the object itself."""
    for data in ordinary(part):
        fresh = seeded(clone(part))
        assert refit(fresh, given(part, data)) is fresh, "fit must return self"
        valid(fresh, data)


def check_weights_are_repetition(part: Any) -> None:
    """Weight 2 is the row twice, weight 0 no row."""
    for data in ordinary(part):
        weighted = fitted(part, data, data.weight)
        repeated = fitted(part, data.take(np.repeat(np.arange(len(data)), data.weight.astype(int))))
        near(part, predicted(weighted, data), predicted(repeated, data), f"weights against repetition on {data.name}")
        counts = [getattr(fresh, "n_fit_", None) for fresh in (weighted, repeated)]
        assert np.array_equal(*counts), f"n_fit_ is {counts[0]} with weights, {counts[1]} with repetition"


def check_row_order(part: Any) -> None:
    """The order of the rows does not matter."""
    for data in ordinary(part):
        shuffled = data.take(np.random.default_rng(1).permutation(len(data)))
        near(part, predicted(fitted(part, shuffled), data), predicted(fitted(part, data), data), f"row order on {data.name}")


def check_fit_twice(part: Any) -> None:
    """A fit forgets the ones before it, on data of another kind and on the same."""
    sets = ordinary(part)
    for first, second in zip(sets, sets[1:] + sets[:1], strict=True):
        used = fitted(part, first)
        for data in (second.take(slice(0, None, 2)), second):
            refit(used, given(used, data))
        same_bits(predicted(used, second), predicted(fitted(part, second), second), f"a second fit, on {second.name}")


def check_clone_and_parameters(part: Any) -> None:
    """The constructor only stores, clone copies the parameters, and fit leaves them alone."""
    parameters = part.get_params(deep=False)
    rebuilt = type(part)(**parameters)
    for name, value in parameters.items():
        assert getattr(rebuilt, name) is value, f"the constructor must store {name} as it is"
    assert not [a for a in vars(rebuilt) if a.endswith("_")], f"the constructor made {sorted(vars(rebuilt))}"
    before = repr(clone(part).get_params())
    fresh = fitted(part, ordinary(part)[0])
    assert repr(clone(fresh).get_params()) == repr(seeded(clone(part)).get_params()), "fit changed the parameters"
    assert repr(clone(part).get_params()) == before, "clone shares its parameters with the original"
    for name, value in fresh.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            assert not [a for a in vars(value) if a.endswith("_") and not a.startswith("_")], f"fit fitted the parameter {name} in place"


def check_inputs_untouched(part: Any) -> None:
    """No argument is written to, even when it could be, and no output shares memory with an argument or the fitted object."""
    for data in ordinary(part):
        held = {name: _copied(value) for name, value in (given(part, data) | {"sample_weight": data.weight}).items()}
        before = _digest(held)
        fresh = fit(part, held)
        methods = handling(part).methods
        outputs = [answer(fresh, held, method) for method in methods]
        kept = [out.copy() for out in outputs]
        for out in outputs:
            out[...] = -1.0
        assert _digest(held) == before, f"an argument was changed, on {data.name}"
        for method, out in zip(methods, kept, strict=True):
            same_bits(answer(fresh, held, method), out, f"{method} once its output is overwritten, on {data.name}")


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _digest(held):
    return digest(*(value for value in held.values() if isinstance(value, np.ndarray)))


def check_determinism(part: Any) -> None:
    """The same data give the same bits, and NumPy's global generator is not used."""
    state = np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    for data in ordinary(part):
        first, second = fitted(part, data), fitted(part, data)
        same_bits(predicted(first, data), predicted(second, data), "two fits on the same data")
        same_bits(predicted(first, data), predicted(first, data), "two answers of one fit")
    assert np.random.get_state(legacy=False)["state"]["key"].tobytes() == state, "the global random generator was used"  # noqa: NPY002


def check_saving(part: Any) -> None:
    """A saved and loaded, or pickled, object answers with the same bits."""
    for data in ordinary(part):
        fresh = fitted(part, data)
        for how, copy in saved_copies(fresh):
            same_bits(predicted(copy, data), predicted(fresh, data), f"{how} on {data.name}")
            assert repr(copy.get_params()) == repr(fresh.get_params()), f"{how}: parameters differ"
            assert list(getattr(copy, "classes_", [])) == list(getattr(fresh, "classes_", [])), f"{how}: classes_ differ"


def check_narrow_floats(part: Any) -> None:
    """Narrow floats give what the same numbers give in float64."""
    for data in ordinary(part):
        held = given(part, data)
        for dtype, tolerance in handling(part).narrow.items():
            narrow = held | {name: held[name].astype(dtype) for name in _said(held)}
            wide = narrow | {name: _wide(part, name, narrow[name]) for name in _said(held)}
            what = f"{np.dtype(dtype)} on {data.name}"
            near(part, answer(fit(part, narrow), narrow), answer(fit(part, wide), wide), what, tolerance)


def _said(held):
    """Names of what a model says, as arrays of floats, and of real outcomes."""
    said = [name for name in held if name.removesuffix("_test") in ("P", "score", "forecast", "std", "y")]
    return [name for name in said if isinstance(held[name], np.ndarray) and held[name].dtype.kind == "f"]


def _wide(part, name, values):
    # The sums of float16 rows are farther from 1 than those of float64 may be.
    rounded = name.removesuffix("_test") == "P" and part.inputs == "probability" and values.dtype == np.float16
    return normalise_rows(values) if rounded else values.astype(np.float64)


def check_rows_are_independent(part: Any) -> None:
    """The answer to a row has the same bits alone, beside any rows, in any order and in any memory order."""
    tolerance = getattr(part.tags, "row_tolerance", 0.0)
    for data in many_rows(part):
        fresh, held = fitted(part, data), given(part, data)
        whole = answer(fresh, held)
        for parts in splits(len(whole)):
            found = np.concatenate([predicted(fresh, data.only(rows)) for rows in parts])
            expected = np.concatenate([whole[rows] for rows in parts])
            same_rows(found, expected, f"rows in slices of {len(found) // len(parts)} on {data.name}", tolerance)
        back = slice(None, None, -1)
        same_rows(predicted(fresh, data.only(back)), whole[back], f"rows in another order on {data.name}", tolerance)
        for name, layout in LAYOUTS.items():
            same_rows(answer(fresh, laid_out(held, layout)), whole, f"{name} on {data.name}", tolerance)


def check_unfitted(part: Any) -> None:
    """Asking before fitting raises NotFittedError with the class and the remedy; a signal may answer what a fit would not change."""
    data = ordinary(part)[0]
    fresh, held = seeded(clone(part)), given(part, data)
    if isinstance(part, Signal) and (score := _answered(fresh, held)) is not None:
        same_bits(score, predicted(fitted(part, data), data), "before fit and after it")
        return
    for method in handling(part).methods:
        refuses_unfitted(fresh, lambda method=method: answer(fresh, held, method), method)


def _answered(fresh, held):
    try:
        return answer(fresh, held)
    except NotFittedError:
        return None


def check_containers(part: Any) -> None:
    """Frames, masked arrays, lists, narrow floats and the like give the plain arrays' answer, or one clear error."""
    require_good(CONTAINER_CASES[handling(part).kind](part))


#: Of every kind.
LAWS = (
    check_output_is_valid, check_fit_twice, check_clone_and_parameters, check_inputs_untouched, check_determinism, check_saving,
    check_narrow_floats, check_rows_are_independent, check_unfitted, check_containers,
)  # fmt: skip
#: Of what is fitted on weighted rows.
WEIGHT_LAWS = (check_weights_are_repetition, check_row_order)
