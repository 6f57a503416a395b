"""Checks of the contract of signals."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calibrant.core.kinds import require_signal
from calibrant.core.map import Signal
from calibrant.testing.check import Check, bind, run_all, show_near
from calibrant.testing.data import problems
from calibrant.testing.extremes import extreme_checks
from calibrant.testing.laws import LAWS, check_signal_expression
from calibrant.testing.runs import answer, fitted, given, valid

__all__ = ["check_signal", "signal_checks"]


def check_signal(signal: Signal) -> None:
    """Run every check of the contract that applies to ``signal``.

    An AssertionError names the check that fails.

    Examples
    --------
    >>> from calibrant.calibrators import TopProbability
    >>> check_signal(TopProbability())
    """
    run_all(signal_checks(signal))


def signal_checks(signal: Signal) -> Iterator[Check]:
    """The checks that apply to ``signal``, each a callable with a name."""
    tags = require_signal(signal).tags
    own = [
        check_one_column_is_two,
        check_exact_zero_and_one,
        check_signal_expression,
        *extreme_checks("signal", "logits", "probabilities"),
    ]
    return bind([*LAWS, *own], signal, tags.exceptions)


def check_one_column_is_two(signal: Signal) -> None:
    """Check that binary predictions as one column give the same scores as two columns."""
    data = problems()[0]
    fresh, held = fitted(signal, data), given(signal, data)
    P = held["P_test"]
    one = held | {"P_test": P[:, 1] - P[:, 0] if signal.inputs == "logit" else P[:, 1]}
    show_near(answer(fresh, one), answer(fresh, held), "one column against two", 1e-9)


def check_exact_zero_and_one(signal: Signal) -> None:
    """Check that certain predictions have finite scores in the signal's domain."""
    for data in problems():
        certain = np.eye(data.n_classes)[np.arange(len(data.P_test)) % data.n_classes]
        exact = replace(data, name=f"{data.name}, certain rows").with_probabilities(data.P, certain)
        valid(fitted(signal, exact), exact)
