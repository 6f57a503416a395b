"""Scores and outcomes of one class of a record, as maps are fitted to them."""

import numpy as np

from calibrant._kernels.score_cells import in_cells
from calibrant.predictions import Predictions

__all__ = ["event_rows"]


def event_rows(record: Predictions, k: int, smooth: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(scores, outcomes, weights or None) of class k.

    In a choice that is still open, which fits many maps to them: sorted by score, and merged in cells for smooth maps.
    """
    if record.memory is None or record.memory.get("exact"):
        return record.probabilities[:, k], (record.labels == k).astype(np.float64), record.weight
    if ("rows", k) not in record.derived:
        order = record.probabilities[:, k].argsort()
        hit = (record.labels[order] == k).astype(np.float64)
        record.derived["rows", k] = record.probabilities[order, k], hit, record.weights[order]
    if smooth and ("cells", k) not in record.derived:
        record.derived["cells", k] = in_cells(*record.derived["rows", k])
    return record.derived["cells" if smooth else "rows", k]
