"""Every container given to every kind of part: the answer is that of the plain float64 array, or the entry that is missing is named."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.testing.calibrator_runs import given
from calibrant.testing.check import seeded, show_near
from calibrant.testing.containers import CONTAINERS, FRAMES, REPEATING, contents, present
from calibrant.testing.exact_data import COARSE, exact_forecasts, exact_problem, exact_scores
from calibrant.testing.grid import Case
from calibrant.testing.regression_runs import numbers_of

__all__ = [
    "CONTAINER_CASES", "calibrator_cases", "map_cases", "metric_cases", "regression_cases", "regression_metric_cases", "signal_cases",
]  # fmt: skip

FAMILY = "containers"
#: What an error calls an argument, where that is not its name before "_test".
CALLED = {"X_train": "", "y_train": "reference"}


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

    def run(self, held):
        """The answer to data held in containers, which must be as before afterwards."""
        before = {name: contents(value) for name, value in held.items()}
        out = self.answer(self.fit(held), held)
        changed = [name for name, value in held.items() if contents(value) != before[name]]
        if changed:
            raise AssertionError(f"{changed} were changed")
        return out

    def plain(self):
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
            held, title = trial.arguments | {name: container(values)}, f"{name} as {container.name}"
            if name == trial.ignores:
                yield Case(FAMILY, title, name, partial(trial.run, held), _near(plain, title))
                continue
            yield _refusal(title, name, partial(trial.answer, fitted, held) if name.endswith("_test") else partial(trial.fit, held))


def _near(expected, what):
    return partial(show_near, b=expected, what=what)


def _refusal(name, argument, call):
    return Case(FAMILY, name, CALLED.get(argument, argument.removesuffix("_test")), call, lambda answer: None, answered=False)


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


def _estimator_trial(part, data, answer) -> Trial:
    """Of a calibrator or signal: ``answer(fitted, P, **features)``."""
    P, X, reference = given(part, data)
    P_test, X_test, _ = given(part, data, test=True)
    arguments = {"P": P, "y": data.y, "sample_weight": data.weight, "P_test": P_test}
    if X is not None:
        arguments |= {"X": X, "X_test": X_test}
    if reference is not None:
        arguments |= {"X_train": reference[0], "y_train": reference[1]}

    def fit(held):
        pair = (held["X_train"], held["y_train"]) if "X_train" in held else None
        fresh = seeded(clone(part))
        return fresh.fit(held["P"], held["y"], sample_weight=held["sample_weight"], X=held.get("X"), reference=pair)

    return Trial(arguments, fit, lambda fresh, held: answer(fresh, held["P_test"], **({} if X is None else {"X": held["X_test"]})))


def _estimator_cases(part, answer, binary_only, ignores="") -> Iterator[Case]:
    trial = replace(_estimator_trial(part, exact_problem(2 if binary_only else 3), answer), ignores=ignores)
    yield from _held_cases(trial)
    n_classes = trial.arguments["P"].shape[1]
    named = _estimator_trial(clone(part).set_params(classes=_names(n_classes)), exact_problem(n_classes), answer)
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


def calibrator_cases(calibrator) -> Iterator[Case]:
    """Predictions, labels, weights and features in every container, to fit on and to predict."""
    return _estimator_cases(calibrator, lambda fresh, P, **X: fresh.predict_proba(P, **X), calibrator.tags.binary_only)


def signal_cases(signal) -> Iterator[Case]:
    """Predictions, labels, weights and features in every container, to fit on and to score."""
    return _estimator_cases(signal, lambda fresh, P, **X: fresh.score(P, **X), False, ignores="X")


def map_cases(map) -> Iterator[Case]:
    """Scores, outcomes and weights in every container."""

    def fit(held):
        return seeded(clone(map)).fit(held["score"], held["correct"], sample_weight=held["sample_weight"])

    return _held_cases(Trial(exact_scores(map.tags.domain), fit, lambda fresh, held: fresh.predict(held["score_test"])))


def metric_cases(metric) -> Iterator[Case]:
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


def regression_cases(calibrator) -> Iterator[Case]:
    """Means, standard deviations, outcomes and weights in every container, of one output and of two."""

    def fit(held):
        return seeded(clone(calibrator)).fit(held["mean"], held["y"], std=held["std"], sample_weight=held["sample_weight"])

    for arguments in map(exact_forecasts, (0, 1)):
        zeros = np.zeros(arguments["mean_test"].shape)
        yield from _held_cases(
            Trial(arguments, fit, lambda fresh, held, y=zeros: numbers_of(fresh.predict(held["mean_test"], held["std_test"]), y))
        )


def regression_metric_cases(metric) -> Iterator[Case]:
    """Outcomes, means, standard deviations and weights in every container, of one output and of two."""

    def value(held):
        return metric(held["y"], held["mean"], held.get("std"), sample_weight=held["sample_weight"])

    for j in (0, 1):
        arguments = {name: values for name, values in exact_forecasts(j).items() if not name.endswith("_test")}
        yield from _held_cases(Trial(arguments, value, lambda found, held: found))
        if not metric.needs_std:
            del arguments["std"]
            yield from _held_cases(Trial(arguments, value, lambda found, held: found))


#: Kind of part -> its cases.
CONTAINER_CASES = {
    "calibrator": calibrator_cases, "map": map_cases, "signal": signal_cases, "metric": metric_cases,
    "regression calibrator": regression_cases, "regression metric": regression_metric_cases,
}  # fmt: skip
