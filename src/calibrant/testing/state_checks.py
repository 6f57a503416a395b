"""The laws of a metric's state: identity, order, chunking, equal to the value of the whole."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant.contracts.kinds import require_metric
from calibrant.contracts.metric import Metric
from calibrant.errors import InputError
from calibrant.testing.check import Check, bind, run_all
from calibrant.testing.measured import ordinary, value

__all__ = ["check_state", "state_checks", "state_laws"]


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
    laws = state_laws(require_metric(metric))
    names = {law.__name__.removeprefix("check_") for law in laws}
    return bind(laws, metric, {name: reason for name, reason in metric.exceptions.items() if name in names})


def state_laws(metric: Metric) -> list[Callable]:
    """The laws as functions of a metric."""
    if not metric.mergeable:
        return [check_state_is_refused]
    return [check_state_identity, check_state_order, check_state_chunks, check_state_mixed_metrics, check_state_weights]


def _near(a, b, what):
    assert a == b or abs(a - b) <= 1e-12 + 1e-10 * abs(b), f"{what}: {a!r} and {b!r}"


def _state(metric, data, weight=None):
    return metric.state(data.y, *data.said, sample_weight=weight)


def _parts(metric, data, edges):
    parts = [data.take(slice(a, b)) for a, b in pairwise(edges)]
    return [_state(metric, part, part.weight + 1.0) for part in parts]


def check_state_identity(metric: Metric) -> None:
    """The empty state changes nothing, from either side; alone it has no value; sum() works."""
    empty = metric.state()
    assert np.isnan([empty.finalise(), (empty + empty).finalise()]).all(), "the empty state must finalise to nan"
    for data in ordinary(metric):
        state = _state(metric, data)
        alone = state.finalise()
        assert (empty + state).finalise() == alone == (state + empty).finalise(), f"the empty state is not neutral on {data.name}"
        _near(alone, value(metric, data), f"one state on {data.name}")
        total: Any = sum([state])
        assert total.finalise() == alone, "sum() of states must work"


def check_state_order(metric: Metric) -> None:
    """The order in which parts are added does not matter, and adding changes neither part."""
    for data in ordinary(metric):
        a, b, c = _parts(metric, data, [0, 30, 70, len(data)])
        before = a.finalise()
        one = ((a + b) + c).finalise()
        _near((c + (b + a)).finalise(), one, f"order of parts on {data.name}")
        assert a.finalise() == before, "adding changed a state"


def check_state_chunks(metric: Metric) -> None:
    """Any cutting into parts gives the value of the whole."""
    for data in ordinary(metric):
        n = len(data)
        whole = value(metric, data, data.weight + 1.0)
        for edges in ([0, n], [0, 1, n], [0, n // 2, n - 1, n], [*range(0, n, 7), n]):
            total: Any = sum(_parts(metric, data, edges))
            _near(total.finalise(), whole, f"{len(edges) - 1} parts of {data.name}")


def check_state_weights(metric: Metric) -> None:
    """Weights in a state mean repetition too."""
    for data in ordinary(metric):
        twice = _state(metric, data, np.full(len(data), 2.0))
        once = _state(metric, data)
        _near((once + once).finalise(), twice.finalise(), f"weight 2 on {data.name}")


def check_state_mixed_metrics(metric: Metric) -> None:
    """States of another metric do not add up."""
    data = ordinary(metric)[0]
    state = _state(metric, data)
    try:
        _ = state + 1.0
    except TypeError:
        return
    raise AssertionError("adding a number to a state must raise TypeError")


def check_state_is_refused(metric: Any) -> None:
    """A metric without a state of fixed size says so."""
    data = ordinary(metric)[0]
    try:
        _state(metric, data)
    except InputError:
        return
    raise AssertionError("state must raise InputError where mergeable is False")
