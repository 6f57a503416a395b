"""Nulls of an audit, the tests of all groups under them, simultaneous intervals of the gaps, and
the rows of the audit's table, from sums and tests.

Under the strong null predictions are true in every row, under the weak one they are right on
average in every group. The interval of a group holds the shifts that its test would not reject.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from calibrant._numerics.bootstrap import null_generator
from calibrant._numerics.clusters import membership, row_sums, scaled_columns, scaled_rows
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.newton import bisected
from calibrant._numerics.step_down import step_down
from calibrant.audits.result import GroupGap
from calibrant.audits.sample import Family, Sample, ScoreSample, everyone

__all__ = [
    "LEAST_EVENTS",
    "LEAST_VARIANCE",
    "Tested",
    "Totals",
    "gap_limits",
    "gaps",
    "matched_variance",
    "parted",
    "shrunk_gaps",
    "sorted_gaps",
    "tested_groups",
]


@dataclass(frozen=True)
class Totals:
    """Sums by group and question, (G, q) each, and (G, q, S) by part of the predictions.

    ``n`` is the weight, ``said`` the predicted and ``came`` the observed sum; ``variance`` under
    the strong null; ``score`` the squared error beyond its expectation; ``impossible`` the rows
    with an outcome of probability 0.
    """

    n: np.ndarray
    said: np.ndarray
    came: np.ndarray
    variance: np.ndarray
    score: np.ndarray
    impossible: np.ndarray
    parts_n: np.ndarray
    parts_said: np.ndarray
    parts_off: np.ndarray
    parts_variance: np.ndarray

    @classmethod
    def of(cls, sample: Sample, family: Family, place: np.ndarray, n_parts: int) -> "Totals":
        """Sum over all groups of a family; ``place`` (u, q) is the part of the predictions."""
        w, said, came, variance = sample.weight[:, None], sample.said, sample.came, sample.variance
        ones, surplus, impossible = np.ones_like(said), sample.surplus, sample.impossible
        sums = [
            np.asarray(family.matrix @ (w * one))
            for one in (ones, said, came, variance, surplus, impossible)
        ]
        parts = list[np.ndarray]()
        for one in (np.ones_like(said), said, came - said, variance):
            columns = [
                parted(family, place[:, q], n_parts) @ (w[:, 0] * one[:, q])
                for q in range(said.shape[1])
            ]
            parts.append(
                np.stack([column.reshape(len(family), n_parts) for column in columns], axis=1)
            )
        return cls(*sums, *parts)


def parted(family: Family, place: np.ndarray, n_parts: int) -> Any:
    """Return a sparse (G x parts, u) membership matrix of group and part."""
    found = family.matrix.tocoo()
    row = found.row.astype(np.int64) * n_parts + place[found.col]
    return membership(row, found.col, (len(family) * n_parts, len(place)), found.data)


#: Largest shift of the log-odds, and the number of bisections.
FARTHEST, HALVINGS = 40.0, 50


def gap_limits(
    sample: Sample, totals: Totals, spread: np.ndarray, critical: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high), (G, q) each, of the mean predicted minus the mean observed value; nan for
    groups without rows.

    For outcomes and classes the log-odds of the probabilities are shifted together until their sum
    is ``critical`` (G, q) standard deviations from the observed one: the ends are then possible
    values, and useful without an event. ``spread`` (G, q) is the standard deviation of the sums of
    errors.
    """
    n = np.where(totals.n > 0.0, totals.n, np.nan)
    if isinstance(sample, ScoreSample):
        gap = (totals.said - totals.came) / n
        reach = critical * spread / n
        return gap - reach, gap + reach
    odds, inner = _odds(totals)
    own = _variance(totals, inner)
    # The errors may vary more than independent rows would (clusters), or less (parts of one mean
    # contain several probabilities).
    factor = np.where(
        (own > 0.0) & (spread > 0.0), spread / np.sqrt(np.where(own > 0.0, own, 1.0)), 1.0
    )

    mean = totals.said / n
    low, high = (
        (totals.parts_n * _shifted(totals, odds, sign * critical * factor)).sum(axis=-1) / n
        for sign in (-1.0, 1.0)
    )
    return mean - low, mean - high


def matched_variance(sample: Sample, totals: Totals) -> np.ndarray:
    """Return (G, q) the variance of the sum of errors of risks whose log-odds are shifted until
    their sum is the observed one; for scores that of the null.
    """
    if isinstance(sample, ScoreSample):
        return totals.variance
    return _variance(totals, _shifted(totals, _odds(totals)[0], np.zeros(totals.n.shape)))


def _shifted(totals: Totals, odds: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return (G, q, parts) risks with log-odds shifted together until their sum plus ``reach`` (G,
    q) standard deviations of it is the observed one.
    """

    def below(shift: np.ndarray) -> np.ndarray:
        p = sigmoid(odds + shift[..., None])
        most = (totals.parts_n * p).sum(axis=-1) + reach * np.sqrt(_variance(totals, p))
        return ~(most > totals.came)

    far = np.full(totals.n.shape, FARTHEST)
    low, high = bisected(below, -far, far, HALVINGS)
    return sigmoid(odds + (0.5 * (low + high))[..., None])


def _variance(totals: Totals, p: np.ndarray) -> np.ndarray:
    """Return (G, q) the variance of the sum of independent outcomes with these risks."""
    return (totals.parts_n * p * (1.0 - p)).sum(axis=-1)


def _odds(totals: Totals) -> tuple[np.ndarray, np.ndarray]:
    """Return (log-odds of the mean risk of each part, that mean inside 0 and 1)."""
    said = np.where(
        totals.parts_n > 0.0,
        totals.parts_said / np.where(totals.parts_n > 0.0, totals.parts_n, 1.0),
        0.5,
    )
    inner = np.clip(said, 1e-12, 1.0 - 1e-12)
    return np.log(inner) - np.log1p(-inner), inner


#: Minimum variance of the sum in a group, for the strong null: below it a single event decides, and
#: all other groups lose power.
LEAST_VARIANCE = 5.0
#: Minimum number of events, and of rows without one (for other questions rows, or clusters), for
#: the weak null, which uses a normal limit.
LEAST_EVENTS = 30.0
#: Minimum excess of the variance of errors over that of the null, in standard errors (about one
#: over the root of the rows).
CHANCE = 2.0
#: Maximum number of values drawn at once.
DRAWN_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Tested:
    """Test results of a family.

    Attributes
    ----------
    totals : sums of all groups
    tested : (G, q) whether each could be tested.
    statistic, spread : (G, q) size of the sum of errors in standard deviations; and the standard
        deviation behind intervals.
    freedom : (G, q) degrees of freedom of the variance about a group's own mean: rows, or clusters,
        minus one.
    p_value : (G, q) adjusted for the number of tests, nan if not tested.
    maxima : (B,) largest statistic of each draw.
    range_ : (observed, (B,) draws) of the largest range over groups of the running sum of errors,
        from low to high.
    """

    totals: Totals
    tested: np.ndarray
    statistic: np.ndarray
    spread: np.ndarray
    freedom: np.ndarray
    p_value: np.ndarray
    maxima: np.ndarray
    range_: tuple[float, np.ndarray]


@dataclass(frozen=True)
class _Null:
    """Family of groups under a null; subclasses draw its sums by group and part."""

    sample: Sample
    family: Family
    place: np.ndarray
    n_parts: int

    @cached_property
    def totals(self) -> Totals:
        return Totals.of(self.sample, self.family, self.place, self.n_parts)

    @cached_property
    def freedom(self) -> np.ndarray:
        """Return (G, q) degrees of freedom of the variance about a group's own mean."""
        if self.sample.cluster is None:
            return np.maximum(self.totals.n - 1.0, 0.0)
        _, rows = _by_cluster(self.sample, self.family)
        return np.maximum(row_sums(rows > 0)[:, None] - 1.0, 0.0) + 0.0 * self.totals.n

    @cached_property
    def centred_variance(self) -> np.ndarray:
        """Return (G, q) the variance of the sum of errors about each group's own mean."""
        of = self.totals
        gap = (of.came - of.said) / np.maximum(of.n, 1e-300)
        if self.sample.cluster is not None:
            sums, rows = _by_cluster(self.sample, self.family)
            counts = row_sums(rows > 0)
            out = np.empty_like(gap)
            for q, one in enumerate(sums):
                own = one - scaled_rows(rows, gap[:, q])
                out[:, q] = row_sums(own * own) * counts / np.maximum(counts - 1.0, 1.0)
            return out
        unit, mass, off = self.sample.parts()
        member = self.family.matrix[:, unit]
        squares = np.asarray(member @ (mass[:, None] * off * off))
        return np.maximum(squares - of.n * gap * gap, 0.0) * of.n / np.maximum(of.n - 1.0, 1e-300)


class Strong(_Null):
    """Null with outcomes drawn from the predictions."""

    @cached_property
    def variance(self) -> np.ndarray:
        """(G, q) variance of the sum of errors."""
        return self.totals.variance

    @cached_property
    def deviation(self) -> np.ndarray:
        """(G, q) scale of the sums: the null's, or more if errors about a group's own mean vary
        more than risks that are right on average allow, as with overconfident predictions of single
        rows.
        """
        # All rows together detect it with fewer data than one group.
        whole = Strong(self.sample, everyone(len(self.sample)), self.place, self.n_parts)
        return np.sqrt(self.variance * np.maximum(self.excess, whole.excess))

    @cached_property
    def excess(self) -> np.ndarray:
        """Return (G, q) the variance of the errors over the largest that right means allow, at
        least 1.
        """
        least = np.maximum(self.variance, matched_variance(self.sample, self.totals))
        more = np.divide(self.centred_variance, least, out=np.ones_like(least), where=least > 0.0)
        # A small excess over 1 in so few rows is due to chance and ignored.
        return np.where(more > 1.0 + CHANCE / np.sqrt(np.maximum(self.totals.n, 1.0)), more, 1.0)

    @property
    def spread(self) -> np.ndarray:
        """(G, q) standard deviation behind intervals."""
        return self.deviation

    @cached_property
    def enough(self) -> np.ndarray:
        """(G, q) whether each group has enough data for a test."""
        return (self.totals.variance >= LEAST_VARIANCE) | (self.totals.impossible > 0.0)

    def drawn(self, tested: np.ndarray, rng: Generator, count: int) -> list[np.ndarray]:
        """Yield for each question the sums of the tested groups, (their number x parts, count)."""
        off = self.sample.drawn(count, rng)
        return [
            self._matrices[q][_parts_of(tested[:, q], self.n_parts)] @ off[:, q]
            for q in range(off.shape[1])
        ]

    @cached_property
    def _matrices(self) -> list[Any]:
        return [
            parted(self.family, self.place[:, q], self.n_parts)
            for q in range(self.sample.said.shape[1])
        ]

    @property
    def size(self) -> int:
        """Number of values in one draw."""
        return self.sample.said.size


class Weak(_Null):
    """Null that flips the signs of errors, of rows or of whole clusters, and scales sums by the
    squares of the flipped values.
    """

    @cached_property
    def variance(self) -> np.ndarray:
        """(G, q) variance of the sum of errors."""
        if self.sample.cluster is not None:
            sums, _ = _by_cluster(self.sample, self.family)
            return np.column_stack([row_sums(one * one) for one in sums])
        unit, mass, off = self.sample.parts()
        return np.asarray(self.family.matrix[:, unit] @ (mass[:, None] * off * off))

    @property
    def deviation(self) -> np.ndarray:
        """(G, q) scale of the sums."""
        return np.sqrt(self.variance)

    @property
    def spread(self) -> np.ndarray:
        """(G, q) standard deviation behind intervals."""
        return np.sqrt(self.centred_variance)

    @cached_property
    def enough(self) -> np.ndarray:
        """(G, q) whether each group has enough data for a test."""
        of = self.totals
        events = (
            np.minimum(of.came, of.n - of.came)
            if not isinstance(self.sample, ScoreSample)
            else of.n
        )
        if self.sample.cluster is not None:
            _, rows = _by_cluster(self.sample, self.family)
            events = np.minimum(events, row_sums(rows > 0)[:, None])
        return ((events >= LEAST_EVENTS) & (self.variance > 0.0)) | (of.impossible > 0.0)

    def drawn(self, tested: np.ndarray, rng: Generator, count: int) -> list[np.ndarray]:
        """Yield draws as the strong null does."""
        if self.sample.cluster is not None:
            turned = 2.0 * rng.integers(0, 2, (int(self.sample.cluster.max()) + 1, count)) - 1.0
        else:
            mass = self._parts[1]
            whole = np.floor(mass)
            turned = (
                2.0 * rng.binomial(whole.astype(np.int64), 0.5, (count, len(mass))).T
                - whole[:, None]
            )
            rest = np.sqrt(mass - whole)[:, None]
            if rest.any():
                turned += rest * (2.0 * rng.integers(0, 2, turned.shape) - 1.0)
        return [
            one[_parts_of(tested[:, q], self.n_parts)] @ turned
            for q, one in enumerate(self._matrices)
        ]

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.sample.parts()

    @cached_property
    def _matrices(self) -> list[Any]:
        unit, mass, off = self._parts
        out = list[Any]()
        for q in range(off.shape[1]):
            member = parted(self.family, self.place[:, q], self.n_parts)[:, unit]
            if self.sample.cluster is None:
                out.append(scaled_columns(member, off[:, q]))
            else:
                cluster = self.sample.cluster[unit]
                to = membership(
                    np.arange(len(unit)),
                    cluster,
                    (len(unit), int(cluster.max()) + 1),
                    mass * off[:, q],
                )
                out.append(member @ to)
        return out

    @property
    def size(self) -> int:
        """Number of values in one draw."""
        return 2 * len(self.sample)


NULLS: dict[str, type[Strong] | type[Weak]] = {"strong": Strong, "weak": Weak}


def tested_groups(
    sample: Sample, family: Family, null: str, n_draws: int, random_state: int, control: str
) -> Tested:
    """Test all groups of a family for each question, with correction for their number."""
    place = sample.place
    of = NULLS[null](sample, family, place, int(place.max()) + 1)
    totals, tested = of.totals, of.enough
    deviation, of_null = of.deviation, np.sqrt(of.variance)
    statistic = np.abs(totals.came - totals.said) / np.where(deviation > 0.0, deviation, np.inf)
    statistic = np.where(totals.impossible > 0.0, np.inf, statistic)
    observed, ranges = statistic[tested], [0.0 * np.empty(0)]
    p_value = np.full(tested.shape, np.nan)
    if not tested.any():
        return Tested(
            totals,
            tested,
            statistic,
            of.spread,
            of.freedom,
            p_value,
            np.empty(0),
            (0.0, np.empty(0)),
        )

    def blocks() -> Iterator[np.ndarray]:
        rng = null_generator(random_state)
        step = max(min(DRAWN_AT_ONCE // max(of.size, int(tested.sum()) * of.n_parts), n_draws), 1)
        for start in range(0, n_draws, step):
            sums = of.drawn(tested, rng, min(step, n_draws - start))
            found = [
                _statistics(one, of_null[tested[:, q], q], of.n_parts) for q, one in enumerate(sums)
            ]
            ranges.append(np.max([one[1] for one in found], axis=0))
            out = np.empty((int(tested.sum()), sums[0].shape[1]))
            question = np.nonzero(tested)[1]
            for q, one in enumerate(found):
                out[question == q] = one[0]
            yield out

    p_value[tested], maxima = step_down(observed, blocks(), control == "share")
    seen = [
        _statistics(
            totals.parts_off[tested[:, q], q].reshape(-1, 1), deviation[tested[:, q], q], of.n_parts
        )[1]
        for q in range(tested.shape[1])
    ]
    range_ = float(np.max(seen)), np.concatenate(ranges)
    return Tested(totals, tested, statistic, of.spread, of.freedom, p_value, maxima, range_)


def _statistics(
    sums: np.ndarray, deviation: np.ndarray, n_parts: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return from (G x parts, b) sums: (G, b) sizes of the sums in standard deviations, and (b,)
    the largest range of the running sums of any group.
    """
    if len(deviation) == 0:
        nothing = np.zeros(int(sums.shape[1]))
        return np.empty((0, sums.shape[1])), nothing
    running: np.ndarray = np.cumsum(sums.reshape(len(deviation), n_parts, -1), axis=1)
    safe = np.where(deviation > 0.0, deviation, np.inf)[:, None]
    reach = np.maximum(running.max(axis=1), 0.0) - np.minimum(running.min(axis=1), 0.0)
    largest: np.ndarray = (reach / safe).max(axis=0)
    return np.abs(running[:, -1]) / safe, largest


def _parts_of(groups: np.ndarray, n_parts: int) -> np.ndarray:
    return np.flatnonzero(np.repeat(groups, n_parts))


def _by_cluster(sample: Sample, family: Family) -> tuple[list[Any], Any]:
    """Return sparse (G, C) sums of errors for each question, and of rows."""
    cluster = np.zeros(0, dtype=np.intp) if sample.cluster is None else sample.cluster
    shape = (len(cluster), int(cluster.max()) + 1)
    units = np.arange(len(cluster))
    sums = [family.matrix @ membership(units, cluster, shape, one) for one in sample.off.T]
    return sums, family.matrix @ membership(units, cluster, shape, sample.weight)


def shrunk_gaps(gap: np.ndarray, error: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return (G, q) gaps shrunk towards 0 by the part that their errors explain: gap t^2 / (t^2 +
    error^2), with t^2 of maximum likelihood by question.
    """
    out = np.zeros(gap.shape)
    for q in range(gap.shape[1]):
        one, of = gap[used[:, q], q], error[used[:, q], q] ** 2
        if len(one):
            out[:, q] = (
                gap[:, q]
                * (share := _spread(one, of))
                / np.maximum(share + error[:, q] ** 2, 1e-300)
            )
    return out


def _spread(gap: np.ndarray, of: np.ndarray) -> float:
    """Return t^2 of maximum likelihood for gap ~ N(0, t^2 + of), on a grid that contains 0."""
    grid = np.append(0.0, np.geomspace(1e-4, 10.0, 200) * max(float(np.mean(gap * gap)), 1e-300))
    total = grid[:, None] + np.maximum(of, 1e-300)
    return float(grid[np.argmax(-0.5 * (np.log(total) + gap * gap / total).sum(axis=1))])


def gaps(
    sample: Sample,
    family: Family,
    tested: Tested,
    p_value: np.ndarray,
    critical: np.ndarray,
    alpha: float,
    tolerance: float,
    found: bool,
) -> list[GroupGap]:
    """Return one for each group and question. ``p_value`` (G, q) is adjusted; intervals extend to
    ``critical`` (G, q) standard deviations.
    """
    totals, of_scores = tested.totals, isinstance(sample, ScoreSample)
    n = np.where(totals.n > 0.0, totals.n, np.nan)
    low, high = gap_limits(sample, totals, tested.spread, critical)
    said, came = totals.said / n, totals.came / n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(said > 0.0, came / said, np.nan)
    off = p_value <= alpha
    holds = ~off & tested.tested & (np.maximum(np.abs(low), np.abs(high)) <= tolerance)
    columns = {
        "n": totals.n,
        "events": None if of_scores else totals.came,
        "said": said,
        "came": came,
        "gap": said - came,
        "low": low,
        "high": high,
        "ratio": ratio,
        "error": None if of_scores else np.abs(totals.parts_off).sum(axis=-1) / n,
        "error_by_chance": None
        if of_scores
        else np.sqrt(2.0 / np.pi) * np.sqrt(totals.parts_variance).sum(axis=-1) / n,
        "score_gap": None if of_scores else totals.score / n,
        "shrunk": shrunk_gaps(said - came, tested.spread / n, tested.tested),
        "p_value": p_value,
    }
    outcome = np.where(off, "off", np.where(holds, "holds", "not enough data"))
    out = list[GroupGap]()
    for g, where in enumerate(family.where):
        for q, question in enumerate(sample.questions):
            numbers: dict[str, Any] = {
                name: _known(values, g, q) for name, values in columns.items()
            }
            out.append(
                GroupGap(where, question, **numbers, outcome=outcome[g, q].item(), found=found)
            )
    return out


def _known(values: np.ndarray | None, g: int, q: int) -> float | None:
    value = None if values is None else float(values[g, q])
    return None if value is None or np.isnan(value) else value


def sorted_gaps(rows: Iterable[GroupGap]) -> list[GroupGap]:
    """Sort the miscalibrated first, by p-value and by the distance of their interval from 0; then
    the rest, by the latter.
    """

    def key(one: GroupGap) -> tuple[Any, ...]:
        away = max(one.low, -one.high, 0.0)
        return (
            one.outcome != "off",
            one.p_value if one.outcome == "off" else 0.0,
            -away,
            -abs(one.shrunk),
            one.name,
        )

    return sorted(rows, key=key)
