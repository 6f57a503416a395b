"""Two criteria of calibrated error bars: coverage on average, and errors as large as each std."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from calibrant._numerics.bootstrap import null_generator
from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.intervals import normal_quantile
from calibrant.core.groups import in_order
from calibrant.core.guarantee import Known
from calibrant.core.metric import Interval
from calibrant.core.text_table import percent
from calibrant.reporting.chance import Chance
from calibrant.reporting.miscalibration import MARGIN
from calibrant.reporting.regression.curves import drawn_outcomes

__all__ = ["Criteria", "criteria"]

#: ENCE that would not matter: such a std changes the coverage of 90 % intervals by below 2 points.
STD_MARGIN = 0.05
#: Rank correlation of calibrated std with |error| below which std that hardly differ say nothing.
TELLING = 0.1
#: Draws for the rank correlation under perfect calibration, and rows times draws, at most.
DRAWS, DRAWN_ROWS = 20, 20_000


@dataclass(frozen=True)
class Criteria(Known):
    """Results of one output under both criteria, before or after calibration.

    Attributes
    ----------
    interval_error, ence : Chance
    passes : whether each criterion, "interval" and "std", is met within chance or within a margin
    flawed : whether intervals pass although the std hardly tell large errors from small
    sentence : both in words
    correlation : Spearman's rank correlation of std with absolute error, or None if all std are
        equal
    expected : its value under perfect calibration
    smallest, largest : coverage in the rows of the smallest and of the largest std
    """

    interval_error: Chance
    ence: Chance
    passes: dict[str, bool]
    flawed: bool
    sentence: str
    correlation: Interval | None = None
    expected: float | None = None
    smallest: Any = None
    largest: Any = None


def criteria(
    rows: Any,
    chance: dict[str, Chance],
    gaps: list[Any],
    margin: float | None,
    *,
    level: float,
    random_state: int,
) -> Criteria:
    """Judge one output by both criteria.

    Parameters
    ----------
    rows : record of one output
    chance : from ``chance_errors``
    gaps : coverage by equal parts of the rows, from the smallest std to the largest
    margin : interval calibration error that would not matter; None: two points
    level : level of the interval of the rank correlation
    random_state : int
    """
    interval, ence = chance["interval_calibration_error"], chance["ence"]
    passes = {
        "interval": not interval.beyond or interval.observed <= (margin or MARGIN),
        "std": not ence.beyond or ence.observed <= STD_MARGIN,
    }
    if len(gaps) < 2:
        words = "All std are equal or nearly so, so they cannot tell large errors from small."
        return Criteria(interval, ence, passes, False, words)
    own, expected = _correlation(rows, level, random_state)
    vague = (
        not passes["std"]
        and expected >= TELLING
        and own.value < 0.5 * expected
        and own.high < expected
    )
    flawed = vague and passes["interval"]
    lead = (
        "The intervals pass on average, but the std hardly tell large errors from small"
        if flawed
        else "The std hardly tell large errors from small"
        if vague
        else "Rows with larger std have larger errors"
        if own.low > 0.0
        else "These rows do not show whether larger std mean larger errors"
    )
    sentence = (
        f"{lead}: interval calibration error {interval.observed:.3f} (up to {interval.high:.3f} by"
        f" chance), ENCE {ence.observed:.3f} (up to {ence.high:.3f} by chance), rank correlation of"
        f" std with |error| {own.value:z.2f} ({own.low:z.2f} to {own.high:z.2f}; calibrated std"
        f" show {expected:.2f}). The 90 % intervals hold {percent(gaps[0].coverage)} of the"
        " outcomes in"
        f" the {gaps[0].rows:,.0f} rows with the smallest std, and {percent(gaps[-1].coverage)} in"
        f" the {gaps[-1].rows:,.0f} with the largest."
    )
    return Criteria(interval, ence, passes, flawed, sentence, own, expected, gaps[0], gaps[-1])


def _correlation(rows: Any, level: float, random_state: int) -> tuple[Interval, float]:
    """Compute the rank correlation with the interval of Bonett and Wright (2000), and its mean over
    outcomes drawn from the forecasts; a row of weight w counts w times (rounded, at least once).
    """
    rows, rng = in_order(rows), null_generator(random_state)
    times = np.maximum(np.rint(rows.weights), 1.0)
    drawn = [
        drawn_outcomes(rows, rng.standard_normal(len(rows))) - rows.mean
        for _ in range(min(max(DRAWN_ROWS // len(rows), 1), DRAWS))
    ]
    sizes = np.repeat(np.abs([rows.std, rows.error, *drawn]), times.astype(np.intp), axis=1)
    ranks = rankdata(sizes, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    products = ranks @ ranks[0] / np.maximum(np.linalg.norm(ranks, axis=1), 1e-300)
    value, *expected = (products[1:] / np.linalg.norm(ranks[0])).tolist()
    n = float(len(sizes[0]))
    if rows.cluster is not None:
        cluster = np.repeat(rows.cluster, times.astype(np.intp), axis=0)
        n *= mean_worth(ranks[0] * ranks[1], np.ones(len(cluster)), cluster, level)
    half = normal_quantile(level) * np.sqrt((1.0 + 0.5 * value**2) / max(n - 3.0, 1.0))
    at = np.arctanh(np.clip(value, -1.0 + 1e-12, 1.0 - 1e-12))
    low, high = np.tanh([at - half, at + half]).tolist()
    return Interval(value, low, high, level, "analytic", n), float(np.mean(expected))
