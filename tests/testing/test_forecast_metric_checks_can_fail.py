"""Each check of the regression metrics' contract catches a metric that breaks exactly what it is
about.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from calibrant.core.metric import SumState
from calibrant.core.metric_kinds import RegressionMeanMetric
from calibrant.testing import check_metric, metric_checks


class IntervalScore(
    RegressionMeanMetric,
    name="interval score",
    key="interval_score",
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    degree=1,
):
    """An honest one (Winkler): width of the 80 % interval, and ten times how far y is outside
    it.
    """

    def _losses(self, record):
        low, high = record.forecast.interval(0.8)
        return high - low + 10.0 * np.maximum(np.maximum(low - record.y, record.y - high), 0.0)


class BelowItsRange(IntervalScore):
    def _losses(self, record):
        return super()._losses(record) - 100.0


class WithoutDirection(IntervalScore, direction="sideways"):
    pass


class IgnoresWeights(IntervalScore):
    def _value(self, record):
        return float(self._losses(record).mean())


class LikesTheFirstRows(IntervalScore):
    def _value(self, record):
        return super()._value(record.take(slice(0, 40)))


class WritesToItsInput(IntervalScore):
    def _losses(self, record):
        loss = super()._losses(record)
        record.y[:1] += 1.0
        return loss


class MixesOutputs(IntervalScore):
    def __call__(self, y_true, mean, std=None, **options):
        value = super().__call__(y_true, mean, std, **options)
        return value if isinstance(value, float) else value - value.mean()


class NeedsThreeRows(IntervalScore):
    def _finalise(self, totals):
        return np.where(totals[..., 0] > 2.0, super()._finalise(totals), np.nan)


class NeedsDistinctStd(IntervalScore):
    def _value(self, record):
        return (
            super()._value(record) if np.ptp(record.std) > 0.0 or len(record) == 1 else float("nan")
        )


class UpsideDown(IntervalScore):
    def _limits(self, totals, level):
        return super()._limits(totals, level)[::-1]


class TakesAnything(IntervalScore):
    def with_options(self, **options):
        return self


class DependsOnTheChunk(IntervalScore):
    def _totals(self, record):
        totals = super()._totals(record)
        return totals / totals[0]


class CountsTheRowsTwice(IntervalScore):
    """Its sums of weights are of rows."""

    def _totals(self, record):
        return super()._totals(record) + np.array([1.0, 0.0, 0.0, 0.0])


class GivesAStateAllTheSame(IntervalScore, mergeable_=False):
    def state(self, *data, **options):
        return SumState(self)


class ZeroForNothing(IntervalScore):
    def state(self, *data, **options):
        state = super().state(*data, **options)
        return SumState(self, np.array([1.0, 0.0, 0.0])) if state.totals is None else state


class Grows(SumState):
    """Adds to itself, and adds numbers."""

    def __add__(self, other):
        if isinstance(other, float):
            return self
        object.__setattr__(self, "totals", (super().__add__(other)).totals)
        return self


class GrowsAsItIsAdded(IntervalScore):
    def state(self, *data, **options):
        return Grows(self, super().state(*data, **options).totals)


class KnowsItsUnit(IntervalScore):
    def _losses(self, record):
        return np.square(super()._losses(record))


class ForgetsTheMask(IntervalScore):
    def __call__(self, y_true, mean, std=None, **options):
        return super().__call__(np.asarray(y_true), mean, std, **options)


class Width(IntervalScore):
    """Declares itself proper, and is best for no width at all."""

    def _losses(self, record):
        low, high = record.forecast.interval(0.8)
        return high - low


class RaisesToTheNinth(IntervalScore):
    def _losses(self, record):
        return super()._losses(record) + 0.0 * record.standardised**9


class GrowsWithTheRows(IntervalScore):
    def _value(self, record):
        return super()._value(record) + 0.0 * math.exp(record.weights.sum())


class UpsideDownInClusters(IntervalScore):
    def interval_of(self, record, **options):
        found = super().interval_of(record, **options)
        return found if record.cluster is None else replace(found, low=found.high, high=found.low)


BROKEN = {
    "value_is_valid": BelowItsRange,
    "declared_facts": WithoutDirection,
    "weights_are_repetition": IgnoresWeights,
    "row_order": LikesTheFirstRows,
    "inputs_untouched": WritesToItsInput,
    "outputs_are_independent": MixesOutputs,
    "one_row": NeedsThreeRows,
    "constant_std": NeedsDistinctStd,
    "interval": UpsideDown,
    "unknown_option": TakesAnything,
    "state_chunks": DependsOnTheChunk,
    "state_identity": ZeroForNothing,
    "state_order": GrowsAsItIsAdded,
    "state_mixed_metrics": GrowsAsItIsAdded,
    "state_weights": CountsTheRowsTwice,
    "state_is_refused": GivesAStateAllTheSame,
    "units": KnowsItsUnit,
    "proper": Width,
    "containers": ForgetsTheMask,
    "extreme_forecasts": RaisesToTheNinth,
    "extreme_weights": GrowsWithTheRows,
    "interval_of_clusters": UpsideDownInClusters,
}


def test_the_honest_one_passes():
    check_metric(IntervalScore())


@pytest.mark.parametrize("name", BROKEN)
def test_each_break_is_caught(name):
    found = {check.name: check for check in metric_checks(BROKEN[name]())}
    with pytest.raises(AssertionError):
        found[name]()


def test_every_check_has_its_break():
    names = {
        check.name
        for metric in (IntervalScore(), GivesAStateAllTheSame())
        for check in metric_checks(metric)
    }
    assert names == set(BROKEN)
