"""Each check of the contract suite catches a calibrator, map, signal or metric that breaks
exactly what it is about.
"""

import math
import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant._numerics.logistic import log_softmax_mixed, softmax
from calibrant.core.calibrator import MapTags, SignalTags, Tags
from calibrant.core.map import Signal
from calibrant.core.metric_kinds import MeanMetric
from calibrant.errors import FitWarning, InputError
from calibrant.testing import (
    calibrator_checks,
    check_calibrator,
    check_map,
    check_metric,
    check_signal,
    check_state,
    map_checks,
    metric_checks,
    parameters,
    signal_checks,
)


class Shrink(cb.core.Calibrator):
    """A small honest calibrator of another package: mixes in the (smoothed) class rates. The
    broken ones below derive from it.
    """

    tags: ClassVar[Tags] = Tags()

    def __init__(self, *, inputs="probability", classes=None, random_state=None):
        self.inputs, self.classes, self.random_state = inputs, classes, random_state

    def _fit(self, record):
        counts = (
            np.bincount(record.labels, weights=record.weights, minlength=record.n_classes) + 1.0
        )
        self.rate_ = counts / counts.sum()

    def _predict_proba(self, record):
        return 0.9 * record.probabilities + 0.1 * self.rate_


class Unnormalised(Shrink):
    def _predict_proba(self, record):
        return 0.9 * record.probabilities


class IgnoresWeights(Shrink):
    def _fit(self, record):
        self.rate_ = (np.bincount(record.labels, minlength=record.n_classes) + 1.0) / (
            len(record) + record.n_classes
        )


class LikesTheFirstRows(Shrink):
    def _fit(self, record):
        super()._fit(record.take(slice(0, 10)))


class Accumulates(Shrink):
    def _fit(self, record):
        before = getattr(self, "rate_", np.zeros(record.n_classes))
        super()._fit(record)
        if len(before) == len(self.rate_):
            self.rate_ = (self.rate_ + before) / (self.rate_ + before).sum()


class ChangesItsParameters(Shrink):
    def _fit(self, record):
        super()._fit(record)
        self.classes = record.classes.tolist()


class Learned(Shrink):
    def __init__(self, *, inputs="probability", classes=None):
        super().__init__(inputs=inputs, classes=classes)
        self.learned_ = 1


class WritesToItsInput(Shrink):
    def fit(self, P, y, *, sample_weight=None, X=None, reference=None):
        super().fit(P, y, sample_weight=sample_weight, X=X, reference=reference)
        np.asarray(P)[0] = np.asarray(P)[0, ::-1]
        return self


class HandsOutItsMemory(Shrink):
    def _predict_proba(self, record):
        if not hasattr(self, "cache_"):
            self.cache_ = super()._predict_proba(record)
        return self.cache_[: len(record)]


class GlobalGenerator(Shrink):
    def _fit(self, record):
        super()._fit(record)
        self.rate_ = self.rate_ + 1e-3 * np.random.rand(record.n_classes)  # noqa: NPY002
        self.rate_ /= self.rate_.sum()


class ForgetsOnSaving(Shrink):
    def __getstate__(self):
        return {k: v for k, v in vars(self).items() if k != "rate_"} | {
            "rate_": np.full(len(self.rate_), 1.0 / len(self.rate_))
        }


class SingleForm(Shrink):
    """Loses half the digits of what came in float32."""

    def predict_proba(self, P, **beside):
        out = super().predict_proba(P, **beside)
        narrow = np.round(out, 2) + (1 - np.round(out, 2).sum(axis=1, keepdims=True)) / out.shape[1]
        return narrow if getattr(P, "dtype", None) == np.float32 else out


class LooksAtTheBatch(Shrink):
    def _predict_proba(self, record):
        return 0.5 * record.probabilities + 0.5 * record.probabilities.mean(axis=0)


class SumsByMemoryOrder(Shrink):
    """Sums a row as NumPy happens to, so that its last bits depend on the rows beside it."""

    def _predict_proba(self, record):
        P = np.asarray(record.values, dtype=np.float64)
        P = np.asfortranarray(P) if len(P) > 1 else P
        return P / P.sum(axis=1, keepdims=True)


class TakesZeroForMuch(Shrink):
    """Reads an exact 0 as a thousandth."""

    def _predict_proba(self, record):
        P = np.where(record.probabilities == 0.0, 1e-3, record.probabilities)
        return P / P.sum(axis=1, keepdims=True)


class SortsTheClasses(Shrink):
    def _fit(self, record):
        super()._fit(record)
        self.classes_ = np.sort(record.classes)


class HasItsOwnDoor(Shrink):
    """Forgets the names of a frame's columns."""

    def fit(self, P, y, **options):
        return super().fit(np.asarray(P), y, **options)

    def predict_proba(self, P, **options):
        return super().predict_proba(np.asarray(P), **options)


class MixesUpTheConfidence(Shrink):
    def predict_confidence(self, P, *, X=None):
        return self.predict_proba(P, X=X).max(axis=1) * 0.5


class GuessesTheInput(Shrink):
    def _predict_proba(self, record):
        share = 0.1 if record.kind == "logit" else 0.2
        return (1 - share) * record.probabilities + share * self.rate_


class NeedsNoFit(Shrink):
    def predict_confidence(self, P, *, X=None):
        return np.asarray(P).max(axis=1)


class ClaimsTheArgmax(Shrink):
    tags: ClassVar[Tags] = Tags(keeps_argmax=True)

    def _predict_proba(self, record):
        return record.probabilities[:, ::-1]


class NeedsSpread(Shrink):
    def _fit(self, record):
        super()._fit(record)
        self.scale_ = 1.0 / record.confidence.std() if record.confidence.std() else np.nan

    def _predict_proba(self, record):
        return super()._predict_proba(record) * (self.scale_ / self.scale_)


class NeedsTwoClasses(Shrink):
    def _fit(self, record):
        if len(np.unique(record.labels)) < 2:
            raise ValueError("needs samples of at least 2 classes")
        super()._fit(record)


class NeedsMistakes(Shrink):
    def _fit(self, record):
        self.odds_ = np.log(record.correct.mean() / (1.0 - record.correct.mean()))
        super()._fit(record)


class NeedsThreeRows(Shrink):
    def _fit(self, record):
        if len(record) < 3:
            raise IndexError("too few rows")
        super()._fit(record)


class TakesLogarithms(Shrink):
    def _predict_proba(self, record):
        logs = np.log(record.probabilities)
        return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)


class Overflows(Shrink):
    def _predict_proba(self, record):
        e = np.exp(record.logits)
        return e / e.sum(axis=1, keepdims=True)


class DropsAbsentClasses(Shrink):
    def _fit(self, record):
        self.seen_ = np.bincount(record.labels, minlength=record.n_classes) > 0

    def _predict_proba(self, record):
        out = record.probabilities * self.seen_ + 1e-12 * self.seen_
        return out / out.sum(axis=1, keepdims=True)


class CountsZeroWeights(Shrink):
    def fit(self, P, y, *, sample_weight=None, X=None, reference=None):
        return super().fit(
            P,
            y,
            sample_weight=None if sample_weight is None else sample_weight + 0.5,
            X=X,
            reference=reference,
        )


class GrowsWithTheRows(Shrink):
    def _fit(self, record):
        super()._fit(record)
        self.growth_ = math.exp(record.weights.sum())


class SaysItWrongly(Shrink):
    def _expression(self, record):
        return record.probabilities * 0.91 + self.rate_ * 0.09


class ShowsAnotherFormula(cb.calibrators.VectorScaling):
    """Hides a temperature: what it shows is not what it does."""

    def _fit(self, record):
        super()._fit(record)
        self.hidden_, self.temperature_ = self.temperature_, 1.0

    def _predict_proba(self, record):
        return softmax(
            self.scale_ * log_softmax_mixed(record.logits, self.mixing_, 1.0 / self.hidden_)
            + self.shift_
        )

    def _expression(self, record):
        raise InputError("it says nothing.")


BROKEN_CALIBRATORS = {
    "order_at_zero": TakesZeroForMuch,
    "expression": SaysItWrongly,
    "output_is_valid": Unnormalised,
    "weights_are_repetition": IgnoresWeights,
    "row_order": LikesTheFirstRows,
    "fit_twice": Accumulates,
    "clone_and_parameters": ChangesItsParameters,
    "inputs_untouched": WritesToItsInput,
    "determinism": GlobalGenerator,
    "saving": ForgetsOnSaving,
    "narrow_floats": SingleForm,
    "rows_are_independent": LooksAtTheBatch,
    "named_classes": SortsTheClasses,
    "containers": HasItsOwnDoor,
    "confidence_is_consistent": MixesUpTheConfidence,
    "logit_route": GuessesTheInput,
    "unfitted": NeedsNoFit,
    "keeps_argmax": ClaimsTheArgmax,
    "constant_scores": NeedsSpread,
    "one_class_only": NeedsTwoClasses,
    "perfect_separation": NeedsMistakes,
    "two_rows": NeedsThreeRows,
    "exact_zero_and_one": TakesLogarithms,
    "unseen_extremes": TakesLogarithms,
    "scale_of_logits": Overflows,
    "zero_weight_rows": CountsZeroWeights,
    "absent_class": DropsAbsentClasses,
    "extreme_logits": Overflows,
    "extreme_probabilities": TakesLogarithms,
    "extreme_weights": GrowsWithTheRows,
}


def test_a_formula_that_hides_a_part_is_caught():
    assert caught(calibrator_checks(ShowsAnotherFormula()), "expression")


def caught(checks, name):
    """Whether the one check of this name fails."""
    return failing([check for check in checks if check.name == name]) == {name}


def failing(checks):
    """The names of the checks that fail."""
    out = set()
    for check in checks:
        try:
            check()
        except Exception:
            out.add(check.name)
    return out


def test_an_honest_calibrator_of_another_package_passes():
    # Loading refuses classes that are not calibrant's own, so one declared exception is needed.
    class Honest(Shrink):
        tags: ClassVar[Tags] = Tags(
            exceptions={"saving": "load makes calibrant's own classes only"}
        )

    check_calibrator(Honest())


@pytest.mark.parametrize("name", BROKEN_CALIBRATORS)
def test_the_check_catches_a_calibrator_broken_in_that_way(name):
    assert caught(calibrator_checks(BROKEN_CALIBRATORS[name]()), name)


def test_the_law_of_rows_catches_sums_that_follow_the_memory_order():
    assert caught(calibrator_checks(SumsByMemoryOrder()), "rows_are_independent")


class KeepsTheDefaultInput(Shrink):
    """Its signal reads probabilities, whatever it reads itself."""

    def __init__(self, *, signal=None, inputs="probability", classes=None, random_state=None):
        super().__init__(inputs=inputs, classes=classes, random_state=random_state)
        self.signal = signal

    def _fit(self, record):
        super()._fit(record)
        self.signal_ = cb.calibrators.LogOdds()


class SaysNotWhich(Shrink):
    def predict_confidence(self, P, *, X=None):
        if not hasattr(self, "rate_"):
            raise NotFittedError("not fitted")
        return super().predict_confidence(P, X=X)


def test_other_ways_to_break_the_same_checks():
    assert caught(calibrator_checks(SaysNotWhich()), "unfitted")
    assert caught(calibrator_checks(KeepsTheDefaultInput()), "signals_follow_inputs")
    assert caught(calibrator_checks(Learned()), "clone_and_parameters")
    assert caught(calibrator_checks(HandsOutItsMemory()), "inputs_untouched")


def test_every_calibrator_check_but_one_is_seen_failing():
    # check_one_column_is_two is about the door, which no calibrator can break.
    checks = {c.name for c in calibrator_checks(ClaimsTheArgmax())}
    assert checks - set(BROKEN_CALIBRATORS) == {"one_column_is_two"}


class Rate(cb.core.Map):
    """A small honest map: the smoothed base rate, whatever the score."""

    tags: ClassVar[MapTags] = MapTags(domain="unit", monotone=True)

    def _fit(self, score, correct, weight):
        self.rate_ = (weight @ correct + 0.5) / (weight.sum() + 1.0)

    def _predict(self, score):
        return np.full(len(score), self.rate_)


class Falling(Rate):
    def _predict(self, score):
        return 1.0 - score


class MapIgnoresWeights(Rate):
    def _fit(self, score, correct, weight):
        self.rate_ = correct.mean()


class Interpolates(Rate):
    """Divides by the gaps between scores, as slopes do."""

    def _fit(self, score, correct, weight):
        super()._fit(score, correct, weight)
        self.slope_ = float((np.diff(correct) / np.diff(np.sort(score))).mean())

    def _predict(self, score):
        return np.clip(self.slope_ * score, 0, 1)


class ForgetsTheMask(Rate):
    def fit(self, score, correct, *, sample_weight=None):
        return super().fit(np.asarray(score), correct, sample_weight=sample_weight)


class ReturnsItsInput(Rate):
    def _predict(self, score):
        return score


class DividesByTheScore(Rate):
    def _predict(self, score):
        return np.clip(0.01 / np.maximum(score, 1e-320), 0.0, 1.0)


class MapGrowsWithTheRows(Rate):
    def _fit(self, score, correct, weight):
        super()._fit(score, correct, weight)
        self.growth_ = math.exp(weight.sum())


@pytest.mark.parametrize(
    ("name", "map_"),
    [
        ("monotone", Falling()),
        ("weights_are_repetition", MapIgnoresWeights()),
        ("near_equal_scores", Interpolates()),
        ("constant_scores", Interpolates()),
        ("constant_scores", ReturnsItsInput()),
        ("one_outcome_only", ReturnsItsInput()),
        ("containers", ForgetsTheMask()),
        ("extreme_scores", DividesByTheScore()),
        ("extreme_weights", MapGrowsWithTheRows()),
    ],
)
def test_the_check_catches_a_map_broken_in_that_way(name, map_):
    assert caught(map_checks(map_), name)


def test_an_honest_map_fails_only_on_loading():
    assert failing(map_checks(Rate())) == {"saving"}
    with pytest.raises(AssertionError, match=r"Rate\(\) breaks the contract 'saving'"):
        check_map(Rate())


class Odd(Signal):
    """Leaves the domain it declares, scores a row by its neighbours, and does not look at the
    mask.
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def __init__(self, *, inputs="probability", classes=None):
        self.inputs, self.classes = inputs, classes

    def fit(self, P, y=None, **options):
        return super().fit(np.asarray(P), y, **options)

    def _score(self, record):
        return record.confidence - record.confidence.mean()


class Guesses(Odd):
    """Answers before the fit, and otherwise than after it."""

    def _fit(self, record):
        self.mean_ = record.confidence.mean()

    def _score(self, record):
        return np.abs(record.confidence - getattr(self, "mean_", 0.0))


def test_the_checks_catch_a_broken_signal():
    assert caught(signal_checks(Guesses()), "unfitted")
    assert {"output_is_valid", "rows_are_independent", "containers"} <= failing(
        signal_checks(Odd())
    )
    with pytest.raises(AssertionError, match="breaks the contract"):
        check_signal(Odd())


class LogLikelihoodRatio(Odd):
    """Trusts that logits are small and probabilities above 0."""

    tags: ClassVar[SignalTags] = SignalTags(domain="real")

    def _score(self, record):
        return (
            np.exp(record.values).max(axis=1)
            if record.kind == "logit"
            else np.log(record.values.max(axis=1) / record.values.min(axis=1))
        )


@pytest.mark.parametrize("name", ["extreme_logits", "extreme_probabilities"])
def test_the_check_catches_a_signal_that_overflows(name):
    assert caught(signal_checks(LogLikelihoodRatio()), name)


class Spherical(
    MeanMetric,
    name="spherical",
    key="spherical",
    direction="maximize",
    range=(0.0, 1.0),
    proper=True,
):
    """An honest proper score."""

    power: float = 2.0

    def _losses(self, record):
        own = record.probabilities[np.arange(len(record)), record.labels]
        return own / np.sqrt((record.probabilities**2).sum(axis=1))


class Linear(Spherical, name="linear", key="linear"):
    """Declares itself proper, and is not."""

    def _losses(self, record):
        return record.probabilities[np.arange(len(record)), record.labels]


class Unbounded(Spherical):
    def _losses(self, record):
        return 3.0 * super()._losses(record)


class Upside(Spherical, direction="minimize"):
    pass


class TrustsTheOrder(Spherical):
    def __call__(self, y_true, P, **options):
        return super().__call__(y_true, np.asarray(P), **options)


class Exponential(Spherical):
    """Trusts that logits are small, probabilities above 0 and rows few."""

    def _losses(self, record):
        grown = 0.0 * math.exp(record.weights.sum()) + 0.0 * np.exp(record.logits).sum(axis=1)
        return super()._losses(record) + grown + 0.0 * np.log(record.probabilities).sum(axis=1)


class DependsOnTheChunk(Spherical):
    def _totals(self, record):
        totals = super()._totals(record)
        return totals / totals[0]


def test_an_honest_metric_passes():
    check_metric(Spherical())
    check_state(Spherical())


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("proper", Linear()),
        ("value_is_valid", Unbounded()),
        ("perfect_is_best", Upside()),
        ("containers", TrustsTheOrder()),
        ("state_chunks", DependsOnTheChunk()),
        ("extreme_logits", Exponential()),
        ("extreme_probabilities", Exponential()),
        ("extreme_weights", Exponential()),
    ],
)
def test_the_check_catches_a_metric_broken_in_that_way(name, metric):
    assert caught(metric_checks(metric), name)


def test_the_state_laws_catch_a_state_that_depends_on_the_chunk():
    assert "state_chunks" in failing(metric_checks(DependsOnTheChunk()))


def with_exceptions(**exceptions):
    class Declared(Shrink):
        tags: ClassVar[Tags] = Tags(exceptions=exceptions)

    return Declared()


def test_an_exception_that_passes_is_an_error():
    with pytest.raises(AssertionError, match="passes 'row_order'; remove the declared exception"):
        check_calibrator(
            with_exceptions(saving="load makes calibrant's own classes only", row_order="none")
        )


def test_an_exception_of_no_check_is_an_error():
    with pytest.raises(
        InputError,
        match=r"exceptions of .* must name checks that apply to it; got \['rows_order'\]",
    ):
        check_calibrator(with_exceptions(rows_order="misspelt"))


def test_exceptions_become_strict_expected_failures():
    params = {p.id: p for p in parameters(calibrator_checks(with_exceptions(saving="why")))}
    (mark,) = params["Declared()-saving"].marks
    assert (mark.name, mark.kwargs) == ("xfail", {"reason": "why", "strict": True})
    assert not params["Declared()-row_order"].marks


def test_our_warnings_are_no_failure_and_others_are():
    class Warns(Shrink):
        def __init__(self, *, inputs="probability", classes=None, category=FitWarning):
            super().__init__(inputs=inputs, classes=classes)
            self.category = category

        def _fit(self, record):
            super()._fit(record)
            warnings.warn("look", self.category, stacklevel=2)

    assert failing(calibrator_checks(Warns())) == {"saving"}
    assert caught(calibrator_checks(Warns(category=RuntimeWarning)), "row_order")
