"""Sets broken in one way each, and the check of the contract that must catch them."""

import numpy as np
import pytest

from calibrant import ConformalSets
from calibrant.decisions import ConditionalSets
from calibrant.testing import set_checks


class Narrow(ConformalSets):
    """Leaves the least likely class of a set out."""

    def predict_set(self, P, **options):
        found = super().predict_set(P, **options)
        return found & (np.asarray(P) > 0.25)


class Crossing(ConformalSets):
    """Takes a class away as the level rises."""

    def predict_set(self, P, *, level=None, **options):
        found = super().predict_set(P, level=level, **options)
        return found if level is None or level < 0.9 else found & (np.arange(found.shape[1]) > 0)


class OfTheBatch(ConformalSets):
    """What a row gets depends on those beside it."""

    def predict_set(self, P, **options):
        found = super().predict_set(P, **options)
        return found ^ (np.asarray(P) >= np.asarray(P).max())


class NoRepetition(ConformalSets):
    """Does not look at weights."""

    def fit(self, P, y, *, sample_weight=None, **options):
        return super().fit(P, y, **options)


class TheFirstRows(ConformalSets):
    """Fits on the first rows it is given."""

    def fit(self, P, y, **options):
        return super().fit(P[:60], y[:60], **options)


class OfTheColumn(ConformalSets):
    """Puts the first column in every set."""

    def predict_set(self, P, **options):
        found = super().predict_set(P, **options)
        found[:, 0] = True
        return found


class Lost(ConformalSets):
    """Forgets its limit in a part."""

    def state(self, P, y, **options):
        return super().state(P[: len(P) // 4], y[: len(y) // 4], **options)


class LowP(ConformalSets):
    """Halves its p-values."""

    def p_values(self, P, **options):
        return 0.5 * super().p_values(P, **options)


class NarrowConditional(ConditionalSets):
    """Leaves the least likely class of a set out."""

    def predict_set(self, P, **options):
        found = super().predict_set(P, **options)
        return found & (np.asarray(P) > 0.25)


@pytest.mark.parametrize(
    ("sets", "name"),
    [
        (Narrow(), "promise"),
        (NarrowConditional(), "promise"),
        (Crossing(), "nested"),
        (OfTheBatch(), "alone"),
        (NoRepetition(), "repetition"),
        (TheFirstRows(), "row_order"),
        (OfTheColumn(), "column_order"),
        (Lost(), "state"),
        (LowP(), "p_values"),
    ],
)
def test_the_check_catches_sets_broken_in_that_way(sets, name):
    (check,) = [check for check in set_checks(sets) if check.name == name]
    with pytest.raises(AssertionError):
        check()
