"""The contract of a calibrator at the edges: data that break other tools."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.testing.check import show_near
from calibrant.testing.runs import fit, fitted, given, ordinary, valid

__all__ = ["EDGE_CHECKS", "check_absent_class"]


def _one_hot(labels, n_classes):
    return np.eye(n_classes)[labels]


def check_constant_scores(calibrator: Any) -> None:
    """Every row with the same prediction: ordinary, uniform, and exactly 0 and 1."""
    for data in ordinary(calibrator):
        k = data.n_classes
        rows = {
            "one prediction": np.append(0.7, np.full(k - 1, 0.3 / (k - 1))),
            "uniform": np.full(k, 1.0 / k),
            "first class certain": _one_hot(0, k),
            "last class certain": _one_hot(k - 1, k),
        }
        for name, row in rows.items():
            constant = replace(data, name=f"{data.name}, {name}").with_probabilities(np.tile(row, (len(data.y), 1)))
            valid(fitted(calibrator, constant), constant)


def check_one_class_only(calibrator: Any) -> None:
    """All labels the same, the first or the last class."""
    for data in ordinary(calibrator):
        for label in (0, data.n_classes - 1):
            single = replace(data, name=f"{data.name}, all {label}", y=np.full_like(data.y, label))
            valid(fitted(calibrator, single), single)


def check_perfect_separation(calibrator: Any) -> None:
    """Every prediction right, and every prediction wrong."""
    for data in ordinary(calibrator):
        right = data.P.argmax(axis=1)
        for name, y in (("all right", right), ("all wrong", (right + 1) % data.n_classes)):
            separated = replace(data, name=f"{data.name}, {name}", y=y)
            valid(fitted(calibrator, separated), separated)


def check_two_rows(calibrator: Any) -> None:
    """n = 2: ordinary, p = [0, 1] with y = [0, 1], both of one class, and twice the same row."""
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
    """Probabilities of exactly 0 and 1 among the others, some of them wrong, in the fit and afterwards."""
    for data in ordinary(calibrator):
        k = data.n_classes
        P, P_test = data.P.copy(), data.P_test.copy()
        for values in (P, P_test):
            values[0], values[1], values[2] = _one_hot(0, k), _one_hot(k - 1, k), _one_hot(1, k)
        y = data.y.copy()
        y[:3] = 0
        exact = replace(data, name=f"{data.name} with exact 0 and 1", y=y).with_probabilities(P, P_test)
        valid(fitted(calibrator, exact), exact)


def check_unseen_extremes(calibrator: Any) -> None:
    """Ordinary rows to fit, certain ones to predict."""
    for data in ordinary(calibrator):
        k = data.n_classes
        certain = _one_hot(np.arange(len(data.logits_test)) % k, k)
        extreme = replace(data, name=f"{data.name}, certain test rows").with_probabilities(data.P, certain)
        valid(fitted(calibrator, extreme), extreme)


def check_scale_of_logits(calibrator: Any) -> None:
    """Logits from 1e-6 to 1e8 give valid probabilities."""
    logit = clone(calibrator).set_params(inputs="logit")
    for data in ordinary(calibrator)[:2]:
        for scale in (1e-6, 1e3, 1e8):
            scaled = replace(
                data, name=f"{data.name}, logits x {scale:g}", logits=data.logits * scale, logits_test=data.logits_test * scale
            )
            valid(fitted(logit, scaled), scaled)


def check_zero_weight_rows(calibrator: Any) -> None:
    """A row of weight 0 may be anything valid, even the only one of its class."""
    data = ordinary(calibrator)[-1]
    last = data.n_classes - 1
    rows = np.flatnonzero(data.y != last)
    with_it = replace(data, y=np.where(data.y == last, 0, data.y))
    held = given(calibrator, with_it)
    longer = {name: np.concatenate([held[name], held[name][:1]]) for name in ("P", "X", "groups") if name in held}
    weight = np.append(np.ones(len(data)), 0.0)
    fresh = fit(calibrator, held | longer | {"y": np.append(with_it.y, last), "sample_weight": weight})
    assert len(rows), "the problem must hold other classes"
    show_near(valid(fresh, data), valid(fitted(calibrator, with_it), data), "a row of weight 0")


def check_absent_class(calibrator: Any) -> None:
    """A class that P has and the labels lack keeps its column and some probability."""
    for data in ordinary(calibrator)[1:]:
        last = data.n_classes - 1
        absent = replace(data.take(np.flatnonzero(data.y != last)), name=f"{data.name}, one absent")
        Q = valid(fitted(calibrator, absent), absent)
        assert Q[:, last].max() > 0.0, f"the absent class has probability 0 in every row on {data.name}"
        names, held = np.array([f"c{k}" for k in range(last + 1)]), given(calibrator, absent)
        labelled = held | {name: names[held[name]] for name in ("y", "y_train") if name in held}
        fresh = fit(clone(calibrator).set_params(classes=names.tolist()), labelled)
        assert fresh.classes_.tolist() == names.tolist(), "classes_ must hold the absent class"
        show_near(valid(fresh, absent), Q, f"named classes, one absent, on {data.name}")


EDGE_CHECKS = (
    check_constant_scores, check_one_class_only, check_perfect_separation, check_two_rows, check_exact_zero_and_one, check_unseen_extremes,
    check_scale_of_logits, check_zero_weight_rows,
)  # fmt: skip
