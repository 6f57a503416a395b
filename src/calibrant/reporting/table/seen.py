"""What a report on classes reads of its rows, from the sums of a table and a sample of its rows."""

import numpy as np

from calibrant._kernels.bins import Cut, grouped_sums
from calibrant.predictions import Predictions
from calibrant.reporting.regions import REGIONS, class_table
from calibrant.reporting.states import CLASS_BINS, DRAWN_CLASSES, Seen
from calibrant.reporting.table.sums import TableSums

__all__ = ["seen_of"]


def seen_of(sums: TableSums, sample: Predictions, level: float) -> Seen:
    """Bins of equal weight are cut between cells, so that their sums need no second pass."""
    counts = sums.counts()
    score, (weight, right, _) = counts.confidence.values, counts.confidence.sums.T

    def summed(cut: Cut) -> np.ndarray:
        return grouped_sums(cut.part, len(cut), [score, right / weight], weight)

    table, regions, mass = class_table(counts, level), counts.confidence.cut(REGIONS), counts.confidence.cut(sums.n_bins)
    text = [str(c) for c in counts.classes]
    drawn = [text.index(place.where["class"]) for place in table[:DRAWN_CLASSES]]
    of_classes = np.array([sums.of_class(k, CLASS_BINS) for k in drawn])
    return Seen(sample, counts, table, regions, {sums.n_bins: (mass, summed(mass))}, summed(regions)[:, [0, 2, 1]], of_classes, True)
