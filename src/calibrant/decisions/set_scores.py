"""Scores of conformal sets, which measure how poorly a label fits its row, and random
tie-breaking.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from calibrant._numerics.bootstrap import row_codes, uniform_of_rows
from calibrant._numerics.conformal import (
    mass_of_all,
    mass_of_labels,
    on_grid,
    order_statistic,
    within_mass,
)
from calibrant.core.calibrator import Calibrator
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError

__all__ = [
    "Aps",
    "Lac",
    "Margin",
    "Ordered",
    "Raps",
    "ScoreName",
    "Scorer",
    "SetScore",
    "TopK",
    "best_raps",
]

ScoreName = Literal["lac", "aps", "raps", "margin", "top_k", "ordered"]


class SetScore(Protocol):
    """Score of a class from the probabilities P (n, K) of its row and the row's random draw u (n,);
    larger is stranger.
    """

    #: Whether the score uses the draw.
    draws: ClassVar[bool]

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        ...

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row, identical to those of ``of_all``."""
        ...

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        ...

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1), (1, 1) or (1, K)."""
        ...


#: Penalties to try; 0 means none.
PENALTIES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
#: Numbers of free ranks to try, besides the one that follows from the level.
FREE = (1, 2, 5)


@dataclass(frozen=True)
class Raps:
    r"""Adaptive score with a penalty for each rank beyond ``free``: :math:`s_{APS} + \lambda
    \max(0, r_y - k)`.

    Tied classes all have the last of their ranks.

    References
    ----------
    Angelopoulos, Bates, Malik and Jordan, "Uncertainty sets for image classifiers using conformal
    prediction", ICLR 2021.
    """

    penalty: float
    free: int

    draws: ClassVar[bool] = True

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        return 0.0, 1.0 + self.penalty * max(n_classes - self.free, 0)

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row."""
        above, tied, rank = mass_of_labels(on_grid(P), labels)
        return self._score(above + u * tied, rank)

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        above, tied, rank = mass_of_all(on_grid(P))
        return self._score(above + u[:, None] * tied, rank)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        if limit.shape[1] > 1:
            return self.of_all(P, u) <= limit
        return within_mass(
            on_grid(P), u, np.broadcast_to(limit[:, 0], len(P)), self.penalty, self.free
        )

    def _score(self, mass: np.ndarray, rank: np.ndarray) -> np.ndarray:
        # Without a penalty the score must equal the adaptive score exactly.
        return mass + self.penalty * np.maximum(rank - self.free, 0) if self.penalty > 0.0 else mass


def best_raps(
    P: np.ndarray, labels: np.ndarray, weight: np.ndarray, u: np.ndarray, level: float
) -> Raps:
    """Choose the penalty and the number of free ranks with the smallest mean set on these rows; the
    rank of a share ``level`` of labels is one of those tried.
    """
    exact = on_grid(P)
    above, tied, rank = mass_of_labels(exact, labels)
    mass: np.ndarray = np.cumsum(np.bincount(rank, weights=weight))
    usual = int(np.count_nonzero(mass < level * mass[-1] * (1.0 - 1e-12)))
    label_mass, ranked = above + u * tied, np.sort(exact, axis=1)[:, ::-1]
    place = np.asarray(range(1, P.shape[1] + 1))
    total: np.ndarray = np.cumsum(ranked, axis=1)
    all_scores = np.asfortranarray(total - ranked + u[:, None] * ranked)
    least = all_scores.min(axis=0)

    def mean_size(score: Raps) -> float:
        scores = label_mass + score.penalty * np.maximum(rank - score.free, 0)
        order = np.argsort(scores, kind="stable")
        limit = order_statistic(scores[order], np.cumsum(weight[order]), level)
        room = limit - score.penalty * np.maximum(place - score.free, 0)
        # Beyond the largest rank that any row can hold, no row has a score.
        last = int(np.count_nonzero(least <= room))
        return float(weight @ np.count_nonzero(all_scores[:, :last] <= room[:last], axis=1))

    free = sorted({*FREE, usual})
    return min(
        (Raps(penalty, k) for penalty in PENALTIES for k in (free if penalty > 0.0 else free[:1])),
        key=mean_size,
    )


@dataclass(frozen=True)
class Aps:
    r"""Mass of the more likely classes, plus a random part of its own: :math:`\sum_{p_k > p_y} p_k
    + U \sum_{p_k = p_y} p_k`.

    Without randomisation (U = 1) sets are larger.

    References
    ----------
    Romano, Sesia and Candes, "Classification with valid and adaptive coverage", NeurIPS 2020.
    """

    draws: ClassVar[bool] = True

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        return 0.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row."""
        return Raps(0.0, 0).of_labels(P, labels, u)

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        return Raps(0.0, 0).of_all(P, u)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return Raps(0.0, 0).within(P, u, limit)


@dataclass(frozen=True)
class Lac:
    r"""One minus the probability of the class, :math:`s = 1 - p_y`; with correct probabilities no
    sets are smaller on average.

    References
    ----------
    Sadinle, Lei and Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
    JASA 2019.
    """

    draws: ClassVar[bool] = False

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        return 0.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row."""
        return 1.0 - P[np.arange(len(P)), labels]

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        return 1.0 - P

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return self.of_all(P, u) <= limit


@dataclass(frozen=True)
class Margin:
    r"""Margin of the most likely other class, :math:`s = \max_{k \ne y} p_k - p_y`.

    References
    ----------
    Johansson, Linusson, Lofstrom and Bostrom, "Model-agnostic nonconformity functions for conformal
    classification", IJCNN 2017.
    """

    draws: ClassVar[bool] = False

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        return -1.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row."""
        p = P[np.arange(len(P)), labels]
        second, first = _two_largest(P)
        return np.where(p == first, second, first) - p

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        second, first = _two_largest(P)
        return np.where(first[:, None] == P, second[:, None], first[:, None]) - P

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return self.of_all(P, u) <= limit


def _two_largest(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (second, first), (n,) each; where the largest two are equal, both are that value."""
    last = np.partition(P, P.shape[1] - 2, axis=1)[:, -2:]
    return last[:, 0], last[:, 1]


@dataclass(frozen=True)
class TopK:
    """Rank of the class, 1 for the most likely; tied classes have their last rank, so no set has
    more than k classes.
    """

    draws: ClassVar[bool] = False

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        return 0.0, float(n_classes)

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row."""
        p = P[np.arange(len(P)), labels]
        return np.count_nonzero(p[:, None] <= P, axis=1).astype(np.float64)

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        return mass_of_all(P)[2].astype(np.float64)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        if limit.size != 1:
            return self.of_all(P, u) <= limit
        k = int(np.clip(limit.item(), 0, P.shape[1]))
        if k == P.shape[1]:
            return np.ones(P.shape, dtype=bool)
        # Above the k + 1st largest there are k classes, or fewer where ties cross the border.
        place = P.shape[1] - 1 - k
        return np.partition(P, place, axis=1)[:, [place]] < P


@dataclass(frozen=True)
class Ordered:
    r"""Mass of the levels that enter an interval before the level, plus a random part of its own:
    :math:`\sum_{k \in I_y} p_k + U p_y`.

    The interval starts at the most likely level and grows by the more likely of its two neighbours;
    :math:`I_y` is the interval just before y enters. Of equal levels the lower one enters first.
    Scores never fall as the interval grows, so the levels up to any limit have no gap.

    References
    ----------
    Lu, Angelopoulos and Pomerantz, "Improving trustworthiness of AI disease severity rating in
    medical imaging with ordinal conformal prediction sets", MICCAI 2022 (without the random part).

    Examples
    --------
    >>> P, u = np.array([[0.25, 0.125, 0.5, 0.125]]), np.array([0.5])
    >>> Ordered().of_all(P, u).tolist()
    [[0.75, 0.5625, 0.25, 0.9375]]
    """

    draws: ClassVar[bool] = True

    def span(self, n_classes: int) -> tuple[float, float]:
        """Return the smallest and the largest score of a class."""
        return 0.0, 1.0

    def of_labels(self, P: np.ndarray, labels: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n,) scores of one class a row."""
        return self.of_all(P, u)[np.arange(len(P)), labels]

    def of_all(self, P: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return (n, K) scores."""
        # An end column is never taken while a level is left.
        padded = np.pad(on_grid(P), ((0, 0), (1, 1)), constant_values=-np.inf)
        rows, out, mass = np.arange(len(P)), np.empty(P.shape), np.zeros(len(P))
        place: np.ndarray = padded.argmax(axis=1)
        low, high = place - 1, place + 1
        for _ in range(P.shape[1]):
            p = padded[rows, place]
            out[rows, place - 1] = mass + u * p
            mass += p
            down = padded[rows, low] >= padded[rows, high]
            place = np.where(down, low, high)
            low, high = low - down, high + ~down
        # Without a draw the last level has all the mass, which must be 1 in every row.
        return np.round(out, 12)

    def within(self, P: np.ndarray, u: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), whether the score is at most the limit, (n, 1) or (1, K)."""
        return self.of_all(P, u) <= limit


#: Entries of the predictions in one call of the calibrator.
TOGETHER = 4_000_000


@dataclass(frozen=True)
class Scorer:
    """A score of the probabilities of a fitted calibrator (None: of the raw ones); ``seed`` is that
    of the draws, None for no randomisation.
    """

    score: SetScore
    calibrator: Calibrator | None
    seed: int | None

    def blocks(self, record: Predictions) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield (rows, their probabilities, their draws), block by block."""
        if self.calibrator is not None and len(self.calibrator.classes_) != record.n_classes:
            raise InputError(
                f"calibrator was fitted on {len(self.calibrator.classes_)} classes but P has"
                f" {record.n_classes}; fit it on these columns."
            )
        start = 0
        for block in record.blocks(
            None if self.calibrator is None else max(1024, TOGETHER // record.n_classes)
        ):
            P = (
                block.probabilities
                if self.calibrator is None
                else self.calibrator.predict_record(block)
            )
            # The draw depends on the raw prediction, which identifies the row whatever calibrator
            # follows.
            u = (
                np.ones(len(block))
                if self.seed is None or not self.score.draws
                else uniform_of_rows(row_codes(block.values), self.seed)
            )
            yield slice(start, start + len(block)), P, u
            start += len(block)

    def of_labels(self, record: Predictions) -> np.ndarray:
        """Return (n,) scores of the true classes."""
        labels = record.strata
        return np.concatenate(
            [self.score.of_labels(P, labels[rows], u) for rows, P, u in self.blocks(record)]
        )

    def of_all(self, record: Predictions) -> np.ndarray:
        """Return (n, K) scores."""
        out = np.empty(record.values.shape)
        for rows, P, u in self.blocks(record):
            out[rows] = self.score.of_all(P, u)
        return out

    def within(self, record: Predictions, limit: np.ndarray) -> np.ndarray:
        """Return (n, K), the classes whose score is at most the limit, (n, 1), (1, 1) or (1, K)."""
        out = np.empty(record.values.shape, dtype=bool)
        for rows, P, u in self.blocks(record):
            out[rows] = self.score.within(P, u, limit if len(limit) == 1 else limit[rows])
        return out
