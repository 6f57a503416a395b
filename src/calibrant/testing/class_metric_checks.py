"""What is a classification metric's own in its contract."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._kernels.softmax import normalise_rows
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.measured import near, ordinary, valid, value

__all__ = ["class_metric_checks"]


def class_metric_checks(metric: Any) -> list[Callable]:
    """Those that apply to the metric by its facts."""
    return [
        check_one_column_is_two, check_named_classes, check_narrow_floats, check_logit_route, check_one_class_only, check_constant_scores,
        check_exact_zero_and_one, check_perfect_is_best, *extreme_checks("metric", "logits", "probabilities", "weights"),
        *([check_proper] if metric.proper else []),
    ]  # fmt: skip


def check_one_column_is_two(metric: Any) -> None:
    """Binary predictions as one column are the same predictions."""
    data = ordinary(metric)[0]
    near(metric, metric(data.y, data.P[:, 1]), value(metric, data), "one column against two", 1e-12)


def check_named_classes(metric: Any) -> None:
    """Any labels, in the order of the columns, not in sorted order."""
    for data in ordinary(metric):
        names = np.array([f"c{data.n_classes - k}" for k in range(data.n_classes)])
        near(metric, metric(names[data.y], data.P, classes=names.tolist()), value(metric, data), f"named classes on {data.name}", 0.0)


def check_narrow_floats(metric: Any) -> None:
    """float32 gives what the same numbers give in float64, and float16 nearly so."""
    for data in ordinary(metric):
        for P in (data.P, np.round(data.P, 1)):
            narrow = normalise_rows(P).astype(np.float32)
            near(metric, metric(data.y, narrow), metric(data.y, narrow.astype(np.float64)), f"float32 on {data.name}", 0.0)
        # Bins count a score within its dtype's rounding below an edge as on it, which moves a few float16 rows.
        for dtype, tolerance in ((np.float32, 1e-6), (np.float16, 0.02)):
            narrow = data.P.astype(dtype)
            near(metric, metric(data.y, narrow), metric(data.y, normalise_rows(narrow)), f"{np.dtype(dtype)} on {data.name}", tolerance)


def check_logit_route(metric: Any) -> None:
    """Probabilities, and their logarithms as logits, are the same predictions."""
    for data in ordinary(metric):
        near(metric, metric(data.y, np.log(data.P), inputs="logit"), value(metric, data), f"logits on {data.name}")


def check_one_class_only(metric: Any) -> None:
    """All labels the same; K comes from the columns."""
    for data in ordinary(metric):
        valid(metric, metric(np.zeros_like(data.y), data.P), f"one class only on {data.name}")


def check_constant_scores(metric: Any) -> None:
    """Every row with the same prediction."""
    for data in ordinary(metric):
        P = np.tile(np.append(0.7, np.full(data.n_classes - 1, 0.3 / (data.n_classes - 1))), (len(data.y), 1))
        valid(metric, metric(data.y, P), f"constant scores on {data.name}")
        valid(metric, metric(data.y, np.full_like(P, 1.0 / data.n_classes)), f"uniform scores on {data.name}")


def check_exact_zero_and_one(metric: Any) -> None:
    """Certain predictions, right and wrong, have a finite value."""
    for data in ordinary(metric):
        certain = np.eye(data.n_classes)
        valid(metric, metric(data.y, certain[data.y]), f"certain and right on {data.name}")
        valid(metric, metric(data.y, certain[(data.y + 1) % data.n_classes]), f"certain and wrong on {data.name}")


def check_perfect_is_best(metric: Any) -> None:
    """Certain and right reaches the end of the range that the direction names; certain and wrong does not."""
    if metric.direction == "none":
        return
    best = metric.range[0] if metric.direction == "minimize" else metric.range[1]
    for data in ordinary(metric):
        certain = np.eye(data.n_classes)
        near(metric, metric(data.y, certain[data.y]), best, f"certain and right on {data.name}")
        wrong = metric(data.y, certain[(data.y + 1) % data.n_classes])
        assert abs(wrong - best) > 1e-6, f"certain and wrong on {data.name} scores {wrong}, as good as certain and right"


def check_proper(metric: Any) -> None:
    """In expectation nothing beats the true probabilities: exact, with the true probabilities as weights."""
    rng = np.random.default_rng(3)
    sign = -1.0 if metric.direction == "maximize" else 1.0
    for n_classes in (2,) if metric.binary_only else (2, 3, 5):
        for _ in range(5):
            truth = rng.dirichlet(np.ones(n_classes))

            def expected(q, truth=truth):
                return sign * metric(np.arange(len(truth)), np.tile(q, (len(truth), 1)), sample_weight=truth)

            best = expected(truth)
            for q in rng.dirichlet(np.ones(n_classes), 20):
                assert expected(q) >= best - 1e-12, f"declared proper, but {q} beats the truth {truth}: {expected(q)} and {best}"
