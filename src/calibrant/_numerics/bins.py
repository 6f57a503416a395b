"""Scores in bins: where a score belongs, the sums of each bin, and the error that the bins show.

Equal-width bins on [0, 1] are [k/B, (k+1)/B), the last one closed. A score within ``resolution``
below an edge counts as on it, so that 0.3, 0.6 and 0.7 land in bins 3, 6 and 7 of ten in float32
and float64 alike. Equal-mass bins never split ties, so there may be fewer of them than requested.

The limits of a binned calibration error come from inverting a test, so that noise in the bins does
not count as miscalibration: the gaps observed are scaled by t >= 0, and for each t the error is
simulated as it would be observed with the noise of this sample added. The interval holds the t for
which the observed error is plausible; its centre is the t for which it is the median.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import lcm
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import null_generator
from calibrant._numerics.intervals import normal_quantile, unseen_share
from calibrant._numerics.logistic import ZERO_FLOOR, log_odds
from calibrant._numerics.newton import bisected

__all__ = [
    "LOGIT_CELLS",
    "REACH",
    "ROUNDING",
    "Cut",
    "Distinct",
    "Ranks",
    "binned_errors",
    "cell_count",
    "cell_index",
    "chi_square_draws",
    "distinct_scores",
    "enough_bins",
    "equal_mass_groups",
    "equal_mass_parts",
    "equal_width_edges",
    "equal_width_index",
    "equal_width_starts",
    "flat_knots",
    "gap_limits",
    "group_ends",
    "grouped_sums",
    "in_cells",
    "inverted_limits",
    "just_above",
    "just_below",
    "lattice",
    "level_counts",
    "level_gaps",
    "near_ties",
    "normalised_gap",
    "redrawn_counts",
    "settled",
    "shrunken_gaps",
    "spread_bins",
    "upper_edges",
]


#: Another order of operations or another exponential changes scores by some units of their last
#: place: at most half of this.
ROUNDING = 2.0**-48
#: Small probabilities are precise; they are equal only within this relative distance.
NEAREST = 2.0**-26


def _width(score: Any) -> Any:
    """The largest rounding error of a computed score, (n,) -> (n,)."""
    size = np.abs(score)
    return np.minimum(ROUNDING * np.maximum(size, 1.0), NEAREST * size)


def just_below(knots: np.ndarray) -> np.ndarray:
    """Edges below the knots, (m,) -> (m,): a score that differs from a knot by rounding stays
    above.
    """
    return knots - _width(knots)


def just_above(knots: np.ndarray) -> np.ndarray:
    """Edges above the knots, (m,) -> (m,): a score that differs from a knot by rounding stays
    below.
    """
    return knots + _width(knots)


def flat_knots(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The ends of flat blocks, (2 m,), from the first and the last score of each, (m,): a score
    with a rounding error stays on its block.
    """
    return np.column_stack([just_below(first), just_above(last)]).ravel()


def near_ties(unique: np.ndarray) -> np.ndarray:
    """Positions of the first of each run of ascending scores (m,) that differ by rounding.

    Runs are twice as far apart as edges are from their knots, so that no edge comes near a score of
    another run.
    """
    with np.errstate(invalid="ignore"):
        step = np.diff(unique)
        if len(step) and step.min() > 2.0 * ROUNDING * max(-unique[0], unique[-1], 1.0):
            return np.arange(len(unique))
        return np.flatnonzero(np.append(True, step > 2.0 * _width(unique[1:])))


#: The distinct values of scores, ascending (m,), and the index of each score in them (n,), as from
#: ``np.unique``: sorted once for several functions.
Ranks = tuple[np.ndarray, np.ndarray]


def distinct_scores(score: np.ndarray, ranks: Ranks | None = None) -> Ranks:
    """(distinct scores ascending (m,), index of each score in them (n,)); a run has its middle."""
    unique, inverse = np.unique(score, return_inverse=True) if ranks is None else ranks
    first = near_ties(unique)
    if len(first) == len(unique):
        return unique, inverse
    last = np.append(first[1:], len(unique)) - 1
    run = np.repeat(np.arange(len(first)), last - first + 1)
    return unique[first] + 0.5 * (unique[last] - unique[first]), run[inverse]


def settled(score: np.ndarray) -> np.ndarray:
    """The scores (n,), with differences from 0 by rounding set to 0."""
    return np.where(score * score >= ROUNDING**2, score, 0.0)


def equal_width_edges(n_bins: int) -> np.ndarray:
    """Edges k / B of the equal-width bins, (B + 1,)."""
    return np.arange(n_bins + 1) / n_bins


def equal_width_index(score: np.ndarray, n_bins: int, resolution: float = 2.0**-52) -> np.ndarray:
    """Bin number of each score in [0, 1], (n,) -> (n,) intp in 0..B-1; a score of exactly 1 is
    in the last bin.
    """
    index = ((np.asarray(score, dtype=np.float64) + resolution) * n_bins).astype(np.intp)
    return np.minimum(index, n_bins - 1, out=index)


def equal_width_starts(n_bins: int, resolution: float = 2.0**-52) -> np.ndarray:
    """The least float score of each bin of :func:`equal_width_index` but the first, (B - 1,)."""
    number = np.arange(1, n_bins)
    edges = number / n_bins - resolution
    for _ in range(64):
        low = (np.nextafter(edges, -1.0) + resolution) * n_bins >= number
        high = (edges + resolution) * n_bins < number
        if not (low | high).any():
            return edges
        edges = np.where(
            high, np.nextafter(edges, 2.0), np.where(low, np.nextafter(edges, -1.0), edges)
        )
    return edges


def equal_mass_groups(
    score: np.ndarray, n_bins: int, weight: np.ndarray | None = None, ranks: Ranks | None = None
) -> np.ndarray:
    """Group number of each score when the weight is cut into at most ``n_bins`` equal parts, ties
    kept together.

    A run of tied scores goes to the part that holds the middle of its weight; the numbers of the
    parts used are then made consecutive. Returns (n,) intp in 0..G-1, ascending with the score, G
    <= n_bins.
    """
    unique, inverse = distinct_scores(score, ranks)
    mass = np.bincount(inverse, weights=weight, minlength=len(unique)).astype(np.float64)
    return equal_mass_parts(mass, n_bins)[inverse]


def equal_mass_parts(mass: np.ndarray, n_bins: int) -> np.ndarray:
    """``equal_mass_groups`` of the distinct scores themselves, ascending, by the weight of each,
    (m,).
    """
    middle = np.cumsum(mass) - 0.5 * mass
    part = np.minimum((middle / mass.sum() * n_bins).astype(np.intp), n_bins - 1)
    return np.cumsum(np.diff(part, prepend=part[:1]) > 0)


def group_ends(
    score: np.ndarray, group: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """(lowest, highest) score of each group 0..G-1, (G,) each; inf and -inf where one has none."""
    low, high = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    np.minimum.at(low, group, score)
    np.maximum.at(high, group, score)
    return low, high


def grouped_sums(
    index: np.ndarray,
    n_groups: int,
    columns: Sequence[np.ndarray],
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Weighted sums per group: (G, 1 + len(columns)), the first column the total weight of the
    group.
    """
    out = np.empty((n_groups, 1 + len(columns)))
    out[:, 0] = np.bincount(index, weights=weight, minlength=n_groups)
    for j, column in enumerate(columns, start=1):
        values = column if weight is None else column * weight
        out[:, j] = np.bincount(index, weights=values, minlength=n_groups)
    return out


@dataclass(frozen=True)
class Cut:
    """Bins of equal weight, which keep equal values together: the bin of each distinct value,
    (m,), and the ends of the bins.
    """

    values: np.ndarray
    part: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __len__(self) -> int:
        return len(self.lower)

    def index(self, values: np.ndarray) -> np.ndarray:
        """The bin of each row, (n,)."""
        return np.searchsorted(self.upper, values)


@dataclass(frozen=True)
class Distinct:
    """Rows by distinct value, ascending, (m,), with (m, 1 + c) sums of the weight and of c
    columns.
    """

    values: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        columns: Sequence[np.ndarray] = (),
        weight: np.ndarray | None = None,
        ranks: Ranks | None = None,
    ) -> "Distinct":
        """Group rows by distinct value; all arguments have one entry a row, (n,)."""
        unique, inverse = np.unique(values, return_inverse=True) if ranks is None else ranks
        return cls(unique, grouped_sums(inverse, len(unique), columns, weight))

    def __add__(self, other: "Distinct") -> "Distinct":
        unique, inverse = np.unique(
            np.concatenate([self.values, other.values]), return_inverse=True
        )
        sums = np.zeros((len(unique), self.sums.shape[1]))
        np.add.at(sums, inverse, np.concatenate([self.sums, other.sums]))
        return Distinct(unique, sums)

    @cached_property
    def _run(self) -> np.ndarray:
        return distinct_scores(self.values, (self.values, np.arange(len(self.values))))[1]

    def cut(self, n_bins: int) -> Cut:
        """At most ``n_bins`` bins of equal weight; values that differ by rounding stay together."""
        part = equal_mass_parts(np.bincount(self._run, weights=self.sums[:, 0]), n_bins)[self._run]
        first = np.flatnonzero(np.diff(part, prepend=-1))
        return Cut(
            self.values, part, self.values[first], self.values[np.append(first[1:], len(part)) - 1]
        )


def spread_bins(
    std: np.ndarray, squared_error: np.ndarray, weight: np.ndarray, n_bins: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(group (n,), mass (G,), mean variance (G,), mean squared error (G,)); tied std are never
    split, so G <= n_bins.
    """
    group = equal_mass_groups(std, n_bins, weight)
    mass, variance, error = grouped_sums(
        group, group.max() + 1, [std * std, squared_error], weight
    ).T
    return group, mass, variance / mass, error / mass


def normalised_gap(variance: np.ndarray | float, error: np.ndarray) -> np.ndarray:
    """ENCE: the mean over the last axis of |root variance - root error| / root variance."""
    return np.mean(np.abs(1.0 - np.sqrt(error / variance)), axis=-1)


def enough_bins(n_bins: int, total: float) -> int:
    """The requested number of bins, reduced to thirty rows each on average, and at least one."""
    return max(1, min(n_bins, int(total // 30)))


def chi_square_draws(
    group: np.ndarray, part: np.ndarray, weight: np.ndarray, n_groups: int, n_draws: int, rng: Any
) -> np.ndarray:
    """Draws (n_draws, G) of sum(part * chi2) by group, where a row of weight w has a chi-square of
    w degrees of freedom.

    ``part`` is the row's share of its group. Groups of more than 2,000 rows use the gamma
    distribution of the same mean and variance.
    """
    mean = np.bincount(group, weights=part * weight, minlength=n_groups)
    variance = np.bincount(group, weights=2.0 * part * part * weight, minlength=n_groups)
    count = np.bincount(group, minlength=n_groups)
    scale = variance / mean
    out = rng.gamma(mean / scale, scale, (n_draws, n_groups))
    for g in np.flatnonzero(count <= 2_000):
        rows = np.flatnonzero(group == g)
        rows = rows[np.lexsort((weight[rows], part[rows]))]
        draws = (
            rng.chisquare(weight[rows], (n_draws, int(count[g])))
            if (weight[rows] != 1.0).any()
            else None
        )
        draws = np.square(rng.standard_normal((n_draws, int(count[g])))) if draws is None else draws
        out[:, g] = draws @ part[rows]
    return out


#: Log-odds beyond which all scores are in one bin.
FARTHEST = 30.0
STEPS = 60


@cache
def upper_edges(n_bins: int) -> np.ndarray:
    """Ascending upper edges of at most ``n_bins`` bins, the first 0 (for exact zeros), the last 1.

    The bins are of equal width in the mean of s and of its log-odds: no wider than 2 / n_bins
    anywhere, and no wider than 120 / n_bins in log-odds.
    """
    target = np.arange(1, n_bins - 1) / (n_bins - 1)

    def below(odds: np.ndarray) -> np.ndarray:
        return 0.5 / (1.0 + np.exp(-odds)) + 0.25 * (odds / FARTHEST + 1.0) < target

    far = np.full(len(target), FARTHEST)
    high = bisected(below, -far, far, STEPS)[1]
    # Near 1 some are one number.
    edges = np.unique(np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-high)), [1.0]]))
    edges.setflags(write=False)
    return edges


def level_counts(
    score: np.ndarray,
    reach: np.ndarray,
    index: np.ndarray | int,
    n_groups: int,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Weight of the rows of each group in (reach[l - 1], reach[l]], (n_groups, L + 1): below the
    first of L reaches to above the last.
    """
    first = np.searchsorted(reach, score, side="left") + index * (len(reach) + 1)
    counts = np.bincount(first, weights=weight, minlength=n_groups * (len(reach) + 1))
    return counts.reshape(n_groups, len(reach) + 1).astype(np.float64)


def level_gaps(counts: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(weight (..., G), summed gap between rows at most at each level and rows claimed (..., L,
    G)).
    """
    weight = counts.sum(axis=-1)
    below = np.cumsum(counts, axis=-1)[..., :-1]
    return weight, np.swapaxes(below - weight[..., None] * levels, -1, -2)


def redrawn_counts(
    counts: np.ndarray, levels: np.ndarray, n_resamples: int, random_state: int
) -> np.ndarray:
    """Bootstrap resamples of the rows, seen through their counts: (n_resamples, G, L + 1).

    Each group counts two more rows that follow the forecast: a share of exactly 0 or 1 would hide
    its noise.
    """
    weight = counts.sum(axis=-1, keepdims=True)
    claimed = np.diff(levels, prepend=0.0, append=1.0)
    share = (counts + 2.0 * claimed) / (weight + 2.0) * weight / weight.sum()
    drawn = np.random.default_rng(random_state).multinomial(
        max(round(float(weight.sum())), 1), share.ravel(), n_resamples
    )
    return drawn.reshape(n_resamples, *counts.shape).astype(np.float64)


#: Cells in log-odds from -REACH to REACH, and one each for exact 0 and 1; what is beyond is in the
#: outermost.
LOGIT_CELLS, REACH = 4096, 18.0
#: Each of 5, 8, 10, 15, 20, 30 and 50 bins of equal width is made of whole parts of it.
LATTICE = 600


def lattice(n_bins: int) -> int:
    """Bins of equal width of which ``n_bins``, too, are made."""
    return lcm(LATTICE, n_bins)


def cell_count(n_bins: int) -> int:
    """Return the number of cells."""
    return LOGIT_CELLS + 2 + lattice(n_bins)


def cell_index(score: np.ndarray, n_bins: int, resolution: float) -> np.ndarray:
    """The cell of each score in [0, 1], (n,) intp, ascending with the score."""
    place = ((log_odds(score) + REACH) * (LOGIT_CELLS / (2.0 * REACH))).astype(np.intp)
    np.clip(place, 0, LOGIT_CELLS - 1, out=place)
    place += 1
    place[score <= 0.0], place[score >= 1.0] = 0, LOGIT_CELLS + 1
    place += equal_width_index(score, lattice(n_bins), resolution)
    return place


#: Width of a cell: this times 2 in log-odds at a score of 1/2, and up to ten times wider far out.
WIDTH = 0.01
#: Fewer rows than this stay as they are.
FEWEST_ROWS = 1_000


def in_cells(
    score: np.ndarray, correct: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean score, outcome, summed weight) of the cells of each outcome; exact 0 and 1, and the
    scores nearest to them, stay separate.

    A fit to the cells differs from that to the rows by the square of the width: about 1e-9 in log
    loss.
    """
    if len(score) < FEWEST_ROWS:
        return score, correct.astype(np.float64), weight
    place = np.floor(np.arcsinh(0.5 * log_odds(score)) / WIDTH).astype(np.intp)
    place += 4 - place.min()
    inner = (score > 1.5 * ZERO_FLOOR) & (score < 1.0 - 1.5 * ZERO_FLOOR)
    least, most = score.min(where=inner, initial=1.0), score.max(where=inner, initial=0.0)
    for k, mask in enumerate((score < least, score == least, score == most, score > most)):
        place[mask] = k
    place = 2 * place + correct.astype(np.intp)
    mass = np.bincount(place, weight)
    cell = np.flatnonzero(mass)
    return (
        np.bincount(place, weight * score)[cell] / mass[cell],
        (cell % 2).astype(np.float64),
        mass[cell],
    )


# -- The error of the bins, and its limits ---------------------------------------------------------

#: Draws of outcomes from calibrated scores.
NULL_DRAWS = 400


def binned_errors(weight: Any, gap: Any, norm: Any) -> Any:
    """Errors over the last axis from the weight and the summed gap of each bin; norm is a power,
    "max", or a function.
    """
    if callable(norm):
        return norm(weight, gap)
    gap = np.abs(gap)
    total = weight.sum(axis=-1)
    total = np.where(total > 0, total, np.nan)
    if norm == 1:
        return gap.sum(axis=-1) / total
    mean_gap = np.divide(gap, weight, out=np.zeros_like(gap), where=weight > 0)
    if norm == 2:
        return np.sqrt((weight * mean_gap**2).sum(axis=-1) / total)
    if norm == "max":
        return mean_gap.max(axis=-1)
    # In units of the largest gap, so that high powers do not underflow.
    largest = np.where(mean_gap.max(axis=-1) > 0.0, mean_gap.max(axis=-1), 1.0)
    return largest * ((weight * (mean_gap / largest[..., None]) ** norm).sum(axis=-1) / total) ** (
        1.0 / norm
    )


def inverted_limits(
    totals: np.ndarray,
    draws: np.ndarray,
    norm: Any,
    level: float,
    even: bool = False,
    n: float | None = None,
    most: float = 1.0,
) -> tuple[float, float, float]:
    """(estimate, low, high) from sums and their bootstrap resamples.

    ``totals`` is (sets, bins, 3): weight, summed score, summed hits; ``draws`` (resamples, sets,
    bins, 3). The error is averaged over sets; ``even`` gives equal weight to the nonempty bins of a
    set. With ``n`` rows, the low end is 0 if calibrated scores show as much. The high end allows
    for the share of flipped outcomes that n rows may miss. No limit is above ``most``. Soft labels
    have a fourth sum, of the squared gaps of the rows, whose variance replaces the Bernoulli
    variance.
    """
    weight, gap = totals[..., 0], totals[..., 1] - totals[..., 2]
    noise = (draws[..., 1] - draws[..., 2] - gap) * _inflation(totals, draws)
    # The classes of a classwise error have gaps of both signs, which shrinking would treat as
    # noise.
    shape = weight * shrunken_gaps(gap, weight, noise.var(axis=0)) if len(gap) == 1 else gap
    mass = np.where(weight > 0.0, weight, 1.0) if even else 1.0
    each = (weight > 0.0).astype(np.float64) if even else weight
    drawn_weight = each if even else draws[..., 0]

    def drawn(gaps: np.ndarray) -> np.ndarray:
        return binned_errors(drawn_weight, (gaps + noise) / mass, norm).mean(axis=-1)

    def error(gaps: np.ndarray) -> np.ndarray | float:
        return np.minimum(binned_errors(each, gaps / mass, norm).mean(axis=-1), most)

    observed = float(binned_errors(each, gap / mass, norm).mean(axis=-1))
    limits = _inverted(
        error, drawn, observed, shape, np.where(gap < 0.0, -1.0, 1.0) * noise.std(axis=0), level
    )
    value, low, high = map(float, limits)
    if n is None:
        return value, low, high
    if (
        observed
        <= np.quantile(error(_null_gaps(totals)), 0.5 + 0.5 * level, method="higher") + 1e-12
    ):
        low = 0.0
    return (
        value,
        low,
        max(high, float(error(gap - unseen_share(n, level) * (weight - 2.0 * totals[..., 2])))),
    )


def _null_gaps(totals: np.ndarray) -> np.ndarray:
    """Summed gaps of outcomes drawn from the mean score of each bin, (draws, sets, bins)."""
    weight, score, hits, *squares = np.moveaxis(totals, -1, 0)
    rows = np.maximum(np.rint(weight), 1.0)
    safe = np.where(weight > 0.0, weight, 1.0)
    share = np.clip(score / safe, 0.0, 1.0)
    if squares:
        centred = np.maximum(squares[0] - (score - hits) ** 2 / safe, 0.0)
        spread = np.sqrt(_rater_variance(centred, weight, share * (1.0 - share)))
        return spread * null_generator(0).standard_normal((NULL_DRAWS, *weight.shape))
    hits = null_generator(0).binomial(
        rows.astype(np.int64), share, size=(NULL_DRAWS, *weight.shape)
    )
    return score - weight * hits / rows


def gap_limits(
    weight: np.ndarray,
    gap: np.ndarray,
    noise: np.ndarray,
    level: float,
    most: float,
    of_gaps: Any,
    n: float,
) -> tuple[float, float, float]:
    """(estimate, low, high) of ``of_gaps(weight, gap)``, an error from gaps with any leading axes,
    of ``n`` rows.

    ``weight`` (bins,); ``gap`` (sets, bins), the summed gaps; ``noise`` (draws, sets, bins), how
    they vary around their mean; no limit is above ``most``.
    """
    each = max(n / gap.shape[-1], 2.0)
    noise = noise * (
        np.sqrt(each / (each - 1.0)) * normal_quantile(level, each - 1.0) / normal_quantile(level)
    )

    def drawn(gaps: np.ndarray) -> np.ndarray:
        return of_gaps(weight, gaps + noise)

    def error(gaps: np.ndarray) -> float:
        return min(float(of_gaps(weight, gaps)), most)

    shape = weight * shrunken_gaps(gap, np.broadcast_to(weight, gap.shape), noise.var(axis=0))
    # Noise moves the levels of one bin together, so it can hide most if all gaps have one sign.
    plain_shape = (-1.0 if gap.sum() < 0.0 else 1.0) * noise.std(axis=0)
    return _inverted(
        error,
        drawn,
        error(gap),
        shape,
        plain_shape,
        level,
        together=len(gap) > 1 and gap.shape[-1] == 1,
    )


def _inverted(
    error: Any,
    drawn: Any,
    observed: float,
    shape: np.ndarray,
    plain_shape: np.ndarray,
    level: float,
    together: bool = False,
) -> tuple[float, float, float]:
    """(estimate, low, high) of ``error(t shape)`` from the simulated errors ``drawn(t shape)``.

    ``together``: the observed gaps vary together, so that chance may also produce the plain shape.
    """

    def simulated(t: float, quantile: float, shape: np.ndarray = shape) -> float:
        return np.quantile(drawn(t * shape), quantile, method="weibull")

    def largest(shape: np.ndarray) -> float:
        return error(
            shape * _crossing(lambda t: simulated(t, tail, shape), max(observed, null_median))
        )

    tail = 0.5 - 0.5 * level
    null_median = simulated(0.0, 0.5)
    low = error(shape * _crossing(lambda t: simulated(t, 1.0 - tail), observed))
    estimate = error(shape * _crossing(lambda t: simulated(t, 0.5), observed))
    if observed < null_median:
        # Less error than expected under calibration does not reveal the shape: no limit is tighter
        # than that of a typical calibrated sample.
        high = largest(plain_shape)
    elif together and observed < simulated(0.0, 1.0 - tail):
        high = max(largest(shape), largest(plain_shape))
    else:
        high = largest(shape)
    return estimate, low, max(high, estimate)


def shrunken_gaps(gap: np.ndarray, weight: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Mean gap of each bin, shrunk to that of all bins according to its noise (empirical Bayes
    along the last axis); from the summed gaps, their weights and their variances."""
    safe = np.where(weight > 0.0, weight, 1.0)
    mean, noise = gap / safe, variance / safe**2
    total = weight.sum(axis=-1, keepdims=True)
    centre = gap.sum(axis=-1, keepdims=True) / total
    spread = (weight * ((mean - centre) ** 2 - noise)).sum(axis=-1, keepdims=True) / total
    factor = np.maximum(spread, 0.0) / np.maximum(np.maximum(spread, 0.0) + noise, 1e-300)
    return np.where(weight > 0.0, centre + factor * (mean - centre), 0.0)


def _inflation(totals: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Ratio of the noise of each bin to that of the resamples, which is 0 where all or none are
    right.
    """
    weight, score, hits, *squares = np.moveaxis(totals, -1, 0)
    safe = np.where(weight > 0, weight, 1.0)
    confidence = np.clip(score / safe, 0.0, 1.0)
    share = np.clip((hits + 2.0 * confidence) / (safe + 2.0), 0.0, 1.0)
    row_variance = share * (1.0 - share) + ((score - hits) / safe) ** 2
    expected = (
        _rater_variance(squares[0], weight, row_variance) if squares else weight * row_variance
    )
    observed = (draws[..., 1] - draws[..., 2]).var(axis=0)
    return np.sqrt(
        np.clip(
            np.divide(expected, observed, out=np.ones_like(observed), where=observed > 0), 1.0, 1e6
        )
    )


def _rater_variance(squares, weight, row_variance):
    """Variance of the summed gaps of soft labels, from the squares seen and two rows of one label.

    These two rows, of variance ``row_variance``, represent variation that few rows may hide.
    """
    return weight * (squares + 2.0 * row_variance) / (weight + 2.0)


def _crossing(function: Any, target: float, steps: int = 40) -> float:
    """The t >= 0 at which an increasing function reaches the target, 0 where it starts above it."""
    if function(0.0) >= target:
        return 0.0
    high = 1.0
    while function(high) < target and high < 2.0**20:
        high *= 2.0
    low = 0.0
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < target else (low, middle)
        if high - low < 1e-6 * high:
            break
    return 0.5 * (low + high)
