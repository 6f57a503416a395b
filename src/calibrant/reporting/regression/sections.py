"""The part of a summary about one output, from its rows before and after calibration."""

import numpy as np

from calibrant.reporting.drift import drift
from calibrant.reporting.regression.cautions import cautions
from calibrant.reporting.regression.chance import chance_errors
from calibrant.reporting.regression.curves import curves
from calibrant.reporting.regression.quality import quality
from calibrant.reporting.regression.regions import CLAIMED, group_table, region_table
from calibrant.reporting.regression.verdict import verdict

__all__ = ["output_sections"]


def output_sections(found, scores, name, method, groups, times, *, n_bins, level, random_state) -> dict:
    """Everything about one output; ``found`` is a Compared of one-output records, ``scores`` from ``score_table``, ``method`` a name."""
    before, after = found.before, found.after
    shown = after if after is not None and found.evaluation != "in-sample" else before
    chance, state = chance_errors(before, random_state=random_state), quality(before, found.calibration)
    options = {"n_bins": n_bins, "level": level, "random_state": random_state}
    return {
        "name": name, "quality": state, "cautions": cautions(state), "chance": chance,
        "verdict": verdict(scores, chance, state["scaled_error"], method, found.evaluation),
        "curves": {"before": curves(before, **options), "after": None if after is None else curves(after, **options)},
        "of": "before" if shown is before else "after", "std_regions": region_table(shown, before.std, level=level),
        "value_regions": region_table(shown, before.mean, level=level),
        "groups": None if groups is None else group_table(shown, groups, level=level),
        "drift": drift(times, _held(before), None if after is None else _held(after), "before" if shown is before else "after",
                       before.weight, groups),
    }  # fmt: skip


def _held(record):
    """The coverage claimed, and whether the intervals hold the outcome."""
    low, high = record.forecast.interval(CLAIMED)
    return np.full(len(record), CLAIMED), ((low <= record.y) & (record.y <= high)).astype(np.float64)
