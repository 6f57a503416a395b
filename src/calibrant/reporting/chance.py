"""What a perfectly calibrated model would show on the same rows, by chance alone."""

from typing import TYPE_CHECKING

import numpy as np

from calibrant._kernels import bins
from calibrant._kernels.null_draws import null_generator

if TYPE_CHECKING:
    from calibrant.predictions import Predictions

__all__ = ["chance_error"]

DRAWS = 2e7


def chance_error(
    record: "Predictions", *, n_bins: int = 15, n_resamples: int = 500, level: float = 0.95, random_state: int = 0
) -> dict[str, float]:
    """Top-label calibration error when every prediction is right with exactly its confidence.

    Outcomes are drawn from the confidences themselves; a row of weight w is drawn w times (rounded, at least once).

    Returns
    -------
    dict
        mean and high (the ``level`` quantile) of the error by chance; observed; p_value, the share of draws at least as large.
    """
    confidence, weight = record.confidence, record.weights
    index = bins.equal_width_index(confidence, n_bins, record.resolution)
    total = weight.sum()
    sums = bins.grouped_sums(index, n_bins, [confidence, record.correct], record.weight)
    observed = float(np.abs(sums[:, 1] - sums[:, 2]).sum() / total)
    rng = null_generator(random_state)
    count = int(np.clip(DRAWS / len(record), 100, n_resamples))
    drawn = np.array([_draw(rng, index, n_bins, confidence, weight, sums[:, 1]) for _ in range(count)]) / total
    return {
        "observed": observed, "mean": float(drawn.mean()), "high": float(np.quantile(drawn, level)),
        "p_value": float((1 + (drawn >= observed).sum()) / (1 + count)),
    }  # fmt: skip


def _draw(rng, index, n_bins, confidence, weight, expected):
    if (weight == 1.0).all():
        hits = (rng.random(len(confidence)) < confidence).astype(np.float64)
    else:
        times = np.maximum(np.rint(weight), 1.0)
        hits = weight * rng.binomial(times.astype(np.int64), confidence) / times
    return np.abs(np.bincount(index, weights=hits, minlength=n_bins) - expected).sum()
