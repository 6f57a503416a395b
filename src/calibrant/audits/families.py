"""Audit of all families of groups: those named, and those found on either half."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.intervals import normal_quantile
from calibrant.audits.found import found_groups
from calibrant.audits.levels import Column, Family, everyone, family
from calibrant.audits.nulls import Tested, tested_groups
from calibrant.audits.result import Audit, GroupGap, MulticalibrationError
from calibrant.audits.rows import gaps, sorted_gaps
from calibrant.audits.sample import Sample, ScoreSample
from calibrant.core.estimators import on_one_blas_thread
from calibrant.errors import InputError

__all__ = ["audited"]

#: Critical value for a single row, or cluster, whose spread is unknown: wider than any.
LEAST_FREEDOM = 0.5


@on_one_blas_thread
def audited(
    sample: Sample,
    columns: Sequence[Column],
    features: Any,
    target: str,
    level: float,
    null: Any,
    found: Any,
    depth: int,
    tolerance: float,
    control: Any,
    n_draws: int,
    random_state: int,
) -> Audit:
    """Test the named and the found groups, each family at its share of the error rate, and sort the
    results.
    """
    given = family(columns, depth)
    both = found is not None and len(given) > 0
    looked: list[tuple[Sample, Family, int]] = (
        [(sample, given, 2 if both else 1)] if len(given) else []
    )
    if found is not None:
        halves = found_groups(found, features[0], features[1], sample, random_state)
        looked += [(sample.take(units), one, 4 if both else 2) for units, one in halves if len(one)]
    if not looked:
        raise InputError(
            "groups must hold at least two levels in some column; got one group of all rows; pass"
            " other columns."
        )
    rows, multicalibration = list[GroupGap](), None
    for one, family_, share in looked:
        tested = tested_groups(one, family_, null, n_draws, random_state, control)
        alpha = (1.0 - level) / share
        critical = _critical(tested, alpha, null, one)
        rows += gaps(
            one,
            family_,
            tested,
            np.minimum(share * tested.p_value, 1.0),
            critical,
            1.0 - level,
            tolerance,
            one is not sample,
        )
        if one is sample and len(tested.maxima):
            multicalibration = _multicalibration(tested)
    whole = everyone(len(sample))
    tested = tested_groups(sample, whole, null, 1, random_state, "any")
    nothing = np.full(tested.p_value.shape, np.nan)
    overall = gaps(
        sample,
        whole,
        tested,
        nothing,
        np.full(nothing.shape, normal_quantile(level)),
        1.0 - level,
        tolerance,
        False,
    )
    return Audit(
        sorted_gaps(rows), overall, multicalibration, null, level, tolerance, control, target
    )


def _critical(tested: Tested, alpha: float, null: str, sample: Sample) -> np.ndarray:
    """Return the critical value of the interval of each group and question, (G, q), so that those
    of the tested groups hold together.

    For a tested group it is the upper alpha quantile of the largest statistic, as for the p-values.
    The other groups are not part of that maximum: their values are for independent tests, by
    Student's t if their few rows, or clusters, determine the variance.
    """
    each = alpha / max(int((tested.totals.n > 0.0).sum()), 1)
    # The standard deviations of the strong null are known, and are a lower limit.
    known = null == "strong" and not isinstance(sample, ScoreSample)
    freedom = (
        np.full(tested.tested.shape, np.inf) if known else np.maximum(tested.freedom, LEAST_FREEDOM)
    )
    critical: np.ndarray = cast(Any, special).stdtrit(freedom, 1.0 - 0.5 * each)
    if len(tested.maxima) == 0:
        return critical
    place = int(np.ceil((1.0 - alpha) * (len(tested.maxima) + 1.0)))
    return np.where(
        tested.tested, np.sort(tested.maxima)[min(place, len(tested.maxima)) - 1], critical
    )


def _multicalibration(tested: Tested) -> MulticalibrationError:
    value, draws = tested.range_
    p = (1.0 + float(np.sum(draws >= value * (1.0 - 1e-10)))) / (1.0 + len(draws))
    return MulticalibrationError(value, float(draws.mean()), p)
