"""The contract of a metric: the laws of every task, and what is the task's own."""

from collections.abc import Iterator

import numpy as np

from calibrant.contracts.interval import Interval
from calibrant.contracts.kinds import require_metric
from calibrant.contracts.metric import Metric
from calibrant.testing.check import Check, bind, digest, run_all
from calibrant.testing.class_metric_checks import class_metric_checks
from calibrant.testing.container_cases import CONTAINER_CASES
from calibrant.testing.forecast_metric_checks import forecast_metric_checks
from calibrant.testing.grid import require_good
from calibrant.testing.measured import kind_of, near, ordinary, valid, value
from calibrant.testing.state_checks import state_laws

__all__ = ["check_metric", "metric_checks"]


def check_metric(metric: Metric) -> None:
    """Run every check of the contract that applies to ``metric``, of either task; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant.metrics import brier_score, negative_log_likelihood
    >>> check_metric(brier_score)
    >>> check_metric(negative_log_likelihood)
    """
    run_all(metric_checks(metric))


def metric_checks(metric: Metric) -> Iterator[Check]:
    """The checks that apply to ``metric`` by its task and facts, each a callable with a name."""
    laws = [
        check_value_is_valid, check_declared_facts, check_weights_are_repetition, check_row_order, check_inputs_untouched,
        check_containers, check_one_row, check_interval, check_interval_of_clusters, check_unknown_option,
        *state_laws(require_metric(metric)),
    ]  # fmt: skip
    own = class_metric_checks if metric.task == "classification" else forecast_metric_checks
    return bind([*laws, *own(metric)], metric, metric.exceptions)


def check_value_is_valid(metric: Metric) -> None:
    """A float inside the declared range."""
    for data in ordinary(metric):
        valid(metric, value(metric, data), data.name)
        valid(metric, value(metric, data, data.weight), f"{data.name}, weighted")


def check_declared_facts(metric: Metric) -> None:
    """Name, estimand, direction and range are declared; the repr rebuilds the metric."""
    assert metric.name, "name must be declared"
    key = getattr(metric, "key", None)
    assert isinstance(key, str), f'key must be declared, such as key: ClassVar[str] = "ece"; it is {key!r}'
    assert key.isidentifier(), f"key must be an identifier; it is {key!r}"
    assert metric.estimand, "estimand must say what the interval is of"
    assert metric.direction in ("minimize", "maximize", "none"), f"direction is {metric.direction!r}"
    assert metric.range[0] < metric.range[1], f"range is {metric.range}"
    assert eval(repr(metric), {type(metric).__name__: type(metric)}) == metric, "repr must rebuild the metric"


def check_weights_are_repetition(metric: Metric) -> None:
    """Weight 2 is the row twice, weight 0 no row."""
    for data in ordinary(metric):
        repeated = data.take(np.repeat(np.arange(len(data)), data.weight.astype(int)))
        near(metric, value(metric, data, data.weight), value(metric, repeated), f"weights on {data.name}")


def check_row_order(metric: Metric) -> None:
    """The order of the rows does not matter."""
    for data in ordinary(metric):
        shuffled = data.take(np.random.default_rng(1).permutation(len(data)))
        near(metric, value(metric, data), value(metric, shuffled), f"row order on {data.name}")


def check_inputs_untouched(metric: Metric) -> None:
    """No argument is written to."""
    for data in ordinary(metric):
        arrays = [each.copy() for each in (data.weight, data.y, *data.said) if isinstance(each, np.ndarray)]
        said = arrays[2:] or data.said
        before = digest(*arrays)
        # Weights of 0 drop rows, which copies the others: without weights the metric sees the very arrays.
        metric(arrays[1], *said, sample_weight=arrays[0])
        metric(arrays[1], *said)
        assert digest(*arrays) == before, f"an argument was changed on {data.name}"


def check_containers(metric: Metric) -> None:
    """Frames, masked arrays, lists, narrow floats and the like give the plain arrays' value, or one clear error."""
    require_good(CONTAINER_CASES[kind_of(metric)](metric))


def check_one_row(metric: Metric) -> None:
    """n = 1 and n = 2."""
    for data in ordinary(metric):
        for n in (1, 2):
            valid(metric, value(metric, data.take(slice(0, n))), f"{n} rows of {data.name}")


def check_interval(metric: Metric) -> None:
    """An interval has ends in order and in the range, the metric's value, and the same bits again for the same seed."""
    data = ordinary(metric)[0]

    def interval(**options):
        return metric.interval(data.y, *data.said, sample_weight=data.weight, n_resamples=50, **options)

    first, measured = interval(), value(metric, data, data.weight)
    assert isinstance(first, Interval), f"interval gives a {type(first).__name__}"
    if first.method == "debiased":
        assert first.plain == measured, "the plain value is not the metric's"
        assert first.low <= first.value <= first.high, f"the debiased value is outside its interval: {first!r}"
    else:
        assert first.value == measured, "the interval's value is not the metric's"
    assert np.isnan(measured) or first.low <= measured <= first.high, f"the metric's value {measured} is outside its interval: {first!r}"
    low, high = metric.range
    assert low - 1e-12 <= first.low < first.high <= high + 1e-12, f"{first!r} is empty or leaves the range {metric.range}"
    assert first.n == data.weight.sum(), f"n is {first.n}, the weights add up to {data.weight.sum()}"
    assert first == interval(), "the interval is not deterministic"
    wider = interval(level=0.99)
    assert wider.low <= first.low < first.high <= wider.high, "an interval of a higher level is narrower"


def check_interval_of_clusters(metric: Metric) -> None:
    """Of rows that hang together there is an interval, which the names of clusters do not change."""
    data = ordinary(metric)[0]
    cluster, method = np.arange(len(data)) // 3, "auto" if metric.clustered else "bootstrap"

    def interval(names):
        return metric.interval(data.y, *data.said, sample_weight=data.weight, cluster=names, n_resamples=20, method=method)

    found, low, high = interval(cluster), *metric.range
    assert low - 1e-12 <= found.low < found.high <= high + 1e-12, f"{found!r} is empty or leaves the range {metric.range}"
    assert found.low <= found.value <= found.high, f"the value is outside its interval: {found!r}"
    assert found == interval([f"cluster {one:03d}" for one in cluster]), "names of clusters change the interval"


def check_unknown_option(metric: Metric) -> None:
    """A misspelt option is a TypeError, never ignored."""
    try:
        value(metric, ordinary(metric)[0], no_such_option=1)
    except TypeError:
        return
    raise AssertionError("an unknown option must raise TypeError")
