"""Calibration error of a perfectly calibrated model on the same rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bootstrap import hit_drawer, null_generator
from calibrant.core.guarantee import Known

if TYPE_CHECKING:
    from calibrant.reporting.states import Seen

__all__ = ["Chance", "chance_error"]

DRAWS = 2e7


@dataclass(frozen=True)
class Chance(Known):
    """Observed error, and its mean and high quantile under perfect calibration.

    It has the share of draws at least as large as the observed error, or whether that is beyond the
    high quantile; for an event, it also has those of the ICI.
    """

    observed: float
    mean: float
    high: float
    p_value: float | None = None
    beyond: bool | None = None
    ici: "Chance | None" = None


def chance_error(
    seen: "Seen",
    *,
    n_bins: int = 15,
    n_resamples: int = 500,
    level: float = 0.95,
    random_state: int = 0,
) -> Chance:
    """Top-label calibration error when every prediction is right with exactly its confidence.

    Outcomes are drawn from the confidences of the rows themselves; a row of weight w is drawn w
    times (rounded, at least once), and those of a cluster fall together as often as they were seen
    to. "High" is the ``level`` quantile.
    """
    record, sums, total = seen.drawn, seen.counts.bins[n_bins], seen.counts.total[0]
    confidence, weight = record.confidence, record.weights
    index = bins.equal_width_index(confidence, n_bins, record.resolution)
    observed = float(np.abs(sums[:, 1] - sums[:, 2]).sum() / total)
    rng = null_generator(random_state)
    count = int(np.clip(DRAWS / len(record), 100, n_resamples))
    draw = hit_drawer(confidence, record.correct, weight, record.cluster)
    drawn = (
        np.array(
            [
                np.abs(np.bincount(index, weight * draw(rng), n_bins) - sums[:, 1]).sum()
                for _ in range(count)
            ]
        )
        / total
    )
    p_value = float((1 + (drawn >= observed).sum()) / (1 + count))
    return Chance(observed, float(drawn.mean()), float(np.quantile(drawn, level)), p_value)
