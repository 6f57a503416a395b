"""Containers of every kind, and the checks that each is read like a plain array."""

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from calibrant.core.estimators import clone
from calibrant.testing.check import Case, show_near
from calibrant.testing.data import (
    COARSE,
    exact_forecasts,
    exact_problem,
    exact_scores,
    scored_problem,
)
from calibrant.testing.runs import answer, fit, given

__all__ = [
    "CONTAINERS",
    "CONTAINER_CASES",
    "FRAMES",
    "REPEATING",
    "Container",
    "contents",
    "present",
]


@dataclass(frozen=True)
class Container:
    """A container of numbers.

    Attributes
    ----------
    name : str
    rows : function of a (n, k) array, or None if it holds single columns only
    column : function of a (n,) array, or None if it cannot hold a single column
    needs : str
        The library that provides the container.
    answered : bool
        False if an entry is missing or the shape is wrong, which every component must refuse.
    """

    name: str
    rows: Callable[[np.ndarray], Any] | None
    column: Callable[[np.ndarray], Any] | None
    needs: str = "numpy"
    answered: bool = True

    def holds(self, values: np.ndarray) -> bool:
        """Whether it can hold an array with these dimensions."""
        return (self.column if np.ndim(values) == 1 else self.rows) is not None

    def __call__(self, values: Any) -> Any:
        """The numbers of an array in this container."""
        return (self.column if np.ndim(values) == 1 else self.rows)(values)


def present(needs: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(needs) is not None


def _library(name: str) -> Any:
    return importlib.import_module(name)


def _both(name, make, needs="numpy", answered=True):
    return Container(name, make, make, needs, answered)


def _every_second(values: np.ndarray) -> np.ndarray:
    wide = np.repeat(values, 2, axis=0)
    return np.repeat(wide, 2, axis=1)[::2, ::2] if values.ndim == 2 else wide[::2]


def _read_only(values: np.ndarray) -> np.ndarray:
    out = values.copy()
    out.flags.writeable = False
    return out


def _matrix(values: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix(values.copy())


def _one_masked(values: np.ndarray) -> Any:
    out = np.ma.array(values.copy())
    out[1] = np.ma.masked
    return out


def _object_with_none(values: np.ndarray) -> np.ndarray:
    out = values.astype(object)
    out[1] = None
    return out


def _series(values: np.ndarray, dtype: str | None = None, missing: bool = False) -> Any:
    pandas = _library("pandas")
    # The index must not be used as row positions; that would reverse the rows.
    out = pandas.Series(values.copy(), index=np.arange(len(values))[::-1], dtype=dtype)
    if missing:
        out.iloc[1] = pandas.NA
    return out


def _nullable(values: np.ndarray, missing: bool = False) -> Any:
    pandas = _library("pandas")
    kind = "Int64" if values.dtype.kind in "iu" else "Float64"
    if values.ndim == 1:
        return _series(values, kind, missing)
    out = pandas.DataFrame(values.copy()).astype(kind)
    if missing:
        out.iloc[1, 0] = pandas.NA
    return out


def _columns(values, missing, one, table):
    """One column, or a table of named columns.

    With ``missing``, the second entry of the first column is None.
    """
    columns = [column.tolist() for column in np.atleast_2d(values.T)]
    if missing:
        columns[0][1] = None
    if values.ndim == 1:
        return one(columns[0])
    return table({f"column_{j}": column for j, column in enumerate(columns)})


def _polars(values: np.ndarray, missing: bool = False) -> Any:
    polars = _library("polars")
    return _columns(values, missing, polars.Series, polars.DataFrame)


def _arrow(values: np.ndarray, missing: bool = False) -> Any:
    pyarrow = _library("pyarrow")
    return _columns(values, missing, pyarrow.array, pyarrow.table)


def _floats(dtype: type[Any]) -> Callable[..., Any]:
    """Cast the floats of an array to a narrower dtype; integers, which are labels, stay."""
    return lambda values: values.astype(dtype) if values.dtype.kind == "f" else values


def _tensor(values, kind=None):
    torch = _library("torch")
    out = torch.from_numpy(values.copy())
    return out.to(getattr(torch, kind)) if kind and out.is_floating_point() else out


CONTAINERS = (
    _both("a Fortran-ordered array", np.asfortranarray),
    _both("every second of an array", _every_second),
    _both(
        "an array seen backwards",
        lambda v: v[::-1].copy()[::-1] if v.ndim == 1 else v[::-1, ::-1].copy()[::-1, ::-1],
    ),
    _both("a read-only array", _read_only),
    _both("a big-endian array", lambda v: v.astype(v.dtype.newbyteorder(">"))),
    _both("float32", _floats(np.float32)),
    _both("float16", _floats(np.float16)),
    _both("ml_dtypes.bfloat16", lambda v: _floats(_library("ml_dtypes").bfloat16)(v), "ml_dtypes"),
    _both("lists", lambda v: v.tolist()),
    Container("tuples", lambda v: tuple(map(tuple, v.tolist())), lambda v: tuple(v.tolist())),
    _both("an object array", lambda v: v.astype(object)),
    _both("an object array with None", _object_with_none, answered=False),
    _both("a masked array with nothing masked", lambda v: np.ma.array(v.copy())),
    _both(
        "a masked array with a mask of False",
        lambda v: np.ma.array(v.copy(), mask=np.zeros(v.shape, dtype=bool)),
    ),
    _both("a masked array with a masked row", _one_masked, answered=False),
    Container("a np.matrix", _matrix, None),
    Container("a np.matrix for one column", None, lambda v: _matrix(v[:, None]), answered=False),
    Container(
        "a pandas frame",
        lambda v: _library("pandas").DataFrame(v.copy(), index=np.arange(len(v))[::-1]),
        _series,
        "pandas",
    ),
    _both("pandas nullable", _nullable, "pandas"),
    _both("pandas nullable with NA", lambda v: _nullable(v, True), "pandas", answered=False),
    _both("polars", _polars, "polars"),
    _both("polars with null", lambda v: _polars(v, True), "polars", answered=False),
    _both("pyarrow", _arrow, "pyarrow"),
    _both("pyarrow with null", lambda v: _arrow(v, True), "pyarrow", answered=False),
    _both("a torch tensor", _tensor, "torch"),
    _both("a torch tensor of bfloat16", lambda v: _tensor(v, "bfloat16"), "torch"),
)

#: Frames with named columns: library -> function of names and a (n, k) array.
FRAMES: dict[Any, Any] = {
    "pandas": lambda names, values: _library("pandas").DataFrame(values.copy(), columns=names),
    "polars": lambda names, values: _library("polars").DataFrame(
        values.copy(), schema=[str(name) for name in names]
    ),
    "pyarrow": lambda names, values: _library("pyarrow").Table.from_arrays(
        list(values.T.copy()), names=[str(name) for name in names]
    ),
}
#: Libraries whose frames may hold two columns with the same name.
REPEATING = ("pandas", "pyarrow")


def contents(held: Any) -> str:
    """The contents and types of a container as text, which shows whether it was changed."""
    if isinstance(held, np.ma.MaskedArray):
        return contents([np.ma.getdata(held), np.ma.getmaskarray(held)])
    if isinstance(held, np.ndarray):
        return f"{type(held).__name__} {held.dtype} {held.tolist()}"
    if isinstance(held, list | tuple):
        return f"{type(held).__name__} {[contents(one) for one in held]}"
    names = getattr(held, "column_names", getattr(held, "columns", None))
    values = (
        held.to_numpy().tolist()
        if hasattr(held, "iloc") or hasattr(held, "get_column")
        else str(held)
    )
    return f"{type(held).__name__} {None if names is None else list(names)} {values}"


FAMILY = "containers"
#: Arguments in which a missing entry is a valid level.
MISSING_IS_A_LEVEL = ("groups", "groups_test")
#: Argument -> its name in errors, if this is not the part before "_test".
CALLED = {"X_train": "", "y_train": "reference", "forecast": "mean"}


@dataclass(frozen=True)
class Trial:
    """The arguments of a component as plain arrays, and how to fit it and predict.

    Names of arguments to predict on end in "_test". ``fit(held)`` returns the fitted component and
    ``answer(fitted, held)`` its output. Missing entries of the argument ``ignores`` may be ignored,
    if the output is the same.
    """

    arguments: dict[str, np.ndarray]
    fit: Callable[[dict], Any]
    answer: Callable[[Any, dict], Any]
    ignores: str = ""

    def run(self, held: dict[str, Any]) -> float | np.ndarray:
        """The output for data in containers, which must not change."""
        before = {name: contents(value) for name, value in held.items()}
        out = self.answer(self.fit(held), held)
        changed = [name for name, value in held.items() if contents(value) != before[name]]
        if changed:
            raise AssertionError(f"fit or predict changed the arguments {changed}")
        return out

    def plain(self) -> tuple[Any, float | np.ndarray]:
        """(component fitted to the plain arrays, its output)."""
        fitted = self.fit(self.arguments)
        return fitted, self.answer(fitted, self.arguments)


def _held_cases(trial: Trial) -> Iterator[Case]:
    """Cases of every container: a complete one for all arguments at once, others one at a time."""
    fitted, plain = trial.plain()
    for container in (c for c in CONTAINERS if present(c.needs)):
        mine = {name: values for name, values in trial.arguments.items() if container.holds(values)}
        if container.answered and mine:
            held = trial.arguments | {name: container(values) for name, values in mine.items()}
            yield Case(
                FAMILY,
                container.name,
                "",
                partial(trial.run, held),
                _near(plain, container.name),
                refused=False,
            )
            continue
        for name, values in mine.items():
            if name in MISSING_IS_A_LEVEL:
                continue
            held, title = trial.arguments | {name: container(values)}, f"{name} as {container.name}"
            if name == trial.ignores:
                yield Case(FAMILY, title, name, partial(trial.run, held), _near(plain, title))
                continue
            yield _refusal(
                title,
                name,
                partial(trial.answer, fitted, held)
                if name.endswith("_test")
                else partial(trial.fit, held),
            )


def _near(expected: Any, what: str) -> Callable[..., Any]:
    return partial(show_near, b=expected, what=what)


def _refusal(name: str, argument: str, call: Callable[..., Any]) -> Case:
    argument = argument.removesuffix("_test")
    return Case(
        FAMILY, name, CALLED.get(argument, argument), call, lambda answer: None, answered=False
    )


def _frame_cases(trial: Trial, named: Trial, permuted: Trial) -> Iterator[Case]:
    """Cases of P as frames whose columns are in another order, or share a name.

    ``named`` has texts for labels; ``permuted`` holds the plain arrays with their columns in
    another order.
    """
    P = trial.arguments["P"]
    order, texts = list(np.roll(np.arange(P.shape[1]), 1)), _names(P.shape[1])
    _, plain = trial.plain()
    _, moved = permuted.plain()
    tests = [name for name in trial.arguments if name == "P_test"]
    for kind, frame in FRAMES.items():
        if not present(kind):
            continue
        held = named.arguments | {"P": frame([texts[j] for j in order], P[:, order])}
        held |= {name: frame(texts[::-1], trial.arguments[name][:, ::-1]) for name in tests}
        title = f"a {kind} frame with its columns in another order"
        yield Case(FAMILY, title, "", partial(named.run, held), _near(plain, title), refused=False)
        held = trial.arguments | {"P": frame([int(j) for j in order], P[:, order])}
        held |= {name: frame(list(range(len(order))), trial.arguments[name]) for name in tests}
        title = f"a {kind} frame with numbers for names, in another order"
        yield Case(FAMILY, title, "", partial(trial.run, held), _near(moved, title), refused=False)
        if kind in REPEATING:
            held = trial.arguments | {"P": frame([texts[0], *texts[:-1]], P)}
            yield _refusal(
                f"a {kind} frame with two columns of one name", "P", partial(trial.fit, held)
            )


def _names(n_classes: int) -> list[str]:
    return [f"class {chr(97 + k)}" for k in range(n_classes)]


def _trial(part: Any, data: Any, ignores: str = "") -> Trial:
    """The trial of a component that is fitted; the outcomes of its CDF are not an argument."""
    held = given(part, data)
    at = {name: held.pop(name) for name in ("y_test",) if name in held}
    return Trial(
        held | {"sample_weight": data.weight},
        partial(fit, part),
        lambda fresh, held: answer(fresh, held | at),
        ignores,
    )


def _class_cases(part: Any, binary_only: bool = False, ignores: str = "") -> Iterator[Case]:
    trial = _trial(part, exact_problem(2 if binary_only else 3), ignores)
    yield from _held_cases(trial)
    n_classes = trial.arguments["P"].shape[1]
    named = _trial(clone(part).set_params(classes=_names(n_classes)), exact_problem(n_classes))
    yield from _frame_cases(trial, _relabelled(named), _permuted(trial))


def _relabelled(trial: Trial) -> Trial:
    """The same trial with texts for labels."""
    texts = np.array(_names(trial.arguments["P"].shape[1]))
    return replace(
        trial,
        arguments={
            name: texts[v] if name in ("y", "y_train") else v for name, v in trial.arguments.items()
        },
    )


def _permuted(trial: Trial) -> Trial:
    """The same trial with the columns of P in another order, and matching labels."""
    order = np.roll(np.arange(trial.arguments["P"].shape[1]), 1)
    place = np.argsort(order)
    moved = {name: v[:, order] for name, v in trial.arguments.items() if name.startswith("P")}
    moved |= {name: place[v] for name, v in trial.arguments.items() if name.startswith("y")}
    return replace(trial, arguments=trial.arguments | moved)


def _forecast_cases(part: Any) -> Iterator[Case]:
    for j in (0, 1):
        yield from _held_cases(_trial(part, exact_forecasts(j)))


def _metric_cases(metric: Any) -> Iterator[Case]:
    """Cases of labels, predictions (also one column for two classes) and weights."""
    data = exact_problem(2 if metric.binary_only else 3, COARSE)
    trial = _metric_trial(metric, {"y": data.y, "P": data.P, "sample_weight": data.weight})
    yield from _held_cases(trial)
    named = _metric_trial(metric, trial.arguments, classes=_names(data.n_classes))
    yield from _frame_cases(trial, _relabelled(named), _permuted(trial))
    two = exact_problem(2, COARSE)
    yield from _held_cases(
        _metric_trial(metric, {"y": two.y, "P": two.P[:, 1], "sample_weight": two.weight})
    )


def _metric_trial(
    metric: Any, arguments: dict[str, np.ndarray], *rest: Any, **options: Any
) -> Trial:
    """The trial of a metric; ``rest`` is passed between the predictions and the weights."""

    def value(held: Any) -> float:
        y, P, weight = held.values()
        return metric(y, P, *rest, sample_weight=weight, **options)

    return Trial(arguments, value, lambda found, held: found)


def _regression_metric_cases(metric: Any) -> Iterator[Case]:
    """Cases of outcomes, means, standard deviations and weights, for one output and for two."""

    def value(held: Any) -> np.ndarray | float:
        return metric(
            held["y"], held["forecast"], held.get("std"), sample_weight=held["sample_weight"]
        )

    for j in (0, 1):
        data = exact_forecasts(j)
        arguments = {"y": data.y, "forecast": data.said[0], "sample_weight": data.weight}
        for given_std in ({"std": data.said[1]}, *([] if metric.needs_std else [{}])):
            yield from _held_cases(Trial(arguments | given_std, value, lambda found, held: found))


def _scored_cases(metric: Any) -> Iterator[Case]:
    """Cases of outcomes, predictions and weights."""
    data = scored_problem(metric.domain)
    arguments = {"y": data.y, data.name: data.said[0], "sample_weight": data.weight}
    yield from _held_cases(_metric_trial(metric, arguments, *data.said[1:]))


#: Kind of component -> function of a component that yields its cases.
CONTAINER_CASES: dict[str, Callable[[Any], Iterator[Case]]] = {
    "calibrator": lambda part: _class_cases(part, part.tags.binary_only),
    "signal": partial(_class_cases, ignores="X"),
    "map": lambda part: _held_cases(_trial(part, exact_scores(part.tags.domain))),
    "regression calibrator": _forecast_cases,
    "metric": _metric_cases,
    "regression metric": _regression_metric_cases,
    "scored metric": _scored_cases,
}
