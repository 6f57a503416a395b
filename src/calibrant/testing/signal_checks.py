"""The contract of a signal, check by check."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant.contracts.signal import Signal
from calibrant.testing.check import Check, bind, digest, refuses_unfitted, run_all, same_bits, saved_copies, seeded, show_near
from calibrant.testing.container_cases import signal_cases
from calibrant.testing.data import problems
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.grid import require_good

__all__ = ["check_signal", "signal_checks"]


def check_signal(signal: Signal) -> None:
    """Run every check of the contract that applies to ``signal``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant import TopProbability
    >>> check_signal(TopProbability())
    """
    run_all(signal_checks(signal))


def signal_checks(signal: Signal) -> Iterator[Check]:
    """The checks that apply to ``signal``, each a callable with a name."""
    functions = [
        check_output_is_valid, check_determinism, check_fit_twice, check_clone_and_parameters, check_inputs_untouched, check_saving,
        check_rows_are_independent, check_one_column_is_two, check_exact_zero_and_one, check_narrow_floats,
        check_unfitted, check_containers,
        *extreme_checks("signal", "logits", "probabilities"),
    ]  # fmt: skip
    yield from bind(functions, signal, signal.tags.exceptions)


def _fitted(signal, data, P=None):
    tags = signal.tags
    P = _given(signal, data)[0] if P is None else P
    X = data.X if tags.uses_features else None
    return seeded(clone(signal)).fit(P, data.y, X=X, reference=data.reference if tags.needs_reference else None)


def _given(signal, data, test=False):
    """(P, keywords of score) on the rows to fit, or on those to predict."""
    logit = signal.inputs == "logit"
    P = (data.logits_test if test else data.logits) if logit else (data.P_test if test else data.P)
    return P, {"X": data.X_test if test else data.X} if signal.tags.uses_features else {}


def _scores(fresh, data):
    P, features = _given(fresh, data, test=True)
    return fresh.score(P, **features)


def _valid(signal, score, n, where):
    assert score.shape == (n,), f"score has shape {score.shape} on {where}"
    assert score.dtype == np.float64, f"score has dtype {score.dtype} on {where}"
    assert np.isfinite(score).all(), f"score is not finite on {where}"
    if signal.tags.domain == "unit":
        assert ((score >= 0.0) & (score <= 1.0)).all(), f"score leaves [0, 1] on {where}: {score.min()} to {score.max()}"
    return score


def check_output_is_valid(signal):
    """One finite score a row, inside the declared domain."""
    for data in problems():
        fresh = _fitted(signal, data)
        _valid(signal, _scores(fresh, data), len(data.logits_test), data.name)


def check_determinism(signal):
    """The same data give the same bits."""
    for data in problems():
        same_bits(_scores(_fitted(signal, data), data), _scores(_fitted(signal, data), data), f"two fits on {data.name}")


def check_fit_twice(signal):
    """A second fit forgets the first."""
    two, three = problems()[:2]
    used = _fitted(signal, two)
    P, features = _given(signal, three)
    used.fit(P, three.y, **features, **({"reference": three.reference} if signal.tags.needs_reference else {}))
    same_bits(_scores(used, three), _scores(_fitted(signal, three), three), "a second fit")


def check_clone_and_parameters(signal):
    """The constructor only stores, and fit leaves the parameters alone."""
    parameters = signal.get_params(deep=False)
    rebuilt = type(signal)(**parameters)
    for name, value in parameters.items():
        assert getattr(rebuilt, name) is value, f"the constructor must store {name} as it is"
    before = repr(seeded(clone(signal)).get_params())
    assert repr(_fitted(signal, problems()[0]).get_params()) == before, "fit changed the parameters"


def check_inputs_untouched(signal):
    """No argument is written to, nor returned."""
    for data in problems():
        arrays = (data.logits, data.P, data.y, data.X, data.logits_test, data.X_test, *data.reference)
        before = digest(*arrays)
        fresh = _fitted(signal, data)
        P, features = _given(signal, data, test=True)
        P = P.copy()
        score = fresh.score(P, **features)
        assert not np.shares_memory(score, P), "score returns a view of its input"
        assert digest(*arrays) == before, f"an argument was changed on {data.name}"


def check_saving(signal):
    """A saved and loaded, or pickled, signal gives the same bits."""
    for data in problems():
        fresh = _fitted(signal, data)
        for how, copy in saved_copies(fresh):
            same_bits(_scores(copy, data), _scores(fresh, data), f"{how} on {data.name}")


def check_rows_are_independent(signal):
    """A row's score does not depend on the rows beside it."""
    for data in problems():
        fresh = _fitted(signal, data)
        P, features = _given(signal, data, test=True)
        one = [fresh.score(P[i : i + 1], **{k: v[i : i + 1] for k, v in features.items()})[0] for i in range(5)]
        show_near(one, _scores(fresh, data)[:5], f"one row at a time on {data.name}", 1e-9)


def check_one_column_is_two(signal):
    """Binary predictions as one column are the same predictions."""
    data = problems()[0]
    fresh = _fitted(signal, data)
    P, features = _given(signal, data, test=True)
    narrow = P[:, 1] - P[:, 0] if signal.inputs == "logit" else P[:, 1]
    show_near(fresh.score(narrow, **features), fresh.score(P, **features), "one column against two", 1e-9)


def check_exact_zero_and_one(signal):
    """Certain predictions have finite scores in the domain."""
    for data in problems():
        certain = np.eye(data.n_classes)[np.arange(len(data.P_test)) % data.n_classes]
        exact = data.with_probabilities(data.P, certain)
        fresh = _fitted(signal, exact)
        _valid(signal, _scores(fresh, exact), len(certain), f"{data.name}, certain rows")


def check_narrow_floats(signal):
    """float32 input gives nearly the score of float64 input."""
    for data in problems():
        fresh = _fitted(signal, data)
        P, features = _given(signal, data, test=True)
        show_near(fresh.score(P.astype(np.float32), **features), fresh.score(P, **features), f"float32 on {data.name}", 1e-3)


def check_unfitted(signal):
    """Scoring before fitting raises NotFittedError with the class and the remedy, or gives what a fit would not change."""
    data = problems()[0]
    fresh = seeded(clone(signal))
    try:
        score = _scores(fresh, data)
    except NotFittedError:
        P, features = _given(fresh, data, test=True)
        refuses_unfitted(fresh, "score", P, **features)
    else:
        same_bits(score, _scores(_fitted(signal, data), data), "before fit and after it")


def check_containers(signal):
    """Frames, masked arrays, lists, narrow floats and the like give the plain array's answer, or one clear error."""
    require_good(signal_cases(signal))
