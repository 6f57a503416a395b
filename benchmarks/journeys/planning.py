"""A study that is planned, carried out with so many rows, and measured."""

from collections.abc import Iterator

import numpy as np
from benchmarks.journeys.outcomes import Outcome
from benchmarks.journeys.worlds import World

import calibrant as cb

__all__ = ["planned_study"]

#: Rows of the pilot whose risks the plan is made of.
PILOT = 2_000
#: Widths of 95 % intervals that the person asks for, and how far beyond them a sample may go.
WIDTHS = {"observed_expected_ratio": 0.25, "calibration_slope": 0.3, "event_auroc": 0.1}
BEYOND = 1.15


def planned_study(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Rows are planned from a pilot's risks; the study then has that many, and risks that are
    right.
    """
    pilot = world.draw(PILOT, seed + 77)
    # Where the law drifts no risk is right of all batches.
    if (
        world.kind != "event"
        or pilot.batches is not None
        or pilot.clusters is not None
        or pilot.weights is not None
        or not hasattr(cb.metrics, "validation_size")
    ):
        return
    stated = dict(zip(("oe_width", "slope_width", "auroc_width"), WIDTHS.values(), strict=True))
    size = cb.metrics.validation_size(risks=np.clip(pilot.honest, 1e-6, 1.0 - 1e-6), **stated)
    study = world.draw(size.rows, seed)
    for key, width in WIDTHS.items():
        found = getattr(cb.metrics, key).interval(study.outcome, study.honest, n_resamples=200)
        detail = f"{size.rows:,} rows: {found}, {width} wide asked for"
        wide = found.high - found.low > BEYOND * width
        yield Outcome(f"{key}: as narrow as planned", "wrong advice", wide, 0.05, detail)
        if key != "event_auroc":
            held = found.low <= 1.0 <= found.high
            yield Outcome(f"{key}: holds the truth", "wrong advice", not held, 0.05, detail)
