"""The laws of a metric's state: identity, order, chunking, equal to the value of the whole."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant.contracts.metric import Metric
from calibrant.errors import InputError
from calibrant.testing.check import Check, bind, run_all
from calibrant.testing.data import problems

__all__ = ["check_state", "state_checks"]


def check_state(metric: Metric) -> None:
    """Run every law that applies to the state of ``metric``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> check_state(log_loss)
    """
    run_all(state_checks(metric))


def state_checks(metric: Metric) -> Iterator[Check]:
    """The laws of the metric's state, or the one check that it refuses to make one."""
    if metric.task != "classification":
        return
    laws = [check_state_identity, check_state_order, check_state_chunks, check_state_mixed_metrics, check_state_weights]
    functions = laws if metric.mergeable else [check_state_is_refused]
    names = {f.__name__.removeprefix("check_") for f in functions}
    yield from bind(functions, metric, {k: v for k, v in metric.exceptions.items() if k in names})


def _problems(metric):
    return problems(binary_only=metric.binary_only)


def _near(a, b, what):
    assert a == b or abs(a - b) <= 1e-12 + 1e-10 * abs(b), f"{what}: {a!r} and {b!r}"


def _parts(metric, data, edges):
    return [
        metric.state(data.y[a:b], data.P[a:b], sample_weight=data.weight[a:b] + 1.0)
        for a, b in pairwise(edges)
    ]  # fmt: skip


def check_state_identity(metric):
    """The empty state changes nothing, from either side; alone it has no value; sum() works."""
    empty = metric.state()
    assert np.isnan([empty.finalise(), (empty + empty).finalise()]).all(), "the empty state must finalise to nan"
    for data in _problems(metric):
        state = metric.state(data.y, data.P)
        value = state.finalise()
        assert (empty + state).finalise() == value == (state + empty).finalise(), f"the empty state is not neutral on {data.name}"
        _near(value, metric(data.y, data.P), f"one state on {data.name}")
        total: Any = sum([state])
        assert total.finalise() == value, "sum() of states must work"


def check_state_order(metric):
    """The order in which parts are added does not matter, and adding changes neither part."""
    for data in _problems(metric):
        a, b, c = _parts(metric, data, [0, 30, 70, len(data.y)])
        before = a.finalise()
        one = ((a + b) + c).finalise()
        _near((c + (b + a)).finalise(), one, f"order of parts on {data.name}")
        assert a.finalise() == before, "adding changed a state"


def check_state_chunks(metric):
    """Any cutting into parts gives the value of the whole."""
    for data in _problems(metric):
        n = len(data.y)
        whole = metric(data.y, data.P, sample_weight=data.weight + 1.0)
        for edges in ([0, n], [0, 1, n], [0, n // 2, n - 1, n], [*range(0, n, 7), n]):
            total: Any = sum(_parts(metric, data, edges))
            _near(total.finalise(), whole, f"{len(edges) - 1} parts of {data.name}")


def check_state_weights(metric):
    """Weights in a state mean repetition too."""
    for data in _problems(metric):
        twice = metric.state(data.y, data.P, sample_weight=np.full(len(data.y), 2.0))
        once = metric.state(data.y, data.P)
        _near((once + once).finalise(), twice.finalise(), f"weight 2 on {data.name}")


def check_state_mixed_metrics(metric):
    """States of another metric do not add up."""
    data = _problems(metric)[0]
    state = metric.state(data.y, data.P)
    try:
        _ = state + 1.0
    except TypeError:
        return
    raise AssertionError("adding a number to a state must raise TypeError")


def check_state_is_refused(metric):
    """A metric without a state of fixed size says so."""
    data = _problems(metric)[0]
    try:
        metric.state(data.y, data.P)
    except InputError:
        return
    raise AssertionError("state must raise InputError where mergeable is False")
