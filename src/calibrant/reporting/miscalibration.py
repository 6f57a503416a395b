"""Miscalibration of probabilities: the joint test and its power on the rows, and advice from the
results of a report: one state by one rule, and its words.
"""

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

__all__ = [
    "ALPHA",
    "EVERY",
    "MARGIN",
    "STATES",
    "Evidence",
    "Miscalibration",
    "Words",
    "advised_state",
    "could_show",
    "draws_of",
    "in_words",
    "miscalibration",
    "points",
]


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


#: From the gravest: what is said of several outputs together.
STATES = (
    "check the data first",
    "off, no remedy shown",
    "better, but still off",
    "too few rows to say",
    "calibrate before use",
    "fine as it is",
)
#: How the name of all groups together begins.
EVERY = "all"
OTHERS = "Try another calibrator, more rows or other features."
#: Sentences on a calibration that is no remedy, by that of the verdict.
TRIED = {
    "do not use": " The calibration tried makes them worse.",
    "no clear gain": " The calibration tried does not make them clearly better.",
    "use": " The calibration tried is not enough.",
    "mixed": " The calibration tried is not enough.",
}
FIRST = "Fit a calibrator, and measure it on rows that it has not seen."
#: What remains, by the check that says most.
REMAINS = {
    "offset": "the mean is still off",
    "slope": "they are still too extreme, or not extreme enough",
    "binned": "they are still off in places",
    "smooth": "they are still off over a range",
    "group": "they are still off for a group",
    "spread": "the errors are still larger or smaller than predicted",
    "shape": "the errors have another shape than predicted",
    "coverage": "90 % intervals still hold too much or too little",
    "std": "small and large error bars are not equally right",
}


@dataclass(frozen=True)
class Evidence:
    """Miscalibration before and after calibration, the caution that rules out any advice, the pair
    (predicted, observed) where the predictions are farthest off, what is still off after, and
    whether the calibration was by group.
    """

    before: Miscalibration
    after: Miscalibration | None = None
    veto: str | None = None
    example: tuple[float, float] | None = None
    where: str | None = None
    by_group: bool = False

    def state(self, better: bool) -> str:
        """Return the state; ``better`` as in ``advised_state``."""
        return advised_state(self.veto is not None, better, self.before, self.after)


@dataclass(frozen=True)
class Words:
    """Parts of a verdict in plain words: what the predictions are called, what is wrong with them,
    what they are like if nothing is, what calibration does to them, and how many rows there are,
    in words and as a number.
    """

    things: str
    fault: str
    fine: str
    gain: str
    rows: str
    n: float


def in_words(state: str, words: Words, evidence: Evidence, calibration: str) -> tuple[str, str]:
    """Return (one or two sentences on the predictions, one on what to do); ``calibration`` is that
    of the verdict.

    Examples
    --------
    >>> few = Miscalibration(0.4, {"offset": 0.4}, 0.9, 0.0, {"offset": 0.1}, 0.02)
    >>> words = Words("risks", "They are too high.", "They match.", "It helps.", "9 rows", 9.0)
    >>> in_words("too few rows to say", words, Evidence(few), "none")[1]
    'Collect rows until there are about 220, then measure again.'
    """
    things, fault = words.things, words.fault
    if not evidence.before.seen:
        fault = f"As they are, the {things} show no error beyond chance."
    if state == "check the data first":
        return str(evidence.veto), "Check the data before you use any number on this page."
    if state == "fine as it is":
        return f"{words.fine} {_fine(evidence.before)}", f"Keep the {things} as they are."
    if state == "calibrate before use":
        few = "" if _sure(evidence) else " Check them again on new rows."
        return f"{fault} {words.gain}", f"Use the calibrated {things}.{few}"
    if state == "better, but still off":
        after = evidence.before if evidence.after is None else evidence.after
        remains = REMAINS[after.worst]
        if after.worst == "group" and evidence.where is not None:
            remains = f"they are still off for {evidence.where}"
            every, tried = evidence.where.startswith(EVERY), evidence.by_group
            use = f"Use the calibrated {things}, but not for {evidence.where}"
            use += "; calibration by group was tried." if tried else "; calibrate by group."
            if every:
                use = f"Calibrate by group before use: the {things} are right for none yet."
            if every and tried:
                use = f"Do not use the {things} by group: they are right for none, by group too."
            return f"{fault} Calibration helps, but {remains}.", use
        return f"{fault} Calibration helps, but {remains}.", (
            f"Use the calibrated {things}, and look at where they are still off."
        )
    if state == "off, no remedy shown":
        tried = TRIED.get(calibration, "")
        todo = OTHERS if tried else FIRST
        return f"{words.fault}{tried}", f"Do not act on these {things} yet. {todo}"
    before = evidence.before
    unseen = f"are right: an error of {points(max(before.detectable.values()))} could go unseen"
    doubt = f"are off by more than {points(before.margin)}" if before.seen else unseen
    return (
        f"{words.rows} are too few to tell whether the {things} {doubt}.",
        f"Collect rows until there are about {_rounded(_times(before) * words.n):,}, then measure"
        " again.",
    )


def _rounded(count: float) -> int:
    """Return a count with two digits."""
    return int(float(f"{count:.2g}"))


def _sure(evidence: Evidence) -> bool:
    after = evidence.before if evidence.after is None else evidence.after
    return after.within or (not after.seen and after.shows)


def advised_state(
    vetoed: bool, better: bool, before: Miscalibration, after: Miscalibration | None
) -> str:
    """Return the state of the predictions by the first rule that holds.

    1. ``vetoed``, a caution that forbids any advice: **check the data first**.
    2. ``better``, surely, on rows that the calibration has not seen: **better, but still off**
       where something is beyond chance afterwards and not within the margin, else **calibrate
       before use**.
    3. Within the margin as it is, or nothing beyond chance where an error of the margin would have
       been seen: **fine as it is**.
    4. Something beyond chance, and by more than the margin: **off, no remedy shown**.
    5. **Too few rows to say**.

    Examples
    --------
    >>> few = Miscalibration(0.4, {"offset": 0.4}, 0.9, 0.0, {"offset": 0.1}, 0.02)
    >>> advised_state(False, False, few, None)
    'too few rows to say'
    """
    if vetoed:
        return "check the data first"
    if better and after is not None:
        remains = after.seen and not after.within
        return "better, but still off" if remains else "calibrate before use"
    if before.within or (not before.seen and before.shows):
        return "fine as it is"
    if before.seen and before.excess > before.margin:
        return "off, no remedy shown"
    return "too few rows to say"


def could_show(found: Miscalibration) -> str:
    """Return, in brackets, the error that the rows could have missed."""
    families = {"offset": "on the whole", "slope": "in the slope", "group": "in a group"}
    told = [f"{points(size)} {families[name]}" for name, size in found.detectable.items()]
    return f"(these rows could have shown an error of {', '.join(told)}, in 19 of 20 samples)"


def _times(found: Miscalibration) -> float:
    """Return the factor of rows that would show an error of the margin."""
    return max((max(found.detectable.values()) / found.margin) ** 2, 2.0)


def points(size: float) -> str:
    """Format a probability in points, with two digits."""
    size = 100.0 * size
    told = f"{size:.0f}" if size >= 9.5 else f"{size:.1f}" if size >= 0.95 else f"{size:.2g}"
    told = told.removesuffix(".0")
    return f"{told} point{'' if told == '1' else 's'}"


def _fine(found: Miscalibration) -> str:
    size = points(found.margin)
    if found.within:
        return f"They are within {size} everywhere."
    return f"An error of {size} on average would have shown."
