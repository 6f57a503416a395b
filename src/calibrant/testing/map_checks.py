"""The contract of a map, check by check."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone

from calibrant.contracts.map import Map
from calibrant.testing.check import Check, bind, digest, refuses_unfitted, run_all, same_bits, saved_copies, seeded, show_near
from calibrant.testing.container_cases import map_cases
from calibrant.testing.data import score_problem
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.grid import require_good

__all__ = ["check_map", "map_checks"]


def check_map(map: Map) -> None:
    """Run every check of the contract that applies to ``map``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant import Isotonic
    >>> check_map(Isotonic())
    """
    run_all(map_checks(map))


def map_checks(map: Map) -> Iterator[Check]:
    """The checks that apply to ``map`` by its tags, each a callable with a name."""
    functions = [
        check_output_is_valid, check_weights_are_repetition, check_row_order, check_fit_twice, check_clone_and_parameters,
        check_inputs_untouched, check_determinism, check_saving, check_narrow_floats, check_rows_are_independent, check_unfitted,
        check_constant_scores, check_one_outcome_only, check_perfect_separation, check_two_rows, check_near_equal_scores,
        check_boolean_outcomes, check_containers,
        *extreme_checks("map", "scores", "weights"),
    ]  # fmt: skip
    functions.append(check_scale_of_scores if map.tags.domain == "real" else check_exact_zero_and_one)
    if map.tags.monotone:
        functions.append(check_monotone)
    yield from bind(functions, map, map.tags.exceptions)


def _fitted(map, score, correct, sample_weight=None):
    return seeded(clone(map)).fit(score, correct, sample_weight=sample_weight)


def _ordinary(map):
    return score_problem(map.tags.domain)


def _valid(fresh, score, where="on ordinary scores"):
    out = fresh.predict(score)
    assert out.shape == np.shape(score), f"predict has shape {out.shape} {where}"
    assert out.dtype == np.float64, f"predict has dtype {out.dtype} {where}"
    assert np.isfinite(out).all(), f"predict is not finite {where}"
    assert ((out >= 0.0) & (out <= 1.0)).all(), f"predict leaves [0, 1] {where}: {out.min()} to {out.max()}"
    return out


def check_output_is_valid(map):
    """Predictions are finite and in [0, 1], also outside the range of the fit; fit returns the object itself."""
    data, fresh = _ordinary(map), seeded(clone(map))
    assert fresh.fit(data.score, data.correct) is fresh, "fit must return self"
    assert isinstance(fresh.status_, str), "status_ must be a string"
    _valid(fresh, data.score)
    _valid(fresh, data.test)


def check_weights_are_repetition(map):
    """Weight 2 is the row twice, weight 0 no row."""
    data = _ordinary(map)
    times = data.weight.astype(int)
    weighted = _fitted(map, data.score, data.correct, data.weight)
    repeated = _fitted(map, np.repeat(data.score, times), np.repeat(data.correct, times))
    show_near(weighted.predict(data.test), repeated.predict(data.test), "weights against repetition")
    assert weighted.n_fit_ == repeated.n_fit_, f"n_fit_ is {weighted.n_fit_} with weights, {repeated.n_fit_} with repetition"


def check_row_order(map):
    """The order of the rows does not matter."""
    data = _ordinary(map)
    order = np.random.default_rng(1).permutation(len(data.score))
    a, b = _fitted(map, data.score, data.correct), _fitted(map, data.score[order], data.correct[order])
    show_near(a.predict(data.test), b.predict(data.test), "row order")


def check_fit_twice(map):
    """A second fit forgets the first."""
    data = _ordinary(map)
    used = _fitted(map, data.score[:50], 1.0 - data.correct[:50]).fit(data.score, data.correct)
    same_bits(used.predict(data.test), _fitted(map, data.score, data.correct).predict(data.test), "a second fit")


def check_clone_and_parameters(map):
    """The constructor only stores, and fit leaves the parameters alone."""
    parameters = map.get_params(deep=False)
    rebuilt = type(map)(**parameters)
    for name, value in parameters.items():
        assert getattr(rebuilt, name) is value, f"the constructor must store {name} as it is"
    assert not [a for a in vars(rebuilt) if a.endswith("_")], f"the constructor made {sorted(vars(rebuilt))}"
    data = _ordinary(map)
    before = repr(seeded(clone(map)).get_params())
    assert repr(_fitted(map, data.score, data.correct).get_params()) == before, "fit changed the parameters"


def check_inputs_untouched(map):
    """No argument is written to, and no output shares memory with the fitted object."""
    data = _ordinary(map)
    arrays = [data.score.copy(), data.correct.copy(), data.weight.copy()]
    before = digest(*arrays)
    fresh = _fitted(map, *arrays)
    out = fresh.predict(arrays[0])
    assert not np.shares_memory(out, arrays[0]), "predict returns its own input"
    kept = out.copy()
    out[...] = -1.0
    assert digest(*arrays) == before, "an argument was changed"
    same_bits(fresh.predict(arrays[0]), kept, "an output shares memory with the fitted object")


def check_determinism(map):
    """The same data give the same bits, and NumPy's global generator is not used."""
    data = _ordinary(map)
    state = np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    first, second = (_fitted(map, data.score, data.correct).predict(data.test) for _ in range(2))
    same_bits(first, second, "two fits on the same data")
    assert np.random.get_state(legacy=False)["state"]["key"].tobytes() == state, "the global random generator was used"  # noqa: NPY002


def check_saving(map):
    """A saved and loaded, or pickled, map predicts the same bits."""
    data = _ordinary(map)
    fresh = _fitted(map, data.score, data.correct)
    for how, copy in saved_copies(fresh):
        same_bits(copy.predict(data.test), fresh.predict(data.test), how)
        assert repr(copy.get_params()) == repr(fresh.get_params()), f"{how}: parameters differ"


def check_narrow_floats(map):
    """float32 and float16 scores give what the same numbers give in float64."""
    data = _ordinary(map)
    for dtype in (np.float32, np.float16):
        score, test = data.score.astype(dtype), data.test.astype(dtype)
        narrow = _fitted(map, score, data.correct).predict(test)
        wide = _fitted(map, score.astype(np.float64), data.correct).predict(test.astype(np.float64))
        show_near(narrow, wide, str(np.dtype(dtype)), 1e-9)


def check_rows_are_independent(map):
    """A score's prediction does not depend on the scores beside it, nor on their order."""
    data = _ordinary(map)
    fresh = _fitted(map, data.score, data.correct)
    whole = fresh.predict(data.test)
    show_near(np.concatenate([fresh.predict(data.test[i : i + 1]) for i in range(0, 61, 5)]), whole[::5], "one score at a time", 1e-12)
    show_near(fresh.predict(data.test[::-1]), whole[::-1], "scores in another order", 1e-12)


def check_unfitted(map):
    """Predicting before fitting raises NotFittedError with the class and the remedy."""
    refuses_unfitted(clone(map), "predict", _ordinary(map).test)


def check_constant_scores(map):
    """Every score the same: the prediction there lies between the base rate and the middle, with exact 0 and 1 among the scores."""
    data = _ordinary(map)
    for value in (0.7, 0.0, 1.0):
        fresh = _fitted(map, np.full(len(data.score), value), data.correct)
        _valid(fresh, data.test, f"after constant scores {value}")
        at, base = float(fresh.predict([value])[0]), data.correct.mean()
        assert abs(at - base) < 0.05, f"after constant scores {value} the prediction is {at:.3f} and the base rate {base:.3f}"


def check_one_outcome_only(map):
    """All right, or all wrong."""
    data = _ordinary(map)
    for outcome in (0.0, 1.0):
        fresh = _fitted(map, data.score, np.full(len(data.score), outcome))
        out = _valid(fresh, data.test, f"when all outcomes are {outcome:g}")
        off = abs(float(fresh.predict([float(np.median(data.score))])[0]) - outcome)
        assert off < 0.1, f"when all outcomes are {outcome:g} the middle prediction is {off:.3f} away ({out.min():.3f} to {out.max():.3f})"


def check_perfect_separation(map):
    """The higher scores all right and the others all wrong; then the reverse; and p = [0, 1] with y = [0, 1]."""
    data = _ordinary(map)
    above = (data.score > np.median(data.score)).astype(np.float64)
    _valid(_fitted(map, data.score, above), data.test, "when separated")
    _valid(_fitted(map, data.score, 1.0 - above), data.test, "when separated the wrong way round")
    _valid(_fitted(map, [0.0, 1.0], [0, 1]), data.test, "when p = [0, 1], y = [0, 1]")


def check_two_rows(map):
    """n = 2 and n = 1."""
    data = _ordinary(map)
    for score, correct in (([0.2, 0.8], [0, 1]), ([0.8, 0.2], [0, 1]), ([0.5, 0.5], [0, 1]), ([0.5, 0.6], [1, 1]), ([0.5], [1])):
        _valid(_fitted(map, score, correct), data.test, f"after scores {score}, outcomes {correct}")


def check_near_equal_scores(map):
    """Scores 1e-300 and one ulp apart."""
    score = np.array([0.0, 1e-300, 2e-300, 0.5, np.nextafter(0.5, 1.0), 0.7, 0.7, np.nextafter(0.7, 0.0), 1.0])
    correct = np.array([0, 1, 0, 1, 0, 1, 0, 1, 1])
    _valid(_fitted(map, score, correct), np.concatenate([score, [1e-299, 0.3]]), "after scores that nearly tie")


def check_boolean_outcomes(map):
    """Outcomes as booleans, integers or a list are the same outcomes."""
    data = _ordinary(map)
    whole = _fitted(map, data.score, data.correct).predict(data.test)
    for other in (data.correct.astype(bool), data.correct.astype(int), data.correct.tolist()):
        same_bits(_fitted(map, data.score.tolist(), other).predict(data.test), whole, f"outcomes as {type(other).__name__}")


def check_containers(map):
    """Series, masked arrays, lists, narrow floats and the like give the plain array's answer, or one clear error."""
    require_good(map_cases(map))


def check_exact_zero_and_one(map):
    """Scores of exactly 0 and 1 among the others, some wrong."""
    data = _ordinary(map)
    score = np.concatenate([data.score, [0.0, 0.0, 1.0, 1.0]])
    _valid(_fitted(map, score, np.concatenate([data.correct, [0, 1, 0, 1]])), data.test, "with exact 0 and 1")


def check_scale_of_scores(map):
    """Scores from 1e-6 to 1e8 times the ordinary ones."""
    data = _ordinary(map)
    for scale in (1e-6, 1e3, 1e8):
        _valid(_fitted(map, data.score * scale, data.correct), data.test * scale, f"when scores are x {scale:g}")


def check_monotone(map):
    """The prediction never falls as the score rises, whatever the data."""
    data = _ordinary(map)
    grid = np.linspace(data.test[0], data.test[-1], 2001)
    for name, correct in (("ordinary", data.correct), ("reversed", 1.0 - data.correct), ("alternating", np.arange(len(data.score)) % 2)):
        step = np.diff(_fitted(map, data.score, correct).predict(grid))
        assert (step >= -1e-12).all(), f"the tag monotone is wrong on {name} outcomes: it falls by {-step.min():.3g}"
