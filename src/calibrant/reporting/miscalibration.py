"""Joint test of the calibration of probabilities, and its power on the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.bootstrap import hit_drawer, null_generator
from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.logistic import log_odds
from calibrant._numerics.normal_scores import smallest_p
from calibrant._numerics.planning import detectable_shift
from calibrant.core.guarantee import Known
from calibrant.metrics.bounds import equivalence

__all__ = ["ALPHA", "MARGIN", "Miscalibration", "draws_of", "miscalibration"]

#: Level of the joint test and of the test of equivalence.
ALPHA = 0.05
#: Largest error that does not matter, in probability; for a rare event, as a share of its rate.
MARGIN, MARGIN_SHARE = 0.02, 0.2
#: Draws under the null, and rows times draws that they may cost.
FEWEST, DRAWS, BUDGET = 200, 1000, 2e7
#: Parts of the rows by score, at most; and the variance of the events in a part, or group, at
#: least.
PARTS, LEAST_VARIANCE = 32, 5.0
EQUIVALENCE_BINS = 5
#: How the checks are called, in their order.
CHECKS = ("offset", "slope", "binned", "smooth", "group")


@dataclass(frozen=True)
class Miscalibration(Known):
    """Evidence of miscalibration, before or after calibration.

    Attributes
    ----------
    p_value : of the joint test: the smallest p-value of the checks, by its own law
    checks : the p-value of each check alone
    equivalence : the p-value of "off by the margin or more somewhere": small where all is well
    excess : the error that chance does not explain, a root mean square over parts or groups
    detectable : by family, the smallest mean error that these rows show in 19 of 20 samples
    margin : the largest error that would not matter
    """

    p_value: float
    checks: dict[str, float]
    equivalence: float
    excess: float
    detectable: dict[str, float]
    margin: float

    @property
    def seen(self) -> bool:
        """Whether the joint test is significant."""
        return self.p_value <= ALPHA

    @property
    def within(self) -> bool:
        """Whether all errors are significantly within the margin."""
        return self.equivalence <= ALPHA

    @property
    def shows(self) -> bool:
        """Whether the rows would show an error of the margin, in every family."""
        return max(self.detectable.values()) <= self.margin

    @property
    def worst(self) -> str:
        """The check with the strongest evidence."""
        return min(self.checks, key=lambda name: self.checks[name])


def _own_margin(rate: float) -> float:
    """Return two points, or a fifth of the rate of an event (or its absence) below one in ten."""
    rare = min(rate, 1.0 - rate)
    return min(MARGIN, MARGIN_SHARE * rare) if rare > 0.0 else MARGIN


def miscalibration(
    rows: Any, groups: Any, margin: float | None, *, centred: bool, random_state: int
) -> Miscalibration:
    r"""Test the confidences of rows for miscalibration, and compute the errors they could show.

    The checks are sums of errors, :math:`\sum_i w_i a_i (h_i - s_i)`: of all rows (``offset``), by
    log-odds (``slope``), squared in parts of equal variance (``binned``), the range of their
    running total (``smooth``), and the largest of a group, in standard deviations (``group``).

    Parameters
    ----------
    rows : record with confidence, correct, weights and cluster
    groups : of the rows, with ``index`` (n,), or None
    margin : the largest error that would not matter; None: two points, less of rare events
    centred : bool
        The null: what was said is right on average in every part, with errors as those seen
        vary; or (False) right in every row.
    random_state : int
    """
    score, hit, weight = rows.confidence, rows.correct, rows.weights
    total, variance = float(weight.sum()), weight * score * (1.0 - score)
    margin = _own_margin(float(weight @ hit / total)) if margin is None else margin
    slope = _slope(score, variance)
    part = _parts(score, variance)
    sums = _sums(weight, slope, part, None if groups is None else groups.index)
    scale = np.asarray(sums.power(2) @ (score * (1.0 - score) / np.maximum(weight, 1e-300))).ravel()
    n_parts = int(part.max()) + 1
    rng = null_generator(random_state)
    if centred:
        drawn = _centred(sums, hit - score, part, rows, scale, rng)
    else:
        draw = hit_drawer(score, hit, weight, rows.cluster)
        drawn = np.array([sums @ (draw(rng) - score) for _ in range(draws_of(len(score)))])
    observed = sums @ (hit - score)
    of = [_checks(one, n_parts, scale) for one in (observed[None, :], drawn)]
    own, p_value = smallest_p(of[0][0], of[1])
    sizes = _squares(np.vstack([observed, drawn]), np.asarray(sums.sum(axis=1)).ravel(), n_parts)
    return Miscalibration(
        p_value=p_value,
        checks=dict(zip(CHECKS, own.tolist(), strict=False)),
        equivalence=_equivalence(score, hit, rows, margin, groups),
        excess=float(np.sqrt(np.maximum(sizes[0] - sizes[1:].mean(axis=0), 0.0).max())),
        detectable=_detectable(score, weight * _worth(rows), slope, groups),
        margin=margin,
    )


def draws_of(n: int) -> int:
    """Return how many draws n rows allow."""
    return int(np.clip(BUDGET / n, FEWEST, DRAWS))


def _centred(
    sums: Any,
    error: np.ndarray,
    part: np.ndarray,
    rows: Any,
    least: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(B, m) normal draws of sums of errors that vary about the mean of their part as those seen.

    ``sums`` is (m, n), weights included; a row of weight w is w rows, and those of a cluster are
    one, with as many degrees of freedom as their weights are worth. Each sum has the variance
    ``least`` (m,), that of true risks, or more: few rows may all be right.
    """
    weight = rows.weights
    mean = np.bincount(part, weight * error) / np.bincount(part, weight)
    off, count = error - mean[part], weight.sum()
    if rows.cluster is None:
        scaled = sums.multiply(off / np.sqrt(weight)).tocsr()
    else:
        share = np.bincount(rows.cluster, weight)
        member = sparse.csr_matrix((np.ones(len(off)), (np.arange(len(off)), rows.cluster)))
        scaled, count = sums.multiply(off).tocsr() @ member, share.sum() ** 2 / (share @ share)
    freedom = max(count - 1.0, 1.0)
    covariance = np.asarray((scaled @ scaled.T).todense()) * count / freedom
    own = np.diag(covariance)
    more = np.sqrt(np.maximum(least / np.where(own > 0.0, own, 1.0), 1.0))
    drawn = rng.multivariate_normal(np.zeros(len(own)), covariance, DRAWS, method="eigh") * more
    return drawn / np.sqrt(rng.chisquare(freedom, (DRAWS, 1)) / freedom)


def _slope(score: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The log-odds about their mean, where the outcomes vary."""
    odds = log_odds(score)
    return odds - (variance @ odds / variance.sum() if variance.sum() > 0.0 else 0.0)


def _parts(score: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Parts 0..F-1 of the rows by score, of about equal variance; rows of one score are of one."""
    _, place = np.unique(score, return_inverse=True)
    mass = np.bincount(place, variance)
    count = int(np.clip(mass.sum() / LEAST_VARIANCE, 1, PARTS))
    before = np.cumsum(mass) - mass
    part = np.minimum((before / max(mass.sum(), 1e-300) * count).astype(int), count - 1)
    return np.unique(part, return_inverse=True)[1][place]


def _sums(weight: np.ndarray, slope: np.ndarray, part: np.ndarray, group: np.ndarray | None) -> Any:
    """(m, n) sparse: times errors it gives their sums by part, by slope and by group."""
    n, count = len(weight), int(part.max()) + 1
    row, value = [part, np.full(n, count)], [weight, weight * slope]
    if group is not None:
        row, value = [*row, count + 1 + group], [*value, weight]
    columns = np.tile(np.arange(n), len(row))
    return sparse.csr_matrix((np.concatenate(value), (np.concatenate(row), columns)))


def _checks(sums: np.ndarray, n_parts: int, variance: np.ndarray) -> np.ndarray:
    """(B, c) the checks of sums (B, m), of which ``variance`` (m,) is that under the null."""
    parts, group = sums[:, :n_parts], sums[:, n_parts + 1 :]
    run = np.column_stack([np.zeros(len(parts)), parts.cumsum(axis=1)])
    found = [
        abs(run[:, -1]),
        abs(sums[:, n_parts]),
        (parts**2 / np.maximum(variance[:n_parts], 1e-300)).sum(axis=1),
        np.ptp(run, axis=1),
    ]
    enough = variance[n_parts + 1 :] >= LEAST_VARIANCE
    if enough.any():
        spread = np.sqrt(variance[n_parts + 1 :][enough])
        found.append((abs(group[:, enough]) / spread).max(axis=1))
    return np.column_stack(found)


def _squares(sums: np.ndarray, size: np.ndarray, n_parts: int) -> np.ndarray:
    """(B, 3) the mean squared error of the parts and of the groups, and that on the whole."""
    total = size[:n_parts].sum()
    gaps = sums**2 / np.maximum(abs(size), 1e-300)
    whole = (sums[:, :n_parts].sum(axis=1) / total) ** 2
    places = (gaps[:, :n_parts], gaps[:, n_parts + 1 :])
    return np.column_stack([*(place.sum(axis=1) / total for place in places), whole])


def _worth(rows: Any) -> float:
    """The share of the rows that counts: those of a cluster are as alike as their errors."""
    if rows.cluster is None:
        return 1.0
    return mean_worth(rows.correct - rows.confidence, rows.weights, rows.cluster, 1.0 - ALPHA)


def _equivalence(
    score: np.ndarray, hit: np.ndarray, rows: Any, margin: float, groups: Any
) -> float:
    """The largest p-value of the parts by score and of the groups."""
    parts = [equal_mass_groups(score, EQUIVALENCE_BINS, rows.weights)]
    parts += [] if groups is None else [groups.index]
    return max(
        equivalence(score, hit, rows.weights, rows.cluster, margin, part)[1] for part in parts
    )


def _detectable(
    score: np.ndarray, weight: np.ndarray, slope: np.ndarray, groups: Any
) -> dict[str, float]:
    """Return the detectable error by family; for groups that of a typical one, corrected for their
    number.
    """
    score, place = np.unique(score, return_inverse=True)
    mass = np.bincount(place, weight)
    first = np.zeros(len(score))
    first[place] = slope
    found = {"offset": detectable_shift(score, mass), "slope": detectable_shift(score, mass, first)}
    if groups is not None:
        size = np.bincount(groups.index, weight)
        typical = np.argsort(size)[len(size) // 2]
        inside = np.bincount(place[groups.index == typical], weight[groups.index == typical])
        kept = np.flatnonzero(inside)
        tests = len(size)
        found["group"] = detectable_shift(score[kept], inside[kept], tests=tests)
    return found
