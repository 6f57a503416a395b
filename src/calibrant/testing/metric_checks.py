"""The contract of a classification metric, check by check."""

from collections.abc import Iterator

import numpy as np

from calibrant._kernels.softmax import normalise_rows
from calibrant.contracts.metric import Interval, Metric
from calibrant.testing.check import Check, bind, digest, run_all
from calibrant.testing.container_cases import metric_cases
from calibrant.testing.data import problems
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.grid import require_good
from calibrant.testing.state_checks import state_checks

__all__ = ["check_metric", "metric_checks"]


def check_metric(metric: Metric) -> None:
    """Run every check of the contract that applies to ``metric``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant.metrics import brier_score
    >>> check_metric(brier_score)
    """
    run_all(metric_checks(metric))


def metric_checks(metric: Metric) -> Iterator[Check]:
    """The checks that apply to ``metric`` by its facts, each a callable with a name; none for a regression metric."""
    if metric.task != "classification":
        return
    functions = [
        check_value_is_valid, check_declared_facts, check_weights_are_repetition, check_row_order, check_inputs_untouched,
        check_one_column_is_two, check_named_classes, check_containers, check_narrow_floats, check_logit_route, check_one_row,
        check_one_class_only, check_constant_scores, check_exact_zero_and_one, check_perfect_is_best, check_interval, check_unknown_option,
        *extreme_checks("metric", "logits", "probabilities", "weights"),
    ]  # fmt: skip
    if metric.proper:
        functions.append(check_proper)
    own = {c.name for c in state_checks(metric)}
    exceptions = metric.exceptions
    yield from bind(functions, metric, {k: v for k, v in exceptions.items() if k not in own})
    yield from state_checks(metric)


def _problems(metric):
    return problems(binary_only=metric.binary_only)


def _near(a, b, what, tolerance=1e-9):
    both_unknown = np.isnan(a) and np.isnan(b)
    assert both_unknown or abs(a - b) <= tolerance, f"{what}: {a!r} and {b!r}"


def _valid(metric, value, what):
    low, high = metric.range
    assert type(value) is float, f"{what}: the value is a {type(value).__name__}, not a float"
    assert np.isfinite(value), f"{what}: the value is {value}"
    assert low - 1e-12 <= value <= high + 1e-12, f"{what}: {value} is outside the declared range {metric.range}"


def check_value_is_valid(metric):
    """A float inside the declared range."""
    for data in _problems(metric):
        _valid(metric, metric(data.y, data.P), data.name)
        _valid(metric, metric(data.y, data.P, sample_weight=data.weight), f"{data.name}, weighted")


def check_declared_facts(metric):
    """Name, direction and range are declared."""
    assert metric.name, "name must be declared"
    key = getattr(metric, "key", None)
    assert isinstance(key, str), f'key must be declared, such as key: ClassVar[str] = "ece"; it is {key!r}'
    assert key.isidentifier(), f"key must be an identifier; it is {key!r}"
    assert metric.direction in ("minimize", "maximize", "none"), f"direction is {metric.direction!r}"
    assert metric.range[0] < metric.range[1], f"range is {metric.range}"
    assert eval(repr(metric), {type(metric).__name__: type(metric)}) == metric, "repr must rebuild the metric"


def check_weights_are_repetition(metric):
    """Weight 2 is the row twice, weight 0 no row."""
    for data in _problems(metric):
        rows = np.repeat(np.arange(len(data.y)), data.weight.astype(int))
        _near(metric(data.y, data.P, sample_weight=data.weight), metric(data.y[rows], data.P[rows]), f"weights on {data.name}")


def check_row_order(metric):
    """The order of the rows does not matter."""
    for data in _problems(metric):
        order = np.random.default_rng(1).permutation(len(data.y))
        _near(metric(data.y, data.P), metric(data.y[order], data.P[order]), f"row order on {data.name}")


def check_inputs_untouched(metric):
    """No argument is written to."""
    for data in _problems(metric):
        arrays = (data.y.copy(), data.P.copy(), data.weight.copy())
        before = digest(*arrays)
        metric(arrays[0], arrays[1], sample_weight=arrays[2])
        assert digest(*arrays) == before, f"an argument was changed on {data.name}"


def check_one_column_is_two(metric):
    """Binary predictions as one column are the same predictions."""
    data = _problems(metric)[0]
    _near(metric(data.y, data.P[:, 1]), metric(data.y, data.P), "one column against two", 1e-12)


def check_named_classes(metric):
    """Any labels, in the order of the columns, not in sorted order."""
    for data in _problems(metric):
        names = np.array([f"c{data.n_classes - k}" for k in range(data.n_classes)])
        _near(metric(names[data.y], data.P, classes=names.tolist()), metric(data.y, data.P), f"named classes on {data.name}", 0.0)


def check_containers(metric):
    """Frames, masked arrays, lists, narrow floats and the like give the plain array's value, or one clear error."""
    require_good(metric_cases(metric))


def check_narrow_floats(metric):
    """float32 and float16 give nearly what the same numbers give in float64."""
    # Bins count a score within its dtype's rounding below an edge as on it, which moves a few float16 rows.
    for data in _problems(metric):
        for dtype, near in ((np.float32, 1e-6), (np.float16, 0.02)):
            narrow = data.P.astype(dtype)
            _near(metric(data.y, narrow), metric(data.y, normalise_rows(narrow)), f"{np.dtype(dtype)} on {data.name}", near)


def check_logit_route(metric):
    """Probabilities, and their logarithms as logits, are the same predictions."""
    for data in _problems(metric):
        _near(metric(data.y, np.log(data.P), inputs="logit"), metric(data.y, data.P), f"logits on {data.name}")


def check_one_row(metric):
    """n = 1 and n = 2."""
    for data in _problems(metric):
        for n in (1, 2):
            _valid(metric, metric(data.y[:n], data.P[:n]), f"{n} rows of {data.name}")


def check_one_class_only(metric):
    """All labels the same; K comes from the columns."""
    for data in _problems(metric):
        _valid(metric, metric(np.zeros_like(data.y), data.P), f"one class only on {data.name}")


def check_constant_scores(metric):
    """Every row with the same prediction."""
    for data in _problems(metric):
        P = np.tile(np.append(0.7, np.full(data.n_classes - 1, 0.3 / (data.n_classes - 1))), (len(data.y), 1))
        _valid(metric, metric(data.y, P), f"constant scores on {data.name}")
        _valid(metric, metric(data.y, np.full_like(P, 1.0 / data.n_classes)), f"uniform scores on {data.name}")


def check_exact_zero_and_one(metric):
    """Certain predictions, right and wrong, have a finite value."""
    for data in _problems(metric):
        certain = np.eye(data.n_classes)
        _valid(metric, metric(data.y, certain[data.y]), f"certain and right on {data.name}")
        _valid(metric, metric(data.y, certain[(data.y + 1) % data.n_classes]), f"certain and wrong on {data.name}")


def check_perfect_is_best(metric):
    """Certain and right reaches the end of the range that the direction names; certain and wrong does not."""
    if metric.direction == "none":
        return
    best = metric.range[0] if metric.direction == "minimize" else metric.range[1]
    for data in _problems(metric):
        certain = np.eye(data.n_classes)
        _near(metric(data.y, certain[data.y]), best, f"certain and right on {data.name}")
        wrong = metric(data.y, certain[(data.y + 1) % data.n_classes])
        assert abs(wrong - best) > 1e-6, f"certain and wrong on {data.name} scores {wrong}, as good as certain and right"


def check_interval(metric):
    """An interval has ends in order and in the range, the metric's value, and the same bits again for the same seed."""
    data = _problems(metric)[0]
    first = metric.interval(data.y, data.P, sample_weight=data.weight, n_resamples=50)
    assert isinstance(first, Interval), f"interval gives a {type(first).__name__}"
    value = metric(data.y, data.P, sample_weight=data.weight)
    if first.method == "debiased":
        assert first.plain == value, "the plain value is not the metric's"
        assert first.low <= first.value <= first.high, f"the debiased value is outside its interval: {first!r}"
    else:
        assert first.value == value, "the interval's value is not the metric's"
    low, high = metric.range
    assert low - 1e-12 <= first.low < first.high <= high + 1e-12, f"{first!r} is empty or leaves the range {metric.range}"
    assert first.n == data.weight.sum(), f"n is {first.n}, the weights add up to {data.weight.sum()}"
    assert first == metric.interval(data.y, data.P, sample_weight=data.weight, n_resamples=50), "the interval is not deterministic"
    wider = metric.interval(data.y, data.P, sample_weight=data.weight, n_resamples=50, level=0.99)
    assert wider.low <= first.low < first.high <= wider.high, "an interval of a higher level is narrower"


def check_unknown_option(metric):
    """A misspelt option is a TypeError, never ignored."""
    data = _problems(metric)[0]
    try:
        metric(data.y, data.P, no_such_option=1)
    except TypeError:
        return
    raise AssertionError("an unknown option must raise TypeError")


def check_proper(metric):
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
