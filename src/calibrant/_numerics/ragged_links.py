"""Log-likelihoods of ragged rows of options under a softmax or cumulative logits, with their
derivatives by group.

A row's linear predictors are :math:`\\eta_j = \\beta_t l_j + (\\beta - \\beta_t)(l_j - m_j) + o_j`
with the slope :math:`\\beta_t = e^{-a - b x}` of its type and :math:`\\beta = \\beta_t e^{-v}` of
its group, which turns about the group's centre :math:`m_j`, and offsets :math:`o_j` by slot.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._numerics.logistic import sigmoid

__all__ = ["RaggedRows", "cumulative_logits", "row_sums", "running_sums"]

#: Smallest probability of a level, whose logarithm is then finite.
LEAST = 1e-15
#: Largest size of a linear predictor, and of the logarithm of a slope.
FARTHEST, STEEPEST = 700.0, 5.0


def row_sums(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(n,) sums over the options of each row."""
    return np.add.reduceat(values, start[:-1])


def running_sums(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(m,) sums over the options of each row up to each, whose bits depend on no other row."""
    out, size = values.copy(), np.diff(start)
    for k in range(1, int(size.max(initial=0))):
        own = start[:-1][size > k] + k
        out[own] += out[own - 1]
    return out


def cumulative_logits(p: np.ndarray, start: np.ndarray, floor: float) -> np.ndarray:
    """(m,) log-odds of each level or a lower one; 0 for the last level, which is certain."""
    p = np.maximum(p, floor)
    downto = running_sums(p[::-1], start[-1] - start[::-1])[::-1]
    out = np.log(running_sums(p, start)) - np.log(np.append(downto[1:], 1.0))
    out[start[1:] - 1] = 0.0
    return out


@dataclass(frozen=True)
class RaggedRows:
    """Rows with outcomes.

    Attributes
    ----------
    l : (m,) logarithms of probabilities, log-odds of the event, or cumulative log-odds
    start : (n + 1,) first option of each row
    group : (n,) in 0..n_groups-1
    slot : (m,) in 0..n_slots, the offset of each option; 0 for none
    centre : (m,) of l in the group and slot, or None for zeros
    x : (n,) covariate of the log-slope
    mass : (m,) weighted outcome; weight : (n,)
    cumulative : whether l are cumulative log-odds of ordered levels
    n_groups, n_slots : int
    """

    l: np.ndarray  # noqa: E741
    start: np.ndarray
    group: np.ndarray
    slot: np.ndarray
    centre: np.ndarray | None
    x: np.ndarray
    mass: np.ndarray
    weight: np.ndarray
    cumulative: bool
    n_groups: int
    n_slots: int

    @cached_property
    def size(self) -> np.ndarray:
        """(n,) options of each row."""
        return np.diff(self.start)

    @cached_property
    def last(self) -> np.ndarray:
        """(n,) the last option of each row."""
        return self.start[1:] - 1

    @cached_property
    def cell(self) -> np.ndarray:
        """(m,) number of the group and the slot of each option."""
        return np.repeat(self.group, self.size) * (self.n_slots + 1) + self.slot

    @cached_property
    def slotted(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """(group, its options with a slot, their rows within the group), for several slots."""
        row = np.repeat(np.arange(len(self.group)), self.size)
        held = np.flatnonzero(self.slot > 0)
        held = held[np.argsort(self.group[row[held]], kind="stable")]
        own = self.group[row[held]]
        ends = np.flatnonzero(np.diff(own, append=-1) != 0) + 1
        parts = np.split(held, ends[:-1])
        return [
            (int(self.group[row[part[0]]]), part, np.unique(row[part], return_inverse=True)[1])
            for part in parts
            if len(part)
        ]

    def predictors(
        self, shared: np.ndarray, own: np.ndarray, offset: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(eta, its derivatives by v and by a), (m,) each, from (n,) a + b x and (G,) v and the
        offsets (G, n_slots + 1), the first of them 0.
        """
        slope = np.exp(np.clip(-shared, -STEEPEST, STEEPEST))
        steep = np.repeat(
            np.exp(np.clip(-shared - own[self.group], -STEEPEST, STEEPEST)), self.size
        )
        if self.centre is None:
            eta = steep * self.l
            turned = along = -eta
        else:
            turned = -steep * (self.l - self.centre)
            along = turned - np.repeat(slope, self.size) * self.centre
            eta = -along
        if self.n_slots:
            eta = eta + offset.ravel()[self.cell]
        return np.clip(eta, -FARTHEST, FARTHEST), turned, along

    def probabilities(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities, slopes of the cumulative ones), (m,) each."""
        if not self.cumulative:
            top = np.maximum.reduceat(eta, self.start[:-1])
            e = np.exp(eta - np.repeat(top, self.size))
            return e / np.repeat(row_sums(e, self.start), self.size), e
        F = sigmoid(eta)
        slopes = F * (1.0 - F)
        F[self.last], slopes[self.last] = 1.0, 0.0
        return np.maximum(self.steps(F), LEAST), slopes

    def steps(self, values: np.ndarray) -> np.ndarray:
        """Each value less the one before it in its row."""
        out = np.diff(values, prepend=0.0)
        out[self.start[:-1]] = values[self.start[:-1]]
        return out

    def falls(self, values: np.ndarray) -> np.ndarray:
        """Each value less the one after it in its row."""
        out = -np.diff(values, append=0.0)
        out[self.last] = values[self.last]
        return out

    def likelihood(self, eta: np.ndarray) -> float:
        """Weighted log-likelihood."""
        return float(self.mass @ np.log(np.maximum(self.probabilities(eta)[0], LEAST)))

    def derivatives(
        self, eta: np.ndarray, turned: np.ndarray, along: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """(log-likelihood, gradients (G, E), information (G, E, E)) by group: of v, the slots, a
        and b.
        """
        P, f = self.probabilities(eta)
        value = float(self.mass @ np.log(np.maximum(P, LEAST)))
        weight = np.repeat(self.weight, self.size)
        pull = f * self.falls(self.mass / P) if self.cumulative else self.mass - weight * P
        # Levels that nearly cross would have so much information that the search stands still.
        inside = np.maximum(P, 0.1 * f) if self.cumulative else P
        lines = [turned, along, along * np.repeat(self.x, self.size)]
        places = [0, self.n_slots + 1, self.n_slots + 2]
        E, whole = self.n_slots + 3, self.n_groups * (self.n_slots + 1)
        gradient = np.zeros((self.n_groups, E))
        information = np.zeros((self.n_groups, E, E))
        if self.n_slots:
            by_slot = np.bincount(self.cell, pull, whole).reshape(self.n_groups, -1)
            gradient[:, 1 : self.n_slots + 1] = by_slot[:, 1:]
            information[:, 1:-2, 1:-2] = self._between_slots(inside, f, weight)
        for i, (line, at) in enumerate(zip(lines, places, strict=True)):
            gradient[:, at] = self._by_group(row_sums(pull * line, self.start))
            change = weight * self._curved(line, inside, f)
            for other, to in list(zip(lines, places, strict=True))[i:]:
                shared = self._by_group(row_sums(change * other, self.start))
                information[:, at, to] = information[:, to, at] = shared
            if self.n_slots:
                by_slot = np.bincount(self.cell, change, whole).reshape(self.n_groups, -1)[:, 1:]
                information[:, at, 1:-2] = information[:, 1:-2, at] = by_slot
        return value, gradient, information

    def _by_group(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.group, values, self.n_groups)

    def _curved(self, line: np.ndarray, P: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The information of a row's predictors times a direction, (m,)."""
        if self.cumulative:
            return f * self.falls(self.steps(f * line) / P)
        return P * (line - np.repeat(row_sums(P * line, self.start), self.size))

    def _between_slots(self, P: np.ndarray, f: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """(G, n_slots, n_slots) information of the offsets."""
        S = self.n_slots
        out = np.zeros((self.n_groups, S, S))
        whole = self.n_groups * (S + 1)
        if self.cumulative:
            after = np.append(P[1:], 1.0)
            own = weight * f * f * (1.0 / P + 1.0 / after)
            beside = -weight * f * np.append(f[1:], 0.0) / after
            beside[self.last] = 0.0
            # Neighbours may have one offset.
            same = np.append(self.slot[1:], 0) == self.slot
            own = own + np.where(same, 2.0 * beside, 0.0)
            apart = np.where(same, 0.0, beside)
            pairs = np.bincount(self.cell, apart, whole).reshape(-1, S + 1)[:, 1:-1]
            k = np.arange(S - 1)
            out[:, k, k + 1] = out[:, k + 1, k] = pairs
        else:
            own = weight * P * (1.0 - P) if S == 1 else weight * P
        k = np.arange(S)
        out[:, k, k] = np.bincount(self.cell, own, whole).reshape(-1, S + 1)[:, 1:]
        if not self.cumulative and S > 1:
            for group, part, row in self.slotted:
                wide = np.zeros((row.max() + 1, S))
                wide[row, self.slot[part] - 1] = P[part] * np.sqrt(weight[part])
                out[group] -= wide.T @ wide
        return out
