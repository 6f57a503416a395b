"""Every container given to every kind of part: the answer is that of the plain float64 array, or the entry that is missing is named."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.testing.check import show_near
from calibrant.testing.containers import CONTAINERS, FRAMES, REPEATING, contents, present
from calibrant.testing.exact_data import COARSE, exact_forecasts, exact_problem, exact_scores
from calibrant.testing.grid import Case
from calibrant.testing.runs import answer, fit, given

__all__ = ["CONTAINER_CASES"]

FAMILY = "containers"
#: Arguments in which a missing entry is an answer.
MISSING_IS_A_LEVEL = ("groups", "groups_test")
#: What an error calls an argument, where that is not its name before "_test".
CALLED = {"X_train": "", "y_train": "reference", "forecast": "mean"}


@dataclass(frozen=True)
class Trial:
    """How a part is given data: plain arrays by argument, those to predict on by names that end in "_test".

    ``fit(held)`` gives what is fitted, ``answer(fitted, held)`` the numbers that it says. What is missing from the argument ``ignores`` may
    be passed over, if the answer is the same.
    """

    arguments: dict[str, np.ndarray]
    fit: Callable[[dict], Any]
    answer: Callable[[Any, dict], Any]
    ignores: str = ""

    def run(self, held: dict[str, Any]) -> float | np.ndarray:
        """The answer to data held in containers, which must be as before afterwards."""
        before = {name: contents(value) for name, value in held.items()}
        out = self.answer(self.fit(held), held)
        changed = [name for name, value in held.items() if contents(value) != before[name]]
        if changed:
            raise AssertionError(f"{changed} were changed")
        return out

    def plain(self) -> tuple[Any, float | np.ndarray]:
        """(what is fitted on the plain arrays, its answer)."""
        fitted = self.fit(self.arguments)
        return fitted, self.answer(fitted, self.arguments)


def _held_cases(trial: Trial) -> Iterator[Case]:
    """Every container: for all arguments at once where it says all there is to say, for one at a time where something is missing."""
    fitted, plain = trial.plain()
    for container in (c for c in CONTAINERS if present(c.needs)):
        mine = {name: values for name, values in trial.arguments.items() if container.holds(values)}
        if container.answered and mine:
            held = trial.arguments | {name: container(values) for name, values in mine.items()}
            yield Case(FAMILY, container.name, "", partial(trial.run, held), _near(plain, container.name), refused=False)
            continue
        for name, values in mine.items():
            if name in MISSING_IS_A_LEVEL:
                continue
            held, title = trial.arguments | {name: container(values)}, f"{name} as {container.name}"
            if name == trial.ignores:
                yield Case(FAMILY, title, name, partial(trial.run, held), _near(plain, title))
                continue
            yield _refusal(title, name, partial(trial.answer, fitted, held) if name.endswith("_test") else partial(trial.fit, held))


def _near(expected, what):
    return partial(show_near, b=expected, what=what)


def _refusal(name, argument, call):
    argument = argument.removesuffix("_test")
    return Case(FAMILY, name, CALLED.get(argument, argument), call, lambda answer: None, answered=False)


def _frame_cases(trial: Trial, named: Trial, permuted: Trial) -> Iterator[Case]:
    """P as frames whose columns are in another order, by text and by number, or share a name.

    ``named`` takes texts for labels, ``permuted`` holds the plain arrays with their columns in another order.
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
            yield _refusal(f"a {kind} frame with two columns of one name", "P", partial(trial.fit, held))


def _names(n_classes):
    return [f"class {chr(97 + k)}" for k in range(n_classes)]


def _trial(part, data, ignores="") -> Trial:
    """Of a part that is fitted. Outcomes to find the CDF at are no argument of it."""
    held = given(part, data)
    at = {name: held.pop(name) for name in ("y_test",) if name in held}
    return Trial(held | {"sample_weight": data.weight}, partial(fit, part), lambda fresh, held: answer(fresh, held | at), ignores)


def _class_cases(part, binary_only=False, ignores="") -> Iterator[Case]:
    trial = _trial(part, exact_problem(2 if binary_only else 3), ignores)
    yield from _held_cases(trial)
    n_classes = trial.arguments["P"].shape[1]
    named = _trial(clone(part).set_params(classes=_names(n_classes)), exact_problem(n_classes))
    yield from _frame_cases(trial, _relabelled(named), _permuted(trial))


def _relabelled(trial) -> Trial:
    """The same with texts for labels."""
    texts = np.array(_names(trial.arguments["P"].shape[1]))
    return replace(trial, arguments={name: texts[v] if name in ("y", "y_train") else v for name, v in trial.arguments.items()})


def _permuted(trial) -> Trial:
    """The same with the columns of P in another order, and the labels to match."""
    K = trial.arguments["P"].shape[1]
    order = np.roll(np.arange(K), 1)
    place = np.argsort(order)
    moved = {name: v[:, order] for name, v in trial.arguments.items() if name.startswith("P")}
    return replace(trial, arguments=trial.arguments | moved | {n: place[v] for n, v in trial.arguments.items() if n.startswith("y")})


def _forecast_cases(part) -> Iterator[Case]:
    for j in (0, 1):
        yield from _held_cases(_trial(part, exact_forecasts(j)))


def _metric_cases(metric) -> Iterator[Case]:
    """Labels, predictions (of two classes as one column, too) and weights in every container."""
    data = exact_problem(2 if metric.binary_only else 3, COARSE)
    trial = _metric_trial(metric, {"P": data.P, "y": data.y, "sample_weight": data.weight})
    yield from _held_cases(trial)
    named = _metric_trial(metric, trial.arguments, classes=_names(data.n_classes))
    yield from _frame_cases(trial, _relabelled(named), _permuted(trial))
    two = exact_problem(2, COARSE)
    yield from _held_cases(_metric_trial(metric, {"P": two.P[:, 1], "y": two.y, "sample_weight": two.weight}))


def _metric_trial(metric, arguments, **options):
    def value(held):
        return metric(held["y"], held["P"], sample_weight=held["sample_weight"], **options)

    return Trial(arguments, value, lambda found, held: found)


def _regression_metric_cases(metric) -> Iterator[Case]:
    """Outcomes, means, standard deviations and weights in every container, of one output and of two."""

    def value(held):
        return metric(held["y"], held["forecast"], held.get("std"), sample_weight=held["sample_weight"])

    for j in (0, 1):
        data = exact_forecasts(j)
        arguments = {"y": data.y, "forecast": data.said[0], "sample_weight": data.weight}
        for given_std in ({"std": data.said[1]}, *([] if metric.needs_std else [{}])):
            yield from _held_cases(Trial(arguments | given_std, value, lambda found, held: found))


#: Kind of part -> function of a part that gives its cases.
CONTAINER_CASES: dict[str, Callable[[Any], Iterator[Case]]] = {
    "calibrator": lambda part: _class_cases(part, part.tags.binary_only),
    "signal": partial(_class_cases, ignores="X"),
    "map": lambda part: _held_cases(_trial(part, exact_scores(part.tags.domain))),
    "regression calibrator": _forecast_cases,
    "metric": _metric_cases,
    "regression metric": _regression_metric_cases,
}
