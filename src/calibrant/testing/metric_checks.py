"""Checks of the contract of metrics and of their states."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant._numerics.logistic import normalise_rows
from calibrant.core.domain import Facet
from calibrant.core.kinds import require_metric
from calibrant.core.metric import Interval
from calibrant.core.metric_kinds import Metric
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError
from calibrant.metrics.forecast_joint import JOINT
from calibrant.metrics.sets import SETS
from calibrant.testing.check import Check, bind, digest, require_good, run_all
from calibrant.testing.containers import CONTAINER_CASES
from calibrant.testing.data import kind_of, near, ordinary, valid, value
from calibrant.testing.extremes import extreme_checks
from calibrant.testing.forecast_metric_checks import forecast_metric_checks

__all__ = [
    "check_metric",
    "check_state",
    "class_metric_checks",
    "metric_checks",
    "state_checks",
    "state_laws",
]


def class_metric_checks(metric: Any) -> list[Callable[..., Any]]:
    """The checks that apply to the metric by its declared facts."""
    return [
        check_one_column_is_two,
        check_named_classes,
        check_narrow_floats,
        check_logit_route,
        check_one_class_only,
        check_constant_scores,
        check_exact_zero_and_one,
        check_perfect_is_best,
        *extreme_checks("metric", "logits", "probabilities", "weights"),
        *([check_proper] if metric.proper else []),
    ]


def check_one_column_is_two(metric: Any) -> None:
    """Check that binary predictions as one column give the same value as two columns."""
    data = ordinary(metric)[0]
    near(metric, metric(data.y, data.P[:, 1]), value(metric, data), "one column against two", 1e-12)


def check_named_classes(metric: Any) -> None:
    """Check that labels may be of any type, in the order of the columns, not in sorted order."""
    for data in ordinary(metric):
        names = np.array([f"c{data.n_classes - k}" for k in range(data.n_classes)])
        near(
            metric,
            metric(names[data.y], data.P, classes=names.tolist()),
            value(metric, data),
            f"named classes on {data.name}",
            0.0,
        )


def check_narrow_floats(metric: Any) -> None:
    """Check that float32 gives the value of the same float64 numbers, and float16 nearly so."""
    for data in ordinary(metric):
        for P in (data.P, np.round(data.P, 1)):
            narrow = normalise_rows(P).astype(np.float32)
            near(
                metric,
                metric(data.y, narrow),
                metric(data.y, narrow.astype(np.float64)),
                f"float32 on {data.name}",
                0.0,
            )
        # A score within its dtype's rounding below a bin's edge counts as on it, which moves a few
        # float16 rows to another bin.
        for dtype, tolerance in ((np.float32, 1e-6), (np.float16, 0.02)):
            narrow = data.P.astype(dtype)
            near(
                metric,
                metric(data.y, narrow),
                metric(data.y, normalise_rows(narrow)),
                f"{np.dtype(dtype)} on {data.name}",
                tolerance,
            )


def check_logit_route(metric: Any) -> None:
    """Check that probabilities, and their logarithms as logits, give the same value."""
    for data in ordinary(metric):
        near(
            metric,
            metric(data.y, np.log(data.P), inputs="logit"),
            value(metric, data),
            f"logits on {data.name}",
        )


def check_one_class_only(metric: Any) -> None:
    """Check the value if all labels are the same; K is the number of columns."""
    for data in ordinary(metric):
        valid(metric, metric(np.zeros_like(data.y), data.P), f"one class only on {data.name}")


def check_constant_scores(metric: Any) -> None:
    """Check the value if every row has the same prediction."""
    for data in ordinary(metric):
        P = np.tile(
            np.append(0.7, np.full(data.n_classes - 1, 0.3 / (data.n_classes - 1))),
            (len(data.y), 1),
        )
        valid(metric, metric(data.y, P), f"constant scores on {data.name}")
        valid(
            metric,
            metric(data.y, np.full_like(P, 1.0 / data.n_classes)),
            f"uniform scores on {data.name}",
        )


def check_exact_zero_and_one(metric: Any) -> None:
    """Check that certain predictions, right and wrong, have a finite value."""
    for data in ordinary(metric):
        certain = np.eye(data.n_classes)
        valid(metric, metric(data.y, certain[data.y]), f"certain and right on {data.name}")
        valid(
            metric,
            metric(data.y, certain[(data.y + 1) % data.n_classes]),
            f"certain and wrong on {data.name}",
        )


def check_perfect_is_best(metric: Any) -> None:
    """Check that certain and right predictions, and not wrong ones, have the best value.

    The best value is the end of the range that the direction names.
    """
    if metric.direction == "none":
        return
    best = metric.range[0] if metric.direction == "minimize" else metric.range[1]
    for data in ordinary(metric):
        certain = np.eye(data.n_classes)
        near(metric, metric(data.y, certain[data.y]), best, f"certain and right on {data.name}")
        wrong = metric(data.y, certain[(data.y + 1) % data.n_classes])
        assert abs(wrong - best) > 1e-6, (
            f"certain and wrong predictions on {data.name} score {wrong}, as good as right ones"
        )


def check_proper(metric: Any) -> None:
    """Check that no prediction has a better expected value than the true probabilities.

    The expectation is exact, because the true probabilities are the weights.
    """
    rng = np.random.default_rng(3)
    sign = -1.0 if metric.direction == "maximize" else 1.0
    for n_classes in (2,) if metric.binary_only else (2, 3, 5):
        for _ in range(5):
            truth = rng.dirichlet(np.ones(n_classes))

            def expected(q: np.ndarray, truth: np.ndarray = truth) -> float:
                return sign * metric(
                    np.arange(len(truth)), np.tile(q, (len(truth), 1)), sample_weight=truth
                )

            best = expected(truth)
            for q in rng.dirichlet(np.ones(n_classes), 20):
                assert expected(q) >= best - 1e-12, (
                    f"declared proper, but {q} scores better than the truth {truth}:"
                    f" {expected(q)} and {best}"
                )


def check_state(metric: Metric) -> None:
    """Run every law that applies to the state of ``metric``.

    An AssertionError names the law that fails.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> check_state(log_loss)
    """
    run_all(state_checks(metric))


def state_checks(metric: Metric) -> Iterator[Check]:
    """The laws of the metric's state, or the check that it refuses to make a state."""
    laws = state_laws(require_metric(metric))
    names = {law.__name__.removeprefix("check_") for law in laws}
    return bind(
        laws, metric, {name: reason for name, reason in metric.exceptions.items() if name in names}
    )


def state_laws(metric: Metric) -> list[Callable[..., Any]]:
    """The laws of a metric's state, as functions of the metric."""
    if not metric.mergeable:
        return [check_state_is_refused]
    return [
        check_state_identity,
        check_state_order,
        check_state_chunks,
        check_state_mixed_metrics,
        check_state_weights,
    ]


def _near(a: float, b: float, what: str) -> None:
    assert a == b or abs(a - b) <= 1e-12 + 1e-10 * abs(b), f"{what}: {a!r} and {b!r}"


def _state(metric: Any, data: Any, weight: np.ndarray | None = None) -> Any:
    return metric.state(data.y, *data.said, sample_weight=weight)


def _parts(metric: Any, data: Any, edges: list[int]) -> list[Any]:
    parts = [data.take(slice(a, b)) for a, b in pairwise(edges)]
    return [_state(metric, part, part.weight + 1.0) for part in parts]


def check_state_identity(metric: Metric) -> None:
    """Check that the empty state is neutral and finalises to nan, and that sum() works."""
    empty = metric.state()
    assert np.isnan([empty.finalise(), (empty + empty).finalise()]).all(), (
        "the empty state must finalise to nan"
    )
    for data in ordinary(metric):
        state = _state(metric, data)
        alone = state.finalise()
        assert (empty + state).finalise() == alone == (state + empty).finalise(), (
            f"the empty state is not neutral on {data.name}"
        )
        _near(alone, value(metric, data), f"one state on {data.name}")
        total: Any = sum([state])
        assert total.finalise() == alone, "sum() of states must work"


def check_state_order(metric: Metric) -> None:
    """Check that the order of addition does not matter, and that addition changes no state."""
    for data in ordinary(metric):
        a, b, c = _parts(metric, data, [0, 30, 70, len(data)])
        before = a.finalise()
        one = ((a + b) + c).finalise()
        _near((c + (b + a)).finalise(), one, f"order of parts on {data.name}")
        assert a.finalise() == before, "addition changed a state"


def check_state_chunks(metric: Metric) -> None:
    """Check that any split into parts gives the value of the whole."""
    for data in ordinary(metric):
        n = len(data)
        whole = value(metric, data, data.weight + 1.0)
        for edges in ([0, n], [0, 1, n], [0, n // 2, n - 1, n], [*range(0, n, 7), n]):
            total: Any = sum(_parts(metric, data, edges))
            _near(total.finalise(), whole, f"{len(edges) - 1} parts of {data.name}")


def check_state_weights(metric: Metric) -> None:
    """Check that weights in a state are equivalent to repeated rows."""
    for data in ordinary(metric):
        twice = _state(metric, data, np.full(len(data), 2.0))
        once = _state(metric, data)
        _near((once + once).finalise(), twice.finalise(), f"weight 2 on {data.name}")


def check_state_mixed_metrics(metric: Metric) -> None:
    """Check that a state and a number cannot be added."""
    data = ordinary(metric)[0]
    state = _state(metric, data)
    try:
        _ = state + 1.0
    except TypeError:
        return
    raise AssertionError("adding a number to a state must raise TypeError")


def check_state_is_refused(metric: Any) -> None:
    """Check that a metric without a state of fixed size raises InputError."""
    data = ordinary(metric)[0]
    try:
        _state(metric, data)
    except InputError:
        return
    raise AssertionError("state must raise InputError if mergeable is False")


def check_metric(metric: Metric) -> None:
    """Run every check of the contract that applies to ``metric``, for either task.

    An AssertionError names the check that fails.

    Examples
    --------
    >>> from calibrant.metrics import brier_score, negative_log_likelihood
    >>> check_metric(brier_score)
    >>> check_metric(negative_log_likelihood)
    """
    run_all(metric_checks(metric))


#: Checks of a domain's metrics, in addition to the laws of all metrics.
METRIC_CHECKS: Facet[Any] = Facet("checks of metrics")
METRIC_CHECKS.register(CLASSIFICATION, lambda: class_metric_checks)
METRIC_CHECKS.register(REGRESSION, lambda: forecast_metric_checks)
for _domain in (JOINT, SETS):
    METRIC_CHECKS.register(_domain, lambda: lambda metric: [])


def metric_checks(metric: Metric) -> Iterator[Check]:
    """The checks that apply to ``metric`` by its task and facts, each a callable with a name."""
    laws = [
        check_value_is_valid,
        check_declared_facts,
        check_weights_are_repetition,
        check_row_order,
        check_inputs_untouched,
        check_containers,
        check_one_row,
        check_interval,
        check_interval_of_clusters,
        check_unknown_option,
        *state_laws(require_metric(metric)),
    ]
    return bind([*laws, *METRIC_CHECKS[metric.domain](metric)], metric, metric.exceptions)


def check_value_is_valid(metric: Metric) -> None:
    """Check that the value is a float in the declared range."""
    for data in ordinary(metric):
        valid(metric, value(metric, data), data.name)
        valid(metric, value(metric, data, data.weight), f"{data.name}, weighted")


def check_declared_facts(metric: Metric) -> None:
    """Check that name, key, estimand, direction and range are declared, and check the repr."""
    assert metric.name, "name must be declared"
    key = getattr(metric, "key", None)
    assert isinstance(key, str), (
        f'key must be declared, such as key: ClassVar[str] = "ece"; it is {key!r}'
    )
    assert key.isidentifier(), f"key must be an identifier; it is {key!r}"
    assert metric.estimand, "estimand must name the quantity that the interval estimates"
    assert metric.direction in ("minimize", "maximize", "none"), (
        f'direction must be "minimize", "maximize" or "none"; it is {metric.direction!r}'
    )
    assert metric.range[0] < metric.range[1], f"range must be (low, high); it is {metric.range}"
    assert eval(repr(metric), {type(metric).__name__: type(metric)}) == metric, (
        "repr must rebuild the metric"
    )


def check_weights_are_repetition(metric: Metric) -> None:
    """Check that integer weights are equivalent to repeated rows, and weight 0 to no row."""
    for data in ordinary(metric):
        repeated = data.take(np.repeat(np.arange(len(data)), data.weight.astype(int)))
        near(
            metric,
            value(metric, data, data.weight),
            value(metric, repeated),
            f"weights on {data.name}",
        )


def check_row_order(metric: Metric) -> None:
    """Check that the order of the rows does not matter."""
    for data in ordinary(metric):
        shuffled = data.take(np.random.default_rng(1).permutation(len(data)))
        near(metric, value(metric, data), value(metric, shuffled), f"row order on {data.name}")


def check_inputs_untouched(metric: Metric) -> None:
    """Check that no argument is changed."""
    for data in ordinary(metric):
        arrays = [
            each.copy()
            for each in (data.weight, data.y, *data.said)
            if isinstance(each, np.ndarray)
        ]
        said = arrays[2:] or data.said
        before = digest(*arrays)
        # Rows of weight 0 are dropped, which copies the others. Without weights the metric receives
        # the original arrays.
        metric(arrays[1], *said, sample_weight=arrays[0])
        metric(arrays[1], *said)
        assert digest(*arrays) == before, f"an argument was changed on {data.name}"


def check_containers(metric: Metric) -> None:
    """Check that other containers give the value of plain arrays, or one clear error.

    They are frames, masked arrays, lists, narrow floats and the like.
    """
    require_good(CONTAINER_CASES[kind_of(metric)](metric))


def check_one_row(metric: Metric) -> None:
    """Check the value on one row and on two rows."""
    for data in ordinary(metric):
        for n in (1, 2):
            valid(metric, value(metric, data.take(slice(0, n))), f"{n} rows of {data.name}")


def check_interval(metric: Metric) -> None:
    """Check that an interval is ordered, in range, deterministic, and holds the metric's value."""
    data = ordinary(metric)[0]

    def interval(**options: Any) -> Interval:
        return metric.interval(
            data.y, *data.said, sample_weight=data.weight, n_resamples=50, **options
        )

    first, measured = interval(), value(metric, data, data.weight)
    assert isinstance(first, Interval), f"interval returns a {type(first).__name__}"
    if first.method == "debiased":
        assert first.plain == measured, "the plain value is not the metric's"
        assert first.low <= first.value <= first.high, (
            f"the debiased value is outside its interval: {first!r}"
        )
    else:
        assert first.value == measured, "the interval's value is not the metric's"
    assert np.isnan(measured) or first.low <= measured <= first.high, (
        f"the metric's value {measured} is outside its interval: {first!r}"
    )
    low, high = metric.range
    assert low - 1e-12 <= first.low < first.high <= high + 1e-12, (
        f"{first!r} is empty or leaves the range {metric.range}"
    )
    assert first.n == data.weight.sum(), (
        f"n is {first.n}, the weights add up to {data.weight.sum()}"
    )
    assert first == interval(), "the interval is not deterministic"
    wider = interval(level=0.99)
    assert wider.low <= first.low < first.high <= wider.high, (
        "an interval of a higher level is narrower"
    )


def check_interval_of_clusters(metric: Metric) -> None:
    """Check the interval for clustered rows, which must not depend on the names of clusters."""
    data = ordinary(metric)[0]
    cluster, method = np.arange(len(data)) // 3, "auto" if metric.clustered else "bootstrap"

    def interval(names: Any) -> Interval:
        return metric.interval(
            data.y,
            *data.said,
            sample_weight=data.weight,
            cluster=names,
            n_resamples=20,
            method=method,
        )

    found, low, high = interval(cluster), *metric.range
    assert low - 1e-12 <= found.low < found.high <= high + 1e-12, (
        f"{found!r} is empty or leaves the range {metric.range}"
    )
    assert found.low <= found.value <= found.high, f"the value is outside its interval: {found!r}"
    assert found == interval([f"cluster {one:03d}" for one in cluster]), (
        "names of clusters change the interval"
    )


def check_unknown_option(metric: Metric) -> None:
    """Check that an unknown option raises TypeError and is not ignored."""
    try:
        value(metric, ordinary(metric)[0], no_such_option=1)
    except TypeError:
        return
    raise AssertionError("an unknown option must raise TypeError")
