"""Joint test of the calibration of error bars, and its power on the rows."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.bootstrap import null_generator, score_drawer
from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.normal_scores import smallest_p
from calibrant._numerics.planning import detectable_shift
from calibrant.core.groups import in_order
from calibrant.metrics.bounds import equivalence
from calibrant.reporting.miscalibration import ALPHA, MARGIN, Miscalibration, draws_of
from calibrant.reporting.regression.states import CLAIMED

__all__ = ["miscalibration_of_forecasts"]

#: Parts of the probabilities of the outcomes, and of the rows by their std.
PARTS, STD_PARTS = 10, 3
#: An error counts as so many std at most: one outlier must not be the whole evidence.
FARTHEST = 6.0
#: How the checks are called, in their order.
CHECKS = ("offset", "spread", "shape", "coverage", "std")


def miscalibration_of_forecasts(
    rows: Any, margin: float | None, *, random_state: int
) -> Miscalibration:
    r"""Test forecasts for miscalibration by their normal scores, and compute the detectable error.

    The checks are the mean score (``offset``), the mean squared score less 1 (``spread``), counts
    of the probabilities in ten parts (``shape``), the intervals of 90 % (``coverage``) and squared
    scores by the log of the std (``std``), each against scores that are standard normal, alike in
    a cluster as those seen. ``excess`` and ``detectable`` are of the coverage of those intervals.

    Parameters
    ----------
    rows : record of one output with score, std, weights and cluster
    margin : the largest error of the coverage that would not matter; None: two points
    random_state : int
    """
    rows = in_order(rows)
    times = np.maximum(np.rint(rows.weights), 1.0).astype(np.intp)
    row = np.repeat(np.arange(len(rows)), times)
    score, cluster = rows.score[row], None if rows.cluster is None else rows.cluster[row]
    by_std = np.log(rows.std[row])
    by_std = by_std - by_std.mean()
    draw, rng = score_drawer(score, cluster), null_generator(random_state)
    drawn = np.array([_checks(draw(rng), by_std) for _ in range(draws_of(len(score)))])
    own, p_value = smallest_p(_checks(score, by_std), drawn)
    held = (2.0 * ndtr(abs(score)) - 1.0 <= CLAIMED).astype(np.float64)
    claimed, ones = np.full(len(score), CLAIMED), np.ones(len(score))
    part = equal_mass_groups(by_std, STD_PARTS)
    margin = MARGIN if margin is None else margin
    worth = 1.0 if cluster is None else mean_worth(held, ones, cluster, 1.0 - ALPHA)
    off = abs(held.mean() - CLAIMED) - np.sqrt(CLAIMED * (1.0 - CLAIMED) / (len(held) * worth))
    return Miscalibration(
        p_value=p_value,
        checks=dict(zip(CHECKS, own.tolist(), strict=True)),
        equivalence=equivalence(claimed, held, ones, cluster, margin, part)[1],
        excess=max(float(off), 0.0),
        detectable={"offset": detectable_shift(np.array([CLAIMED]), np.array([len(held) * worth]))},
        margin=margin,
    )


def _checks(score: np.ndarray, by_std: np.ndarray) -> np.ndarray:
    """(5,) the checks, larger where more speaks against the forecasts."""
    probability = ndtr(score)
    near = np.clip(score, -FARTHEST, FARTHEST)
    part = np.minimum((probability * PARTS).astype(np.intp), PARTS - 1)
    count = np.bincount(part, minlength=PARTS)
    held = abs(2.0 * probability - 1.0) <= CLAIMED
    square = near * near - 1.0
    return np.abs(
        [
            near.mean(),
            square.mean(),
            np.square(count - len(score) / PARTS).sum(),
            held.mean() - CLAIMED,
            square @ by_std,
        ]
    )
