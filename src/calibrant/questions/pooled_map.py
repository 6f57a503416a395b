"""Calibration map of one kind of question: temperatures and offsets pooled over questions."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from calibrant._numerics.logistic import inner_limits
from calibrant._numerics.pooling import (
    Pooled,
    RaggedRows,
    Shares,
    best_spreads,
    cumulative_logits,
    pooled_step,
)
from calibrant.core.saving import Saved
from calibrant.questions.record import CHOICE, SCORE, TWO_SIDED, Questions

__all__ = ["Leaves", "PooledMap", "compressed", "floor_of", "logs_of"]

#: Labelled rows from which an option of a question has an offset, most such options of one, and
#: most options that share an offset over several questions.
RECURRING, MOST_OPTIONS, MOST_SHARED = 10, 31, 16
#: Most levels with offsets of their own; those of longer scales share one, because few rows observe
#: each.
MOST_LEVELS = 10
#: Steps of the search, those in which spreads are chosen, and the change at which it ends.
STEPS, CHOOSING, SMALL = 60, 20, 1e-3
#: Farthest step of a parameter, first spread, and the spread of a single group.
FARTHEST, FIRST, NOTHING = 2.0, 0.2, 1e-3
#: Logarithms of the share of half a unit that a probability rounded to 0 is read as.
ROUNDED = (0.0, -1.0, -2.0, -4.0)
#: Rows of yes/no questions from which equal log-odds are merged, and the width of their bins.
MANY_ROWS, WIDTH = 200_000, 1.0 / 32.0


def floor_of(record: Questions, kind: int, exponent: float) -> float:
    """The probability as which 0 is read."""
    if record.decimals is not None:
        return float(0.5 * 10.0**-record.decimals * np.exp(exponent))
    own = np.repeat(record.kind == kind, record.size)
    return inner_limits(record.probability[own], float(record.weights.sum()))[0]


def logs_of(record: Questions, kind: int, floor: float) -> np.ndarray:
    """(m,) input of a map of this kind; in yes/no rows log-odds of the event follow a 0."""
    p = record.probability
    if kind == SCORE:
        return cumulative_logits(p, record.start, floor)
    if kind == CHOICE:
        return np.log(np.maximum(p, floor))
    event = np.clip(p[1::2], floor, 1.0 - min(floor, 0.25))
    out = np.zeros(len(p))
    out[1::2] = np.log(event) - np.log1p(-event)
    return out


@dataclass(frozen=True)
class Leaves(Saved):
    """Groups of rows with parameters of their own: a question of one type, and of one number of
    levels if these are ordered.

    Attributes
    ----------
    names : list of (question, type, levels)
    options : dict of (group, option's name) -> slot, for choices
    n_slots : int
    """

    names: list[tuple[str, str, int]]
    options: dict[tuple[int, str], int]
    n_slots: int

    @staticmethod
    def keys(record: Questions, kind: int) -> tuple[list[tuple[str, str, int]], np.ndarray]:
        """(distinct keys, position of each row's key)."""
        levels = record.size if kind == SCORE else np.zeros(len(record), np.intp)
        width = len(record.type.names)
        most = int(levels.max(initial=0)) + 1
        code = (record.question.index.astype(np.int64) * width + record.type.index) * most + levels
        found, index = np.unique(code, return_inverse=True)
        question, rest = np.divmod(found, most * width)
        types, levels = np.divmod(rest, most)
        names = zip(
            record.question.names[question].tolist(),
            record.type.names[types].tolist(),
            levels.tolist(),
            strict=True,
        )
        return list(names), index

    @classmethod
    def of(cls, record: Questions, kind: int) -> tuple[Self, np.ndarray]:
        """(groups of labelled rows, group of each row)."""
        names, index = cls.keys(record, kind)
        if kind in TWO_SIDED:
            return cls(names, {}, 1), index
        if kind == SCORE:
            return cls(names, {}, max(_offsets(name[2]) for name in names)), index
        options = _recurring(record, index, len(names))
        return cls(names, options, max(options.values(), default=0)), index

    def slots(self, record: Questions, kind: int, index: np.ndarray) -> np.ndarray:
        """(m,) the slot of each option, 0 for none."""
        if kind in TWO_SIDED:
            return record.place
        if kind == SCORE:
            long = np.repeat(record.size, record.size) > MOST_LEVELS
            out = np.where(long, 1, record.place + 1)
            out = np.where(out > self.n_slots, 0, out)
            out[record.start[1:] - 1] = 0
            return out
        if not self.options:
            return np.zeros(len(record.probability), np.intp)
        width = len(record.option.names)
        code = np.repeat(index.astype(np.int64), record.size) * width + record.option.index
        found, place = np.unique(code, return_inverse=True)
        group, option = np.divmod(found, width)
        pairs = zip(group.tolist(), record.option.names[option].tolist(), strict=True)
        return np.array([self.options.get(pair, 0) for pair in pairs], np.intp)[place]


def _offsets(levels: int) -> int:
    """The number of offsets of a score with so many levels; 0 levels are those of an event."""
    return 1 if levels > MOST_LEVELS else max(levels - 1, 1)


def _recurring(record: Questions, index: np.ndarray, n_groups: int) -> dict[tuple[int, str], int]:
    """(group, option) -> slot of the options that occur often in their question."""
    width = len(record.option.names)
    code = np.repeat(index.astype(np.int64), record.size) * width + record.option.index
    found, place = np.unique(code, return_inverse=True)
    count = np.bincount(place, np.repeat(record.weights, record.size))
    often = count >= RECURRING
    found, count = found[often], count[often]
    order = np.lexsort((found, -count, found // width))
    found = found[order]
    group = found // width
    first = np.searchsorted(group, np.arange(n_groups))
    rank = np.arange(len(found)) - first[group]
    kept = rank < MOST_OPTIONS
    names = record.option.names[found % width].tolist()
    return {
        (int(g), name): int(r) + 1
        for g, name, r, k in zip(group, names, rank, kept, strict=True)
        if k
    }


def compressed(rows: RaggedRows) -> RaggedRows:
    """Rows of yes/no questions, merged where their log-odds nearly agree."""
    if len(rows.group) < MANY_ROWS:
        return rows
    odds = rows.l[1::2]
    bins = np.rint((odds - odds.min()) / WIDTH).astype(np.int64)
    cell = rows.group * (int(bins.max()) + 1) + bins
    weight = np.bincount(cell, rows.weight)
    kept = np.flatnonzero(weight)
    at = weight[kept]
    out = np.zeros(2 * len(kept))
    out[1::2] = np.bincount(cell, rows.weight * odds)[kept] / at
    mass = np.column_stack([np.bincount(cell, rows.mass[k::2])[kept] for k in (0, 1)]).ravel()
    return replace(
        rows,
        l=out,
        start=2 * np.arange(len(kept) + 1),
        group=kept // (int(bins.max()) + 1),
        slot=np.tile([0, 1], len(kept)),
        x=np.zeros(len(kept)),
        mass=mass,
        weight=at,
    )


def _centred(rows: RaggedRows, kind: int) -> tuple[RaggedRows, np.ndarray]:
    """The rows with the centres of their groups, (G, n_slots + 1), where offsets have some."""
    whole = rows.n_groups * (rows.n_slots + 1)
    if kind == CHOICE:
        return rows, np.zeros((rows.n_groups, rows.n_slots + 1))
    slope = 0.25 / np.cosh(0.5 * np.clip(rows.l, -50.0, 50.0)) ** 2
    share = np.repeat(rows.weight, rows.size) * slope * (rows.slot > 0)
    total = np.bincount(rows.cell, share, whole)
    sums = np.bincount(rows.cell, share * rows.l, whole)
    centre = np.divide(sums, total, out=np.zeros(whole), where=total > 0.0)
    return replace(rows, centre=centre[rows.cell]), centre.reshape(rows.n_groups, -1)


def _shares(leaves: Leaves, kind: int, varied: bool) -> tuple[Shares, list[Any]]:
    """(shared parameters of the groups, their names).

    The spreads are those of types (0), questions' slopes (1), their offsets (2) and the offsets of
    options in several questions (3).
    """
    types = sorted({name[1] for name in leaves.names})
    names: list[Any] = ["a"] + (["b"] if varied else [])
    names += [("type", one) for one in types] if len(types) > 1 else []
    if kind == CHOICE:
        count: dict[str, int] = {}
        for _, option in leaves.options:
            count[option] = count.get(option, 0) + 1
        often = sorted((one for one in count if count[one] > 1), key=lambda one: -count[one])
        names += [("option", one) for one in often[:MOST_SHARED]]
    else:
        kinds = sorted({name[1:] for name in leaves.names})
        names += [("offset", one, slot) for one in kinds for slot in range(1, 1 + _offsets(one[1]))]
    group = {"type": 0, "option": 3}
    shared = [group.get(name[0], -1) for name in names]
    own = np.array([1] + [2] * leaves.n_slots)
    return Shares(_design(leaves, kind, names), np.array(shared), own), names


def _design(leaves: Leaves, kind: int, names: list[Any]) -> np.ndarray:
    """(G, E, f) by which groups share parameters; the offsets of a new type are the mean of those
    with as many levels.
    """
    place = {name: k for k, name in enumerate(names)}
    design = np.zeros((len(leaves.names), leaves.n_slots + 3, len(names)))
    design[:, -1, 1:2] = "b" in place
    for g, (_, kin, levels) in enumerate(leaves.names):
        design[g, -2, [0, place.get(("type", kin), 0)]] = 1.0
        most = min(_offsets(levels), leaves.n_slots)
        for slot in range(1, 1 + most) if kind != CHOICE else ():
            like = [k for k, one in enumerate(names) if (one[0], *one[2:]) == ("offset", slot)]
            like = [k for k in like if names[k][1][1] == levels]
            own = place.get(("offset", (kin, levels), slot))
            if own is not None or like:
                design[g, slot, like if own is None else own] = 1.0 / (
                    len(like) if own is None else 1
                )
    for (g, option), slot in leaves.options.items():
        if ("option", option) in place:
            design[g, slot, place["option", option]] = 1.0
    return design


@dataclass
class PooledMap(Saved):
    """Fitted map of one kind of question.

    Attributes
    ----------
    kind : position in ``KINDS``
    leaves : Leaves
    names : names of the shared parameters
    shared : (f,) their values
    own : (G, 1 + n_slots), deviations of the groups
    theta : (G, E), shared part of each group's parameters
    centre : (G, n_slots + 1)
    spreads : (4,) of types, slopes, offsets and shared offsets
    middle : mean logarithm of the number of options
    exponent : logarithm of the share of half a unit as which a rounded 0 is read
    status : how the search ended
    """

    kind: int
    leaves: Leaves
    names: list[Any]
    shared: np.ndarray
    own: np.ndarray
    theta: np.ndarray
    centre: np.ndarray
    spreads: np.ndarray
    middle: float
    exponent: float
    floor: float
    status: str

    @classmethod
    def fit(cls, record: Questions, kind: int, by_size: bool = True) -> "PooledMap":
        """Fit on the labelled rows of one kind; ``by_size`` lets the temperature depend on the
        number of options.
        """
        leaves, index = Leaves.of(record, kind)
        exponent = ROUNDED[0]
        found = cls._at(record, kind, leaves, index, exponent, by_size)
        if record.decimals is not None and (record.probability == 0.0).any():
            likely = [found.likelihood(record, index, one) for one in ROUNDED]
            exponent = ROUNDED[int(np.argmax(likely))]
            if exponent != ROUNDED[0]:
                found = cls._at(record, kind, leaves, index, exponent, by_size)
        return found

    @classmethod
    def _at(
        cls,
        record: Questions,
        kind: int,
        leaves: Leaves,
        index: np.ndarray,
        exponent: float,
        by_size: bool,
    ) -> "PooledMap":
        size = np.log(record.size)
        middle = float(np.average(size, weights=record.weights))
        floor = floor_of(record, kind, exponent)
        rows = _rows(record, kind, leaves, index, (size - middle) * by_size, floor)
        rows = compressed(rows) if kind in TWO_SIDED else rows
        return cls.on_rows(rows, kind, leaves, middle, exponent, floor)

    @classmethod
    def on_rows(
        cls,
        rows: RaggedRows,
        kind: int,
        leaves: Leaves,
        middle: float = 0.0,
        exponent: float = 0.0,
        floor: float = 1e-12,
    ) -> "PooledMap":
        """Fit on rows that are ready."""
        rows, centre = _centred(rows, kind)
        shares, names = _shares(leaves, kind, bool(np.ptp(rows.x) > 0.0))
        shared, own, spreads, status = _searched(rows, shares)
        theta = shares.design @ shared
        return cls(
            *(kind, leaves, names, shared, own, theta, centre, spreads),
            *(middle, exponent, floor, status),
        )

    def likelihood(self, record: Questions, index: np.ndarray, exponent: float) -> float:
        """Log-likelihood of rows of the fit with rounded zeros read in another way."""
        rows, eta = self.linear(record, index, floor_of(record, self.kind, exponent))
        return rows.likelihood(eta)

    def linear(
        self, record: Questions, index: np.ndarray, floor: float
    ) -> tuple[RaggedRows, np.ndarray]:
        """(rows in groups ``index``, their linear predictors (m,))."""
        x = np.log(record.size) - self.middle
        rows = _rows(record, self.kind, self.leaves, index, x, floor)
        if self.kind != CHOICE:
            rows = replace(rows, centre=self.centre.ravel()[rows.cell])
        return rows, _predictors(rows, self.theta, self.own)[0]

    def predict(self, record: Questions) -> np.ndarray:
        """(m,) calibrated probabilities of rows of this kind."""
        names, place = Leaves.keys(record, self.kind)
        wider = self._extended(names)
        groups = {name: g for g, name in enumerate(wider.leaves.names)}
        index = np.array([groups[name] for name in names])[place]
        # The floor of the fit, because that of the record depends on its other rows.
        rows, eta = wider.linear(record, index, self.floor)
        if self.kind == SCORE:
            eta = _ascending(eta, record)
        P = rows.probabilities(eta)[0]
        return P / np.repeat(np.add.reduceat(P, record.start[:-1]), record.size)

    def lines(self, questions: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """(slopes, intercepts) of the log-odds of yes/no questions by name."""
        kind = self.leaves.names[0][1]
        wider = self._extended([(name, kind, 0) for name in questions])
        place = {name[0]: g for g, name in enumerate(wider.leaves.names)}
        g = np.array([place[name] for name in questions])
        shared = np.exp(-wider.theta[g, -2])
        slope = shared * np.exp(-wider.own[g, 0])
        offset = wider.theta[g, 1] + wider.own[g, 1]
        return slope, offset - (slope - shared) * wider.centre[g, 1]

    def _extended(self, asked: list[tuple[str, str, int]]) -> "PooledMap":
        """The map with groups that had no labels, which have what their type shares."""
        known = set(self.leaves.names)
        new = [name for name in dict.fromkeys(asked) if name not in known]
        if not new:
            return self
        S, n_known = self.leaves.n_slots, len(self.leaves.names)
        shared = [name[1] for name in self.names if name[0] == "option"][:S]
        slots = {(g, name): k for g in range(len(new)) for k, name in enumerate(shared, 1)}
        design = _design(Leaves(new, slots, S), self.kind, self.names)
        options = self.leaves.options | {(n_known + g, name): k for (g, name), k in slots.items()}
        return replace(
            self,
            leaves=Leaves([*self.leaves.names, *new], options, S),
            theta=np.vstack([self.theta, design @ self.shared]),
            own=np.vstack([self.own, np.zeros((len(new), S + 1))]),
            centre=np.vstack([self.centre, np.zeros((len(new), S + 1))]),
        )


def _rows(
    record: Questions, kind: int, leaves: Leaves, index: np.ndarray, x: np.ndarray, floor: float
) -> RaggedRows:
    return RaggedRows(
        logs_of(record, kind, floor),
        record.start,
        index,
        leaves.slots(record, kind, index),
        None,
        x if kind == CHOICE else np.zeros(len(record)),
        record.mass * np.repeat(record.weights, record.size),
        record.weights,
        kind == SCORE,
        len(leaves.names),
        leaves.n_slots,
    )


def _ascending(eta: np.ndarray, record: Questions) -> np.ndarray:
    """Cumulative log-odds that never fall within a row."""
    out = eta.copy()
    for k in range(1, int(record.size.max()) - 1):
        own = record.start[:-1][record.size > k + 1] + k
        out[own] = np.maximum(out[own], out[own - 1])
    return out


def _predictors(rows: RaggedRows, theta: np.ndarray, own: np.ndarray) -> Any:
    """Predictors from the shared (G, E) and own parameters (G, B) of the groups."""
    offset = theta[:, : rows.n_slots + 1] + own
    offset[:, 0] = 0.0
    along = theta[rows.group, -2] + theta[rows.group, -1] * rows.x
    return rows.predictors(along, own[:, 0], offset)


def _searched(rows: RaggedRows, shares: Shares) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """(shared parameters, own ones, spreads, status) by Fisher scoring, the spreads by Laplace's
    marginal likelihood.
    """
    shared, own = np.zeros(len(shares.shared)), np.zeros((rows.n_groups, len(shares.local)))
    spreads = np.full(4, FIRST)
    used = [*shares.shared.tolist(), *shares.local.tolist()]
    free = [k for k in range(4) if k in used and (rows.n_groups > 1 or k == 3)]
    if rows.n_groups == 1:
        spreads[1:3] = NOTHING
    status = "max steps"
    for step in range(STEPS):
        drawn = _predictors(rows, shares.design @ shared, own)
        value, gradient, information = rows.derivatives(*drawn)
        model = Pooled.around(gradient, information, shares, shared, own)
        before = spreads
        if step < CHOOSING:
            spreads = best_spreads(model, shares, spreads, free)
        scales = shares.scales(spreads)
        to_shared, to_own, _ = pooled_step(model, *scales)
        change = float(max(np.abs(to_shared - shared).max(), np.abs(to_own - own).max()))
        size = min(1.0, FARTHEST / max(change, 1e-300))
        target = (to_shared - shared, to_own - own)
        worth = value - _penalty(shared, own, scales)
        for _ in range(10):
            trial = shared + size * target[0], own + size * target[1]
            reached = rows.likelihood(_predictors(rows, shares.design @ trial[0], trial[1])[0])
            if reached - _penalty(*trial, scales) >= worth - 1e-9 * (1.0 + abs(worth)):
                break
            size *= 0.5
        else:
            return shared, own, spreads, "stalled" if change > 1e-3 else "converged"
        shared, own = trial
        if change < SMALL and np.allclose(before, spreads, rtol=0.02):
            status = "converged"
            break
    return shared, own, spreads, status


def _penalty(shared: np.ndarray, own: np.ndarray, scales: tuple[np.ndarray, np.ndarray]) -> float:
    return 0.5 * float(((shared / scales[0]) ** 2).sum() + ((own / scales[1]) ** 2).sum())
