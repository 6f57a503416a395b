"""The contract of a calibrator on arrays, check by check."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone

from calibrant._kernels.softmax import normalise_rows
from calibrant.contracts.calibrator import Calibrator
from calibrant.testing import calibrator_edge_checks as edge
from calibrant.testing.calibrator_runs import fitted, given, ordinary, predicted, valid
from calibrant.testing.check import Check, bind, digest, refuses_unfitted, run_all, same_bits, saved_copies, seeded, show_near
from calibrant.testing.container_cases import calibrator_cases
from calibrant.testing.grid import require_good

__all__ = ["calibrator_checks", "check_calibrator"]


def check_calibrator(calibrator: Calibrator) -> None:
    """Run every check of the contract that applies to ``calibrator``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> check_calibrator(TemperatureScaling())
    """
    run_all(calibrator_checks(calibrator))


def calibrator_checks(calibrator: Calibrator) -> Iterator[Check]:
    """The checks that apply to ``calibrator`` by its tags, each a callable with a name; none for a regression calibrator."""
    tags = calibrator.tags
    if tags.output == "distribution":
        return
    functions = [
        check_output_is_valid, check_weights_are_repetition, check_row_order, check_fit_twice, check_clone_and_parameters,
        check_inputs_untouched, check_determinism, check_saving, check_narrow_floats, check_rows_are_independent,
        check_one_column_is_two, check_named_classes, check_containers, check_confidence_is_consistent, check_logit_route, check_unfitted,
        *edge.EDGE_CHECKS,
    ]  # fmt: skip
    if tags.keeps_argmax:
        functions.append(check_keeps_argmax)
    if {"signal", "signals"} & calibrator.get_params(deep=False).keys():
        functions.append(check_signals_follow_inputs)
    if not tags.binary_only:
        functions.append(edge.check_absent_class)
    yield from bind(functions, calibrator, tags.exceptions)


def check_output_is_valid(calibrator):
    """Probabilities are finite, in [0, 1], and rows sum to 1; fit returns the object itself."""
    for data in ordinary(calibrator):
        P, X, reference = given(calibrator, data)
        fresh = seeded(clone(calibrator))
        assert fresh.fit(P, data.y, X=X, reference=reference) is fresh, "fit must return self"
        assert fresh.classes_.tolist() == list(range(data.n_classes)), f"classes_ is {fresh.classes_}"
        assert isinstance(fresh.status_, str), "status_ must be a string"
        valid(fresh, data)


def check_weights_are_repetition(calibrator):
    """Weight 2 is the row twice, weight 0 no row."""
    for data in ordinary(calibrator):
        repeated = data.take(np.repeat(np.arange(len(data.y)), data.weight.astype(int)))
        weighted = predicted(fitted(calibrator, data, sample_weight=data.weight), data)
        show_near(weighted, predicted(fitted(calibrator, repeated), data), f"weights against repetition on {data.name}")


def check_row_order(calibrator):
    """The order of the rows does not matter."""
    for data in ordinary(calibrator):
        shuffled = data.take(np.random.default_rng(1).permutation(len(data.y)))
        show_near(predicted(fitted(calibrator, data), data), predicted(fitted(calibrator, shuffled), data), f"row order on {data.name}")


def check_fit_twice(calibrator):
    """A fit forgets the ones before it, on other classes and on the same."""
    sets = ordinary(calibrator)
    for first, second in zip(sets, sets[1:] + sets[:1], strict=True):
        used = fitted(calibrator, first)
        for data in (second.take(slice(0, None, 2)), second):
            P, X, reference = given(used, data)
            used.fit(P, data.y, X=X, reference=reference)
        same_bits(predicted(used, second), predicted(fitted(calibrator, second), second), f"a second fit, on {second.name}")


def check_clone_and_parameters(calibrator):
    """The constructor only stores, clone copies the parameters, and fit leaves them alone."""
    given_parameters = calibrator.get_params(deep=False)
    rebuilt = type(calibrator)(**given_parameters)
    for name, value in given_parameters.items():
        assert getattr(rebuilt, name) is value, f"the constructor must store {name} as it is"
    assert not [a for a in vars(rebuilt) if a.endswith("_")], f"the constructor made {sorted(vars(rebuilt))}"
    data = ordinary(calibrator)[0]
    before = repr(clone(calibrator).get_params())
    fresh = fitted(calibrator, data)
    kept = fresh.get_params(deep=False)
    assert repr(clone(fresh).get_params()) == repr(clone(seeded(clone(calibrator))).get_params()), "fit changed the parameters"
    assert repr(clone(calibrator).get_params()) == before, "clone shares its parameters with the original"
    for name, value in kept.items():
        if hasattr(value, "get_params"):
            assert not [a for a in vars(value) if a.endswith("_") and not a.startswith("_")], f"fit fitted the parameter {name} in place"


def check_inputs_untouched(calibrator):
    """No argument is written to, even when it could be."""
    for data in ordinary(calibrator):
        P, X, reference = given(calibrator, data)
        arrays = [P.copy(), data.y.copy(), data.weight.copy(), None if X is None else X.copy()]
        pair = None if reference is None else (reference[0].copy(), reference[1].copy())
        before = digest(*arrays, pair)
        P, y, weight, X = arrays
        fresh = seeded(clone(calibrator)).fit(P, y, sample_weight=weight, X=X, reference=pair)
        features = {} if X is None else {"X": X}
        outputs = [fresh.predict_proba(P, **features), fresh.predict_confidence(P, **features)]
        for out in outputs:
            out[...] = -1.0
        assert digest(*arrays, pair) == before, f"an argument was changed, on {data.name}"
        assert (fresh.predict_proba(P, **features) >= 0).all(), "an output shares memory with the fitted object"


def check_determinism(calibrator):
    """The same data give the same bits, and NumPy's global generator is not used."""
    data = ordinary(calibrator)[-1]
    state = np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    first, second = fitted(calibrator, data), fitted(calibrator, data)
    same_bits(predicted(first, data), predicted(second, data), "two fits on the same data")
    same_bits(predicted(first, data), predicted(first, data), "two predictions of one fit")
    assert np.random.get_state(legacy=False)["state"]["key"].tobytes() == state, "the global random generator was used"  # noqa: NPY002


def check_saving(calibrator):
    """A saved and loaded, or pickled, object predicts the same bits."""
    for data in ordinary(calibrator):
        fresh = fitted(calibrator, data)
        for how, copy in saved_copies(fresh):
            same_bits(predicted(copy, data), predicted(fresh, data), f"{how} on {data.name}")
            assert copy.classes_.tolist() == fresh.classes_.tolist(), f"{how}: classes_ differ"
            assert repr(copy.get_params()) == repr(fresh.get_params()), f"{how}: parameters differ"


def check_narrow_floats(calibrator):
    """float32 and float16 give what the same numbers give in float64."""
    for data in ordinary(calibrator):
        features = {} if given(calibrator, data)[1] is None else {"X": data.X_test}
        for dtype, near in ((np.float32, 1e-4), (np.float16, 1e-4)):
            logit = calibrator.inputs == "logit"
            fit_on, test_on = ((data.logits, data.logits_test) if logit else (data.P, data.P_test))  # fmt: skip
            fit_on, test_on = fit_on.astype(dtype), test_on.astype(dtype)
            wide = [a.astype(np.float64) if logit else normalise_rows(a) for a in (fit_on, test_on)]
            _, X, reference = given(calibrator, data)
            a = seeded(clone(calibrator)).fit(fit_on, data.y, X=X, reference=reference).predict_proba(test_on, **features)
            b = seeded(clone(calibrator)).fit(wide[0], data.y, X=X, reference=reference).predict_proba(wide[1], **features)
            show_near(a, b, f"{np.dtype(dtype)} on {data.name}", near)


def check_rows_are_independent(calibrator):
    """A row's prediction does not depend on the rows beside it."""
    for data in ordinary(calibrator):
        fresh = fitted(calibrator, data)
        P, X, _ = given(calibrator, data, test=True)
        one = [fresh.predict_proba(P[i : i + 1], **({} if X is None else {"X": X[i : i + 1]})) for i in range(5)]
        show_near(np.vstack(one), predicted(fresh, data)[:5], f"one row at a time on {data.name}", 1e-9)


def check_one_column_is_two(calibrator):
    """Binary predictions as one column are the same predictions."""
    data = ordinary(calibrator)[0]
    logit = calibrator.inputs == "logit"
    odds, odds_test = (a[:, 1] - a[:, 0] for a in (data.logits, data.logits_test))
    narrow = (odds, odds_test) if logit else (data.P[:, 1], data.P_test[:, 1])
    wide = [np.column_stack([np.zeros_like(a) if logit else 1.0 - a, a]) for a in narrow]
    _, X, reference = given(calibrator, data)
    features = {} if X is None else {"X": data.X_test}
    a = seeded(clone(calibrator)).fit(narrow[0], data.y, X=X, reference=reference).predict_proba(narrow[1], **features)
    b = seeded(clone(calibrator)).fit(wide[0], data.y, X=X, reference=reference).predict_proba(wide[1], **features)
    show_near(a, b, "one column against two", 1e-12)


def check_named_classes(calibrator):
    """Any labels, in the order the columns have, not in sorted order."""
    for data in ordinary(calibrator):
        names = np.array([f"c{data.n_classes - k}" for k in range(data.n_classes)])
        P, X, reference = given(calibrator, data)
        reference = None if reference is None else (reference[0], names[reference[1]])
        named = seeded(clone(calibrator).set_params(classes=names.tolist())).fit(P, names[data.y], X=X, reference=reference)
        plain = fitted(calibrator, data)
        same_bits(predicted(named, data), predicted(plain, data), f"named classes on {data.name}")
        assert named.classes_.tolist() == names.tolist(), "classes_ must keep the order of classes="
        P, X, _ = given(calibrator, data, test=True)
        features = {} if X is None else {"X": X}
        assert named.predict(P, **features).tolist() == names[plain.predict(P, **features)].tolist(), "predict must return the labels"


def check_containers(calibrator):
    """Frames, masked arrays, lists, narrow floats and the like give the plain array's answer, or one clear error."""
    require_good(calibrator_cases(calibrator))


def check_confidence_is_consistent(calibrator):
    """predict_confidence is predict_proba's entry at the model's own label; predict is predict_proba's argmax."""
    for data in ordinary(calibrator):
        fresh = fitted(calibrator, data)
        P, X, _ = given(calibrator, data, test=True)
        features = {} if X is None else {"X": X}
        Q, confidence = fresh.predict_proba(P, **features), fresh.predict_confidence(P, **features)
        assert confidence.shape == (len(P),), f"predict_confidence has shape {confidence.shape}"
        show_near(confidence, Q[np.arange(len(P)), P.argmax(axis=1)], f"confidence on {data.name}", 1e-12)
        assert (fresh.predict(P, **features) == fresh.classes_[Q.argmax(axis=1)]).all(), "predict must be the argmax of predict_proba"


def check_logit_route(calibrator):
    """Probabilities, and their logarithms as logits, are the same predictions."""
    for data in ordinary(calibrator):
        _, X, reference = given(calibrator, data)
        features = {} if X is None else {"X": data.X_test}
        a, b = (seeded(clone(calibrator).set_params(inputs=inputs)) for inputs in ("probability", "logit"))
        a.fit(data.P, data.y, X=X, reference=reference)
        b.fit(np.log(data.P), data.y, X=X, reference=reference)
        show_near(a.predict_proba(data.P_test, **features), b.predict_proba(np.log(data.P_test), **features), f"logits on {data.name}")


def check_unfitted(calibrator):
    """Predicting before fitting raises NotFittedError with the class and the remedy."""
    data = ordinary(calibrator)[0]
    P, X, _ = given(calibrator, data, test=True)
    for method in ("predict_proba", "predict_confidence", "predict"):
        refuses_unfitted(clone(calibrator), method, P, **({} if X is None else {"X": X}))


def check_signals_follow_inputs(calibrator):
    """The fitted signals read what the calibrator was fitted on, be it probabilities or logits."""
    for data in ordinary(calibrator):
        _, X, reference = given(calibrator, data)
        scores = []
        for inputs, P, P_test in (("probability", data.P, data.P_test), ("logit", np.log(data.P), np.log(data.P_test))):
            fresh = seeded(clone(calibrator).set_params(inputs=inputs)).fit(P, data.y, X=X, reference=reference)
            signals = fresh.signals_ if hasattr(fresh, "signals_") else [fresh.signal_]
            scores.append([s.score(P_test, **({"X": data.X_test} if s.tags.uses_features else {})) for s in signals])
        for a, b in zip(*scores, strict=True):
            show_near(a, b, f"signals of logits on {data.name}")


def check_keeps_argmax(calibrator):
    """The model's own label keeps the largest probability."""
    for data in ordinary(calibrator):
        Q = predicted(fitted(calibrator, data), data)
        own = Q[np.arange(len(Q)), given(calibrator, data, test=True)[0].argmax(axis=1)]
        assert (own == Q.max(axis=1)).all(), f"the tag keeps_argmax is wrong on {data.name}: {int((own < Q.max(axis=1)).sum())} rows moved"
